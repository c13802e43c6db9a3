"""Which activations are kept for the backward pass, and which are computed again in it."""

import re
from dataclasses import dataclass
from typing import Literal

from lmfast.config.checks import require

ACCEPTED = (
    "it must be none, selective, full, every-K (K blocks to a checkpoint) "
    "or first-K (the first K blocks, each by itself)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointing:
    """A policy; ``parse_checkpointing`` makes one from its name."""

    kind: Literal["none", "selective", "full"]
    """``selective`` recomputes the attention between projections (Korthikanti et al., 2022)."""
    blocks: int = 1
    """Blocks to a checkpoint, for ``full``."""
    first: int | None = None
    """How many blocks from the start are checkpointed, for ``full``; ``None`` is all."""

    def __str__(self) -> str:
        if self.first is not None:
            return f"first-{self.first}"
        return self.kind if self.blocks == 1 else f"every-{self.blocks}"

    def covered(self, n_layer: int) -> int:
        """Blocks whose inside is not kept."""
        if self.kind != "full":
            return 0
        return n_layer if self.first is None else min(self.first, n_layer)

    def groups(self, n_layer: int) -> int:
        """Checkpoints in a model of ``n_layer`` layers; the last may hold fewer blocks."""
        return -(-self.covered(n_layer) // self.blocks)


def parse_checkpointing(policy: str | Checkpointing) -> Checkpointing:
    """The policy called ``none``, ``selective``, ``full``, ``every-K`` or ``first-K``.

    ``full`` is ``every-1``: it keeps the input of each block. ``first-K`` keeps everything of the
    blocks after the K-th, for memory that is short by a part only.

    Raises:
        ConfigError: There is no such policy.
    """
    if isinstance(policy, Checkpointing):
        return policy
    numbered = re.fullmatch(r"(every|first)-([1-9]\d*)", policy)
    if numbered:
        count = int(numbered[2])
        if numbered[1] == "every":
            return Checkpointing(kind="full", blocks=count)
        return Checkpointing(kind="full", first=count)
    require(policy in ("none", "selective", "full"), "checkpointing", policy, ACCEPTED)
    return Checkpointing(kind=policy)  # type: ignore[arg-type]
