import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from lmfast.accounting.dtypes import FORMATS, cast, cast_block
from lmfast.errors import ConfigError

TORCH = {
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8-e4m3": torch.float8_e4m3fn,
    "fp8-e5m2": torch.float8_e5m2,
}
FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
floats = st.floats(width=32, allow_nan=False)


@pytest.mark.parametrize("name", TORCH)
def test_limits_are_torchs(name):
    info, form = torch.finfo(TORCH[name]), FORMATS[name]
    assert form.largest == info.max
    assert form.smallest_normal == info.smallest_normal
    assert form.smallest_subnormal == info.smallest_normal * info.eps
    assert form.epsilon == info.eps
    assert form.storage_bits == info.bits


@pytest.mark.parametrize("name", TORCH)
@given(value=floats)
@example(value=1e-8)
@example(value=65_519.0)
@example(value=65_520.0)
@example(value=-0.0)
@example(value=math.inf)
def test_casts_are_torchs(name, value):
    if name == "fp8-e4m3" and abs(value) > 464:
        return  # past the largest number torch saturates or gives NaN, by its version
    expected = torch.tensor(value, dtype=torch.float32).to(TORCH[name]).item()
    assert cast(value, name) == expected
    assert math.copysign(1, cast(value, name)) == math.copysign(1, expected)


@given(floats)
def test_tf32_keeps_ten_bits_of_fp32(value):
    rounded = cast(value, "tf32")
    bits = torch.tensor(rounded, dtype=torch.float32).view(torch.int32).item()
    assert bits & 0x1FFF == 0
    if math.isfinite(rounded) and abs(value) >= FORMATS["tf32"].smallest_normal:
        assert abs(rounded - value) <= abs(value) * 2**-11


@given(st.floats(-8, 8))
def test_fp4_is_the_nearest_of_its_eight_magnitudes(value):
    nearest = min(abs(magnitude - abs(value)) for magnitude in FP4)
    rounded = cast(value, "fp4-e2m1")
    assert abs(rounded) in FP4
    assert abs(abs(rounded) - abs(value)) == nearest


@pytest.mark.parametrize(("tie", "even"), [(0.25, 0), (0.75, 1), (1.25, 1), (2.5, 2), (5, 4)])
def test_fp4_ties_go_to_even(tie, even):
    assert cast(tie, "fp4-e2m1") == even


def test_the_worked_examples():
    assert cast(1e-8, "fp16") == 0
    assert cast(1e-8, "bf16") == pytest.approx(1e-8, rel=0.004)
    assert cast(3.14159, "fp32") != cast(3.14160, "fp32")
    assert cast(3.14159, "bf16") == cast(3.14160, "bf16") == 3.140625
    assert cast(math.inf, "fp8-e4m3") == cast(1e9, "fp8-e4m3") == 448
    assert math.isnan(cast(math.nan, "fp16"))


def test_scale_bytes_are_counted():
    assert FORMATS["mxfp4"].bytes_per_element == 0.5 + 1 / 32
    assert FORMATS["nvfp4"].bytes_per_element == 0.5 + 1 / 16


@pytest.mark.parametrize("name", ["mxfp4", "nvfp4"])
@given(values=st.lists(st.floats(-2e3, 2e3, width=32), min_size=1, max_size=16))
def test_block_scaling_keeps_a_block_in_range(name, values):
    stored = cast_block(values, name)
    largest = max(map(abs, values))
    # The widest step is 2 of 6; an fp8 scale, of at most 448, is coarse itself.
    assert all(abs(a - b) <= largest / 3 + 2**-7 for a, b in zip(values, stored, strict=True))
    assert max(map(abs, stored)) <= 1.2 * largest + 2**-7


def test_a_power_of_two_scale_by_hand():
    # The exponent of 100 is 6, so the scale is 2^4 and 100 becomes 6·16, 20 becomes 1.5·16.
    assert cast_block([100.0, 20.0, 0.0], "mxfp4") == [96.0, 16.0 * 1.0, 0.0]


def test_what_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="fp8-e4m3"):
        cast(1.0, "fp8")
    with pytest.raises(ConfigError, match="mxfp4 or nvfp4"):
        cast_block([1.0], "bf16")
    with pytest.raises(ConfigError, match="1 to 16"):
        cast_block([1.0] * 17, "nvfp4")
