import pytest
from account_shapes import architectures
from hypothesis import given
from hypothesis import strategies as st

from lmfast.accounting import (
    RECIPES,
    bytes_per_parameter,
    count_parameters,
    estimate_activations,
    estimate_memory,
    named_model,
)
from lmfast.errors import ConfigError


def test_bytes_per_parameter():
    found = {name: bytes_per_parameter(name).value for name in RECIPES}
    assert found == {
        "fp32": 16,
        "amp-bf16": 16,
        "bf16": 12,
        "bf16-master": 16,
        "bf16-fp32-grads": 18,
    }
    # 80 GB hold the state of 6.7 billion parameters in bf16 with fp32 moments.
    assert 80e9 / found["bf16"] == pytest.approx(6.7e9, rel=0.01)


@given(architectures(), st.sampled_from(sorted(RECIPES)), st.integers(1, 3))
def test_the_state_is_bytes_per_parameter_times_parameters(shape, recipe, batch):
    buckets = estimate_memory(shape, batch, recipe=recipe).buckets
    state = ("parameters", "gradients", "optimizer_state", "master_weights")
    held = sum(buckets[name].value for name in state)
    assert held == count_parameters(shape).value * bytes_per_parameter(recipe).value


@given(
    architectures(),
    st.sampled_from(sorted(RECIPES)),
    st.sampled_from(["none", "selective", "full", "every-2"]),
)
def test_the_peak_is_never_above_the_sum_and_grows_with_the_batch(shape, recipe, checkpointing):
    def peak(batch):
        estimate = estimate_memory(shape, batch, recipe=recipe, checkpointing=checkpointing)
        assert estimate.peak.value <= estimate.buckets.value
        assert estimate.buckets.value == sum(part.value for part in estimate.buckets.parts)
        return estimate.peak.value

    assert peak(1) <= peak(2) <= peak(5)


def test_accumulation_holds_gradients_through_the_forward_pass():
    shape = named_model("gpt2-small")
    one = estimate_memory(shape, 8).peak["loss"].value
    two = estimate_memory(shape, 8, grad_accum_steps=2).peak["loss"].value
    assert two - one == 4 * count_parameters(shape).value


def test_checkpointing_trades_memory_for_compute():
    shape = named_model("xl")
    saved = [
        estimate_activations(shape, 4, checkpointing=policy).saved.value
        for policy in ("none", "selective", "full", "every-4")
    ]
    assert saved == sorted(saved, reverse=True)
    assert len(set(saved)) == len(saved)


def test_other_optimizers_keep_less():
    shape = named_model("gpt2-small")
    count = count_parameters(shape).value
    for optimizer, moments in (("adamw", 2), ("momentum", 1), ("sgd", 0)):
        buckets = estimate_memory(shape, optimizer=optimizer).buckets
        assert buckets["optimizer_state"].value == 4 * moments * count


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"recipe": "fp7"}, "amp-bf16"),
        ({"checkpointing": "some"}, "every-K"),
        ({"attention": "linear"}, "explicit"),
        ({"optimizer": "lion"}, "momentum"),
        ({"micro_batch_size": 0}, "micro_batch_size"),
    ],
)
def test_what_does_not_exist_is_refused(wrong, named):
    with pytest.raises(ConfigError, match=named):
        estimate_memory(named_model("gpt2-small"), **wrong)
