"""Where memory goes in training: weights, gradients, optimizer, activations, logits."""

from dataclasses import dataclass
from typing import Any

from lmfast.accounting.activations import estimate_activations, plan_pass
from lmfast.accounting.checkpointing import Checkpointing
from lmfast.accounting.parameters import count_matmul_parameters, count_parameters
from lmfast.accounting.quantity import Quantity, total
from lmfast.accounting.recipes import Recipe, find_moments
from lmfast.accounting.saved import FP32, Attention, Pass
from lmfast.config import ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Bytes on one device, by bucket, and the most that is held at one moment."""

    buckets: Quantity
    """All buckets, as if each were full at the same time."""
    peak: Quantity
    """The fullest of the moments in its parts."""

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
    optimizer: str = "adamw",
    grad_accum_steps: int = 1,
) -> MemoryEstimate:
    """The memory of one device that trains the model.

    Args:
        model: The shape of the model.
        micro_batch_size: Sequences in one forward pass.
        context_length: Tokens of each; default: the model's own.
        recipe: A precision recipe; lmfast's trainer is ``fp32`` or ``amp-bf16``.
        checkpointing: ``none``, ``selective``, ``full`` or ``every-K``.
        attention: ``sdpa`` (a fused kernel) or ``explicit``.
        optimizer: ``adamw``, ``momentum`` or ``sgd``.
        grad_accum_steps: With more than one, gradients are held through the forward pass, too.

    Returns:
        Buckets ``parameters``, ``gradients``, ``optimizer_state``, ``master_weights``,
        ``cast_weights``, ``activations`` (with what a checkpoint computes again) and ``logits``.

    Raises:
        ConfigError: A name that does not exist, or a size that is not positive.
    """
    run = plan_pass(model, micro_batch_size, context_length, recipe, attention)
    arguments = (run.shape, run.batch, run.length, run.recipe, checkpointing)
    activations = estimate_activations(*arguments, attention=attention)
    held = _state(run, find_moments(optimizer))
    cast = _cast_weights(run)
    logits = _logits(run)
    saved, in_flight = activations.saved, activations.in_flight
    kept = int(sum(saved[name].known() for name in ("embedding", "blocks", "head")))
    again = int(in_flight["blocks"].known())
    stored = total(
        "activations",
        [_bytes("kept", kept, "saved by the forward pass"), in_flight["blocks"]],
        unit="byte",
    )
    buckets = total(
        "memory",
        [*held, cast, stored, logits],
        unit="byte",
        convention=f"{run.recipe.name}: {run.recipe.meaning}; the allocator's own overhead and the "
        "device's context are not counted",
    )
    lasting = int(sum(part.known() for part in held if part.name != "gradients"))
    gradients = int(held[1].known())
    loss = lasting + int(cast.known() + logits.known()) + kept
    loss += gradients if grad_accum_steps > 1 else 0
    backward = lasting + gradients + again + int(in_flight["cast_weights"].known())
    moments = (
        _bytes("loss", loss, "start of the backward pass: all activations, logits three times"),
        _bytes("backward", backward, "end of the backward pass: all gradients, one checkpoint"),
    )
    peak = Quantity(
        name="peak",
        value=max(loss, backward),
        unit="byte",
        formula="the larger of its parts",
        convention=buckets.convention,
        parts=moments,
    )
    return MemoryEstimate(buckets=buckets, peak=peak)


def _bytes(name: str, value: int, formula: str) -> Quantity:
    return Quantity(name=name, value=value, unit="byte", formula=formula)


def _state(run: Pass, moments: int) -> list[Quantity]:
    recipe, count = run.recipe, int(count_parameters(run.shape).known())
    return [
        _bytes("parameters", count * recipe.parameter, f"N · {recipe.parameter}"),
        _bytes("gradients", count * recipe.gradient, f"N · {recipe.gradient}"),
        _bytes(
            "optimizer_state", count * moments * recipe.moment, f"N · {moments}·{recipe.moment}"
        ),
        _bytes("master_weights", count * recipe.master, f"N · {recipe.master}"),
    ]


def _cast_weights(run: Pass) -> Quantity:
    """Autocast keeps every cast weight until it ends, also those within checkpoints."""
    weights = int(count_matmul_parameters(run.shape).known()) if run.recipe.autocast else 0
    return _bytes("cast_weights", weights * run.recipe.compute, "matmul weights · 2 under autocast")


def _logits(run: Pass) -> Quantity:
    numbers = run.tokens * run.shape.vocab_size
    return total(
        "logits",
        [
            _bytes("log_probabilities", numbers * FP32, "tokens · V · 4, saved"),
            _bytes("gradients_of_logits", 2 * numbers * FP32, "tokens · V · (4 + 4), in passing"),
        ],
        unit="byte",
    )
