"""``lmfast tokenizer encode``."""

import json
import time
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from lmfast.cli.options import JsonOption
from lmfast.cli.streams import read_bytes, say
from lmfast.cli.tokenizer.facts import describe_skipped, say_skipped
from lmfast.cli.tokenizer.options import (
    CORPUS_HELP,
    FilePretokenizerOption,
    FileSpecialOption,
    OnErrorOption,
    TextFieldOption,
    ThreadsOption,
    TokenizerArgument,
    load_tokenizer,
    standard_input,
)
from lmfast.corpus import TokenShards, prepare
from lmfast.errors import ConfigError, MissingFileError
from lmfast.progress import bytes_bar
from lmfast.sources import bytes_on_disk, require_files
from lmfast.tokenizer import END_OF_TEXT, Tokenizer


def encode(
    tokenizer: TokenizerArgument,
    corpus: Annotated[
        list[Path] | None,
        typer.Argument(
            help=f"{CORPUS_HELP} Needs --out.",
            callback=standard_input,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of shards to make from the corpus.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Text to encode; without it, standard input.")
    ] = None,
    allow_special: Annotated[
        bool,
        typer.Option(
            "--allow-special",
            help="Special tokens in --text or standard input become their ids; else refused.",
        ),
    ] = False,
    held_out_one_in: Annotated[
        int | None,
        typer.Option("--held-out-one-in", help="Hold out one document in this many.", min=1),
    ] = None,
    separator: Annotated[
        str, typer.Option("--separator", help="The special token that ends a document.")
    ] = END_OF_TEXT,
    max_document_bytes: Annotated[
        int | None,
        typer.Option("--max-document-bytes", help="Cut longer documents at a line end.", min=1),
    ] = None,
    shard_tokens: Annotated[
        int, typer.Option("--shard-tokens", help="Tokens that fill a shard.", min=1)
    ] = 1 << 27,
    text_field: TextFieldOption = "text",
    on_error: OnErrorOption = "raise",
    threads: ThreadsOption = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Encode a corpus to token shards, or a text to ids.

    lmfast tokenizer encode books.json books.txt.zst --out shards --held-out-one-in 100

    lmfast tokenizer encode books.json --text "Call me Ishmael."

    Pieces that --max-document-bytes cuts count as documents: with --held-out-one-in, pieces of one
    document may be on both sides.

    Shards are flat uint16 or uint32 files that numpy.memmap opens, with a manifest beside them;
    'lmfast train' reads them.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    if out is None:
        if corpus:
            _refuse_corpus(corpus)
        _print_ids(loaded, text, allow_special, as_json)
        return
    if text is not None or not corpus:
        msg = "--out makes shards from a corpus: name its files or folders, and leave out --text"
        raise ConfigError(msg)
    begin = time.perf_counter()
    with bytes_bar("encoding", bytes_on_disk(corpus)) as on_bytes:
        prepared = prepare(
            corpus,
            loaded,
            out,
            held_out_one_in=held_out_one_in,
            separator=separator,
            max_document_bytes=max_document_bytes,
            shard_tokens=shard_tokens,
            text_field=text_field,
            on_error=on_error,
            threads=threads,
            on_bytes=on_bytes,
        )
    seconds = time.perf_counter() - begin
    folders = [shards for shards in (prepared.train, prepared.held_out) if shards is not None]
    say_skipped(prepared.skipped)
    if as_json:
        result = {
            "folders": [_totals(shards) for shards in folders],
            "skipped": describe_skipped(prepared.skipped),
            "seconds": seconds,
        }
        print(json.dumps(result, indent=1))
        return
    for shards in folders:
        say(
            f"{shards.path}: {shards.documents:,} documents, {shards.bytes:,} bytes, "
            f"{shards.tokens:,} tokens"
        )


def _refuse_corpus(corpus: list[Path]) -> NoReturn:
    """Say what is missing where files are named and no folder for their shards."""
    try:
        require_files(corpus)
    except MissingFileError as error:
        msg = f"{error}; a text to encode goes behind --text"
        raise MissingFileError(msg) from error
    msg = f"encoding {corpus[0]} needs --out, the folder of shards to make"
    raise ConfigError(msg)


def _print_ids(tokenizer: Tokenizer, text: str | None, allow_special: bool, as_json: bool) -> None:
    data = text if text is not None else read_bytes()
    ids = tokenizer.encode(data, allowed_special="all" if allow_special else ())
    if as_json:
        print(json.dumps({"ids": ids}))
    else:
        print(*ids)


def _totals(shards: TokenShards) -> dict[str, str | int]:
    return {
        "folder": str(shards.path),
        "documents": shards.documents,
        "bytes": shards.bytes,
        "tokens": shards.tokens,
    }
