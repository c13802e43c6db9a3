"""``lmfast tokenizer inspect``."""

import json
from typing import Annotated, Any

import rich
import typer
from rich.table import Table
from rich.text import Text

from lmfast.cli.options import JsonOption
from lmfast.cli.tokenizer.options import (
    FilePretokenizerOption,
    FileSpecialOption,
    TokenizerArgument,
    load_tokenizer,
)
from lmfast.encoding import Spans
from lmfast.steps_picture import visible
from lmfast.tokenizer import Tokenizer


def inspect(
    tokenizer: TokenizerArgument,
    longest: Annotated[
        int, typer.Option("--longest", help="How many of the longest tokens to show.", min=0)
    ] = 10,
    text: Annotated[
        str | None,
        typer.Option(
            "--text", help="Show how this is cut into tokens; special tokens in it are text."
        ),
    ] = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    r"""Show what is in a tokenizer, and how it cuts a text.

    lmfast tokenizer inspect books.json --text "Call me Ishmael."

    With --text a line per token: its id, its first byte in the text and the one behind its last,
    and the token, in which dots are spaces and \xNN bytes that are no text.

    The identity is a hash of all that decides which ids a text gets; shards and checkpoints carry
    it, so that a tokenizer that does not belong to them is refused.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    facts = _facts(loaded, longest)
    spans = None
    if text is not None:
        spans = loaded.encode_with_offsets(text, "byte", disallowed_special=())
    if as_json:
        if spans is not None:
            facts["tokens"] = [
                {"id": n, "token": _shown(loaded.token_bytes(n)), "start": start, "end": end}
                for n, start, end in zip(*(column.tolist() for column in spans), strict=True)
            ]
        print(json.dumps(facts, indent=1))
        return
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(overflow="fold")  # an identity is one long word
    for key, value in facts.items():
        table.add_row(key, Text(str(value)))
    rich.print(table)
    if spans is not None:
        _print_tokens(loaded, spans)


def _print_tokens(tokenizer: Tokenizer, spans: Spans) -> None:
    """A token a line: its id, where in the bytes of the text it lies, and its own bytes."""
    print(f"\n{'id':>8}  {'bytes':>13}  token")
    for token_id, start, end in zip(*(column.tolist() for column in spans), strict=True):
        token = visible(tokenizer.token_bytes(token_id))
        print(f"{token_id:>8}  {start:>6}-{end:<6}  {token}")


def _facts(tokenizer: Tokenizer, longest: int) -> dict[str, Any]:
    tokens = sorted(tokenizer.mergeable_ranks, key=lambda token: (-len(token), token))
    return {
        "n_vocab": tokenizer.n_vocab,
        "merges": len(tokenizer.merges),
        "pretokenizer": tokenizer.pretokenizer or "none",
        "pretokenizer_engine": tokenizer.pretokenizer_engine,
        "pattern": tokenizer.pattern,
        "unicode_version": tokenizer.unicode_version,
        "special_tokens": tokenizer.special_tokens,
        "identity": tokenizer.identity,
        "longest_tokens": [_shown(token) for token in tokens[:longest]],
    }


def _shown(token: bytes) -> str:
    """A token as Python would write it, without the quotes."""
    text = token.decode("utf-8", "backslashreplace")
    return text.encode("unicode_escape").decode() if not text.isprintable() else text
