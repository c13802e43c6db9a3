"""Batches out of token shards, as a pure function of the position in the run.

There is no state to save: samples 1000..1032 are the same ids whether or not the run was resumed,
and however many processes share the work.
"""

import numpy as np
from numpy.typing import NDArray

from lmfast.checks import whole
from lmfast.corpus.permutation import permute
from lmfast.corpus.shards import TokenShards, check_ids
from lmfast.errors import CorpusError


class Loader:
    """Windows of ``context_length + 1`` consecutive ids: inputs, and targets one further on.

    The windows tile the corpus, each beginning at the last target of the one before, so that an
    epoch predicts every token but the first. The last window ends at the last token and overlaps
    its neighbour instead of dropping the remainder. A window may span documents; the
    model sees the separator between them.
    """

    def __init__(
        self, shards: TokenShards, context_length: int, seed: int, shuffle: bool = True
    ) -> None:
        """Prepare windows over ``shards``.

        Raises:
            ConfigError: ``context_length`` is less than 1.
            CorpusError: The corpus is shorter than one window.
            InputTypeError: ``context_length`` is not a whole number.
        """
        context_length = whole("context_length", context_length, least=1)
        if shards.tokens < context_length + 1:
            msg = (
                f"cannot cut windows out of {shards.path}: it holds {shards.tokens} tokens; with "
                f"context_length = {context_length} at least {context_length + 1} are needed"
            )
            raise CorpusError(msg)
        self.shards = shards
        self.context_length = context_length
        self.seed = seed
        self.shuffle = shuffle

    @property
    def windows(self) -> int:
        """Samples of one epoch."""
        return -(-(self.shards.tokens - 1) // self.context_length)

    def starts(self, first: int, count: int) -> NDArray[np.int64]:
        """Where samples ``first .. first + count`` begin in the corpus: int64 [count].

        Sample i belongs to epoch ``i // windows``; every epoch visits each window once, in an
        order of its own.
        """
        samples = np.arange(first, first + count, dtype=np.int64)
        epochs, windows = np.divmod(samples, self.windows)
        if self.shuffle:
            windows = permute(windows, self.windows, self.seed, epochs)
        last = self.shards.tokens - (self.context_length + 1)
        starts: NDArray[np.int64] = np.minimum(windows * self.context_length, last)
        return starts

    def batch(self, first: int, count: int) -> NDArray[np.int64]:
        """Samples ``first .. first + count`` of the run: int64 [count, context_length + 1].

        Raises:
            CorpusError: The shards hold an id that their tokenizer does not have.
        """
        length = self.context_length + 1
        rows = [self.shards.read(int(start), length) for start in self.starts(first, count)]
        result = np.stack(rows).astype(np.int64)
        check_ids(result.reshape(-1), self.shards.vocab_size, self.shards.path)
        return result
