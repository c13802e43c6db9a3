"""The pass over the text that a report is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmfast._lmfast import expand_sources, for_each_text
from lmfast.errors import ConfigError, CorpusError
from lmfast.report.characters import TextCounter, TextCounts
from lmfast.report.tokens import SourceUse, TokenizerUse, tokenizer_use
from lmfast.report.verdict import verdict
from lmfast.sources import StrPath
from lmfast.tokenizer import Progress, Tokenizer
from lmfast.usage import pattern_to_cut_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Tokenizers on one text, the one that was asked about first."""

    text: TextCounts
    tokenizers: tuple[TokenizerUse, ...]

    @property
    def verdict(self) -> tuple[str, ...]:
        """In words: where the first tokenizer stands, and which figures say why."""
        return verdict(self.text, self.tokenizers)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return {
            "text": self.text.to_dict(),
            "tokenizers": [use.to_dict() for use in self.tokenizers],
            "verdict": list(self.verdict),
        }


def compression_report(
    tokenizer: Tokenizer,
    sources: StrPath | Sequence[StrPath],
    *,
    name: str = "tokenizer",
    against: Mapping[str, Tokenizer] | None = None,
    threads: int | None = None,
    on_bytes: Progress | None = None,
) -> Report:
    """How a tokenizer compresses a text, beside others, in one pass over it.

    Memory is bounded, by the longest document where a pretokenizer has no safe cuts (a regular
    expression, or none).

    Args:
        tokenizer: Its special tokens end documents in the text; their own text is left out, for
            all tokenizers alike.
        sources: Files and folders, as for training.
        name: What the report calls ``tokenizer``.
        against: Others by name.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes of text done.

    Raises:
        ConfigError: Two tokenizers have one name.
        MissingFileError: A source is not there.
        CorpusError: The sources hold no text, or something that is not UTF-8.
    """
    others = dict(against or {})
    if name in others:
        msg = f"two tokenizers are called {name}: give one of them another name"
        raise ConfigError(msg)
    paths = [sources] if isinstance(sources, str | PathLike) else sources
    tokenizers = {name: tokenizer, **others}
    counted = _Pass(list(tokenizers.values()), list(tokenizer.special_tokens), threads, on_bytes)
    for file in expand_sources(paths):
        counted.read(file)
    text = counted.text.counts()
    if text.bytes == 0:
        msg = "the corpus is empty: there is no text to report on"
        raise CorpusError(msg)
    uses = (
        tokenizer_use(name, one, counts, text, by_source)
        for (name, one), counts, by_source in zip(
            tokenizers.items(), counted.counts, counted.by_source, strict=True
        )
    )
    return Report(text=text, tokenizers=tuple(uses))


class _Pass:
    """Counts files one after the other, in every tokenizer."""

    def __init__(
        self,
        tokenizers: Sequence[Tokenizer],
        separators: Sequence[str],
        threads: int | None,
        on_bytes: Progress | None,
    ) -> None:
        self.text = TextCounter()
        self.counts = [np.zeros(one.n_vocab, dtype=np.int64) for one in tokenizers]
        self.by_source: list[list[SourceUse]] = [[] for _ in tokenizers]
        self._tokenizers = tokenizers
        self._separators = separators
        self._pattern = pattern_to_cut_by(tokenizers)
        self._threads = threads
        self._on_bytes = on_bytes
        self._bytes = 0

    def read(self, file: StrPath) -> None:
        """Count one file."""
        tokens = [0] * len(self._tokenizers)
        size = characters = 0

        def count(stretches: list[tuple[str, bool]]) -> None:
            nonlocal size, characters
            texts = [text for text, _ in stretches]
            size += sum(len(text.encode()) for text in texts)
            characters += sum(map(len, texts))
            self.text.add(stretches)
            for i, one in enumerate(self._tokenizers):
                ids = one.encode_batch(texts, self._threads, disallowed_special=()).ids
                self.counts[i] += _counts(ids, one.n_vocab)
                tokens[i] += len(ids)
            if self._on_bytes is not None:
                self._on_bytes(self._bytes + size)

        for_each_text([file], self._pattern, self._separators, count)
        self._bytes += size
        for sources, found in zip(self.by_source, tokens, strict=True):
            sources.append(
                SourceUse(
                    source=fspath(file),
                    bytes=size,
                    characters=characters,
                    tokens=found,
                    bytes_per_token=size / found if found else None,
                )
            )


def _counts(ids: NDArray[np.uint32], n_vocab: int) -> NDArray[np.int64]:
    return np.bincount(ids, minlength=n_vocab)
