"""Training a byte-level BPE vocabulary."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from lmfast._lmfast import PretokenCounts
from lmfast.sources import Corpus, OnError, open_sources, skipped_in
from lmfast.tokenizer import (
    END_OF_TEXT,
    Progress,
    Tokenizer,
    TrainingRecord,
    pretokenizer_argument,
)

TieBreak: TypeAlias = Literal["lexicographic", "huggingface", "smallest_id"]


def train_bpe(
    sources: Corpus,
    *,
    vocab_size: int,
    pretokenizer: str | None = "gpt2",
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    tie_break: TieBreak = "lexicographic",
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    allow_fewer: bool = False,
    text_field: str = "text",
    on_error: OnError = "raise",
    threads: int | None = None,
    on_bytes: Progress | None = None,
    on_merges: Progress | None = None,
) -> Tokenizer:
    """Train a byte-level BPE vocabulary (Sennrich et al., 2016; Radford et al., 2019).

    Ids 0 to 255 are the bytes; merges follow in the order in which they were found; special tokens
    come last. The result does not depend on the number of threads or the order of the sources.

    Files are read in blocks that end where no pretoken reaches across, a MiB or so. Where a
    document has no such place it is held in memory whole, and worked on by one thread: with
    ``pretokenizer=None`` or a regular expression, in a single run of letters, symbols or
    whitespace, and with ``on_error="skip"`` in text files. A line of JSON is held whole, too, and
    may have 2^30 bytes.

    Args:
        sources: One path or several: a file of UTF-8 text or of JSON lines (``.jsonl``,
            ``.ndjson``), each also ``.gz`` or ``.zst``, a Parquet or Arrow file, a folder, or a
            pattern such as ``data/**/*.txt``. Or an iterator of documents, ``str`` or ``bytes``,
            counted while it goes on; a list is taken as paths.
        vocab_size: Tokens to end with, special tokens included; at least 256 and the special ones.
        pretokenizer: How text is cut before merging; no merge crosses a cut. ``"gpt2"``,
            ``"cl100k"``, ``"o200k"``, ``"llama3"``, a regular expression, or ``None`` for no cuts.
        special_tokens: Their text ends a document and is never trained on.
        tie_break: Which pair merges first of those that occur equally often: the greatest pair of
            byte strings (``lexicographic``, CS336's rule); the one that Hugging Face's BpeTrainer
            takes (``huggingface``); or the smallest pair of ids (``smallest_id``).
        min_frequency: Pairs that occur less often do not merge.
        max_token_bytes: The longest token, inclusive.
        allow_fewer: Return what there is when the corpus cannot fill the vocabulary.
        text_field: The field of JSON lines and the column of Parquet and Arrow files that holds the
            text; a dot leads into an object or a struct.
        on_error: ``"skip"`` leaves out what cannot be used, and counts it in
            ``Tokenizer.training.skipped``: a line of JSON, a row or an item that is not as it
            should be; of a text file, each document that is not UTF-8. Rows without a value are no
            documents, and counted either way.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes read of the files, compressed ones as they
            are, or the bytes that an iterator yielded.
        on_merges: Called now and then with the merges found.

    Raises:
        MissingFileError: A source is not there.
        MissingDependencyError: Parquet and Arrow files need the extra ``lmfast[parquet]``.
        CorpusError: The sources hold no text, or something that cannot be used.
        TextError: An item of the iterator is not UTF-8.
        VocabularyError: The vocabulary is too small for bytes and special tokens, or larger than
            the corpus can fill (the message says how many merges there were); or the regular
            expression or the special tokens cannot be used.
        ConfigError: There is no such tie-break, or a number is out of range.
        InputTypeError: An argument has the wrong type.
    """
    counts = PretokenCounts(pretokenizer_argument(pretokenizer), special_tokens)
    opened = open_sources(sources, text_field=text_field, on_error=on_error)
    counts.add(opened, threads, on_bytes)
    core, merges = counts.train(
        vocab_size, tie_break, min_frequency, max_token_bytes, allow_fewer, on_merges
    )
    record = TrainingRecord(
        text_bytes=counts.text_bytes,
        counts=[count for count, _ in merges],
        applied=[applied for _, applied in merges],
        skipped=skipped_in(opened),
    )
    return Tokenizer(core, record)
