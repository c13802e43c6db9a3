"""The options that the subcommands of ``tokenizer`` share, and the tokenizer they name."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lmfast.errors import ConfigError
from lmfast.sources import OnError, Skipped
from lmfast.tokenizer import Tokenizer

ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Worker threads; default: one per core.", min=1)
]
PretokenizerOption = Annotated[
    str,
    typer.Option(
        "--pretokenizer", help="gpt2, cl100k, o200k, llama3, none, or a regular expression."
    ),
]
SpecialOption = Annotated[
    list[str] | None,
    typer.Option("--special", metavar="TEXT", help="A special token; may be repeated."),
]
TextFieldOption = Annotated[
    str,
    typer.Option(
        "--text-field",
        metavar="NAME",
        help="The field of JSON lines, or column of Parquet files, that holds the text.",
    ),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="'skip' leaves out and counts what cannot be used."),
]
TokenizerArgument = Annotated[
    Path, typer.Argument(help="A tokenizer.json, a .tiktoken file, or a folder.")
]
FilePretokenizerOption = Annotated[
    str | None,
    typer.Option("--pretokenizer", help="For .tiktoken and GPT-2 files, which do not say."),
]
FileSpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special", metavar="TEXT[=ID]", help="For the same: a special token, with its id."
    ),
]


def load_tokenizer(
    path: Path, pretokenizer: str | None = None, special: list[str] | None = None
) -> Tokenizer:
    """The tokenizer that a command names.

    Raises:
        ConfigError: An id of a special token is not a number.
    """
    if special is None:
        return Tokenizer.load(path, pretokenizer)
    if path.suffix != ".tiktoken":
        return Tokenizer.load(path, pretokenizer, special)
    ids: dict[str, int] = {}
    for text in special:
        name, equals, token_id = text.rpartition("=")
        if not equals or not token_id.isdecimal():
            msg = f"cannot read --special {text!r}: for {path} it must be TEXT=ID"
            raise ConfigError(msg)
        ids[name] = int(token_id)
    return Tokenizer.load(path, pretokenizer, ids)


def skipped_result(skipped: Skipped) -> dict[str, int | str | dict[str, int] | None]:
    """What was left out of a corpus, for ``--json``; a line on stderr says the same."""
    if skipped.documents:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.by_reason.items())
        print(
            f"left out {skipped.documents:,} documents ({reasons}); the first: {skipped.first}",
            file=sys.stderr,
        )
    return {
        "documents": skipped.documents,
        "by_reason": skipped.by_reason,
        "first": skipped.first,
    }
