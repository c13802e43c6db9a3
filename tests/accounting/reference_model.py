"""A plain transformer of every form that ``Architecture`` describes, attention spelled out."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lmfast.accounting import Architecture


class RMSNorm(nn.RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype))


class Attention(nn.Module):
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        d, bias = shape.d_model, shape.bias
        self.query = nn.Linear(d, shape.d_query, bias=bias)
        self.key = nn.Linear(d, shape.d_key, bias=bias)
        self.value = nn.Linear(d, shape.d_key, bias=bias)
        self.output = nn.Linear(shape.d_query, d, bias=bias)
        normed = shape.qk_norm
        self.query_norm = RMSNorm(shape.d_head) if normed else nn.Identity()
        self.key_norm = RMSNorm(shape.d_head) if normed else nn.Identity()
        self.shape = shape

    def heads(self, x: Tensor, count: int) -> Tensor:
        return x.unflatten(-1, (count, self.shape.d_head)).transpose(1, 2)

    def rotate(self, x: Tensor) -> Tensor:
        if self.shape.positions == "learned":
            return x
        exponent = torch.arange(0, self.shape.d_head, 2) / self.shape.d_head
        angle = torch.arange(x.shape[-2])[:, None] * 10_000.0**-exponent
        a, b = x.chunk(2, -1)
        turned = (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
        return torch.cat(turned, -1).to(x.dtype)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        shape, length = self.shape, x.shape[1]
        q = self.rotate(self.query_norm(self.heads(self.query(x), shape.n_head)))
        k = self.rotate(self.key_norm(self.heads(self.key(x), shape.n_kv_head)))
        v = self.heads(self.value(x), shape.n_kv_head)
        shared = shape.n_head // shape.n_kv_head
        k, v = k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(shape.d_head)
        mixed = scores.masked_fill(mask[:length, :length], float("-inf")).softmax(-1) @ v
        return self.output(mixed.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        d, d_ff, bias = shape.d_model, shape.d_ff, shape.bias
        self.gate = nn.Linear(d, d_ff, bias=bias) if shape.feed_forward == "swiglu" else None
        self.up = nn.Linear(d, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is None:
            return self.down(F.gelu(self.up(x)))
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """Each token passes through its best routed experts, and through the shared ones."""

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.router = nn.Linear(shape.d_model, shape.n_expert, bias=False)
        self.routed = nn.ModuleList(FeedForward(shape) for _ in range(shape.n_expert))
        self.shared = nn.ModuleList(FeedForward(shape) for _ in range(shape.n_shared_expert))
        self.active = shape.n_active_expert

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(self.active, -1)
        out = sum((expert(x) for expert in self.shared), torch.zeros_like(x))
        for index, expert in enumerate(self.routed):
            *where, slot = (chosen == index).nonzero(as_tuple=True)
            rows = expert(x[tuple(where)]) * weights[(*where, slot)][:, None]
            out = out.index_put(tuple(where), rows, accumulate=True)
        return out


class Block(nn.Module):
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.attention_norm, self.feed_forward_norm = norm(shape), norm(shape)
        self.attention = Attention(shape)
        self.feed_forward = Experts(shape) if shape.has_router else FeedForward(shape)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class ReferenceModel(nn.Module):
    def __init__(self, shape: Architecture, blocks_per_checkpoint: int = 0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(shape.vocab_size, shape.d_model)
        learned = shape.positions == "learned"
        self.positions = nn.Embedding(shape.context_length, shape.d_model) if learned else None
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.n_layer))
        self.norm = norm(shape)
        self.head = nn.Linear(shape.d_model, shape.vocab_size, bias=False)
        if shape.tied_embeddings:
            self.head.weight = self.embedding.weight
        mask = torch.ones(shape.context_length, shape.context_length).triu(1).bool()
        self.register_buffer("mask", mask)
        self.every = blocks_per_checkpoint

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        if self.positions is not None:
            x = x + self.positions(torch.arange(ids.shape[1]))
        if not self.every:
            return self.head(self.norm(self.run(x, 0, len(self.blocks))))
        for first in range(0, len(self.blocks), self.every):
            x = checkpoint(self.run, x, first, first + self.every, use_reentrant=False)
        return self.head(self.norm(x))

    def run(self, x: Tensor, first: int, last: int) -> Tensor:
        for block in self.blocks[first:last]:
            x = block(x, self.mask)
        return x


def norm(shape: Architecture) -> nn.Module:
    if shape.norm == "rmsnorm":
        return RMSNorm(shape.d_model)
    return nn.LayerNorm(shape.d_model, bias=shape.bias)
