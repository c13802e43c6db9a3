from dataclasses import replace

import numpy as np
import pytest
import torch
from test_engine import new_engine, random_batches

from lmfast.accounting import estimate_activations
from lmfast.training import measure_memory, peak_memory_bytes
from tiny_runs import MODEL


def test_exact_buckets_are_those_of_the_tensors():
    engine = new_engine()
    count = sum(parameter.numel() for parameter in engine.model.parameters())
    first = measure_memory(engine)
    assert (first.parameters, first.gradients, first.optimizer_state) == (
        4 * count,
        4 * count,
        None,
    )
    before = [parameter.clone() for parameter in engine.model.parameters()]
    engine.step(random_batches(2, 2), lr=0.0)
    second = measure_memory(engine)
    # Two moments, and a count of updates per tensor.
    assert second.optimizer_state == 8 * count + 4 * len(before)
    assert all(map(torch.equal, engine.model.parameters(), before))
    assert all(parameter.grad is None for parameter in engine.model.parameters())


def test_activations_grow_with_the_batch_and_shrink_with_checkpointing():
    engine = new_engine()
    sizes = [
        measure_memory(engine, np.zeros((batch, 17), dtype=np.int64)).activations
        for batch in (2, 3, 4)
    ]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]
    recomputing = new_engine(checkpointing="full")
    fewer = measure_memory(recomputing, np.zeros((4, 17), dtype=np.int64)).activations
    model = engine.config.model
    per_token = 4 * (model.n_layer + 1) * model.d_model + 4 * model.vocab_size
    assert 4 * 16 * per_token <= fewer < sizes[2] / 2


@pytest.mark.parametrize("checkpointing", ["none", "full"])
@pytest.mark.parametrize(("precision", "recipe"), [("fp32", "fp32"), ("bf16", "amp-bf16")])
@pytest.mark.parametrize("changes", [{}, {"rope_layout": "interleaved", "tied_embeddings": True}])
def test_the_prediction_of_accounting_holds(checkpointing, precision, recipe, changes):
    engine = new_engine(checkpointing=checkpointing, model=replace(MODEL, **changes))
    engine.precision = precision
    predicted = estimate_activations(
        engine.config.model, 2, recipe=recipe, checkpointing=checkpointing
    ).saved
    found = measure_memory(engine)
    assert found.cast_weights == predicted["cast_weights"].value
    # A scalar for the mean of the loss, and the column of ids that is only a target.
    rest = predicted.value - found.cast_weights
    assert rest <= found.activations <= rest + 64


def test_one_linear_layer_by_hand():
    engine = new_engine()
    engine.model.blocks = torch.nn.ModuleList()
    model, tokens = engine.config.model, 2 * 16
    found = measure_memory(engine, np.zeros((2, 17), dtype=np.int64)).activations
    ids, targets = 2 * 17 * 8, tokens * 8
    stream = tokens * model.d_model * 4  # in, and normalised
    rms = tokens * 4
    log_probabilities = tokens * model.vocab_size * 4
    # Cross-entropy keeps its log-probabilities and a scalar; torch's norm may keep a product more.
    least = ids + 2 * stream + rms + log_probabilities
    assert least <= found <= least + targets + 2 * stream + 64


def test_cast_weights_of_autocast_are_a_bucket_of_their_own():
    engine = new_engine()
    assert measure_memory(engine).cast_weights == 0
    engine.precision = "bf16"
    found = measure_memory(engine)
    matrices = sum(
        module.weight.numel()
        for module in engine.model.modules()
        if isinstance(module, torch.nn.Linear)
    )
    assert found.cast_weights == 2 * matrices
    assert found.parameters == 4 * sum(p.numel() for p in engine.model.parameters())


def test_the_peak_of_the_process_is_plausible():
    peak = peak_memory_bytes(torch.device("cpu"))
    assert peak is None or 50 * 2**20 < peak < 2**40
    assert peak_memory_bytes(torch.device("meta")) is None
