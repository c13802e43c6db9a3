"""Every matrix multiplication of a forward pass; FLOPs, roofline and time are read off this list.

A product of (m, k) by (k, n) is 2·m·k·n FLOPs: one multiplication and one addition per term.
"""

from dataclasses import dataclass
from typing import Literal

from lmfast.accounting.architecture import Architecture

Module = Literal["attention_projections", "attention_scores", "feed_forward", "head"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matmul:
    """``count`` products of (m, k) by (k, n)."""

    name: str
    module: Module
    m: int
    k: int
    n: int
    count: int = 1

    @property
    def flops(self) -> int:
        """FLOPs of all ``count`` products."""
        return 2 * self.m * self.k * self.n * self.count

    @property
    def formula(self) -> str:
        """The product spelled out, numbers and all."""
        times = f"{self.count}·" if self.count > 1 else ""
        return f"{times}2·{self.m}·{self.k}·{self.n}"


def forward_matmuls(
    shape: Architecture, *, batch: int, queries: int, keys: int | None = None
) -> tuple[Matmul, ...]:
    """The products of one forward pass over ``batch`` sequences, layers taken together.

    Args:
        shape: The model.
        batch: Sequences.
        queries: New positions per sequence: the context length in training and prefill, 1 in
            decoding.
        keys: Positions that each query meets, cached ones included; default ``queries``.

    Returns:
        Scores and their mixing with the values are counted over the whole square: a mask saves
        no multiplication. A window does: its layers meet ``sliding_window`` keys at most.
    """
    return (
        *_projections(shape, batch * queries),
        *_scores(shape, batch, queries, queries if keys is None else keys),
        *_feed_forward(shape, batch * queries),
        Matmul(name="head", module="head", m=batch * queries, k=shape.d_model, n=shape.vocab_size),
    )


def _projections(shape: Architecture, tokens: int) -> list[Matmul]:
    d, layers = shape.d_model, shape.n_layer
    widths = (
        ("query", d, shape.d_query),
        ("key", d, shape.d_key),
        ("value", d, shape.d_key),
        ("output", shape.d_query, d),
    )
    return [
        Matmul(name=name, module="attention_projections", m=tokens, k=k, n=n, count=layers)
        for name, k, n in widths
    ]


def _scores(shape: Architecture, batch: int, queries: int, keys: int) -> list[Matmul]:
    """Scores QKᵀ and their product with V; windowed layers stand apart from full ones."""
    products: list[Matmul] = []
    for layers, met in shape.attended(keys):
        suffix = "_windowed" if met < keys else ""
        count = layers * batch * shape.n_head
        products += [
            Matmul(
                name=f"scores{suffix}",
                module="attention_scores",
                m=queries,
                k=shape.d_head,
                n=met,
                count=count,
            ),
            Matmul(
                name=f"mix{suffix}",
                module="attention_scores",
                m=queries,
                k=met,
                n=shape.d_head,
                count=count,
            ),
        ]
    return products


def _feed_forward(shape: Architecture, tokens: int) -> list[Matmul]:
    d, d_ff, layers = shape.d_model, shape.d_ff, shape.n_layer
    widths = [("up", d, d_ff), ("down", d_ff, d)]
    if shape.feed_forward == "swiglu":
        widths.insert(0, ("gate", d, d_ff))
    count = layers * shape.experts_per_token
    products = [
        Matmul(name=name, module="feed_forward", m=tokens, k=k, n=n, count=count)
        for name, k, n in widths
    ]
    if shape.has_router:
        router = Matmul(
            name="router", module="feed_forward", m=tokens, k=d, n=shape.n_expert, count=layers
        )
        products.insert(0, router)
    return products
