"""The options that the subcommands of ``tokenizer`` share, and the tokenizer they name."""

from pathlib import Path
from typing import Annotated

import typer

from lmfast.errors import ConfigError
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
TraceOption = Annotated[
    Path | None,
    typer.Option("--trace", help="Also write every merge, to a .jsonl, .arrow or .parquet."),
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
