"""What this machine reaches: its matmul ceiling and its copy bandwidth, measured.

The only part of the accounting that runs anything; it imports torch where it is called, and uses
numpy where torch is not installed.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

from lmfast.accounting.hardware import Device, Peaks
from lmfast.accounting.quantity import Quantity
from lmfast.errors import HardwareError

SIZES = (512, 1024, 1536)
"""Square sides; big enough for a CPU's caches and small enough for a slow machine."""
GPU_SIZES = (4096, 8192, 12288)
"""A large GPU reaches its ceiling from about 8,192 on."""
COPY_BYTES = 2**28
"""Past the caches of any CPU, within the memory of any GPU."""
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


def measure_copy_bandwidth(device: str = "cpu", seconds: float = 0.5) -> Quantity:
    """Bytes per second that copying a large array moves here, read and written both counted.

    Raises:
        HardwareError: The device is not there, or needs a torch that is not installed.
    """
    copy, by = _copy(device)
    copy()
    best = _best_seconds(copy, seconds)
    return Quantity(
        name="copy_bandwidth",
        value=2 * COPY_BYTES / best,
        unit="byte/s",
        formula=f"2 · {COPY_BYTES >> 20} MiB / best time",
        convention=f"measured with {by}, {device}",
    )


def measure_device(device: str = "cpu", dtypes: tuple[str, ...] = ("fp32",)) -> Device:
    """An entry for this machine from its measured ceilings; ``store_device`` keeps it.

    Raises:
        HardwareError: A dtype is not known, or the device is not there.
    """
    peaks = {dtype: measure_matmul_ceiling(device, dtype).value for dtype in dtypes}
    bandwidth = measure_copy_bandwidth(device)
    name, memory = _describe(device)
    return Device(
        name=name,
        dense=Peaks(**peaks),
        memory=memory,
        bandwidth=bandwidth.value,
        source=f"{bandwidth.convention}; median matmul over several sizes",
        retrieved=datetime.now(tz=UTC).date().isoformat(),
        measured=True,
    )


def _describe(device: str) -> tuple[str, float | None]:
    """A name for this machine's device, and its memory in bytes."""
    if device == "cpu":
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return f"{platform.machine()} CPU, {os.cpu_count()} threads", float(pages)
    import torch

    if torch.device(device).type != "cuda":
        return device, None
    properties = torch.cuda.get_device_properties(device)
    return properties.name, float(properties.total_memory)


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


def _copy(device: str) -> tuple[Callable[[], None], str]:
    """A function that copies a large array and waits for it."""
    try:
        import torch
    except ImportError:
        return _numpy_copy(device)
    try:
        source = torch.ones(COPY_BYTES // 4, device=device)
    except (RuntimeError, AssertionError) as error:
        msg = f"cannot measure {device}: {error}"
        raise HardwareError(msg) from error
    target = torch.empty_like(source)

    def copy() -> None:
        target.copy_(source)
        if target.is_cuda:
            torch.cuda.synchronize()
        elif target.device.type == "mps":
            torch.mps.synchronize()

    return copy, f"torch {torch.__version__}"


def _numpy_copy(device: str) -> tuple[Callable[[], None], str]:
    if device != "cpu":
        msg = f"cannot measure {device} without torch; cpu works without it"
        raise HardwareError(msg)
    import numpy as np

    source = np.ones(COPY_BYTES // 4, dtype=np.float32)
    target = np.empty_like(source)

    def copy() -> None:
        np.copyto(target, source)

    return copy, f"numpy {np.__version__}"


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
