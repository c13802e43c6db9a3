"""``lmfast tokenizer steps``."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from lmfast.cli.options import JsonOption
from lmfast.cli.streams import read_bytes
from lmfast.cli.tokenizer.options import (
    FilePretokenizerOption,
    FileSpecialOption,
    TokenizerArgument,
    load_tokenizer,
)
from lmfast.steps_picture import BOUNDARY, Line, colour, drawn, shown


def steps(
    tokenizer: TokenizerArgument,
    text: Annotated[
        str | None, typer.Argument(help="What to build up; without it, standard input.")
    ] = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    r"""Show how a text is built up from its bytes, merge by merge.

    lmfast tokenizer steps books.json "lowest newest"

    A line per merge, the lowest rank first: the tokens after it, its rank, what it joins and the
    id that comes of it. Spaces are shown as dots, bytes that are no text as \xNN.
    Special tokens in the text are text.

    With --json each step says where it applies ('at', the first byte of the left token in its
    pretoken), so that every state can be made again.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    built = loaded.steps(read_bytes() if text is None else text)
    if as_json:
        print(json.dumps(built.to_dict(), indent=1))
        return
    console = Console(highlight=False)
    for line in drawn(built):
        console.print(_coloured(line), soft_wrap=True)


def _coloured(line: Line) -> Text:
    tokens = (Text(shown(piece), style=f"#111111 on {colour(piece)}") for piece in line.pieces)
    text = Text(BOUNDARY).join(tokens)
    if line.note:
        text.append("   " if line.pieces else "").append(line.note, style="dim")
    return text.append("\n") if line.is_final else text
