"""Training a byte-level BPE vocabulary."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Literal, TypeAlias

from lmfast._lmfast import PretokenCounts, expand_sources
from lmfast.errors import InputTypeError
from lmfast.tokenizer import (
    END_OF_TEXT,
    Progress,
    StrPath,
    Tokenizer,
    pretokenizer_argument,
)
from lmfast.trace import TrainingRecord

TieBreak: TypeAlias = Literal["lexicographic", "huggingface", "smallest_id"]

# Texts of an iterator are counted in batches of about this many characters.
_BATCH_CHARACTERS = 1 << 23


def train_bpe(
    sources: StrPath | Iterable[str] | Sequence[StrPath],
    *,
    vocab_size: int,
    pretokenizer: str | None = "gpt2",
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    tie_break: TieBreak = "lexicographic",
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    allow_fewer: bool = False,
    threads: int | None = None,
    on_bytes: Progress | None = None,
    on_merges: Progress | None = None,
) -> Tokenizer:
    """Train a byte-level BPE vocabulary (Sennrich et al., 2016; Radford et al., 2019).

    Ids 0 to 255 are the bytes; merges follow in the order in which they were found; special tokens
    come last. The result does not depend on the number of threads or the order of the sources.

    Args:
        sources: One path or several: a UTF-8 text file (also ``.gz`` or ``.zst``), or a folder,
            which stands for all files below it. Or an iterator of texts, read in batches; a list
            is taken as paths.
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
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes counted.
        on_merges: Called now and then with the merges found.

    Raises:
        MissingFileError: A source is not there.
        CorpusError: The sources hold no text, or something that is not UTF-8.
        VocabularyError: The vocabulary is too small for bytes and special tokens, or larger than
            the corpus can fill (the message says how many merges there were); or the regular
            expression or the special tokens cannot be used.
        ConfigError: There is no such tie-break, or a number is out of range.
        InputTypeError: An argument has the wrong type.
    """
    counts = counted(sources, pretokenizer, special_tokens, threads, on_bytes)
    core, merges = counts.train(
        vocab_size, tie_break, min_frequency, max_token_bytes, allow_fewer, threads, on_merges
    )
    text_bytes = counts.text_bytes
    return Tokenizer(core, TrainingRecord.of(core, text_bytes, text_bytes, merges))


def counted(
    sources: StrPath | Iterable[str] | Sequence[StrPath],
    pretokenizer: str | None,
    special_tokens: Iterable[str],
    threads: int | None,
    on_bytes: Progress | None,
) -> PretokenCounts:
    """The pretokens of ``sources``; all is as for ``train_bpe``."""
    counts = PretokenCounts(pretokenizer_argument(pretokenizer), special_tokens)
    if isinstance(sources, str | PathLike):
        sources = [sources]
    if isinstance(sources, Sequence):
        counts.add_files(expand_sources(sources), threads, on_bytes)
    else:
        for batch in _batches(sources):
            counts.add_texts(batch, threads)
    return counts


def _batches(texts: object) -> Iterator[list[str]]:
    if not isinstance(texts, Iterable):
        msg = f"sources must be paths or an iterator of str, not {type(texts).__name__}"
        raise InputTypeError(msg)
    batch: list[str] = []
    characters = 0
    for text in texts:
        if not isinstance(text, str):
            msg = f"text must be str, not {type(text).__name__}"
            raise InputTypeError(msg)
        batch.append(text)
        characters += len(text)
        if characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
