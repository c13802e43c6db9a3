"""The shape of a transformer as far as its cost depends on it, wider than what lmfast builds.

Every accounting function takes a ``ModelConfig`` or an ``Architecture``.
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal

from lmfast.config import ModelConfig
from lmfast.config.checks import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture(ModelConfig):
    """A decoder-only transformer of any published form; the defaults are lmfast's own form.

    Being a ``ModelConfig`` with more fields, it takes one over without loss.

    Raises:
        ConfigError: A value is out of range or contradicts another; the message names the key.
    """

    positions: Literal["rotary", "learned"] = "rotary"
    """Learned positions are a matrix of ``context_length`` rows that is added to the embedding."""
    feed_forward: Literal["swiglu", "gelu"] = "swiglu"
    """Three matrices with a gate, or two with a GELU (the same cost as ReLU's) between them."""
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"
    """Layer norm also has a bias where ``bias`` is set."""
    bias: bool = False
    """A bias on every linear layer but the head, and on layer norms."""
    sliding_window: int | None = None
    """Positions a windowed layer looks back on, its own included; ``None`` is full attention."""
    full_attention_every: int | None = None
    """With a window, one layer in this many attends fully; ``None`` windows all layers."""
    n_expert: int = 1
    """Feed-forwards per layer of which a router takes ``n_active_expert``; 1 is a dense model."""
    n_active_expert: int = 1
    """Routed experts that a token passes through."""
    n_shared_expert: int = 0
    """Experts that every token passes through besides the routed ones."""

    def __post_init__(self) -> None:
        # slots=True makes a new class, which the argument-free super() does not know.
        ModelConfig.__post_init__(self)
        window, every = self.sliding_window, self.full_attention_every
        require(window is None or window > 0, "model.sliding_window", window, "it must be above 0")
        key = "model.full_attention_every"
        require(every is None or every > 0, key, every, "it must be above 0")
        require(every is None or window is not None, key, every, "it needs sliding_window")
        key = "model.n_expert"
        require(self.n_expert > 0, key, self.n_expert, "it must be above 0")
        key, found = "model.n_active_expert", self.n_active_expert
        require(0 < found <= self.n_expert, key, found, f"it must be in 1..{self.n_expert}")
        key, found = "model.n_shared_expert", self.n_shared_expert
        accepted = "it must be at least 0, and 0 in a model without experts"
        require(found == 0 or (found > 0 and self.n_expert > 1), key, found, accepted)

    @property
    def d_query(self) -> int:
        """Width of all queries together."""
        return self.n_head * self.d_head

    @property
    def d_key(self) -> int:
        """Width of all keys together, and of all values."""
        return self.n_kv_head * self.d_head

    @property
    def has_router(self) -> bool:
        """Whether tokens choose among experts."""
        return self.n_expert > 1

    @property
    def experts_per_token(self) -> int:
        """Feed-forwards that one token passes through in a layer."""
        return self.n_active_expert + self.n_shared_expert

    @property
    def n_full_layer(self) -> int:
        """Layers that attend to the whole context."""
        if self.sliding_window is None:
            return self.n_layer
        return self.n_layer // self.full_attention_every if self.full_attention_every else 0

    def attended(self, context_length: int) -> tuple[tuple[int, int], ...]:
        """Groups of layers as (number of layers, most positions that a token attends to)."""
        if self.sliding_window is None or self.sliding_window >= context_length:
            return ((self.n_layer, context_length),)
        full = self.n_full_layer
        groups = ((full, context_length), (self.n_layer - full, self.sliding_window))
        return tuple(group for group in groups if group[0])


def as_architecture(model: ModelConfig) -> Architecture:
    """The same model as an ``Architecture``; every field of the ``ModelConfig`` is kept."""
    if isinstance(model, Architecture):
        return model
    return Architecture(**dataclasses.asdict(model))
