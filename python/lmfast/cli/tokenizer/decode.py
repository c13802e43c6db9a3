"""``lmfast tokenizer decode``."""

import json
import operator
import sys
from pathlib import Path
from typing import Annotated

import typer

from lmfast.cli.options import JsonOption
from lmfast.cli.streams import read_text
from lmfast.cli.tokenizer.options import (
    FilePretokenizerOption,
    FileSpecialOption,
    TokenizerArgument,
    load_tokenizer,
)
from lmfast.corpus import TokenShards
from lmfast.errors import ConfigError, MismatchError


def decode(
    tokenizer: TokenizerArgument,
    ids: Annotated[
        list[int] | None,
        typer.Argument(help="Ids; without any, standard input holds them, or 'encode --json'."),
    ] = None,
    shards: Annotated[
        Path | None, typer.Option("--shards", help="Decode a document of a folder of shards.")
    ] = None,
    document: Annotated[
        int, typer.Option("--document", help="Which one, counted from 0.", min=0)
    ] = 0,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decode ids to text.

    lmfast tokenizer decode books.json 1171 502 13

    lmfast tokenizer decode books.json --shards shards/train --document 7

    lmfast tokenizer encode books.json --text "Call me" --json | lmfast tokenizer decode books.json

    The bytes go to standard output as they are; --json puts U+FFFD where they are not UTF-8.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    if shards is not None:
        if ids:
            msg = "give ids or --shards, not both"
            raise ConfigError(msg)
        opened = TokenShards.open(shards)
        if opened.identity != loaded.identity:
            msg = (
                f"cannot decode {shards}: it was written by tokenizer {opened.identity[:12]}, "
                f"{tokenizer} is {loaded.identity[:12]}"
            )
            raise MismatchError(msg)
        numbers = _document(opened, document)
    else:
        numbers = ids if ids else _numbers(read_text())
    if as_json:
        print(json.dumps({"text": loaded.decode(numbers)}))
    else:
        sys.stdout.buffer.write(loaded.decode_bytes(numbers))
        sys.stdout.buffer.flush()


def _document(shards: TokenShards, document: int) -> list[int]:
    if document >= shards.documents:
        msg = f"{shards.path} has no document {document}: they are 0 to {shards.documents - 1}"
        raise ConfigError(msg)
    start, end = (int(place) for place in shards.document_starts[document : document + 2])
    numbers: list[int] = shards.read(start, end - start).tolist()
    return numbers


def _numbers(text: str) -> list[int]:
    try:
        if text.lstrip().startswith("{"):
            return [operator.index(token_id) for token_id in json.loads(text)["ids"]]
        return [int(word) for word in text.split()]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        found = "it has no 'ids'" if isinstance(error, KeyError) else error
        msg = (
            "standard input must hold ids, whole numbers with spaces between them, or JSON as "
            f"'encode --json' writes it: {found}"
        )
        raise ConfigError(msg) from error
