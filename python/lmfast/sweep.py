"""Compression against vocabulary size: a table that costs one training."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmfast.errors import ConfigError, CorpusError
from lmfast.sources import StrPath
from lmfast.tokenizer import Progress, Tokenizer, require_tokenizer
from lmfast.trace import TrainingRecord
from lmfast.usage import Usage, count_usage, merges_applied


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """One vocabulary size."""

    vocab_size: int
    """Tokens, special ones included."""
    bytes_per_token: float | None
    """On the corpus that the vocabulary was trained on; None where there is no record of it, as
    for the sizes below that of a vocabulary which was extended."""
    evaluated: dict[str, float]
    """Bytes per token on each other corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Bytes per token by vocabulary size, smallest first."""

    rows: tuple[SweepRow, ...]
    text_bytes: int | None
    """Bytes of the training corpus; None where there is no record of it."""
    evaluated_bytes: dict[str, int]
    """Bytes of each other corpus."""
    tokenizer: Tokenizer = field(repr=False)
    """The largest one; ``truncated_to`` gives the others."""

    def to_dict(self) -> dict[str, Any]:
        """The table for JSON, as ``lmfast account vocab`` reads it."""
        return {
            "identity": self.tokenizer.identity,
            "text_bytes": self.text_bytes,
            "evaluated_bytes": self.evaluated_bytes,
            "rows": [dataclasses.asdict(row) for row in self.rows],
        }


def sweep_sizes(
    tokenizer: Tokenizer,
    vocab_sizes: Iterable[int],
    *,
    evaluate: Mapping[str, StrPath | Sequence[StrPath]] | None = None,
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> Sweep:
    """Bytes per token at each vocabulary size, on the training corpus and on others.

    The merges of a smaller vocabulary are the first ones of a larger. The training corpus needs no
    encoding: its record tells how often each merge applied. Every other corpus is encoded once,
    with the largest vocabulary, and its tokens tell the same.

    Args:
        tokenizer: The largest vocabulary, as ``train_bpe`` returned it; of one that was loaded the
            other corpora are told alone.
        vocab_sizes: Sizes up to that of ``tokenizer``, special tokens included.
        evaluate: Other corpora by name: text files and JSON lines (field ``text``), folders,
            patterns. Documents end at the special tokens of ``tokenizer``, whose text is left out.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes of a corpus that are encoded.

    Raises:
        VocabularyError: A size is out of range, or the ids of ``tokenizer`` are not its ranks.
        ConfigError: There are no sizes.
        CorpusError: A corpus holds no text, or something that cannot be used, or a file of it is
            neither text nor JSON lines.
        MissingFileError: A source is not there.
        InputTypeError: ``tokenizer`` is no Tokenizer.
    """
    require_tokenizer(tokenizer)
    sizes = sorted(set(vocab_sizes))
    if not sizes:
        msg = "a sweep needs one vocabulary size at least"
        raise ConfigError(msg)
    for size in (sizes[0], sizes[-1]):
        tokenizer.truncated_to(size)  # which says what is wrong with a size, or the vocabulary
    usages = {
        name: count_usage(tokenizer, sources, threads=threads, on_bytes=on_bytes)
        for name, sources in (evaluate or {}).items()
    }
    for name, usage in usages.items():
        if usage.text_bytes == 0:
            msg = f"the corpus {name} is empty: there is no text to evaluate on"
            raise CorpusError(msg)
    record = tokenizer.training
    trained = {} if record is None else _curve_of_training(tokenizer.n_vocab, record)
    curves = {name: _curve_of_usage(tokenizer, usage) for name, usage in usages.items()}
    rows = [
        SweepRow(
            vocab_size=size,
            bytes_per_token=trained.get(size),
            evaluated={name: curve[size] for name, curve in curves.items()},
        )
        for size in sizes
    ]
    return Sweep(
        rows=tuple(rows),
        text_bytes=None if record is None else record.text_bytes,
        evaluated_bytes={name: usage.text_bytes for name, usage in usages.items()},
        tokenizer=tokenizer,
    )


def _curve_of_training(n_vocab: int, record: TrainingRecord) -> dict[int, float]:
    """Bytes per token on the training corpus by vocabulary size, from the first that it tells."""
    applied = np.array(record.applied, dtype=np.int64)
    return _curve(n_vocab, record.text_bytes, record.start_tokens, applied)


def _curve_of_usage(tokenizer: Tokenizer, usage: Usage) -> dict[int, float]:
    """Bytes per token on a text that was encoded, by vocabulary size."""
    applied = merges_applied(tokenizer, usage)
    return _curve(tokenizer.n_vocab, usage.text_bytes, usage.text_bytes, applied)


def _curve(
    n_vocab: int, text_bytes: int, start_tokens: int, applied: NDArray[np.int64]
) -> dict[int, float]:
    """Bytes per token with the first 0, 1, ... of the last merges, by vocabulary size."""
    tokens = start_tokens - np.concatenate([[0], np.cumsum(applied)])
    ratios: list[float] = (text_bytes / tokens).tolist()
    return dict(enumerate(ratios, n_vocab - len(applied)))
