"""Where memory goes in training: weights, gradients, optimizer, activations, logits.

``estimate_memory`` has more arguments and lines than is usual here: each is one setting of a run.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from lmfast.accounting.activations import ALONE, estimate_activations, plan_pass
from lmfast.accounting.checkpointing import Checkpointing
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.parameters import count_matmul_parameters
from lmfast.accounting.quantity import Page, Quantity, in_bytes, total
from lmfast.accounting.recipes import Recipe
from lmfast.accounting.saved import FP32, Attention, Pass
from lmfast.config import ModelConfig
from lmfast.config.checks import require


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate(Page):
    """Bytes on one device, by bucket, and the most that is held at one moment."""

    buckets: Quantity
    """All buckets, as if each were full at the same time."""
    peak: Quantity
    """The fullest of the moments in its parts."""

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        return self.buckets, self.peak

    def with_fragmentation(self, share: float) -> "MemoryEstimate":
        """The estimate with a bucket for what the allocator holds and cannot hand out.

        Args:
            share: What is lost, as a part of what is in use; to be measured (torch: reserved
                over allocated bytes, less 1). Without a measurement there is no such bucket.

        Raises:
            ConfigError: A negative share.
        """
        require(share >= 0, "fragmentation", share, "it must be at least 0")
        lost = in_bytes(
            "fragmentation", math.ceil(self.peak.known() * share), f"{share:g} of the peak, given"
        )
        parts = [*self.buckets.parts, lost]
        buckets = total("memory", parts, unit="byte", convention=self.buckets.convention)
        peak = replace(self.peak, value=self.peak.known() + lost.known())
        return MemoryEstimate(buckets=buckets, peak=peak)

    def to_dict(self) -> dict[str, Any]:
        """The estimate for JSON, bytes under named keys."""
        return {
            "buckets": {part.name: part.value for part in self.buckets.parts},
            "total_bytes": self.buckets.value,
            "peak_bytes": self.peak.value,
            "moments": {part.name: part.value for part in self.peak.parts},
            "convention": self.buckets.convention,
        }


def estimate_memory(
    model: ModelConfig,
    micro_batch_size: int = 1,
    context_length: int | None = None,
    recipe: str | Recipe = "fp32",
    checkpointing: str | Checkpointing = "none",
    *,
    attention: Attention = "sdpa",
    compiled: bool = False,
    grad_accum_steps: int = 1,
    parallelism: Parallelism = ALONE,
) -> MemoryEstimate:
    """The memory of one device that trains the model.

    Args:
        model: The shape of the model.
        micro_batch_size: Sequences in one forward pass on one device.
        context_length: Tokens of each; default: the model's own.
        recipe: A precision recipe; lmfast's trainer is ``fp32`` or ``amp-bf16``.
        checkpointing: ``none``, ``selective``, ``full``, ``every-K`` or ``first-K``.
        attention: ``sdpa`` (a fused kernel) or ``explicit``.
        compiled: Whether the model runs through ``torch.compile``.
        grad_accum_steps: With more than one, gradients are also held through the forward pass.
        parallelism: How the job is spread over devices.

    Returns:
        Buckets ``parameters``, ``gradients``, ``optimizer_state``, ``master_weights``,
        ``cast_weights``, ``activations`` (with what a checkpoint computes again), ``logits`` and
        ``communication``.

    Raises:
        ConfigError: A name that does not exist, or a size that is not positive or does not divide.
    """
    run = plan_pass(
        model, micro_batch_size, context_length, recipe, attention, compiled, parallelism
    )
    activations = estimate_activations(
        run.shape,
        run.batch,
        run.length,
        run.recipe,
        checkpointing,
        attention=attention,
        compiled=compiled,
        parallelism=parallelism,
    )
    state, cast, logits = _state(run), _cast_weights(run), _logits(run)
    saved, in_flight = activations.saved, activations.in_flight
    kept = int(sum(saved[name].known() for name in ("embedding", "blocks", "head")))
    stored = total(
        "activations",
        [
            in_bytes("kept", kept, "saved by the forward pass"),
            replace(in_flight["blocks"], name="computed_again"),
        ],
        unit="byte",
    )
    buffers = _communication(run)
    buckets = total(
        "memory",
        [*state, cast, stored, logits, buffers],
        unit="byte",
        convention=f"{run.recipe.name}: {run.recipe.meaning}; the device's context not counted",
    )
    gradients = int(buckets["gradients"].known())
    lasting = int(sum(part.known() for part in [*state, buffers])) - gradients
    forward = lasting + int(cast.known() + logits.known()) + kept
    return MemoryEstimate(
        buckets=buckets,
        peak=_peak(
            loss=forward + (gradients if grad_accum_steps > 1 else 0),
            backward=lasting + gradients + int(in_flight.known()),
            convention=buckets.convention,
        ),
    )


def _peak(*, loss: int, backward: int, convention: str) -> Quantity:
    return Quantity(
        name="peak",
        value=max(loss, backward),
        unit="byte",
        formula="the larger of its parts",
        convention=convention,
        parts=(
            in_bytes("loss", loss, "start of the backward pass: all activations, logits thrice"),
            in_bytes(
                "backward", backward, "end of the backward pass: all gradients, one checkpoint"
            ),
        ),
    )


def _state(run: Pass) -> list[Quantity]:
    """What lasts from step to step, each bucket sharded from its stage of ZeRO on."""
    recipe, spread = run.recipe, run.parallelism
    count = spread.parameters(run.shape)
    symbol = "N" if spread.tensor == 1 else f"N/{spread.tensor}"
    rows = (
        ("parameters", recipe.parameter, 3),
        ("gradients", recipe.gradient, 2),
        ("optimizer_state", recipe.moments * recipe.moment, 1),
        ("master_weights", recipe.master, 1),
    )
    buckets = []
    for name, width, stage in rows:
        share = spread.share(from_stage=stage)
        shown = f"{symbol} · {width}" + (f" / {spread.data} replicas" if share != 1 else "")
        buckets.append(in_bytes(name, math.ceil(count * width * share), shown))
    return buckets


def _cast_weights(run: Pass) -> Quantity:
    """Autocast keeps every cast weight until it ends, also those within checkpoints."""
    weights = int(count_matmul_parameters(run.shape).known()) if run.recipe.autocast else 0
    held = -(-weights // run.parallelism.tensor) * run.recipe.compute
    return in_bytes("cast_weights", held, "matmul weights · 2 under autocast")


def _logits(run: Pass) -> Quantity:
    numbers = -(-run.tokens * run.shape.vocab_size // run.parallelism.tensor)
    return total(
        "logits",
        [
            in_bytes("log_probabilities", numbers * FP32, "tokens · V · 4, saved"),
            in_bytes("gradients_of_logits", 2 * numbers * FP32, "tokens · V · (4 + 4), briefly"),
        ],
        unit="byte",
    )


def _communication(run: Pass) -> Quantity:
    """Buffers of data parallelism as torch has them: DDP's buckets, FSDP's gathered pieces.

    FSDP gathers the next piece while it computes with the present one, and holds the whole
    gradients of one piece until they are scattered.
    """
    spread, recipe = run.parallelism, run.recipe
    unit = spread.unit(run.shape)
    if spread.data == 1:
        return in_bytes("communication", 0, "0: one replica")
    if spread.zero == 3:
        size = 2 * unit * recipe.compute + unit * recipe.gradient
        return in_bytes("communication", size, f"2 pieces of {unit:,} gathered, gradients of one")
    if spread.zero == 2:
        return in_bytes("communication", unit * recipe.gradient, "gradients of the largest piece")
    size = spread.parameters(run.shape) * recipe.gradient
    return in_bytes("communication", size, "buckets as large as all gradients")
