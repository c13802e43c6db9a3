"""How often a text uses each token, and each merge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lmfast._lmfast import for_each_text
from lmfast.sources import StrPath, text_files
from lmfast.tokenizer import Progress, Tokenizer

Stretch: TypeAlias = tuple[str, bool]
"""Text, and whether a document ends after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of a text, counted."""

    text_bytes: int
    """Bytes of the text, that of special tokens left out."""
    counts: NDArray[np.int64]
    """How often each id occurs, ``[n_vocab]``."""

    @property
    def tokens(self) -> int:
        """Tokens of the text."""
        return int(self.counts.sum())


def count_usage(
    tokenizer: Tokenizer,
    sources: StrPath | Sequence[StrPath],
    *,
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> Usage:
    """The tokens of files, counted in one pass and bounded memory.

    Args:
        tokenizer: Its special tokens end documents in the files, and are not counted.
        sources: Text files and JSON lines (field ``text``), folders, patterns.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes of text counted.

    Raises:
        MissingFileError: A source is not there.
        CorpusError: A file is no such file, or holds something that cannot be used.
    """

    def visit(_: list[Stretch], text_bytes: int) -> None:
        if on_bytes is not None:
            on_bytes(text_bytes)

    (usage,) = usage_of_all([tokenizer], text_files(sources), visit, threads=threads)
    return usage


def usage_of_all(
    tokenizers: Sequence[Tokenizer],
    files: Sequence[StrPath],
    visit: Callable[[list[Stretch], int], object],
    *,
    threads: int | None,
) -> list[Usage]:
    """The tokens of files in each of several tokenizers, counted in one pass.

    Args:
        tokenizers: The special tokens of the first end documents, for all of them alike.
        files: Text files and JSON lines.
        visit: Called with the next stretches once they are counted, and the bytes of text so far.
        threads: ``None`` is one per core.

    Raises:
        MissingFileError: A file is not there.
        CorpusError: A file holds something that cannot be used.
    """
    counts = [np.zeros(one.n_vocab, dtype=np.int64) for one in tokenizers]
    text_bytes = 0

    def count(stretches: list[Stretch]) -> None:
        nonlocal text_bytes
        texts = [text for text, _ in stretches]
        for one, found in zip(tokenizers, counts, strict=True):
            ids = one.encode_batch(texts, threads, disallowed_special=()).ids
            found += np.bincount(ids, minlength=len(found))
        text_bytes += sum(len(text.encode()) for text in texts)
        visit(stretches, text_bytes)

    first, *others = (one._core for one in tokenizers)
    for_each_text(files, first, others, count)
    return [Usage(text_bytes=text_bytes, counts=found) for found in counts]


def merges_applied(tokenizer: Tokenizer, usage: Usage) -> NDArray[np.int64]:
    """How often each merge applied while the counted text was encoded, ``[merges]`` by rank.

    A token comes of one merge, and its two parts of theirs: counted from the last merge to the
    first, the tokens at the end tell of all that occurred on the way. With the first merges alone
    the text would have had as many tokens more as the others applied, since a merge makes parts
    for later ones only. Both hold where ids are ranks: where ``truncated_to`` works.
    """
    merges = tokenizer._core.merges()
    occurred: list[int] = usage.counts.tolist()
    applied = np.zeros(len(merges), dtype=np.int64)
    for left, right, merged, rank in reversed(merges):
        applied[rank] = occurred[merged]
        occurred[left] += occurred[merged]
        occurred[right] += occurred[merged]
    return applied
