"""Training a byte-level BPE vocabulary: count pretokens, then merge.

The two steps can run apart: many machines count parts of a corpus into files, and one trains on the
sum of the files, with the result that the whole corpus would have given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from lmfast import _lmfast
from lmfast.sources import Corpus, OnError, Skipped, StrPath, open_sources, paths_of, skipped_in
from lmfast.tokenizer import (
    END_OF_TEXT,
    Progress,
    Tokenizer,
    pretokenizer_argument,
)
from lmfast.trace import TrainingRecord

TieBreak: TypeAlias = Literal["lexicographic", "huggingface", "smallest_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What counting left out because it occurs less often than ``min_count``.

    A pretoken of n bytes holds n - 1 pairs, so the count of any pair is too low by at most
    ``bytes - occurrences``; a merge whose count leads by more is the one that exact counts give.
    """

    pretokens: int
    """Different pretokens."""
    occurrences: int
    """How often they occur together."""
    bytes: int
    """The text that they make up, in bytes."""


class PretokenCounts:
    """How often each pretoken of a corpus occurs: all that training needs to know of the text.

    ``count_pretokens`` makes one, ``save`` writes it, and ``load`` adds up any number of files.
    """

    __slots__ = ("_core", "skipped")

    def __init__(self, core: _lmfast.PretokenCounts, skipped: Skipped | None = None) -> None:
        self._core = core
        self.skipped = skipped
        """What of the corpus could not be used; None where count files do not say."""

    @classmethod
    def load(
        cls,
        files: StrPath | Sequence[StrPath],
        *,
        min_count: int = 1,
        temporary_folder: StrPath | None = None,
    ) -> Self:
        """The sum of count files; they stay on disk and must not be changed meanwhile.

        Args:
            files: One or several, of text that was cut in the same way.
            min_count: Pretokens that occur less often in all files together are dropped.
            temporary_folder: Where the sum of several files goes, as for ``count_pretokens``.

        Raises:
            MissingFileError: A file is not there.
            CorpusError: A file holds no counts, is damaged or cut off, or is of text that was cut
                otherwise; or a sum is beyond 64 bits.
            FileError: A file cannot be read, or no temporary file be written.
            ConfigError: No file is named.
        """
        return cls(_lmfast.PretokenCounts.load(paths_of(files), min_count, temporary_folder))

    def save(self, path: StrPath) -> None:
        """Write a count file, whole or not at all.

        Raises:
            FileError: It cannot be written.
        """
        self._core.save(path)

    def __len__(self) -> int:
        """The number of different pretokens."""
        return len(self._core)

    def __repr__(self) -> str:
        return f"PretokenCounts({len(self)} pretokens, {self.text_bytes} bytes)"

    @property
    def text_bytes(self) -> int:
        """Bytes of the text that was counted, special tokens left out."""
        return self._core.text_bytes

    @property
    def occurrences(self) -> int:
        """How often all pretokens occur together, those dropped left out."""
        return self._core.occurrences

    @property
    def dropped(self) -> Dropped:
        """What was left out."""
        pretokens, occurrences, dropped_bytes = self._core.dropped
        return Dropped(pretokens=pretokens, occurrences=occurrences, bytes=dropped_bytes)

    @property
    def pattern(self) -> str | None:
        """The regular expression by which text was cut; None where it was not."""
        return self._core.pattern

    @property
    def special_tokens(self) -> list[str]:
        """The text that ended documents, in the order of the ids to be."""
        return self._core.special_tokens

    def items(self) -> list[tuple[bytes, int]]:
        """Every pretoken and its count, in no particular order; all of them in memory."""
        return self._core.items()


def count_pretokens(
    sources: Corpus,
    *,
    pretokenizer: str | None = "gpt2",
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    min_count: int = 1,
    memory_budget: int | None = None,
    temporary_folder: StrPath | None = None,
    text_field: str = "text",
    on_error: OnError = "raise",
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> PretokenCounts:
    """Count the pretokens of a corpus: the first step of training.

    Args:
        sources: As for ``train_bpe``.
        pretokenizer: As for ``train_bpe``.
        special_tokens: Their text ends a document and is never counted.
        min_count: Pretokens that occur less often in the whole corpus are dropped. That is the one
            setting that loses something; ``dropped`` of the result says what.
        memory_budget: Bytes that counting may take. What does not fit goes to temporary files, and
            the counts are the same. At least 48 MiB and 4 MiB per thread; Python itself comes on
            top, and so does a stretch of text that cannot be cut. None takes what it needs.
        temporary_folder: Where these files go; the system's folder for such by default. They have
            no name, so nothing is left of them however the process ends.
        text_field: As for ``train_bpe``.
        on_error: As for ``train_bpe``; what was left out is in ``skipped`` of the result.
        threads: ``None`` is one per core.
        on_bytes: As for ``train_bpe``.

    Raises:
        MissingFileError: A source is not there.
        MissingDependencyError: Parquet and Arrow files need the extra ``lmfast[arrow]``.
        CorpusError: A source holds something that cannot be used.
        TextError: An item of the iterator is not UTF-8.
        VocabularyError: The regular expression or the special tokens cannot be used.
        FileError: A source cannot be read, or a temporary file cannot be written.
        ConfigError: The budget is too small, or a number is out of range.
        InputTypeError: An argument has the wrong type.
    """
    opened = open_sources(sources, text_field=text_field, on_error=on_error)
    core = _lmfast.PretokenCounts.count(
        opened,
        pretokenizer_argument(pretokenizer),
        special_tokens,
        min_count,
        memory_budget,
        temporary_folder,
        threads,
        on_bytes,
    )
    return PretokenCounts(core, skipped_in(opened))


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
    memory_budget: int | None = None,
    temporary_folder: StrPath | None = None,
    text_field: str = "text",
    on_error: OnError = "raise",
    threads: int | None = None,
    on_bytes: Progress | None = None,
    on_merges: Progress | None = None,
) -> Tokenizer:
    """Train a byte-level BPE vocabulary (Sennrich et al., 2016; Radford et al., 2019).

    Ids 0 to 255 are the bytes; merges follow in the order in which they were found; special tokens
    come last. The result does not depend on the number of threads or the order of the sources.

    Files are read in blocks that end where no pretoken reaches across, 256 KiB or so. Where a
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
        pretokenizer: How text is cut before merging; no merge crosses a cut. One of
            ``lmfast.tokenizer.PRETOKENIZERS``, such as ``"cl100k"``; a regular expression; or
            ``None`` for no cuts. ``docs/pretokenizers.md`` says what each is.
        special_tokens: Their text ends a document and is never trained on.
        tie_break: Which pair merges first of those that occur equally often: the greatest pair of
            byte strings (``lexicographic``, CS336's rule); the one that Hugging Face's BpeTrainer
            takes (``huggingface``); or the smallest pair of ids (``smallest_id``).
        min_frequency: Pairs that occur less often do not merge.
        max_token_bytes: The longest token, inclusive.
        allow_fewer: Return what there is when the corpus cannot fill the vocabulary.
        memory_budget: Bytes that training may take, with the same result, only later. Counts that
            do not fit go to temporary files, as for ``count_pretokens``; so does the text that
            merges, of two bytes for each byte in pretokens that differ (four where the vocabulary
            has more than 65,534 tokens), of which the system keeps in memory what it has room for.
            The places of the most frequent pair stay in memory, and so does the vocabulary.
        temporary_folder: Where temporary files go, as for ``count_pretokens``.
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
        MissingDependencyError: Parquet and Arrow files need the extra ``lmfast[arrow]``.
        CorpusError: The sources hold no text, or something that cannot be used.
        TextError: An item of the iterator is not UTF-8.
        VocabularyError: The vocabulary is too small for bytes and special tokens, or larger than
            the corpus can fill (the message says how many merges there were); or the regular
            expression or the special tokens cannot be used.
        FileError: A source cannot be read, or a temporary file cannot be written.
        ConfigError: There is no such tie-break, a number is out of range, or the budget is too
            small.
        InputTypeError: An argument has the wrong type.
    """
    counts = count_pretokens(
        sources,
        pretokenizer=pretokenizer,
        special_tokens=special_tokens,
        memory_budget=memory_budget,
        temporary_folder=temporary_folder,
        text_field=text_field,
        on_error=on_error,
        threads=threads,
        on_bytes=on_bytes,
    )
    return train_from_counts(
        counts,
        vocab_size=vocab_size,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_bytes=max_token_bytes,
        allow_fewer=allow_fewer,
        memory_budget=memory_budget,
        temporary_folder=temporary_folder,
        threads=threads,
        on_merges=on_merges,
    )


def train_from_counts(
    counts: PretokenCounts | StrPath | Sequence[StrPath],
    *,
    vocab_size: int,
    tie_break: TieBreak = "lexicographic",
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    allow_fewer: bool = False,
    memory_budget: int | None = None,
    temporary_folder: StrPath | None = None,
    threads: int | None = None,
    on_merges: Progress | None = None,
) -> Tokenizer:
    """Train on counts: the second step of training, with the result of ``train_bpe``.

    The pretokenizer and the special tokens are those with which the text was counted.

    Args:
        counts: What ``count_pretokens`` gave, or one or several count files, which are added up.
        vocab_size: As for ``train_bpe``, and so are the other arguments.
        tie_break: Which pair merges first of those that occur equally often.
        min_frequency: Pairs that occur less often do not merge.
        max_token_bytes: The longest token, inclusive.
        allow_fewer: Return what there is when the counts cannot fill the vocabulary.
        memory_budget: As for ``train_bpe``.
        temporary_folder: As for ``train_bpe``.
        threads: ``None`` is one per core.
        on_merges: Called now and then with the merges found.

    Raises:
        MissingFileError: A count file is not there.
        CorpusError: Nothing was counted, or a count file cannot be used.
        VocabularyError: The vocabulary is too small for bytes and special tokens, or larger than
            the counts can fill.
        FileError: A count file cannot be read, or a temporary file cannot be written.
        ConfigError: There is no such tie-break, a number is out of range, or the budget is too
            small.
        InputTypeError: An argument has the wrong type.
    """
    if not isinstance(counts, PretokenCounts):
        counts = PretokenCounts.load(counts, temporary_folder=temporary_folder)
    return merge_counted(
        counts,
        None,
        vocab_size=vocab_size,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_bytes=max_token_bytes,
        allow_fewer=allow_fewer,
        memory_budget=memory_budget,
        temporary_folder=temporary_folder,
        threads=threads,
        on_merges=on_merges,
    )


def merge_counted(
    counts: PretokenCounts,
    start: Tokenizer | None,
    *,
    vocab_size: int,
    tie_break: TieBreak,
    min_frequency: int,
    max_token_bytes: int | None,
    allow_fewer: bool,
    memory_budget: int | None,
    temporary_folder: StrPath | None,
    threads: int | None,
    on_merges: Progress | None,
) -> Tokenizer:
    """The tokenizer that the merges of counted text make, or those that continue ``start``.

    All else is as for ``train_from_counts``, whose body this is, and that of ``extend``.
    """
    core, merges, start_tokens = counts._core.train(
        vocab_size,
        tie_break,
        min_frequency,
        max_token_bytes,
        allow_fewer,
        None if start is None else start._core,
        memory_budget,
        temporary_folder,
        threads,
        on_merges,
    )
    text_bytes = counts.text_bytes - counts.dropped.bytes
    record = TrainingRecord.of(core, text_bytes, start_tokens, merges, counts.skipped)
    return Tokenizer(core, record)
