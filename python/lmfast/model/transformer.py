"""The decoder-only transformer. Shape letters as in ``layers``; V vocab_size."""

import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lmfast.config import ModelConfig
from lmfast.config.run import Checkpointing
from lmfast.errors import ConfigError
from lmfast.model.cache import KVCache, LayerCache
from lmfast.model.layers import Attention, RMSNorm, Rotary, SwiGLU, embedding, linear


class Block(nn.Module):
    """Attention, then feed-forward, each on a normalised copy and added back (pre-norm)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.d_model, config.norm_eps)
        self.attention = Attention(config)
        self.feed_forward_norm = RMSNorm(config.d_model, config.norm_eps)
        self.feed_forward = SwiGLU(config)

    def forward(self, x_BTD: Tensor, rotary: Rotary, cache: LayerCache | None) -> Tensor:
        """The residual stream after this block: [B, T, D]."""
        x_BTD = x_BTD + self.attention(self.attention_norm(x_BTD), rotary, cache)
        result: Tensor = x_BTD + self.feed_forward(self.feed_forward_norm(x_BTD))
        return result


class Transformer(nn.Module):
    """Embedding, blocks, norm, output head. Fill its weights with ``initialise`` or a file."""

    def __init__(self, config: ModelConfig, checkpointing: Checkpointing = "none") -> None:
        super().__init__()
        self.config = config
        self.checkpointing = checkpointing
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.rotary = Rotary(config)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        tied = config.tied_embeddings
        self.head = None if tied else linear(config.d_model, config.vocab_size)

    def forward(self, ids_BT: Tensor, cache: KVCache | None = None) -> Tensor:
        """Logits of the token after each position: [B, T, V].

        With a ``cache`` the positions follow those in it, and are added to it.

        Raises:
            ConfigError: More positions than the model's ``context_length``.
        """
        positions = ids_BT.shape[1] + (cache.length if cache else 0)
        if positions > self.config.context_length:
            msg = (
                f"cannot run the model on {positions} positions: "
                f"its context_length is {self.config.context_length}"
            )
            raise ConfigError(msg)
        recompute = self.checkpointing == "full" and self.training and cache is None
        x_BTD = self.embedding(ids_BT)
        for index, block in enumerate(self.blocks):
            if recompute:
                x_BTD = checkpoint(block, x_BTD, self.rotary, None, use_reentrant=False)
            else:
                x_BTD = block(x_BTD, self.rotary, cache.layers[index] if cache else None)
        weight_VD = self.embedding.weight if self.head is None else self.head.weight
        return F.linear(self.norm(x_BTD), weight_VD)
