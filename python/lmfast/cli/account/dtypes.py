"""``lmfast account dtypes``."""

import math
from typing import Annotated

import typer
from rich.table import Table

from lmfast.accounting.dtypes import FORMATS, cast
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption


def dtypes(
    value: Annotated[
        list[float] | None,
        typer.Option("--value", help="A number to store in each format; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare number formats, and see what becomes of a number in each.

    More exponent bits hold smaller and larger numbers, more mantissa bits finer steps.

    Examples: lmfast account dtypes --value 1e-8 (nothing in fp16, kept in bf16);
    lmfast account dtypes --value 3.14159 --value 3.14160 (told apart by fp32 alone)
    """
    values = value or []
    data = {
        name: form.to_dict() | {"values": {repr(v): _for_json(cast(v, name)) for v in values}}
        for name, form in FORMATS.items()
    }
    table = Table("format", "bytes", "exp", "mant", "largest", "normal", "subnormal", "epsilon")
    for number in values:
        table.add_column(f"{number!r} becomes")
    for name, form in FORMATS.items():
        table.add_row(
            name,
            f"{form.bytes_per_element:.5g}",
            str(form.exponent_bits),
            str(form.mantissa_bits),
            *(
                f"{number:.6g}"
                for number in (
                    form.largest,
                    form.smallest_normal,
                    form.smallest_subnormal,
                    form.epsilon,
                )
            ),
            *(f"{cast(number, name):.9g}" for number in values),
        )
    meanings = [f"{name}: {form.meaning}" for name, form in FORMATS.items()]
    emit(as_json, data, table, *meanings)


def _for_json(value: float) -> float | str:
    """JSON has no word for what overflows: ``"inf"`` and ``"nan"``, which ``float`` reads."""
    return value if math.isfinite(value) else str(value)
