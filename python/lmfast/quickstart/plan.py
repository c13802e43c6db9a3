"""The model and the run that fit a budget of time on this machine."""

from dataclasses import dataclass, replace
from pathlib import Path

from lmfast.accounting import count_matmul_parameters
from lmfast.config import DataConfig, ModelConfig, OptimizerConfig, RunConfig, ScheduleConfig

VOCAB_SIZE = 4096
CONTEXT_LENGTH = 256
SHAPES = ((128, 4), (192, 4), (256, 6), (384, 8), (512, 8), (768, 12))
"""Width and layers, small to large; heads are 64 wide, or 32 in the smallest."""
TOKENS_PER_PARAMETER = 20
"""Compute-optimal, about (Hoffmann et al., 2022)."""
EXPECTED_MFU = 0.4
SMALLEST_STEPS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What there is to spend."""

    seconds: float
    """Of training."""
    peak_flops: float
    """FLOP/s that matrix products reach on the device."""


def choose_model(vocab_size: int, budget: Budget) -> ModelConfig:
    """The largest shape that the budget trains well, or the smallest shape if there is none.

    Well is ``TOKENS_PER_PARAMETER``: with C = 6·N·D and D = 20·N, N is the square root of C / 120.
    """
    flops = budget.seconds * budget.peak_flops * EXPECTED_MFU
    affordable = (flops / (6 * TOKENS_PER_PARAMETER)) ** 0.5
    models = [_model(vocab_size, *shape) for shape in SHAPES]
    fitting = [model for model in models if count_matmul_parameters(model).known() <= affordable]
    return fitting[-1] if fitting else models[0]


def _model(vocab_size: int, d_model: int, n_layer: int) -> ModelConfig:
    n_head = max(4, d_model // 64)
    return ModelConfig(
        vocab_size=vocab_size,
        context_length=CONTEXT_LENGTH,
        d_model=d_model,
        n_layer=n_layer,
        n_head=n_head,
        n_kv_head=n_head // 2,
        qk_norm=True,
        tied_embeddings=True,
    )


def plan_run(model: ModelConfig, data: Path, out: Path, on_gpu: bool) -> RunConfig:
    """The settings of the run, all but the number of steps."""
    return RunConfig(
        model=model,
        data=DataConfig(train=str(data / "train"), held_out=str(data / "held_out")),
        schedule=ScheduleConfig(steps=SMALLEST_STEPS),
        optimizer=OptimizerConfig(peak_lr=4e-3 if model.d_model <= 256 else 1e-3),
        out=str(out),
        micro_batch_size=32 if on_gpu else 4,
        log_every=10,
        eval_every=10**9,
        eval_batches=16 if on_gpu else 32,
        save_every=10**9,
        keep_checkpoints=1,
    )


def with_steps(config: RunConfig, steps: int) -> RunConfig:
    """The run with its schedule set: a twentieth of the steps warms up."""
    steps = max(SMALLEST_STEPS, steps)
    return replace(
        config, schedule=ScheduleConfig(steps=steps, warmup_steps=steps // 20, min_lr_ratio=0.05)
    )
