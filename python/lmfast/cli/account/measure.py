"""``lmfast account measure``."""

from typing import Annotated

import typer

from lmfast.accounting.hardware import store_device
from lmfast.accounting.measure import measure_device
from lmfast.cli.account.show import emit, note
from lmfast.cli.options import JsonOption


def measure(
    device: Annotated[str, typer.Option("--device", help="cpu, cuda, mps.")] = "cpu",
    dtype: Annotated[
        list[str] | None, typer.Option("--dtype", help="fp32, tf32, bf16, fp16; repeatable.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Key to store it under; default: here-DEVICE.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Time matrix products and copies on this machine, and store the ceiling that they reach.

    A vendor's peak says what silicon could do; the ceiling says what a program can get. An MFU
    against the ceiling shows what is left to gain in software. On a CPU there is no other.

    Example: lmfast account measure --device cpu --dtype fp32 --dtype bf16
    """
    key = name or f"here-{device.replace(':', '-')}"
    measured = measure_device(device, tuple(dtype or ["fp32"]))
    path = store_device(key, measured)
    data = {"key": key, "file": str(path)} | measured.to_dict()
    peaks = [measured.peak(kind) for kind in measured.dense.to_dict()]
    emit(as_json, data, *peaks, f"bandwidth: {data['bandwidth'] / 1e9:.4g} GB/s")
    note(f"stored in {path}; use it with --hardware {key}")
