"""What a text is made of: characters by kind, and words."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmfast._lmfast import character_class

_CODE_POINTS = 0x110000

_SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada"),
    *("Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian"),
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Hangul"),
)
_CLASSES = {
    "whitespace": r"\s",
    "digits": r"\p{N}",
    "other letters": r"[\p{L}\p{M}]",
    **{script: rf"[\p{{Script={script}}}&&[\p{{L}}\p{{M}}]]" for script in _SCRIPTS},
}

KINDS = ("punctuation and symbols", *_CLASSES)
"""Every character is of one kind; letters, with the marks on them, are told by Unicode's Script.

Numbers of any script are digits; letters that several scripts share are other letters.
"""


@cache
def kind_of_code_point() -> NDArray[np.uint8]:
    """The index in ``KINDS`` of every code point, ``[0x110000]``."""
    kinds = np.zeros(_CODE_POINTS, dtype=np.uint8)
    for number, pattern in enumerate(_CLASSES.values(), 1):
        for first, last in character_class(pattern):
            kinds[first : last + 1] = number
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCounts:
    """A text, counted; the text of special tokens is left out."""

    bytes: int
    characters: int
    words: int
    """Runs of characters that are not whitespace, within a document."""
    documents: int
    """Those that are not empty."""
    ascii_share: float
    """Part of the bytes."""
    kinds: dict[str, float]
    """Part of the bytes by kind of character; kinds that do not occur are left out."""

    def to_dict(self) -> dict[str, Any]:
        """The counts for JSON."""
        return {name: getattr(self, name) for name in TextCounts.__slots__}


class TextCounter:
    """Counts stretches of text as they come; memory does not grow."""

    def __init__(self) -> None:
        self._histogram = np.zeros(_CODE_POINTS, dtype=np.int64)
        self._words = 0
        self._documents = 0
        self._inside_word = False
        self._inside_document = False
        self._is_space = kind_of_code_point() == KINDS.index("whitespace")

    def add(self, stretches: Iterable[tuple[str, bool]]) -> None:
        """Count stretches, each with whether a document ends after it."""
        parts, separators = [], 0
        for stretch, ends in stretches:
            parts.append(stretch)
            self._inside_document |= bool(stretch)
            if ends:
                separators += 1
                parts.append("\n")  # which ends the last word, too; it is not counted
                self._documents += self._inside_document
                self._inside_document = False
        if not (text := "".join(parts)):
            return
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        found = np.bincount(codes)
        self._histogram[: len(found)] += found
        self._histogram[ord("\n")] -= separators
        in_word = ~self._is_space[codes]
        self._words += int(np.count_nonzero(in_word[1:] & ~in_word[:-1]))
        self._words += bool(in_word[0]) and not self._inside_word
        self._inside_word = bool(in_word[-1])

    def counts(self) -> TextCounts:
        """What has been counted so far."""
        lengths = np.ones(_CODE_POINTS, dtype=np.int64)
        for first in (0x80, 0x800, 0x10000):
            lengths[first:] += 1
        by_code_point = self._histogram * lengths
        total = int(by_code_point.sum())
        by_kind = np.bincount(kind_of_code_point(), by_code_point, minlength=len(KINDS))
        return TextCounts(
            bytes=total,
            characters=int(self._histogram.sum()),
            words=self._words,
            documents=self._documents + self._inside_document,
            ascii_share=float(by_code_point[:0x80].sum() / total) if total else 0.0,
            kinds={
                kind: float(found / total)
                for kind, found in zip(KINDS, by_kind, strict=True)
                if found
            },
        )
