"""``lmfast account roofline``."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from lmfast.accounting import load_model_shape
from lmfast.accounting.hardware import find_device
from lmfast.accounting.pictures import roofline_picture, save_picture
from lmfast.accounting.quantity import show
from lmfast.accounting.roofline import Placed, matmul
from lmfast.accounting.workload import Phase, Workload, decode_crossover, model_workload
from lmfast.cli.account.options import (
    BatchOption,
    ContextOption,
    DtypeOption,
    HardwareOption,
    ModelOption,
    PictureOption,
)
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption
from lmfast.errors import ConfigError


def roofline(
    hardware: HardwareOption,
    m: Annotated[int | None, typer.Option("--m", help="Rows of the product.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Terms of each of its sums.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Columns of the product.")] = None,
    model: ModelOption = None,
    set_: SetOption = None,
    phase: Annotated[
        str, typer.Option("--phase", help="training, prefill or decode, for a model.")
    ] = "training",
    batch: BatchOption = 1,
    context_length: ContextOption = None,
    dtype: DtypeOption = "bf16",
    picture: PictureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether compute or memory bounds an operation, and by how much.

    Enter --m, --k and --n for one matrix product, or --model for every operation of a model.
    Intensity is FLOPs per byte moved; above the device's ridge compute is the bound.

    Examples: lmfast account roofline --m 1024 --k 1024 --n 1024 --hardware h100-sxm;
    lmfast account roofline --model llama3-8b --phase decode --batch 16 --hardware h100-sxm
    """
    device = find_device(hardware)
    if m is not None and k is not None and n is not None:
        placed = matmul(m, k, n, dtype).on(device, dtype)
        data = placed.to_dict()
        emit(as_json, data, placed.operation.intensity, device.ridge(dtype), _verdict(placed))
        return
    if model is None and not set_:
        msg = "cannot draw a roofline: give --m, --k and --n, or --model"
        raise ConfigError(msg)
    named: Phase = phase  # type: ignore[assignment]  # the library checks it
    workload = model_workload(
        load_model_shape(model, set_ or ()),
        device,
        named,
        batch=batch,
        context_length=context_length,
        dtype=dtype,
    )
    pages: list[RenderableType] = [
        _table(workload),
        device.ridge(dtype),
        workload.seconds,
        workload.tokens_per_second,
    ]
    if phase == "decode":
        pages.append(decode_crossover(device, dtype))
    if picture is not None:
        save_picture(roofline_picture(workload), picture)
    emit(as_json, workload.to_dict(), *pages)


def _verdict(placed: Placed) -> str:
    if placed.bound is None or placed.margin is None:
        return f"{placed.device.name} has no known ridge for {placed.dtype}"
    factor = placed.margin if placed.bound == "compute" else 1 / placed.margin
    rate = show(placed.flops_per_second, "FLOP/s")
    return (
        f"{placed.bound}-bound by a factor of {factor:.3g}: "
        f"at most {rate}, at least {show(placed.seconds, 's')}"
    )


def _table(workload: Workload) -> Table:
    title = f"{workload.phase} on {workload.device.name}, {workload.dtype}"
    table = Table("operation", "FLOPs", "bytes", "intensity", "bound", "time", "share", title=title)
    whole = workload.seconds.value
    for placed in workload.operations:
        seconds = placed.seconds
        table.add_row(
            placed.operation.name,
            show(placed.operation.flops, "FLOP"),
            show(placed.operation.bytes, "byte"),
            f"{placed.operation.intensity.known():.4g}",
            placed.bound or "unknown",
            show(seconds, "s"),
            f"{seconds / whole:.1%}" if seconds is not None and whole else "-",
        )
    return table
