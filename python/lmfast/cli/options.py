"""The options that commands of every kind share."""

from typing import Annotated

import typer

JsonOption = Annotated[
    bool, typer.Option("--json", help="Plain SI numbers under named keys, for programs.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; may be repeated."),
]
