"""``lmfast account check``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from lmfast.accounting import check_6nd, load_model_shape
from lmfast.accounting.hardware import find_device
from lmfast.accounting.quantity import label, show
from lmfast.accounting.run_check import RunReport, check_run
from lmfast.cli.account.options import ContextOption, MaybeHardwareOption, MfuOption, ModelOption
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption


def check(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="A run folder with metrics.jsonl.")
    ] = None,
    hardware: MaybeHardwareOption = None,
    mfu: MfuOption = 0.4,
    dtype: Annotated[
        str | None, typer.Option("--dtype", help="What the run computed in; default: its config.")
    ] = None,
    bytes_per_token: Annotated[
        float, typer.Option("--bytes-per-token", help="What the corpus should give.")
    ] = 4.0,
    model: ModelOption = None,
    context_length: ContextOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare a run with what was predicted for it, and say which assumption explains the gap.

    Without a run: how far 6·N·D is from the exact count for a --model and a context, and why.

    Examples: lmfast account check runs/small --hardware here-cpu --mfu 0.6;
    lmfast account check --model gpt2-small --context-length 1024
    """
    if run is not None:
        device = find_device(hardware) if hardware is not None else None
        report = check_run(
            run,
            device,
            dtype=dtype,
            assumed_mfu=mfu,
            expected_bytes_per_token=bytes_per_token,
        )
        emit(as_json, report.to_dict(), _table(report))
        return
    result = check_6nd(load_model_shape(model, set_ or ()), context_length)
    data = {
        "ratio": result.value,
        "flops_per_token": {part.name: part.value for part in result.parts},
        "formula": result.formula,
    }
    emit(as_json, data, result)


def _table(report: RunReport) -> Table:
    table = Table(
        Column("quantity", no_wrap=True), "predicted", "measured", "ratio", "why", title=report.run
    )
    for line in report.comparisons:
        table.add_row(
            label(line.name),
            show(line.predicted, line.unit),
            show(line.measured, line.unit),
            f"{line.ratio:.3f}" if line.ratio is not None else "-",
            line.why,
        )
    return table
