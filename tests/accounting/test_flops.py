import pytest
import torch
from account_shapes import architectures
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_model import ReferenceModel
from torch.utils.flop_counter import FlopCounterMode

from lmfast.accounting import (
    Architecture,
    check_6nd,
    count_flops,
    count_matmul_parameters,
    count_parameters,
    named_model,
)
from lmfast.errors import ConfigError


def executed_flops(shape, every=0):
    """FLOPs that torch counts forward, and forward and backward."""
    model = ReferenceModel(shape, every)
    ids = torch.randint(shape.vocab_size, (1, shape.context_length))
    counter = FlopCounterMode(display=False)
    with counter:
        loss = model(ids).sum()
        forward = counter.get_total_flops()
        loss.backward()
    return forward, counter.get_total_flops()


@settings(max_examples=12, deadline=None)
@given(architectures())
def test_hardware_flops_are_what_torch_executes_to_the_last_one(shape):
    counted = count_flops(shape, convention="hardware")
    assert (counted.forward.value, counted.training.value) == executed_flops(shape)


@settings(max_examples=8, deadline=None)
@given(architectures(), st.integers(1, 4))
def test_recomputation_is_what_torch_executes_to_the_last_one(shape, every):
    assume(not shape.has_router)  # the reference's experts do not end with a product
    counted = count_flops(shape, convention="hardware", checkpointing=f"every-{every}")
    assert (counted.forward.value, counted.training.value) == executed_flops(shape, every)


@given(architectures(), st.integers(1, 40))
def test_palm_is_six_per_parameter_and_twelve_for_attention(shape, length):
    counted = count_flops(shape, length)
    attended = sum(layers * met for layers, met in shape.attended(length))
    per_token = 6 * count_matmul_parameters(shape).value + 12 * shape.d_query * attended
    assert counted.training.value == per_token * length


@given(architectures(), st.integers(1, 40))
def test_causal_takes_off_what_the_mask_hides(shape, length):
    full, causal = count_flops(shape, length), count_flops(shape, length, convention="causal")
    hidden = sum(
        layers * shape.n_head * 4 * shape.d_head * met * met // 2
        for layers, met in shape.attended(length)
    )
    assert full.forward.value - causal.forward.value == hidden


@given(architectures(), st.integers(1, 40))
def test_6nd_and_its_reasons(shape, length):
    counted = count_flops(shape, length, convention="6nd")
    parameters = count_parameters(shape, "active").value
    assert counted.training.value == 6 * parameters * length
    ratio = check_6nd(shape, length)
    exact = count_flops(shape, length)
    assert ratio.value == pytest.approx(counted.training.value / exact.training.value)
    gap = (counted.training.value - exact.training.value) / length
    assert sum(part.value for part in ratio.parts) == pytest.approx(gap, abs=1e-6 * 6 * parameters)
    norms = count_parameters(shape, "active")["norm"].value
    assert ratio["norms_and_biases"].value >= 6 * norms - 1e-6 * 6 * parameters


def test_flash_attention_computes_the_scores_again():
    shape = named_model("gpt2-small")
    plain = count_flops(shape, convention="hardware")
    flash = count_flops(shape, convention="hardware", attention="flash")
    scores = plain.forward["attention_scores"].value
    assert flash.training.value - plain.training.value == scores // 2
    # 14·L·d·T per token in place of 12.
    assert flash.training.value / plain.training.value == pytest.approx(
        1 + 2 * 12 * 768 * 1024 / count_flops(shape).per_token().value
    )


def test_selective_checkpointing_computes_the_scores_again():
    counted = count_flops(
        named_model("gpt2-small"), convention="hardware", checkpointing="selective"
    )
    assert counted.recompute.value == counted.forward["attention_scores"].value


def test_the_worked_example_at_two_lengths():
    short, long = (count_flops(named_model("xl"), length) for length in (1_024, 16_384))
    assert short.forward.value / 1e12 == pytest.approx(4.5133, abs=5e-5)
    assert long.forward.value / 1e12 == pytest.approx(149.52, abs=5e-3)
    assert [f"{100 * share:.1f}" for share in short.shares().values()] == [
        "22.3",
        "7.1",
        "66.9",
        "3.6",
    ]
    assert [f"{100 * share:.1f}" for share in long.shares().values()] == [
        "10.8",
        "55.2",
        "32.3",
        "1.8",
    ]


def test_sharing_keys_saves_projections_and_no_scores():
    plain = Architecture(vocab_size=100, d_model=64, n_layer=2, n_head=8, d_ff=128)
    shared = Architecture(vocab_size=100, d_model=64, n_layer=2, n_head=8, n_kv_head=1, d_ff=128)
    a, b = count_flops(plain, 32).forward, count_flops(shared, 32).forward
    assert a["attention_scores"] == b["attention_scores"]
    assert a["attention_projections"].value > b["attention_projections"].value


def test_what_does_not_exist_is_refused():
    shape = named_model("gpt2-small")
    with pytest.raises(ConfigError, match="6nd, palm, causal, hardware"):
        count_flops(shape, convention="megatron")
    with pytest.raises(ConfigError, match="every-K"):
        count_flops(shape, checkpointing="every-0")
    with pytest.raises(ConfigError, match="context_length"):
        count_flops(shape, 0)
