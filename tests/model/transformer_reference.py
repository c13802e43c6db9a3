"""The transformer once more, slow and explicit: loops over heads and positions, in fp64."""

import math

import torch
from torch import Tensor

from lmfast.config import ModelConfig


def norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x / ((x * x).mean() + eps).sqrt() * weight


def turn(x: Tensor, position: int, config: ModelConfig) -> Tensor:
    """Each pair of features as a complex number, times e^(i angle)."""
    result, half = x.clone(), config.d_head // 2
    for pair in range(half):
        neighbours = config.rope_layout == "interleaved"
        a, b = (2 * pair, 2 * pair + 1) if neighbours else (pair, pair + half)
        angle = position / config.rope_theta ** (2 * pair / config.d_head)
        turned = complex(x[a], x[b]) * complex(math.cos(angle), math.sin(angle))
        result[a], result[b] = turned.real, turned.imag
    return result


def logits(weights: dict[str, Tensor], config: ModelConfig, ids: list[int]) -> Tensor:
    w = {name: tensor.double() for name, tensor in weights.items()}
    stream = [w["embedding.weight"][id_] for id_ in ids]
    for layer in range(config.n_layer):
        block = {k.removeprefix(f"blocks.{layer}."): v for k, v in w.items()}
        mixed = attention(block, config, stream)
        stream = [x + y for x, y in zip(stream, mixed, strict=True)]
        for t, x in enumerate(stream):
            n = norm(x, block["feed_forward_norm.weight"], config.norm_eps)
            gate = block["feed_forward.gate.weight"] @ n
            hidden = gate / (1 + (-gate).exp()) * (block["feed_forward.up.weight"] @ n)
            stream[t] = x + block["feed_forward.down.weight"] @ hidden
    head = w["embedding.weight" if config.tied_embeddings else "head.weight"]
    return torch.stack([head @ norm(x, w["norm.weight"], config.norm_eps) for x in stream])


def attention(w: dict[str, Tensor], config: ModelConfig, stream: list[Tensor]) -> list[Tensor]:
    size, group = config.d_head, config.n_head // config.n_kv_head
    normed = [norm(x, w["attention_norm.weight"], config.norm_eps) for x in stream]
    result = []
    for t in range(len(stream)):
        heads = []
        for head in range(config.n_head):
            query = part(w, "query", head, normed[t], t, config)
            shared = head // group
            keys = [part(w, "key", shared, normed[s], s, config) for s in range(t + 1)]
            scores = torch.stack([query @ key / math.sqrt(size) for key in keys])
            values = w["attention.value.weight"][shared * size : (shared + 1) * size]
            shares = scores.exp() / scores.exp().sum()
            heads.append(sum(p * (values @ normed[s]) for s, p in enumerate(shares)))
        result.append(w["attention.output.weight"] @ torch.cat(heads))
    return result


def part(
    w: dict[str, Tensor], name: str, head: int, x: Tensor, position: int, config: ModelConfig
) -> Tensor:
    """The query or key of one head at one position, normalised if asked, and turned."""
    rows = slice(head * config.d_head, (head + 1) * config.d_head)
    vector = w[f"attention.{name}.weight"][rows] @ x
    if config.qk_norm:
        vector = norm(vector, w[f"attention.{name}_norm.weight"], config.norm_eps)
    return turn(vector, position, config)
