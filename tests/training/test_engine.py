import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lmfast.config import DataConfig, OptimizerConfig, RunConfig, ScheduleConfig
from lmfast.errors import DivergenceError
from lmfast.training.engine import Engine
from tiny_runs import MODEL

CONFIG = RunConfig(
    model=MODEL,
    data=DataConfig(train="nowhere"),
    schedule=ScheduleConfig(steps=1),
    micro_batch_size=2,
    grad_accum_steps=2,
)


def new_engine(**changes) -> Engine:
    return Engine(replace(CONFIG, **changes), torch.device("cpu"), "fp32")


def random_batches(count: int, size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(257, size=(count, size, 17))


def test_a_step_is_torchs_own_on_the_whole_batch():
    batches = random_batches(2, 2)
    engine = new_engine()
    model = copy.deepcopy(engine.model)
    result = engine.step(batches, lr=0.01)
    ids = torch.from_numpy(batches.reshape(4, 17))
    logits = model(ids[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    assert result.loss == pytest.approx(loss.item(), rel=1e-5)
    assert result.grad_norm == pytest.approx(norm.item(), rel=1e-4)
    # AdamW's first update written out: unbiased, m / (sqrt(v) + eps) is g / (|g| + eps).
    for ours, theirs in zip(engine.model.parameters(), model.parameters(), strict=True):
        gradient = theirs.grad * min(1, 1 / norm.item())
        decayed = theirs * (1 - 0.01 * (0.1 if theirs.ndim >= 2 else 0.0))
        expected = decayed - 0.01 * gradient / (gradient.abs() + 1e-8)
        settled = gradient.abs() > 1e-6
        torch.testing.assert_close(ours[settled], expected[settled], rtol=1e-3, atol=1e-5)


def test_accumulation_changes_nothing_but_rounding():
    ids = random_batches(1, 8)
    engines = [
        new_engine(micro_batch_size=8 // steps, grad_accum_steps=steps) for steps in (1, 2, 8)
    ]
    results = [
        engine.step(ids.reshape(engine.config.grad_accum_steps, -1, 17), lr=0.01)
        for engine in engines
    ]
    for result in results[1:]:
        assert result.loss == pytest.approx(results[0].loss, rel=1e-6)
        assert result.grad_norm == pytest.approx(results[0].grad_norm, rel=1e-5)


def test_matrices_decay_and_norms_do_not():
    engine = new_engine(optimizer=OptimizerConfig(weight_decay=0.3))
    decay = {
        parameter: group["weight_decay"]
        for group in engine.optimizer.param_groups
        for parameter in group["params"]
    }
    assert len(decay) == len(list(engine.model.parameters()))
    for name, parameter in engine.model.named_parameters():
        assert decay[parameter] == (0.0 if "norm" in name else 0.3), name


def test_clipping_bounds_the_gradient_and_inf_does_not():
    norms = []
    for limit in (1e-3, math.inf):
        engine = new_engine(optimizer=OptimizerConfig(grad_clip=limit))
        result = engine.step(random_batches(2, 2), lr=0.0)
        gradients = [parameter.grad.norm() for parameter in engine.model.parameters()]
        norms.append((result.grad_norm, torch.stack(gradients).norm().item()))
    assert norms[0][0] == norms[1][0] == pytest.approx(norms[1][1], rel=1e-5)
    assert norms[0][1] == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_before_the_update(value):
    engine = new_engine()
    with torch.no_grad():
        engine.model.head.weight[3, 0] = value
    before = copy.deepcopy(engine.model.state_dict())
    with pytest.raises(DivergenceError, match="gradient norm"):
        engine.step(random_batches(2, 2), lr=0.01)
    for name, tensor in engine.model.state_dict().items():
        assert torch.equal(tensor.nan_to_num(9), before[name].nan_to_num(9))


def test_bf16_computes_near_fp32_with_weights_in_fp32():
    losses = {}
    for precision in ("fp32", "bf16"):
        engine = new_engine()
        engine.precision = precision
        losses[precision] = engine.step(random_batches(2, 2), lr=0.01).loss
        assert all(parameter.dtype == torch.float32 for parameter in engine.model.parameters())
    assert losses["bf16"] != losses["fp32"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=1e-2)
