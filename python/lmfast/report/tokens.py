"""How a tokenizer spends its tokens on a text."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmfast.report.characters import KINDS, TextCounts, kind_of_code_point
from lmfast.token_text import escaped
from lmfast.tokenizer import Tokenizer

PARTS = "parts of characters"
"""The kind of the tokens whose bytes are not UTF-8."""

_SHARES = (0.5, 0.9, 0.99)
_EXAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """A token and how often it occurs."""

    id: int
    token: bytes
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindUse:
    """The tokens of one kind: that of their first character that is no whitespace."""

    kind: str
    tokens: int
    bytes: int
    """Of the text, in these tokens."""
    token_share: float
    bytes_per_token: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthUse:
    """The tokens of one length."""

    token_bytes: int
    token_share: float
    """Part of the tokens of the text."""
    text_share: float
    """Part of the bytes of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUse:
    """One file."""

    source: str
    bytes: int
    characters: int
    tokens: int
    bytes_per_token: float | None
    """None for a file without text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerUse:
    """One tokenizer on the text."""

    name: str
    n_vocab: int
    identity: str
    tokens: int
    bytes_per_token: float
    characters_per_token: float
    tokens_per_word: float | None
    """None for a text without words: one of nothing but whitespace."""
    single_byte_share: float
    """Part of the tokens that are one byte long."""
    part_share: float
    """Part of the tokens that are not whole characters: their bytes are not UTF-8."""
    unused: int
    """Ids that never occur, special tokens and gaps left out."""
    unused_share: float
    """The same as part of all such ids."""
    unused_examples: tuple[TokenUse, ...]
    """The first of them by id: those that training found most useful."""
    longest: tuple[TokenUse, ...]
    """The longest tokens that occur."""
    most_frequent: tuple[TokenUse, ...]
    by_kind: tuple[KindUse, ...]
    """Most tokens first."""
    by_length: tuple[LengthUse, ...]
    """Shortest first."""
    ids_for_share: dict[str, int]
    """How many of the most frequent ids make 50, 90 and 99 % of the tokens."""
    by_source: tuple[SourceUse, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON, tokens as ``lmfast.token_text.escaped`` writes them."""
        data = dataclasses.asdict(self)
        for name in ("unused_examples", "longest", "most_frequent"):
            data[name] = [{**use, "token": escaped(use["token"])} for use in data[name]]
        return data


def tokenizer_use(
    name: str,
    tokenizer: Tokenizer,
    counts: NDArray[np.int64],
    text: TextCounts,
    by_source: Sequence[SourceUse],
) -> TokenizerUse:
    """The figures of ``tokenizer`` from how often each id occurred in ``text``, ``[n_vocab]``."""
    token_of = {token_id: token for token, token_id in tokenizer.mergeable_ranks.items()}
    lengths = tokenizer.token_byte_lengths()
    tokens = int(counts.sum())

    def uses(ids: Sequence[int] | NDArray[np.int64]) -> tuple[TokenUse, ...]:
        return tuple(TokenUse(id=int(i), token=token_of[int(i)], count=int(counts[i])) for i in ids)

    used = np.flatnonzero(counts)
    unused = np.flatnonzero((counts == 0) & (lengths > 0))
    most_frequent = used[np.argsort(-counts[used], kind="stable")]
    by_kind = _by_kind(token_of, counts, lengths)
    parts = sum(kind.tokens for kind in by_kind if kind.kind == PARTS)
    reached = np.cumsum(counts[most_frequent])
    return TokenizerUse(
        name=name,
        n_vocab=tokenizer.n_vocab,
        identity=tokenizer.identity,
        tokens=tokens,
        bytes_per_token=text.bytes / tokens,
        characters_per_token=text.characters / tokens,
        tokens_per_word=tokens / text.words if text.words else None,
        single_byte_share=int(counts[lengths == 1].sum()) / tokens,
        part_share=parts / tokens,
        unused=len(unused),
        unused_share=len(unused) / len(token_of),
        unused_examples=uses(unused[lengths[unused] > 1][:_EXAMPLES]),
        longest=uses(used[np.argsort(-lengths[used], kind="stable")][:_EXAMPLES]),
        most_frequent=uses(most_frequent[:_EXAMPLES]),
        by_kind=by_kind,
        by_length=_by_length(counts, lengths),
        ids_for_share={
            f"{share:g}": int(np.searchsorted(reached, share * tokens)) + 1 for share in _SHARES
        },
        by_source=tuple(by_source),
    )


def _by_kind(
    token_of: dict[int, bytes], counts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[KindUse, ...]:
    names = (*KINDS, PARTS)
    kinds = np.zeros(len(counts), dtype=np.int64)
    of_code_point, space = kind_of_code_point(), names.index("whitespace")
    for token_id, token in token_of.items():
        try:
            text = token.decode()
        except UnicodeDecodeError:
            kinds[token_id] = names.index(PARTS)
        else:
            found = (of_code_point[ord(character)] for character in text)
            kinds[token_id] = next((kind for kind in found if kind != space), space)
    tokens = np.bincount(kinds, counts, minlength=len(names)).astype(np.int64)
    text_bytes = np.bincount(kinds, counts * lengths, minlength=len(names)).astype(np.int64)
    rows = [
        KindUse(
            kind=name,
            tokens=int(tokens[i]),
            bytes=int(text_bytes[i]),
            token_share=float(tokens[i] / counts.sum()),
            bytes_per_token=float(text_bytes[i] / tokens[i]),
        )
        for i, name in enumerate(names)
        if tokens[i]
    ]
    return tuple(sorted(rows, key=lambda row: -row.tokens))


def _by_length(counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[LengthUse, ...]:
    # Not bincount: one token of 100 MB is possible where nothing is cut.
    used = counts > 0
    found, place = np.unique(lengths[used], return_inverse=True)
    tokens = np.bincount(place, counts[used])
    return tuple(
        LengthUse(
            token_bytes=int(length),
            token_share=float(n / tokens.sum()),
            text_share=float(n * length / (tokens * found).sum()),
        )
        for length, n in zip(found, tokens, strict=True)
    )
