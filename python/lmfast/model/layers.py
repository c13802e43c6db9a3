"""The parts of a transformer block.

Shapes in names: B batch, T positions of this call, S positions attended to, D d_model, F d_ff,
H query heads, K key/value heads, E d_head, P pairs of features that turn together (E / 2).
Parameters are left unset here; ``initialise`` fills them, all in one place.
"""

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn
from torch.nn.utils import skip_init

from lmfast.config import ModelConfig
from lmfast.model.cache import LayerCache

# Pairs of features: neighbours as in the paper, or the two halves as in GPT-NeoX and Llama.
PAIRS = {
    "interleaved": ("... (pair two) -> two ... pair", "two ... pair -> ... (pair two)"),
    "half": ("... (two pair) -> two ... pair", "two ... pair -> ... (two pair)"),
}


def linear(d_in: int, d_out: int) -> nn.Linear:
    """A map without bias whose weight is left unset, without a draw from torch's generator."""
    layer: nn.Linear = skip_init(nn.Linear, d_in, d_out, bias=False)  # type: ignore[no-untyped-call]
    return layer


def embedding(rows: int, width: int) -> nn.Embedding:
    """A table whose weight is left unset, as in ``linear``."""
    table: nn.Embedding = skip_init(nn.Embedding, rows, width)  # type: ignore[no-untyped-call]
    return table


class RMSNorm(nn.Module):
    """Divide by the root mean square over the last axis (Zhang and Sennrich, 2019, eq. 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised, same shape and dtype; torch takes the mean of squares in fp32."""
        return F.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), self.eps)


class Rotary(nn.Module):
    """Turn pairs of features by an angle proportional to the position (Su et al., 2021, eq. 34).

    Pair p turns by position / theta^(2p / d_head). Angles are kept for every position, in fp32:
    at position 4096 a bf16 angle would be off by whole radians.
    """

    cos_SP: Tensor
    sin_SP: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        exponent_P = torch.arange(0, config.d_head, 2, dtype=torch.float64) / config.d_head
        position_S = torch.arange(config.context_length, dtype=torch.float64)
        angle_SP = torch.outer(position_S, config.rope_theta**-exponent_P)
        # Worked out anew wherever the model is built, so no part of its weights.
        self.register_buffer("cos_SP", angle_SP.cos().float(), persistent=False)
        self.register_buffer("sin_SP", angle_SP.sin().float(), persistent=False)
        self.split, self.join = PAIRS[config.rope_layout]

    def forward(self, x_BHTE: Tensor, first: int) -> Tensor:
        """``x`` turned, its T positions starting at position ``first`` of the sequence."""
        cos_TP = self.cos_SP[first : first + x_BHTE.shape[-2]]
        sin_TP = self.sin_SP[first : first + x_BHTE.shape[-2]]
        a_BHTP, b_BHTP = rearrange(x_BHTE, self.split, two=2)
        turned = torch.stack((a_BHTP * cos_TP - b_BHTP * sin_TP, b_BHTP * cos_TP + a_BHTP * sin_TP))
        return rearrange(turned, self.join).to(x_BHTE.dtype)


class Attention(nn.Module):
    """Causal attention with grouped queries (Ainslie et al., 2023): H / K heads share a key."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        query_width = config.n_head * config.d_head
        kv_width = config.n_kv_head * config.d_head
        self.query = linear(config.d_model, query_width)
        self.key = linear(config.d_model, kv_width)
        self.value = linear(config.d_model, kv_width)
        self.output = linear(query_width, config.d_model)
        self.d_head = config.d_head
        self.grouped = config.n_kv_head < config.n_head
        norms = config.qk_norm
        self.query_norm = RMSNorm(config.d_head, config.norm_eps) if norms else nn.Identity()
        self.key_norm = RMSNorm(config.d_head, config.norm_eps) if norms else nn.Identity()

    def forward(self, x_BTD: Tensor, rotary: Rotary, cache: LayerCache | None) -> Tensor:
        """What each position gathers from itself and those before: [B, T, D]."""
        heads = "b t (h e) -> b h t e"
        q_BHTE = rearrange(self.query(x_BTD), heads, e=self.d_head)
        k_BKTE = rearrange(self.key(x_BTD), heads, e=self.d_head)
        v_BKTE = rearrange(self.value(x_BTD), heads, e=self.d_head)
        first = cache.length if cache is not None else 0
        q_BHTE = rotary(self.query_norm(q_BHTE), first)
        k_BKSE, v_BKSE = rotary(self.key_norm(k_BKTE), first), v_BKTE
        if cache is not None:
            k_BKSE, v_BKSE = cache.append(k_BKSE, v_BKSE)
        mask_TS = causal_mask(q_BHTE.shape[-2], first, q_BHTE.device) if first else None
        mixed_BHTE = F.scaled_dot_product_attention(
            q_BHTE,
            k_BKSE,
            v_BKSE,
            attn_mask=mask_TS,
            is_causal=mask_TS is None,
            enable_gqa=self.grouped,
        )
        mixed: Tensor = self.output(rearrange(mixed_BHTE, "b h t e -> b t (h e)"))
        return mixed


class SwiGLU(nn.Module):
    """down(silu(gate x) * up x), the gated feed-forward of Shazeer (2020), eq. 6."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate = linear(config.d_model, config.d_ff)
        self.up = linear(config.d_model, config.d_ff)
        self.down = linear(config.d_ff, config.d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Each position by itself: [B, T, D]."""
        result: Tensor = self.down(F.silu(self.gate(x_BTD)) * self.up(x_BTD))
        return result


def causal_mask(length: int, first: int, device: torch.device) -> Tensor:
    """True where query t, at position ``first + t``, may look at key s: bool [T, S]."""
    query_T1 = torch.arange(first, first + length, device=device)[:, None]
    key_S = torch.arange(first + length, device=device)
    return key_S <= query_T1
