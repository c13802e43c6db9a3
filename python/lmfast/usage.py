"""How often a text uses each token, and each merge."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmfast._lmfast import expand_sources, for_each_text
from lmfast.sources import StrPath
from lmfast.tokenizer import Progress, Tokenizer


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
    sources: Sequence[StrPath],
    *,
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> Usage:
    """The tokens of files, counted in one pass and bounded memory.

    Args:
        tokenizer: Its special tokens end documents in the files, and are not counted.
        sources: Files and folders, as for training.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes counted.

    Raises:
        MissingFileError: A source is not there.
        CorpusError: A file is not UTF-8.
    """
    counts = np.zeros(tokenizer.n_vocab, dtype=np.int64)
    text_bytes = 0

    def count(texts: list[tuple[str, bool]]) -> None:
        nonlocal text_bytes
        batch = tokenizer.encode_batch([text for text, _ in texts], threads, disallowed_special=())
        counts[:] += np.bincount(batch.ids, minlength=len(counts))
        text_bytes += sum(len(text.encode()) for text, _ in texts)
        if on_bytes is not None:
            on_bytes(text_bytes)

    files = expand_sources(sources)
    for_each_text(files, pattern_to_cut_by([tokenizer]), list(tokenizer.special_tokens), count)
    return Usage(text_bytes=text_bytes, counts=counts)


def pattern_to_cut_by(tokenizers: Sequence[Tokenizer]) -> str | None:
    """A pretokenizer whose safe cuts are safe for all of ``tokenizers``, for ``for_each_text``.

    The named schemes share their safe cuts. A regular expression has none, and no pretokenizer
    neither: documents then stay whole.
    """
    for one in tokenizers:
        if one.pretokenizer == one.pattern:
            return one.pattern
    return tokenizers[0].pattern


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
