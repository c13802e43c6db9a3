"""Whether compute or memory bounds an operation, and how long it takes at least.

The roofline (Williams, Waterman and Patterson, 2009): an operation of intensity I = FLOPs / bytes
runs at min(peak, I · bandwidth). Bytes are those that must move once if caches were ideal.
"""

from dataclasses import dataclass
from typing import Any, Literal

from lmfast.accounting.hardware import ELEMENT_BYTES, Device
from lmfast.accounting.quantity import Quantity
from lmfast.config.checks import require, require_positive

Bound = Literal["compute", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elementwise:
    """What an element-wise operation does per element."""

    flops: int
    moves: int
    """Elements read and written per element of the result."""
    why: str


# FLOPs per element are conventions: an exponential or a division counts as one or several.
ELEMENTWISE: dict[str, Elementwise] = {
    "relu": Elementwise(flops=1, moves=2, why="one comparison"),
    "gelu": Elementwise(flops=20, moves=2, why="the tanh form, about 20 with its exponential"),
    "silu": Elementwise(flops=4, moves=2, why="negate, exponential, add, divide"),
    "swiglu": Elementwise(flops=5, moves=3, why="silu(gate) · up: two read, one written"),
    "add": Elementwise(flops=1, moves=3, why="two read, one written"),
    "softmax": Elementwise(flops=5, moves=2, why="max, subtract, exponential, sum, divide"),
    "rmsnorm": Elementwise(flops=4, moves=2, why="square, sum, scale, weight"),
    "layernorm": Elementwise(flops=7, moves=2, why="mean, subtract, square, sum, scale, affine"),
    "rotary": Elementwise(flops=3, moves=2, why="two products and a sum per feature"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Work and traffic of one operation, or of several alike."""

    name: str
    flops: float
    bytes: float
    formula: str = ""

    @property
    def intensity(self) -> Quantity:
        """FLOPs per byte that must move."""
        return Quantity(
            name="intensity",
            value=self.flops / self.bytes,
            unit="FLOP/byte",
            formula=self.formula or f"{self.flops:.4g} FLOP / {self.bytes:.4g} B",
            convention="every operand read once, the result written once",
        )

    def on(self, device: Device, dtype: str) -> "Placed":
        """The operation on a device's roofline."""
        return Placed(operation=self, device=device, dtype=dtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An operation on a device; everything is ``None`` where the device's figures are not known."""

    operation: Operation
    device: Device
    dtype: str

    @property
    def bound(self) -> Bound | None:
        """What limits it."""
        margin = self.margin
        return None if margin is None else "compute" if margin >= 1 else "memory"

    @property
    def margin(self) -> float | None:
        """Intensity over ridge: 2 is compute-bound with twice the FLOPs per byte needed."""
        ridge = self.device.ridge(self.dtype).value
        return None if ridge is None else self.operation.intensity.known() / ridge

    @property
    def seconds(self) -> float | None:
        """The least time: the longer of computing and moving."""
        peak, bandwidth = self.device.dense.of(self.dtype), self.device.bandwidth
        if peak is None or bandwidth is None:
            return None
        return max(self.operation.flops / peak, self.operation.bytes / bandwidth)

    @property
    def flops_per_second(self) -> float | None:
        """The most that it can reach."""
        seconds = self.seconds
        return None if seconds is None else self.operation.flops / seconds

    def to_dict(self) -> dict[str, Any]:
        """The operation for JSON."""
        return {
            "name": self.operation.name,
            "flops": self.operation.flops,
            "bytes": self.operation.bytes,
            "intensity": self.operation.intensity.value,
            "ridge": self.device.ridge(self.dtype).value,
            "bound": self.bound,
            "margin": self.margin,
            "seconds": self.seconds,
            "attainable_flops_per_second": self.flops_per_second,
        }


def element_bytes(dtype: str) -> float:
    """Bytes per element of that type, block scales left out.

    Raises:
        ConfigError: There is no such type.
    """
    require(dtype in ELEMENT_BYTES, "dtype", dtype, f"one of {', '.join(ELEMENT_BYTES)}")
    return ELEMENT_BYTES[dtype]


def matmul(m: int, k: int, n: int, dtype: str = "bf16", *, name: str = "matmul") -> Operation:
    """A product of (m, k) by (k, n): intensity n/3 for a square of 2-byte elements."""
    require_positive("roofline", m=m, k=k, n=n)
    width = element_bytes(dtype)
    return Operation(
        name=name,
        flops=2 * m * k * n,
        bytes=width * (m * k + k * n + m * n),
        formula=f"2·{m}·{k}·{n} / ({width:g}·({m}·{k} + {k}·{n} + {m}·{n}))",
    )


def matrix_vector(n: int, k: int, dtype: str = "bf16") -> Operation:
    """A matrix (n, k) times a vector: about 1 FLOP per byte with 2-byte elements, 0.5 with 4."""
    return matmul(n, k, 1, dtype, name="matrix-vector")


def elementwise(kind: str, elements: int, dtype: str = "bf16") -> Operation:
    """An element-wise operation or one along rows, such as ``relu``, ``gelu`` or ``softmax``.

    Raises:
        ConfigError: There is no such operation.
    """
    require(kind in ELEMENTWISE, "operation", kind, f"one of {', '.join(ELEMENTWISE)}")
    cost, width = ELEMENTWISE[kind], element_bytes(dtype)
    return Operation(
        name=kind,
        flops=cost.flops * elements,
        bytes=width * cost.moves * elements,
        formula=f"{cost.flops} FLOP ({cost.why}) / ({cost.moves}·{width:g} B) per element",
    )


def fused_attention(
    *,
    batch: int,
    queries: int,
    keys: int,
    n_head: int,
    n_kv_head: int,
    d_head: int,
    dtype: str = "bf16",
) -> Operation:
    """Attention without a square of scores in memory, in prefill or in decoding.

    In prefill (``queries`` = ``keys`` = T) the intensity grows with T; in decoding (``queries`` =
    1) it stays near 2 · n_head / n_kv_head / bytes per element, however long the context.
    """
    width = element_bytes(dtype)
    flops = 4 * batch * n_head * queries * keys * d_head
    moved = 2 * batch * d_head * (n_head * queries + n_kv_head * keys)
    return Operation(
        name="attention",
        flops=flops,
        bytes=width * moved,
        formula=(
            f"4·{n_head}·{queries}·{keys}·{d_head} / "
            f"({width:g}·2·{d_head}·({n_head}·{queries} + {n_kv_head}·{keys}))"
        ),
    )
