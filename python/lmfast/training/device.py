"""The device that a run computes on, and its number format."""

import os
import time
from typing import Literal

import torch

from lmfast.accounting import count_parameters
from lmfast.config.run import Precision, RunConfig
from lmfast.errors import HardwareError

ResolvedPrecision = Literal["fp32", "bf16"]

# Large enough that the matrix units decide, small enough that a CPU which only emulates bf16, at
# a fiftieth of its fp32 speed, still answers within a second.
PROBE_ROWS, PROBE_WIDTH, PROBE_REPEATS = 256, 512, 3


def resolve_device(name: str) -> torch.device:
    """The torch device of that name; ``auto`` takes CUDA, else MPS, else the CPU.

    Raises:
        HardwareError: There is no such device here.
    """
    if name == "auto":
        name = "cpu"
        if torch.cuda.is_available():
            name = "cuda"
        elif torch.backends.mps.is_available():
            name = "mps"
    try:
        device = torch.device(name)
        torch.empty(1, device=device).cpu()  # "meta" makes tensors, and cannot fill them
    # A torch without CUDA asserts that it has it; the rest, "meta" included, are RuntimeErrors.
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        msg = f"cannot use device {name!r}: {reason}"
        raise HardwareError(msg) from error
    return device


def resolve_precision(precision: Precision, device: torch.device) -> ResolvedPrecision:
    """``precision`` itself, or for ``auto`` what the device is fast at.

    CUDA takes bf16 where the hardware has it. A CPU is timed: CPUs with matrix units gain several
    times, others emulate bf16 at a fraction of their fp32 speed, and no name says which.

    Raises:
        HardwareError: bf16 was asked for on a GPU that has none.
    """
    if device.type == "cuda":
        supported = torch.cuda.is_bf16_supported(including_emulation=False)
        if precision == "bf16" and not supported:
            msg = f"cannot compute in bf16 on {torch.cuda.get_device_name(device)}: use fp32"
            raise HardwareError(msg)
        return "bf16" if supported and precision != "fp32" else "fp32"
    if precision == "auto":
        faster = device.type == "cpu" and _probe(torch.bfloat16) < _probe(torch.float32)
        return "bf16" if faster else "fp32"
    return precision


def require_room(config: RunConfig, device: torch.device) -> None:
    """Refuse a model that cannot be trained in all the memory that there is.

    What no run can do without: fp32 weights, their gradients, two moments of AdamW, and the
    embedded tokens of one micro-batch. ``lmfast account memory`` says what else comes to it.

    Raises:
        HardwareError: The device has less.
    """
    model = config.model
    embedded = config.micro_batch_size * model.context_length * model.d_model
    least = 4 * (4 * int(count_parameters(model).known()) + embedded)
    if device.type == "cuda":
        there = torch.cuda.get_device_properties(device).total_memory
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    else:
        return
    if least > there:
        msg = (
            f"cannot train this model on {device}: weights, gradients, optimizer and one "
            f"micro-batch take at least {least / 1e9:,.1f} GB, there are {there / 1e9:,.1f} GB"
        )
        raise HardwareError(msg)


def _probe(dtype: torch.dtype) -> float:
    """The best of a few times, in seconds, for one linear layer forward and backward on the CPU.

    As in autocast, the weight and the input arrive in fp32 and are converted each time.
    """
    x = torch.ones(PROBE_ROWS, PROBE_WIDTH, requires_grad=True)
    weight = torch.ones(PROBE_WIDTH, PROBE_WIDTH, requires_grad=True)
    seconds = []
    for _ in range(PROBE_REPEATS):
        begin = time.perf_counter()
        (x.to(dtype) @ weight.to(dtype)).sum().backward()  # type: ignore[no-untyped-call]
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
