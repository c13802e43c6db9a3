"""Text files to folders of token shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from lmfast._lmfast import expand_sources, write_shards
from lmfast.corpus.shards import TokenShards
from lmfast.tokenizer import END_OF_TEXT, Progress, StrPath, Tokenizer

TRAIN_FOLDER, HELD_OUT_FOLDER = "train", "held_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCorpus:
    """The shards that a corpus became."""

    train: TokenShards
    held_out: TokenShards | None
    """The held-out documents; None where none were asked for."""


def prepare(
    sources: StrPath | Sequence[StrPath],
    tokenizer: Tokenizer,
    out: StrPath,
    *,
    held_out_one_in: int | None = None,
    separator: str = END_OF_TEXT,
    max_document_bytes: int | None = None,
    shard_tokens: int = 1 << 27,
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> PreparedCorpus:
    """Encode text files to token shards; the same bytes for any number of threads.

    A folder of shards appears under its name only when it is whole: an interrupted
    call leaves a folder beside it whose name ends in ``.unfinished``, which the next call clears.

    Args:
        sources: One path or several: UTF-8 text, also ``.gz`` or ``.zst``; a folder stands for all
            files below it. The end of a file ends a document.
        tokenizer: What to encode with. A copy of it goes into the folder.
        out: The folder to make; with documents held out, it holds ``train`` and ``held_out``.
        held_out_one_in: Hold out one document in this many from training; ``None`` holds out none.
        separator: The special token whose text ends a document in a file, and whose id is written
            after each. Other special tokens in the text are text.
        max_document_bytes: Longer documents are cut after a line end.
        shard_tokens: A shard ends with the document that brings it to this many tokens; the
            default makes files of 256 MiB with 2-byte ids.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes read.

    Raises:
        MissingFileError: A source is not there.
        FileError: ``out`` already exists, another process writes it, or the disk is full.
        CorpusError: A source is not UTF-8, there is no document, or too few to hold one out.
        UnknownTokenError: The tokenizer has no such separator.
    """
    paths = [sources] if isinstance(sources, str | PathLike) else list(sources)
    folder, held_out = Path(out), None
    if held_out_one_in is not None:
        folder, held_out = folder / TRAIN_FOLDER, (folder / HELD_OUT_FOLDER, held_out_one_in)
    write_shards(
        tokenizer._core,
        expand_sources(paths),
        folder,
        held_out,
        separator,
        max_document_bytes,
        shard_tokens,
        threads,
        on_bytes,
    )
    return PreparedCorpus(
        train=TokenShards.open(folder),
        held_out=TokenShards.open(held_out[0]) if held_out else None,
    )
