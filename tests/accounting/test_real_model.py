"""The accounting against the model that lmfast trains."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F
from account_shapes import model_configs
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_bytes import saved_bytes

from lmfast.accounting import count_parameters, estimate_activations
from lmfast.config import ModelConfig
from lmfast.model import Transformer, initialise


def larger(config):
    """Wide enough that scalars do not matter, and that torch takes its fused attention."""
    return dataclasses.replace(
        config,
        d_model=8 * config.d_model + 64,
        d_head=4 * config.d_head,
        d_ff=8 * config.d_ff + 64,
        context_length=4 * config.context_length + 16,
    )


@settings(max_examples=10, deadline=None)
@given(model_configs())
def test_parameters(config):
    model = Transformer(config)
    assert count_parameters(config).value == sum(p.numel() for p in model.parameters())


@settings(max_examples=15, deadline=None)
@given(
    model_configs().map(larger),
    st.integers(1, 3),
    st.sampled_from(["fp32", "amp-bf16", "bf16"]),
    st.sampled_from(["none", "full"]),
)
def test_saved_bytes(config, batch, recipe, checkpointing):
    model = Transformer(config, checkpointing)
    initialise(model, 0)
    model.to(torch.bfloat16 if recipe == "bf16" else torch.float32)
    ids, targets = torch.randint(config.vocab_size, (2, batch, config.context_length))

    def forward():
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe == "amp-bf16"):
            logits = model(ids)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())

    estimate = estimate_activations(config, batch, recipe=recipe, checkpointing=checkpointing)
    assert estimate.saved.value == pytest.approx(saved_bytes(model, forward), rel=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_saved_bytes_of_the_compiled_model():
    config = ModelConfig(
        vocab_size=96, context_length=128, d_model=128, n_layer=3, n_head=4, n_kv_head=2, d_ff=320
    )
    model = Transformer(config)
    initialise(model, 0)
    torch.compiler.reset()
    # Inductor's partition of the graph without its code generation.
    model.compile(backend="aot_eager_decomp_partition")
    ids, targets = torch.randint(config.vocab_size, (2, 4, config.context_length))

    def forward():
        return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())

    estimate = estimate_activations(config, 4, compiled=True)
    assert estimate.saved.value == pytest.approx(saved_bytes(model, forward), rel=0.02)
