"""The shape of the transformer. ``model`` builds it and ``accounting`` counts it."""

from dataclasses import dataclass
from typing import Any, Literal

from lmfast.config.checks import require, require_positive

# A field with this default is worked out from the others, and holds a value after construction.
DERIVED: Any = None

D_FF_MULTIPLE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A decoder-only transformer: pre-norm RMSNorm, rotary positions, SwiGLU, no biases.

    Raises:
        ConfigError: A value is out of range or contradicts another; the message names the key.
    """

    vocab_size: int
    """Ids the model knows: rows of the embedding and of the output head."""
    context_length: int = 1024
    """Most positions attended to."""
    d_model: int = 768
    """Width of the residual stream."""
    n_layer: int = 12
    n_head: int = 12
    """Query heads."""
    n_kv_head: int = DERIVED
    """Key and value heads; fewer than ``n_head`` is grouped-query attention. Default: as many."""
    d_head: int = DERIVED
    """Width of a head; even, since rotary positions turn pairs. Default: ``d_model / n_head``."""
    d_ff: int = DERIVED
    """Inner width of SwiGLU. Default: 8/3 ``d_model``, up to a multiple of 64 (as many parameters
    as a two-matrix feed-forward of 4 ``d_model``)."""
    rope_theta: float = 10_000.0
    rope_layout: Literal["interleaved", "half"] = "half"
    """Which features turn together: neighbours (the paper) or i and i + d_head/2 (NeoX, Llama)."""
    qk_norm: bool = False
    """RMSNorm of queries and keys, per head, before the rotation."""
    tied_embeddings: bool = False
    """One matrix for the embedding and the output head."""
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        require_positive(
            "model",
            vocab_size=self.vocab_size,
            context_length=self.context_length,
            d_model=self.d_model,
            n_layer=self.n_layer,
            n_head=self.n_head,
            rope_theta=self.rope_theta,
            norm_eps=self.norm_eps,
        )
        if self.n_kv_head is DERIVED:
            object.__setattr__(self, "n_kv_head", self.n_head)
        if self.d_head is DERIVED:
            accepted = f"it must be a multiple of n_head = {self.n_head}, or give d_head"
            require(self.d_model % self.n_head == 0, "model.d_model", self.d_model, accepted)
            object.__setattr__(self, "d_head", self.d_model // self.n_head)
        if self.d_ff is DERIVED:
            blocks = -(-8 * self.d_model // (3 * D_FF_MULTIPLE))
            object.__setattr__(self, "d_ff", blocks * D_FF_MULTIPLE)
        require_positive("model", n_kv_head=self.n_kv_head, d_head=self.d_head, d_ff=self.d_ff)
        accepted = f"it must divide n_head = {self.n_head}"
        require(self.n_head % self.n_kv_head == 0, "model.n_kv_head", self.n_kv_head, accepted)
        require(self.d_head % 2 == 0, "model.d_head", self.d_head, "it must be even")
