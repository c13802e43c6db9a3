"""The pass over the text that a report is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lmfast.errors import ConfigError, CorpusError
from lmfast.report.characters import TextCounter, TextCounts
from lmfast.report.tokens import SourceUse, TokenizerUse, tokenizer_use
from lmfast.report.verdict import verdict
from lmfast.sources import StrPath, text_files
from lmfast.tokenizer import Progress, Tokenizer, require_tokenizer
from lmfast.usage import Stretch, usage_of_all


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
        sources: Text files and JSON lines (field ``text``), folders, patterns.
        name: What the report calls ``tokenizer``.
        against: Others by name.
        threads: ``None`` is one per core.
        on_bytes: Called now and then with the bytes of text done.

    Raises:
        ConfigError: Two tokenizers have one name.
        MissingFileError: A source is not there.
        CorpusError: The sources hold no text, or something that cannot be used, or a file is
            neither text nor JSON lines.
        InputTypeError: A tokenizer is no Tokenizer.
    """
    others = dict(against or {})
    if name in others:
        msg = f"two tokenizers are called {name}: give one of them another name"
        raise ConfigError(msg)
    tokenizers = {name: tokenizer, **others}
    for one in tokenizers.values():
        require_tokenizer(one)
    counted = _Pass(list(tokenizers.values()), threads, on_bytes)
    for file in text_files(sources):
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
        self, tokenizers: Sequence[Tokenizer], threads: int | None, on_bytes: Progress | None
    ) -> None:
        self.text = TextCounter()
        self.counts = [np.zeros(one.n_vocab, dtype=np.int64) for one in tokenizers]
        self.by_source: list[list[SourceUse]] = [[] for _ in tokenizers]
        self._tokenizers = tokenizers
        self._threads = threads
        self._on_bytes = on_bytes
        self._bytes = 0

    def read(self, file: Path) -> None:
        """Count one file."""
        characters = 0

        def visit(stretches: list[Stretch], text_bytes: int) -> None:
            nonlocal characters
            characters += sum(len(text) for text, _ in stretches)
            self.text.add(stretches)
            if self._on_bytes is not None:
                self._on_bytes(self._bytes + text_bytes)

        usages = usage_of_all(self._tokenizers, [file], visit, threads=self._threads)
        self._bytes += usages[0].text_bytes
        for usage, counts, sources in zip(usages, self.counts, self.by_source, strict=True):
            counts += usage.counts
            sources.append(
                SourceUse(
                    source=str(file),
                    bytes=usage.text_bytes,
                    characters=characters,
                    tokens=usage.tokens,
                    bytes_per_token=usage.text_bytes / usage.tokens if usage.tokens else None,
                )
            )
