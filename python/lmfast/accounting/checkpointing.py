"""Which activations are kept for the backward pass, and which are computed again in it."""

import re
from dataclasses import dataclass
from typing import Literal

from lmfast.config.checks import require

ACCEPTED = "it must be none, selective, full or every-K (K blocks between checkpoints)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointing:
    """A policy; ``parse_checkpointing`` makes one from its name."""

    kind: Literal["none", "selective", "full"]
    """``selective`` recomputes the attention between projections (Korthikanti et al., 2022)."""
    blocks: int = 1
    """Blocks between kept inputs, for ``full``."""

    def __str__(self) -> str:
        return self.kind if self.kind != "full" or self.blocks == 1 else f"every-{self.blocks}"

    def groups(self, n_layer: int) -> int:
        """Checkpoints in a model of so many layers; the last may hold fewer blocks."""
        return -(-n_layer // self.blocks) if self.kind == "full" else 0


def parse_checkpointing(policy: "str | Checkpointing") -> Checkpointing:
    """The policy called ``none``, ``selective``, ``full`` or ``every-K``.

    ``full`` is ``every-1``: it keeps the input of each block.

    Raises:
        ConfigError: There is no such policy.
    """
    if isinstance(policy, Checkpointing):
        return policy
    every = re.fullmatch(r"every-([1-9]\d*)", policy)
    if every:
        return Checkpointing(kind="full", blocks=int(every[1]))
    require(policy in ("none", "selective", "full"), "checkpointing", policy, ACCEPTED)
    return Checkpointing(kind=policy)  # type: ignore[arg-type]
