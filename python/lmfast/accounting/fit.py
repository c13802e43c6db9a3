"""What fits: the largest micro-batch, and what checkpointing buys and costs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lmfast.accounting.activations import estimate_activations
from lmfast.accounting.architecture import as_architecture
from lmfast.accounting.flops import AttentionKernel, count_flops
from lmfast.accounting.memory import MemoryEstimate
from lmfast.accounting.quantity import Quantity
from lmfast.accounting.recipes import Recipe
from lmfast.accounting.saved import Attention
from lmfast.config import ModelConfig
from lmfast.config.checks import require_positive

LARGEST_SEARCHED = 2**20
"""No device holds more sequences than this; it ends the search for models of no size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """One checkpointing policy: the bytes it holds and the FLOPs it adds."""

    policy: str
    activation_bytes: int
    """Kept by the forward pass, and computed again at one time."""
    recompute_share: float
    """FLOPs computed again over FLOPs of a step without checkpointing."""
    best: bool
    """No other policy is better in one and at least as good in the other."""

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {
            "policy": self.policy,
            "activation_bytes": self.activation_bytes,
            "recompute_share": self.recompute_share,
            "best": self.best,
        }


def largest_micro_batch(
    memory: float | None, estimate: Callable[[int], MemoryEstimate]
) -> Quantity:
    """The most sequences in one forward pass whose peak fits; 0 when not even one does.

    Args:
        memory: Bytes of the device; ``None`` (unknown) gives an unknown batch.
        estimate: The memory for a micro-batch size, such as
            ``lambda batch: estimate_memory(model, batch, recipe="bf16")``.
    """
    value = None if memory is None else _largest(memory, estimate)
    shown = "unknown memory" if memory is None else f"{memory:,.0f} B"
    return Quantity(
        name="largest_micro_batch",
        value=value,
        unit="sequences",
        formula=f"most whose peak is within {shown}",
        convention=estimate(1).buckets.convention,
    )


def _largest(memory: float, estimate: Callable[[int], MemoryEstimate]) -> int:
    def fits(batch: int) -> bool:
        return estimate(batch).peak.known() <= memory

    if not fits(1):
        return 0
    high = 2
    while high < LARGEST_SEARCHED and fits(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def checkpointing_frontier(
    model: ModelConfig,
    micro_batch_size: int = 1,
    context_length: int | None = None,
    recipe: str | Recipe = "fp32",
    *,
    attention: Attention = "sdpa",
) -> tuple[FrontierPoint, ...]:
    """Every policy by falling memory, each with its price in compute.

    ``first-K`` pays for as much memory as it frees. ``every-K`` keeps fewer inputs and holds more
    in flight: it beats ``full`` where K inputs are larger than what a block saves (Chen et al.,
    2016).
    """
    shape = as_architecture(model)
    require_positive("frontier", micro_batch_size=micro_batch_size)
    policies = ["none", "selective", "full"]
    policies += [f"first-{blocks}" for blocks in range(1, shape.n_layer)]
    policies += [f"every-{blocks}" for blocks in range(2, shape.n_layer + 1)]
    costs = []
    for policy in policies:
        arguments = (shape, micro_batch_size, context_length, recipe, policy)
        held = estimate_activations(*arguments, attention=attention)
        size = held.saved.known() + held.in_flight.known()
        kernel: AttentionKernel = "explicit" if attention == "explicit" else "flash"
        counted = count_flops(
            shape, context_length, convention="hardware", checkpointing=policy, attention=kernel
        )
        again = counted.recompute.known()
        costs.append((policy, int(size), again / (counted.training.known() - again)))
    points = [
        FrontierPoint(
            policy=policy,
            activation_bytes=size,
            recompute_share=share,
            best=not any(
                other <= size and price <= share and (other, price) != (size, share)
                for _, other, price in costs
            ),
        )
        for policy, size, share in costs
    ]
    return tuple(sorted(points, key=lambda point: -point.activation_bytes))
