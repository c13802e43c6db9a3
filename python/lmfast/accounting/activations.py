"""How many bytes the backward pass needs of the forward pass, with and without checkpointing."""

from dataclasses import dataclass
from typing import Any

from lmfast.accounting.architecture import as_architecture
from lmfast.accounting.checkpointing import Checkpointing, parse_checkpointing
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.parameters import count_matmul_parameters
from lmfast.accounting.quantity import Page, Quantity, in_bytes, total
from lmfast.accounting.recipes import Recipe, find_recipe
from lmfast.accounting.saved import (
    FP32,
    Attention,
    Pass,
    SavedTensor,
    block_input,
    block_tensors,
    cast_weight_bytes,
    embedding_tensors,
    head_tensors,
    total_bytes,
)
from lmfast.config import ModelConfig
from lmfast.config.checks import require, require_positive

ALONE = Parallelism()
CONVENTION = "tensors autograd saves, each storage once, parameters and buffers left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationEstimate(Page):
    """What one micro-batch keeps for its backward pass."""

    saved: Quantity
    """All that is held at the end of the forward pass; what saved-tensor hooks count."""
    in_flight: Quantity
    """What the backward pass computes again for one checkpoint, and also holds."""
    block: tuple[SavedTensor, ...]
    """The table of what one block saves when nothing is computed again."""

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        return self.saved, self.in_flight

    def to_dict(self) -> dict[str, Any]:
        """The estimate for JSON, bytes under named keys."""
        return {
            "saved_bytes": self.saved.value,
            "in_flight_bytes": self.in_flight.value,
            "parts": {part.name: part.value for part in self.saved.parts},
            "block": [
                {"module": row.module, "name": row.name, "bytes": row.bytes} for row in self.block
            ],
        }


def estimate_activations(
    model: ModelConfig,
    micro_batch_size: int = 1,
    context_length: int | None = None,
    recipe: str | Recipe = "fp32",
    checkpointing: str | Checkpointing = "none",
    *,
    attention: Attention = "sdpa",
    compiled: bool = False,
    parallelism: Parallelism = ALONE,
) -> ActivationEstimate:
    """The bytes that autograd saves for one micro-batch.

    Args:
        model: The shape of the model.
        micro_batch_size: Sequences in the micro-batch.
        context_length: Tokens of each; default: the model's own.
        recipe: A precision recipe, by name or whole.
        checkpointing: ``none``, ``selective``, ``full``, ``every-K`` or ``first-K``.
        attention: ``sdpa`` (a fused kernel, no square of scores) or ``explicit``.
        compiled: Whether the model runs through ``torch.compile``.
        parallelism: How the job is spread; the bytes are those of one device.

    Returns:
        ``saved`` has the parts ``embedding``, ``blocks``, ``head``, ``logits`` and
        ``cast_weights`` (the bf16 copies of weights that autocast makes).

    Raises:
        ConfigError: A recipe or policy that does not exist, or a size that is not positive.
    """
    run = plan_pass(
        model, micro_batch_size, context_length, recipe, attention, compiled, parallelism
    )
    policy = parse_checkpointing(checkpointing)
    layers = run.shape.n_layer
    block = block_tensors(run)
    whole, core = total_bytes(run, block), total_bytes(run, (row for row in block if row.core))
    kept, again, said = layers * whole, 0, f"{layers} blocks · {whole:,} B"
    if policy.kind == "selective":
        kept, again = layers * (whole - core), core
        said = f"{layers} blocks · ({whole:,} B - {core:,} B between the projections)"
    elif policy.kind == "full":
        entry, groups = total_bytes(run, [block_input(run)]), policy.groups(layers)
        open_blocks = layers - policy.covered(layers)
        kept = groups * entry + open_blocks * whole
        said = f"{groups} checkpoints · {entry:,} B"
        said += f" + {open_blocks} blocks · {whole:,} B" if open_blocks else ""
        # A norm that computes in the stream's own width saves the checkpoint itself.
        own_width = run.recipe.residual == FP32 or run.shape.norm == "layernorm" or run.compiled
        shared = entry if own_width else 0
        again = min(policy.blocks, layers) * whole - shared
    return ActivationEstimate(
        saved=_saved(run, policy, kept, said), in_flight=_in_flight(run, policy, again), block=block
    )


def plan_pass(
    model: ModelConfig,
    micro_batch_size: int,
    context_length: int | None,
    recipe: str | Recipe,
    attention: Attention,
    compiled: bool,
    parallelism: Parallelism,
) -> Pass:
    """The micro-batch that the arguments describe, checked."""
    shape = as_architecture(model)
    length = shape.context_length if context_length is None else context_length
    require_positive("memory", micro_batch_size=micro_batch_size, context_length=length)
    require(attention in ("sdpa", "explicit"), "attention", attention, "sdpa or explicit")
    parallelism.check(shape)
    return Pass(
        shape=shape,
        recipe=find_recipe(recipe),
        batch=micro_batch_size,
        length=length,
        attention=attention,
        compiled=compiled,
        parallelism=parallelism,
    )


def _matmul_parameters_per_block(run: Pass) -> int:
    counted = count_matmul_parameters(run.shape)
    weights = counted["attention"].known() + counted["feed_forward"].known()
    return int(weights) // run.shape.n_layer


def _saved(run: Pass, policy: Checkpointing, blocks: int, said: str) -> Quantity:
    head = head_tensors(run)
    logits = [row for row in head if row.module == "loss"]
    cast = run.shape.d_model * run.shape.vocab_size
    open_blocks = run.shape.n_layer - policy.covered(run.shape.n_layer)
    cast += open_blocks * _matmul_parameters_per_block(run)
    return total(
        "activations",
        [
            in_bytes("embedding", total_bytes(run, embedding_tensors(run)), "ids, 8 bytes each"),
            in_bytes("blocks", blocks, said),
            in_bytes(
                "head",
                total_bytes(run, head) - total_bytes(run, logits),
                "last norm and input of head",
            ),
            in_bytes(
                "logits", total_bytes(run, logits), "tokens · (4·V log-probabilities + 8 targets)"
            ),
            in_bytes(
                "cast_weights",
                cast_weight_bytes(run, cast),
                "2 bytes per matmul weight that is not in a checkpoint, under autocast",
            ),
        ],
        unit="byte",
        convention=CONVENTION,
    )


def _in_flight(run: Pass, policy: Checkpointing, again: int) -> Quantity:
    weights = 0
    if policy.kind == "full":
        blocks = min(policy.blocks, run.shape.n_layer)
        weights = cast_weight_bytes(run, blocks * _matmul_parameters_per_block(run))
    return total(
        "in_flight",
        [
            in_bytes("blocks", again, f"what {policy} checkpointing computes again at a time"),
            in_bytes("cast_weights", weights, "autocast copies of the weights of those blocks"),
        ],
        unit="byte",
        convention=CONVENTION,
    )
