"""The command line: one module per command, each a thin call into the library.

Errors that lmfast raises on purpose end in one line on stderr and exit code 2, never a traceback.
"""

import sys
from typing import Annotated, NoReturn

import typer

from lmfast._lmfast import __version__
from lmfast.cli.account import account_app
from lmfast.cli.generate import generate
from lmfast.cli.quickstart import quickstart
from lmfast.cli.streams import discard, one_line, prepare_streams, say
from lmfast.cli.tokenizer import tokenizer_app
from lmfast.cli.train import train
from lmfast.cli.wording import in_options
from lmfast.errors import LmfastError

app = typer.Typer(
    name="lmfast",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    help="From raw text to a trained language model, every cost known before and checked after.",
)


@app.callback()
def _lmfast(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


app.command()(quickstart)
app.add_typer(tokenizer_app)
app.command()(train)
app.command()(generate)
app.add_typer(account_app)


# What typer raises for a command line that it cannot read. It has no public name, and its home
# changed from click to typer itself.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def main() -> NoReturn:
    """Run the command line and exit.

    0 is done, 2 an error of the user's, 130 interrupted, 1 a reader that closed its pipe.
    """
    prepare_streams()
    try:
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except (LmfastError, _UsageError) as error:
        code = _refuse(error)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        discard(sys.stdout)
        code = 1  # as typer does where it is the first to notice
    except OSError as error:
        if error.filename is not None:
            raise
        # Files are the library's business; without a name it is a standard stream.
        discard(sys.stdout)
        say(f"error: cannot write to standard output: {error.strerror or error}")
        code = 2
    if code == 130:
        say("interrupted")
    sys.exit(code)


def _refuse(error: Exception) -> int:
    """Say in one line what is wrong; the exit code."""
    if isinstance(error, LmfastError):
        message = in_options(str(error))
    else:
        # Typer's own class: without a message it has printed the help already.
        message = error.format_message()  # type: ignore[attr-defined]
        context = error.ctx  # type: ignore[attr-defined]
        if message and context is not None:
            message += f" (see '{context.command_path} --help')"
    if message:
        say(f"error: {one_line(message)}")
    return 2
