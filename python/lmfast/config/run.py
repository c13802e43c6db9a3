"""The settings of a training run: data, optimizer, schedule, and how it runs."""

from dataclasses import dataclass, field
from typing import Literal

from lmfast.config.checks import require, require_positive, require_text
from lmfast.config.model import ModelConfig

Precision = Literal["auto", "fp32", "bf16"]
Checkpointing = Literal["none", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConfig:
    """Which shards feed the run. Paths may be relative to the working directory."""

    train: str
    """Folder of token shards to train on."""
    held_out: str | None = None
    """Folder of token shards to evaluate on; without it the run does not evaluate."""

    def __post_init__(self) -> None:
        require_text("data.train", self.train)
        require_text("data.held_out", self.held_out or "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerConfig:
    """AdamW (Loshchilov and Hutter, 2019); only matrices decay."""

    peak_lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    weight_decay: float = 0.1
    grad_clip: float = 1.0
    """Greatest global gradient norm; ``inf`` leaves gradients as they are."""

    def __post_init__(self) -> None:
        require_positive("optimizer", peak_lr=self.peak_lr, eps=self.eps)
        in_range = all(0 <= beta < 1 for beta in self.betas)
        require(in_range, "optimizer.betas", self.betas, "each must be in [0, 1)")
        key, value = "optimizer.weight_decay", self.weight_decay
        require(value >= 0, key, value, "it must be at least 0")
        key, value = "optimizer.grad_clip", self.grad_clip
        require(value > 0, key, value, "it must be greater than 0; inf does not clip")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleConfig:
    """Linear warm-up to the peak learning rate, then a cosine down to ``min_lr_ratio`` of it."""

    steps: int
    """Optimizer updates of the whole run."""
    warmup_steps: int = 0
    min_lr_ratio: float = 0.1

    def __post_init__(self) -> None:
        require_positive("schedule", steps=self.steps)
        warmup, ratio = self.warmup_steps, self.min_lr_ratio
        accepted = f"it must be in 0..steps = {self.steps}"
        require(0 <= warmup <= self.steps, "schedule.warmup_steps", warmup, accepted)
        require(0 <= ratio <= 1, "schedule.min_lr_ratio", ratio, "it must be in [0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """A whole training run; what ``lmfast train`` reads from TOML."""

    model: ModelConfig
    data: DataConfig
    schedule: ScheduleConfig
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    out: str = "runs/default"
    """Folder of the run: config, metrics, checkpoints."""
    seed: int = 0
    """Fixes the initial weights and the order of the data."""
    micro_batch_size: int = 8
    """Sequences in one forward pass on one device."""
    grad_accum_steps: int = 1
    """Forward-backward passes per optimizer update."""
    precision: Precision = "auto"
    """``bf16`` is autocast with fp32 weights; ``auto`` takes it where the device is fast at it."""
    checkpointing: Checkpointing = "none"
    """``full`` keeps only the input of each block and recomputes the rest in the backward pass."""
    compile: bool = False
    """Run the model through ``torch.compile``."""
    device: str = "auto"
    """``auto``, or a torch device such as ``cpu``, ``cuda`` or ``mps``."""
    log_every: int = 10
    """Steps between lines of ``metrics.jsonl``."""
    eval_every: int = 200
    """Steps between evaluations on the held-out shards; the last step always evaluates."""
    eval_batches: int = 20
    """Micro-batches per evaluation."""
    save_every: int = 200
    """Steps between checkpoints; the last step always saves."""
    keep_checkpoints: int = 2
    """Newest checkpoints to keep."""

    def __post_init__(self) -> None:
        require_positive(
            "run",
            micro_batch_size=self.micro_batch_size,
            grad_accum_steps=self.grad_accum_steps,
            log_every=self.log_every,
            eval_every=self.eval_every,
            eval_batches=self.eval_batches,
            save_every=self.save_every,
            keep_checkpoints=self.keep_checkpoints,
        )
        require_text("run.out", self.out)
        require(0 <= self.seed < 2**63, "run.seed", self.seed, "it must be in 0..2^63 - 1")

    @property
    def sequences_per_step(self) -> int:
        """Sequences per optimizer update on one device."""
        return self.micro_batch_size * self.grad_accum_steps

    @property
    def tokens_per_step(self) -> int:
        """Tokens per optimizer update on one device."""
        return self.sequences_per_step * self.model.context_length
