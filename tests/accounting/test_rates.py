import math
import sys

import pytest

from lmfast.accounting import (
    bits_per_byte,
    bytes_per_token,
    count_flops,
    energy,
    hfu,
    mbu,
    measure_matmul_ceiling,
    mfu,
    named_model,
    price,
    six_nd,
    training_time,
)
from lmfast.errors import ConfigError, HardwareError


def test_70_billion_parameters_on_15_trillion_tokens():
    flops = six_nd(70e9, 15e12)
    assert flops.value == 6.3e24
    days = training_time(flops, 989.4e12, mfu=0.5, devices=1_024).value / 86_400
    assert 143 < days < 144


def test_the_worked_example_in_days():
    """GPT-2 XL's shape on one A100 in fp32, 400,000 steps of 1,024 sequences."""
    flops = count_flops(named_model("xl"), 1_024).training.value * 400_000 * 1_024
    days = training_time(flops, 19.5e12, mfu=0.5).value / 86_400
    assert days == pytest.approx(6_584, abs=1)


def test_energy_and_money():
    hour = training_time(3_600e12, 1e12, mfu=1.0)
    assert energy(hour, 700, devices=2).value == 3_600 * 700 * 2
    assert price(hour, 2.5, devices=2).value == 5.0
    assert energy(hour, None).value is None
    unknown = training_time(1e12, None, mfu=1.0)
    assert energy(unknown, 700).value is None
    assert price(unknown, 2.5).value is None


def test_mfu_by_hand():
    # 6 FLOPs per token and 50 tokens/s of a peak of 2·300 FLOP/s.
    assert mfu(50, 6, 300, devices=2).value == 0.5
    assert hfu(50, 8, 400).value == 1.0
    assert mbu(1e9, 0.5, 4e9).value == 0.5


def test_an_unknown_peak_gives_an_unknown_mfu():
    assert mfu(50, 6, None).value is None
    assert mbu(1.0, 1.0, None).value is None
    assert training_time(1e12, None, 0.4).value is None


@pytest.mark.parametrize("wrong", [0, 1.5, -0.1])
def test_an_impossible_mfu_is_refused(wrong):
    with pytest.raises(ConfigError, match="mfu"):
        training_time(1e12, 1e12, wrong)


def test_compression():
    assert bytes_per_token(400, 100).value == 4
    assert bytes_per_token(0, 0).value is None
    # A loss of ln 256 per token of one byte is 8 bits per byte.
    assert bits_per_byte(math.log(256), 1.0).value == pytest.approx(8)
    assert bits_per_byte(math.log(256), bytes_per_token(400, 100)).value == pytest.approx(2)


@pytest.mark.parametrize("without_torch", [False, True])
def test_the_ceiling_of_this_machine(monkeypatch, without_torch):
    if without_torch:
        monkeypatch.setitem(sys.modules, "torch", None)
    ceiling = measure_matmul_ceiling("cpu", "fp32", seconds=0.05)
    assert ceiling.value > 1e8
    assert ("numpy" in ceiling.convention) == without_torch


def test_what_cannot_be_measured(monkeypatch):
    with pytest.raises(HardwareError, match="fp64"):
        measure_matmul_ceiling("cpu", "fp64")
    with pytest.raises(HardwareError, match="cuda:77"):
        measure_matmul_ceiling("cuda:77", "fp32", seconds=0.05)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(HardwareError, match="without torch"):
        measure_matmul_ceiling("cpu", "bf16")
