"""The command line: one module per command, each a thin call into the library.

Errors that lmfast raises on purpose end in one line on stderr and exit code 2, never a traceback.
"""

import sys
from typing import NoReturn

import typer

from lmfast.cli.account import account_app
from lmfast.cli.generate import generate
from lmfast.cli.quickstart import quickstart
from lmfast.cli.tokenizer import tokenizer_app
from lmfast.cli.train import train
from lmfast.errors import LmfastError

app = typer.Typer(
    name="lmfast",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="From raw text to a trained language model, every cost known before and checked after.",
)
app.command()(quickstart)
app.add_typer(tokenizer_app)
app.command()(train)
app.command()(generate)
app.add_typer(account_app)


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 2 an error of the user's, 130 interrupted."""
    try:
        app()
    except LmfastError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(0)
