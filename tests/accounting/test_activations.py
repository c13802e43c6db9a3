import dataclasses

import pytest
import torch
import torch.nn.functional as F
from account_shapes import architectures
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_model import ReferenceModel
from saved_bytes import saved_bytes

from lmfast.accounting import estimate_activations, named_model


def measured(shape, batch, recipe, every=0, backend=None):
    model = ReferenceModel(shape, every)
    if backend is not None:
        model.compile(backend=backend)
    ids, targets = torch.randint(shape.vocab_size, (2, batch, shape.context_length))

    def forward():
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe == "amp-bf16"):
            logits = model(ids)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())

    return saved_bytes(model, forward)


def larger(shape):
    """Wide and long enough that what the table leaves out (scalars, angles) does not matter."""
    return dataclasses.replace(
        shape,
        d_model=8 * shape.d_model + 64,
        d_ff=8 * shape.d_ff + 64,
        context_length=2 * shape.context_length + 16,
        n_expert=1,
        n_active_expert=1,
        n_shared_expert=0,
    )


@settings(max_examples=25, deadline=None)
@given(architectures(), st.integers(1, 3), st.sampled_from(["fp32", "amp-bf16"]))
def test_saved_tensors_of_explicit_attention(shape, batch, recipe):
    shape = larger(shape)
    estimate = estimate_activations(shape, batch, recipe=recipe, attention="explicit")
    assert estimate.saved.value == pytest.approx(measured(shape, batch, recipe), rel=0.02)


@settings(max_examples=10, deadline=None)
@given(architectures(), st.integers(1, 4), st.sampled_from(["fp32", "amp-bf16"]))
def test_checkpoints_keep_the_inputs_of_blocks(shape, every, recipe):
    shape = larger(shape)
    estimate = estimate_activations(shape, 2, recipe=recipe, checkpointing=f"every-{every}")
    assert estimate.saved.value == pytest.approx(measured(shape, 2, recipe, every), rel=0.02)


def test_two_checkpoints_of_two_blocks():
    shape = named_model("xl", ["d_model=2560", "d_ff=10240", "n_head=32", "n_layer=4"])
    estimate = estimate_activations(shape, 4, 2_048, checkpointing="every-2")
    assert estimate.saved["blocks"].value == 160 * 2**20


def test_selective_drops_the_square_of_scores():
    shape = named_model("xl")
    none = estimate_activations(shape, 1, attention="explicit")
    some = estimate_activations(shape, 1, checkpointing="selective", attention="explicit")
    square = 25 * 1_024 * 1_024 * 4 + 1_024 * 1_024
    assert none.saved.value - some.saved.value == 48 * square
    assert some.in_flight.value == square


@pytest.mark.parametrize(
    ("layers", "policy", "mebibytes"), [(1, "none", 3_651.31), (4, "none", 14_605.25)]
)
def test_compiled_blocks_with_explicit_attention(layers, policy, mebibytes):
    """The published totals for blocks of d 2,560, d_ff 10,240, 32 heads at 4 · 2,048 tokens."""
    sizes = ["d_model=2560", "d_ff=10240", "n_head=32", f"n_layer={layers}"]
    estimate = estimate_activations(
        named_model("xl", sizes), 4, 2_048, "fp32", policy, attention="explicit", compiled=True
    )
    assert estimate.saved["blocks"].value / 2**20 == pytest.approx(mebibytes, abs=0.005)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recipe", ["fp32", "amp-bf16"])
def test_saved_tensors_of_a_compiled_model(recipe):
    sizes = ["d_model=256", "d_ff=768", "n_head=4", "n_layer=4", "vocab_size=40"]
    shape = named_model("xl", [*sizes, "context_length=64"])
    estimate = estimate_activations(shape, 8, recipe=recipe, attention="explicit", compiled=True)
    torch.compiler.reset()
    found = measured(shape, 8, recipe, backend="aot_eager_decomp_partition")
    assert estimate.saved.value == pytest.approx(found, rel=0.02)
