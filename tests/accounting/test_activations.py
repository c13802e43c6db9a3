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


def measured(shape, batch, recipe, every=0):
    model = ReferenceModel(shape, every)
    ids = torch.randint(shape.vocab_size, (batch, shape.context_length))

    def forward():
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe == "amp-bf16"):
            logits = model(ids)
        return F.cross_entropy(logits.float().flatten(0, 1), ids.flatten())

    return saved_bytes(model, forward)


def larger(shape):
    """Wide and long enough that what the table leaves out (scalars, angles) does not matter."""
    return dataclasses.replace(
        shape,
        d_model=8 * shape.d_model + 64,
        d_ff=8 * shape.d_ff + 64,
        context_length=4 * shape.context_length + 16,
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
