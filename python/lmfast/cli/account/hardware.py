"""``lmfast account hardware``."""

from typing import Annotated

import typer
from rich.table import Column, Table

from lmfast.accounting.hardware import Device, find_device, known_devices
from lmfast.accounting.quantity import show
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption

NOTE = (
    "Peaks are dense, in TFLOP/s; data sheets print figures with 2:4 sparsity larger, which no "
    "training reaches: H100 SXM in bf16 is 989.4 dense and 1,978.9 sparse. Unknown is a dash."
)


def hardware(
    key: Annotated[str | None, typer.Argument(help="One device, such as h100-sxm.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List what devices can do at most, with sources; or show one of them.

    Your own entries go in ~/.config/lmfast/hardware.toml, in the form of the table that comes with
    lmfast; lmfast account measure adds this machine.

    Example: lmfast account hardware h100-sxm
    """
    if key is not None:
        device = find_device(key)
        emit(as_json, device.to_dict(), *_lines(device))
        return
    devices = known_devices()
    data = {name: device.to_dict() for name, device in devices.items()}
    emit(as_json, data, _table(devices), NOTE)


def _lines(device: Device) -> list[str]:
    lines = [f"name: {device.name}"]
    for dtype, peak in device.dense.to_dict().items():
        sparse = device.sparse.of(dtype)
        aside = f" (with 2:4 sparsity {show(sparse, 'FLOP/s')}: not for training)" if sparse else ""
        lines.append(f"{dtype}: {show(peak, 'FLOP/s')}{aside}")
    for name in ("memory", "bandwidth", "interconnect"):
        unit = "byte" if name == "memory" else "byte/s"
        lines.append(f"{name}: {show(getattr(device, name), unit)}")
    ridge = device.ridge("bf16")
    lines += [str(ridge), f"power: {show(device.watts, 'W')}", f"source: {device.source}"]
    lines.append(f"retrieved: {device.retrieved}")
    return lines + ([f"note: {device.note}"] if device.note else [])


def _table(devices: dict[str, Device]) -> Table:
    dtypes = ("bf16", "fp16", "fp8", "fp4", "tf32", "fp32")
    table = Table(
        Column("key", no_wrap=True), *dtypes, "memory", "bandwidth", "ridge bf16", "measured"
    )
    for key, device in devices.items():
        peaks = [device.dense.of(dtype) for dtype in dtypes]
        ridge = device.ridge("bf16").value
        table.add_row(
            key,
            *(f"{peak / 1e12:,.4g}" if peak else "-" for peak in peaks),
            f"{device.memory / 1e9:.4g} GB" if device.memory else "-",
            show(device.bandwidth, "byte/s") if device.bandwidth else "-",
            f"{ridge:.0f}" if ridge else "-",
            "yes" if device.measured else "",
        )
    return table
