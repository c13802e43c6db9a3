"""All operations of a model in training, prefill or decoding, and their place on a roofline."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.hardware import Device
from lmfast.accounting.matmuls import Matmul, forward_matmuls
from lmfast.accounting.parameters import count_parameters
from lmfast.accounting.quantity import Page, Quantity
from lmfast.accounting.roofline import (
    Operation,
    Placed,
    element_bytes,
    elementwise,
    fused_attention,
)
from lmfast.config import ModelConfig
from lmfast.config.checks import require, require_positive

Phase = Literal["training", "prefill", "decode"]

PHASES: dict[Phase, str] = {
    "training": "forward, backward and the optimizer's step over whole sequences",
    "prefill": "one forward pass over whole prompts",
    "decode": "one new token per sequence, its context in the KV cache",
}
# AdamW in fp32 reads weight, gradient and two moments, and writes all but the gradient.
ADAMW_BYTES = 7 * 4
ADAMW_FLOPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload(Page):
    """The operations of one step on one device."""

    phase: Phase
    device: Device
    dtype: str
    tokens: int
    """Tokens that a step adds or learns from."""
    operations: tuple[Placed, ...]

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        return self.seconds, self.tokens_per_second

    @property
    def seconds(self) -> Quantity:
        """The least time of a step: each operation at its own roofline, one after the other."""
        each = [placed.seconds for placed in self.operations]
        known = [seconds for seconds in each if seconds is not None]
        return Quantity(
            name="step_time",
            value=sum(known) if len(known) == len(each) else None,
            unit="s",
            formula="sum over operations of max(FLOPs / peak, bytes / bandwidth)",
            convention=f"{self.phase}, {self.device.name}, {self.dtype}; a lower bound",
        )

    @property
    def tokens_per_second(self) -> Quantity:
        """The most tokens per second."""
        seconds = self.seconds.value
        return Quantity(
            name="tokens_per_second",
            value=self.tokens / seconds if seconds else None,
            unit="token/s",
            formula=f"{self.tokens:,} tokens / step time",
            convention=self.seconds.convention,
        )

    @property
    def matmul_share(self) -> float | None:
        """FLOPs over what the peak would have allowed: the highest MFU that the roofline admits."""
        seconds, peak = self.seconds.value, self.device.dense.of(self.dtype)
        if not seconds or not peak:
            return None
        return sum(placed.operation.flops for placed in self.operations) / (seconds * peak)

    def to_dict(self) -> dict[str, Any]:
        """The workload for JSON."""
        return {
            "phase": self.phase,
            "tokens": self.tokens,
            "seconds": self.seconds.value,
            "tokens_per_second": self.tokens_per_second.value,
            "highest_mfu": self.matmul_share,
            "operations": [placed.to_dict() for placed in self.operations],
        }


def model_workload(
    model: ModelConfig,
    device: Device,
    phase: Phase = "training",
    *,
    batch: int = 1,
    context_length: int | None = None,
    dtype: str = "bf16",
) -> Workload:
    """Every operation of a step with its FLOPs, bytes, bound and least time.

    Args:
        model: The shape of the model.
        device: Whose roofline.
        phase: ``training``, ``prefill`` or ``decode``.
        batch: Sequences.
        context_length: Tokens of each, cached ones in decoding; default: the model's own.
        dtype: Of weights, activations and cache; attention is taken as fused.

    Raises:
        ConfigError: An unknown phase or dtype, or a size that is not positive.
    """
    require(phase in PHASES, "phase", phase, f"one of {', '.join(PHASES)}")
    shape = as_architecture(model)
    length = shape.context_length if context_length is None else context_length
    require_positive("roofline", batch=batch, context_length=length)
    queries = 1 if phase == "decode" else length
    operations = [
        *_products(shape, batch, queries, dtype),
        *_attention(shape, batch, queries, length, dtype, phase),
        *_rest(shape, batch * queries, dtype, phase),
    ]
    if phase == "training":
        operations = [_with_backward(operation) for operation in operations]
        operations.append(_optimizer_step(shape))
    return Workload(
        phase=phase,
        device=device,
        dtype=dtype,
        tokens=batch * queries,
        operations=tuple(operation.on(device, dtype) for operation in operations),
    )


def _products(shape: Architecture, batch: int, queries: int, dtype: str) -> list[Operation]:
    width = element_bytes(dtype)
    products = forward_matmuls(shape, batch=batch, queries=queries)
    return [
        _product(shape, product, width)
        for product in products
        if product.module != "attention_scores"
    ]


def _product(shape: Architecture, product: Matmul, width: float) -> Operation:
    """Every weight that is used moves once, every row once per expert that it visits."""
    weights = float(product.count * product.k * product.n)
    if shape.has_router and product.name in ("gate", "up", "down"):
        routed = shape.n_expert * (1 - (1 - shape.n_active_expert / shape.n_expert) ** product.m)
        weights = shape.n_layer * (routed + shape.n_shared_expert) * product.k * product.n
    rows = product.count * product.m * (product.k + product.n)
    moved = width * (weights + rows)
    return Operation(name=product.name, flops=product.flops, bytes=moved, formula=product.formula)


def _attention(
    shape: Architecture, batch: int, queries: int, keys: int, dtype: str, phase: Phase
) -> list[Operation]:
    operations = []
    for layers, met in shape.attended(keys):
        one = fused_attention(
            batch=batch,
            queries=queries,
            keys=met,
            n_head=shape.n_head,
            n_kv_head=shape.n_kv_head,
            d_head=shape.d_head,
            dtype=dtype,
        )
        # All keys of the sequence move once even when each query meets only a window of them.
        unseen = 0 if phase == "decode" else keys - met
        unseen_bytes = element_bytes(dtype) * 2 * batch * unseen * shape.d_key
        operations.append(
            Operation(
                name="attention" if met == keys else "attention_windowed",
                flops=layers * one.flops,
                bytes=layers * (one.bytes + unseen_bytes),
            )
        )
    return operations


def _rest(shape: Architecture, tokens: int, dtype: str, phase: Phase) -> list[Operation]:
    """Norms, rotation, gate, residual additions, and the loss over the logits in fp32."""
    layers, d = shape.n_layer, shape.d_model
    gate = "swiglu" if shape.feed_forward == "swiglu" else "gelu"
    inner = layers * tokens * shape.d_ff * shape.experts_per_token
    operations = [
        elementwise(shape.norm, (2 * layers + 1) * tokens * d, dtype),
        elementwise(gate, inner, dtype),
        elementwise("add", 2 * layers * tokens * d, dtype),
    ]
    if shape.positions == "rotary":
        turned = layers * tokens * (shape.d_query + shape.d_key)
        operations.append(elementwise("rotary", turned, dtype))
    if phase == "training":
        operations.append(elementwise("softmax", tokens * shape.vocab_size, "fp32"))
    return operations


def _with_backward(operation: Operation) -> Operation:
    """Forward and backward: two products for one, each as large; five for attention's two."""
    flops = 3.5 if operation.name.startswith("attention") else 3
    return Operation(
        name=operation.name,
        flops=flops * operation.flops,
        bytes=3 * operation.bytes,
        formula=f"{flops:g} · forward",
    )


def _optimizer_step(shape: Architecture) -> Operation:
    count = count_parameters(shape).known()
    return Operation(
        name="adamw",
        flops=ADAMW_FLOPS * count,
        bytes=ADAMW_BYTES * count,
        formula=f"{ADAMW_FLOPS} FLOP / {ADAMW_BYTES} B per parameter",
    )


def decode_crossover(device: Device, dtype: str = "bf16") -> Quantity:
    """The batch from which a decoded token's matrix products are bound by compute.

    A weight of b bytes is read once for 2·batch FLOPs, so the batch is ridge · b / 2.
    """
    ridge = device.ridge(dtype).value
    width = element_bytes(dtype)
    return Quantity(
        name="decode_crossover",
        value=None if ridge is None else math.ceil(ridge * width / 2),
        unit="sequences",
        formula=f"ridge · {width:g} / 2",
        convention=f"{device.name}, {dtype}; weights alone, KV cache left out",
    )
