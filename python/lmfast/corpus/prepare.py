"""Documents to folders of token shards."""

from dataclasses import dataclass, field

from lmfast._lmfast import write_shards
from lmfast.checks import as_path
from lmfast.corpus.manifest import HELD_OUT_FOLDER, TRAIN_FOLDER
from lmfast.corpus.shards import TokenShards
from lmfast.sources import Corpus, OnError, Skipped, StrPath, open_sources, skipped_in
from lmfast.tokenizer import END_OF_TEXT, Progress, Tokenizer, require_tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCorpus:
    """The shards that a corpus became."""

    train: TokenShards
    held_out: TokenShards | None
    """The held-out documents; None where none were asked for."""
    skipped: Skipped = field(default_factory=Skipped)
    """What of the corpus could not be used, with ``on_error="skip"``."""


def prepare(
    sources: Corpus,
    tokenizer: Tokenizer,
    out: StrPath,
    *,
    held_out_one_in: int | None = None,
    separator: str = END_OF_TEXT,
    max_document_bytes: int | None = None,
    shard_tokens: int = 1 << 27,
    text_field: str = "text",
    on_error: OnError = "raise",
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> PreparedCorpus:
    """Encode documents to token shards; the same bytes for any number of threads.

    A folder of shards appears under its name only when it is whole: an interrupted
    call leaves a folder beside it whose name ends in ``.unfinished``, which the next call clears.

    Args:
        sources: What ``lmfast.train_bpe`` takes: paths of text, JSON lines or Parquet files, of
            folders and patterns, or an iterator of documents. The end of a file ends a document.
        tokenizer: What to encode with. A copy of it goes into the folder.
        out: The folder to make; with documents held out, it holds ``train`` and ``held_out``.
        held_out_one_in: Hold out one document in this many from training; ``None`` holds out none.
        separator: The special token whose text ends a document in a file, and whose id is written
            after each. Other special tokens in the text are text.
        max_document_bytes: Longer documents are cut after a line end. Pieces count as documents, so
            that pieces of one document may be on both sides of ``held_out_one_in``.
        shard_tokens: A shard ends with the document that brings it to this many tokens; the
            default makes files of 256 MiB with 2-byte ids.
        text_field: The field of JSON lines and the column of Parquet and Arrow files that holds the
            text; a dot leads into an object or a struct.
        on_error: ``"skip"`` leaves out the documents that cannot be used, and counts them in
            ``PreparedCorpus.skipped``.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes read of the files, compressed ones as they
            are, or the bytes that an iterator yielded.

    Raises:
        MissingFileError: A source is not there.
        FileError: ``out`` already exists, another process writes it, or the disk is full.
        MissingDependencyError: Parquet and Arrow files need the extra ``lmfast[arrow]``.
        TextError: An item of the iterator is not UTF-8.
        CorpusError: A source cannot be used, there is no document, or too few to hold one out.
        UnknownTokenError: The tokenizer has no such separator.
        InputTypeError: An argument has the wrong type.
    """
    require_tokenizer(tokenizer)
    opened = open_sources(sources, text_field=text_field, on_error=on_error)
    folder, held_out = as_path(out), None
    if held_out_one_in is not None:
        folder, held_out = folder / TRAIN_FOLDER, folder / HELD_OUT_FOLDER
    write_shards(
        tokenizer._core,
        opened,
        folder,
        held_out,
        held_out_one_in,
        separator,
        max_document_bytes,
        shard_tokens,
        threads,
        on_bytes,
    )
    return PreparedCorpus(
        train=TokenShards.open(folder),
        held_out=TokenShards.open(held_out) if held_out else None,
        skipped=skipped_in(opened),
    )
