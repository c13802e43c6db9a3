import pytest
from account_shapes import architectures
from hypothesis import given
from hypothesis import strategies as st

from lmfast.accounting import count_flops, count_parameters, named_model
from lmfast.accounting.hardware import find_device
from lmfast.accounting.kv_cache import kv_cache
from lmfast.accounting.roofline import elementwise, fused_attention, matmul, matrix_vector
from lmfast.accounting.workload import decode_crossover, model_workload
from lmfast.errors import ConfigError

H100 = find_device("h100-sxm")
sizes = st.integers(1, 10_000)


def intensity(operation):
    return operation.intensity.value


@given(sizes, sizes, sizes)
def test_intensity_of_a_product(m, k, n):
    expected = 2 * m * k * n / (2 * (m * k + k * n + m * n))
    assert intensity(matmul(m, k, n)) == pytest.approx(expected)
    # No product does more per byte than its shortest side allows.
    assert intensity(matmul(m, k, n)) <= min(m, k, n) + 1e-9


def test_known_intensities():
    assert intensity(matmul(1_024, 1_024, 1_024)) == pytest.approx(1_024 / 3)
    assert intensity(matrix_vector(4_096, 4_096, "bf16")) == pytest.approx(1, rel=0.001)
    assert intensity(matrix_vector(4_096, 4_096, "fp32")) == pytest.approx(0.5, rel=0.001)
    assert intensity(elementwise("relu", 1_000)) == 0.25
    assert intensity(elementwise("gelu", 1_000)) == 5


def test_a_square_product_on_an_h100():
    small, large = (matmul(n, n, n).on(H100, "bf16") for n in (512, 4_096))
    assert (small.bound, large.bound) == ("memory", "compute")
    assert small.flops_per_second == pytest.approx(intensity(small.operation) * 3.35e12)
    assert large.flops_per_second == pytest.approx(989.4e12)
    assert large.margin == pytest.approx(4_096 / 3 / (989.4e12 / 3.35e12))


def test_an_unknown_peak_bounds_nothing():
    placed = matmul(8, 8, 8).on(find_device("t4"), "bf16")
    assert (placed.bound, placed.seconds, placed.margin) == (None, None, None)
    assert placed.flops_per_second is None


def test_attention_in_decoding_does_not_get_better_with_context():
    def decode(keys, n_kv_head):
        return intensity(
            fused_attention(
                batch=1, queries=1, keys=keys, n_head=32, n_kv_head=n_kv_head, d_head=128
            )
        )

    assert decode(100_000, 32) == pytest.approx(1, rel=0.01)
    assert decode(100_000, 8) == pytest.approx(4, rel=0.01)


@given(architectures(), st.integers(1, 3), st.integers(1, 12))
def test_a_model_in_prefill_does_its_forward_flops(shape, batch, length):
    load = model_workload(shape, H100, "prefill", batch=batch, context_length=length)
    assert load.model_flops == batch * count_flops(shape, length).forward.value
    rest = {"rmsnorm", "layernorm", "swiglu", "gelu", "add", "rotary"}
    products = sum(p.operation.flops for p in load.operations if p.operation.name not in rest)
    assert products == batch * count_flops(shape, length).forward.value


@given(architectures(), st.integers(1, 3))
def test_decoding_moves_every_active_weight_and_the_cache(shape, batch):
    load = model_workload(shape, H100, "decode", batch=batch)
    moved = sum(p.operation.bytes for p in load.operations)
    assert moved >= kv_cache(shape, batch=batch).value
    assert load.tokens == batch


@given(architectures())
def test_no_model_is_above_the_roofline(shape):
    for phase in ("training", "prefill", "decode"):
        load = model_workload(shape, H100, phase)
        assert 0 < load.highest_mfu <= 1
        assert load.seconds.value == pytest.approx(sum(p.seconds for p in load.operations))


def test_a_small_batch_decodes_at_the_speed_of_memory():
    llama = named_model("llama3-8b")
    load = model_workload(llama, H100, "decode", context_length=1)
    weights = 2 * (count_parameters(llama).value - count_parameters(llama)["embedding"].value)
    assert load.seconds.value == pytest.approx(weights / 3.35e12, rel=0.01)
    assert decode_crossover(H100).value == 296
    assert decode_crossover(find_device("tpu-v5e")).value == pytest.approx(240, abs=1)


def test_kv_cache_has_both_factors():
    llama2, llama3 = named_model("llama2-7b"), named_model("llama3-8b")
    # Keys and values; all heads in Llama 2 7B, a quarter of them in Llama 3 8B.
    assert kv_cache(llama2, 1).value == 2 * 32 * 32 * 128 * 2
    assert kv_cache(llama3, 1).value == 2 * 32 * 8 * 128 * 2
    assert kv_cache(llama3, 1_000, 4).value == 4_000 * kv_cache(llama3, 1).value
    windowed = named_model("mistral-7b")
    assert kv_cache(windowed, 100_000).value == kv_cache(windowed, 4_096).value


def test_what_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="one of fp32"):
        matmul(1, 1, 1, "fp64")
    with pytest.raises(ConfigError, match="gelu"):
        elementwise("tanh", 3)
    with pytest.raises(ConfigError, match="training, prefill, decode"):
        model_workload(named_model("xl"), H100, "serving")
    with pytest.raises(ConfigError, match=r"roofline\.k"):
        matmul(1, 0, 1)
