"""What this machine reaches: its matmul ceiling, measured.

The only part of the accounting that computes; it imports torch where it is called, and does with
numpy where torch is not installed.
"""

import statistics
import time
from collections.abc import Callable

from lmfast.accounting.quantity import Quantity
from lmfast.errors import HardwareError

SIZES = (512, 1024, 1536)
"""Square sides; big enough for a CPU's caches and small enough for a slow machine."""
GPU_SIZES = (4096, 8192, 12288)
"""A large GPU reaches its ceiling from about 8,192 on."""
DTYPES = ("fp32", "tf32", "bf16", "fp16")


def measure_matmul_ceiling(
    device: str = "cpu", dtype: str = "fp32", seconds: float = 2.0
) -> Quantity:
    """FLOP/s that square matrix products reach here: the median over several sizes.

    For each size it takes the best of the repetitions that fit its share of ``seconds``, since
    everything that disturbs a measurement makes it slower.

    Args:
        device: ``cpu`` or a torch device such as ``cuda``.
        dtype: ``fp32``, ``tf32``, ``bf16`` or ``fp16``.
        seconds: About how long it may take.

    Raises:
        HardwareError: The dtype is not known, or the device or dtype needs a torch that is not
            installed.
    """
    if dtype not in DTYPES:
        msg = f"cannot measure {dtype!r}: it must be one of {', '.join(DTYPES)}"
        raise HardwareError(msg)
    sizes = SIZES if device == "cpu" else GPU_SIZES
    rates: list[float] = []
    for size in sizes:
        multiply, by = _product(device, dtype, size)
        multiply()
        best = _best_seconds(multiply, seconds / len(sizes))
        rates.append(2 * size**3 / best)
    return Quantity(
        name="matmul_ceiling",
        value=statistics.median(rates),
        unit="FLOP/s",
        formula=f"median over n in {sizes} of 2·n³ / best time",
        convention=f"measured with {by}, {device}, {dtype}",
    )


def _best_seconds(action: Callable[[], None], budget: float) -> float:
    best = float("inf")
    end = time.perf_counter() + budget
    while True:
        start = time.perf_counter()
        action()
        stop = time.perf_counter()
        best = min(best, stop - start)
        if stop >= end:
            return best


def _product(device: str, dtype: str, size: int) -> tuple[Callable[[], None], str]:
    """A function that multiplies two squares of ``size`` and waits for the result."""
    try:
        import torch
    except ImportError:
        return _numpy_product(device, dtype, size)
    kinds = {"fp32": torch.float32, "tf32": torch.float32}
    kind = kinds.get(dtype) or {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    try:
        left = torch.randn(size, size, device=device).to(kind)
        right = torch.randn(size, size, device=device).to(kind)
    except (RuntimeError, AssertionError) as error:
        msg = f"cannot measure {device}: {error}"
        raise HardwareError(msg) from error
    out = torch.empty_like(left)

    def multiply() -> None:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
        torch.mm(left, right, out=out)
        torch.set_float32_matmul_precision(before)
        if left.is_cuda:
            torch.cuda.synchronize()
        elif left.device.type == "mps":
            torch.mps.synchronize()

    return multiply, f"torch {torch.__version__}"


def _numpy_product(device: str, dtype: str, size: int) -> tuple[Callable[[], None], str]:
    if device != "cpu" or dtype != "fp32":
        msg = f"cannot measure {device} in {dtype} without torch; cpu in fp32 works without it"
        raise HardwareError(msg)
    import numpy as np

    left = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    out = np.empty_like(left)

    def multiply() -> None:
        np.matmul(left, left.T, out=out)

    return multiply, f"numpy {np.__version__}"
