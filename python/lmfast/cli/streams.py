"""Standard input and output, which may be closed, full, or no UTF-8."""

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Literal, TextIO

from lmfast.errors import ConfigError, TextError

_CLOSED = "cannot read standard input: it is closed"


def prepare_streams() -> None:
    """Make the standard streams safe to use, whatever the caller closed.

    Python leaves out a stream that is closed, and ``print`` then does nothing, or writes to another
    stream. Standard output that is closed becomes one that refuses to be written to; nobody waits
    for the notes on standard error.
    """
    if sys.stdin is None:
        sys.stdin = _null("w")  # refuses to be read
    if sys.stdout is None:
        sys.stdout = _null("r")  # refuses to be written to
    if sys.stderr is None:
        sys.stderr = _null("w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal's encoding lacks is shown by its number, not an error.
        sys.stdout.reconfigure(errors="backslashreplace")
        if isinstance(sys.stdout.buffer, io.RawIOBase):
            # Under PYTHONUNBUFFERED nobody writes the rest of what a pipe or disk took a part of.
            stdout = sys.stdout
            sys.stdout = io.TextIOWrapper(
                io.BufferedWriter(io.FileIO(stdout.fileno(), "w", closefd=False)),
                stdout.encoding,
                stdout.errors,
                line_buffering=True,
            )


def _null(mode: Literal["r", "w"]) -> TextIO:
    return Path(os.devnull).open(mode, encoding="utf-8")


def check_stdin() -> None:
    """See that standard input can be read.

    Raises:
        ConfigError: It is closed.
    """
    if not sys.stdin.readable():
        raise ConfigError(_CLOSED)


def read_bytes() -> bytes:
    """All of standard input.

    Raises:
        ConfigError: It is closed.
    """
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise ConfigError(_CLOSED) from error


def read_text() -> str:
    """All of standard input, which must be UTF-8.

    Raises:
        ConfigError: It is closed.
        TextError: It is not UTF-8.
    """
    try:
        return read_bytes().decode()
    except UnicodeDecodeError as error:
        msg = f"cannot read standard input: it is not UTF-8 at byte {error.start}"
        raise TextError(msg) from error


def say(text: str) -> None:
    """Put a line on standard error, if anyone can receive it; the exit code tells the rest."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """``text`` with every character that a terminal would act upon as its escape."""
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(shown)


def discard(stream: TextIO) -> None:
    """Let what ``stream`` still holds go nowhere, so that the interpreter can end in peace."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
