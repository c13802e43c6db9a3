"""BPE training as its definition reads: count every pair, merge the best one, start again."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import regex
from tokenizers.pre_tokenizers import ByteLevel

Pair = tuple[bytes, bytes]

# The order in which Hugging Face's trainer numbers the bytes: that of the characters which stand
# for them.
_CHARACTERS = sorted(ByteLevel.alphabet())


def _hugging_face_place(byte: int) -> int:
    # A byte that is printable Latin-1 is its own character; the others follow from U+0100 on.
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [code for code in range(256) if code not in printable]
    character = chr(byte) if byte in printable else chr(0x100 + others.index(byte))
    return _CHARACTERS.index(character)


def _order(tie_break: str) -> Callable[[Pair, dict[bytes, int]], object]:
    """What is greatest for the pair that merges first."""
    if tie_break == "lexicographic":
        return lambda pair, ids: pair
    places = [
        byte if tie_break == "smallest_id" else _hugging_face_place(byte) for byte in range(256)
    ]

    def order(pair: Pair, ids: dict[bytes, int]) -> tuple[int, int]:
        left, right = (places[ids[part]] if ids[part] < 256 else ids[part] for part in pair)
        return -left, -right

    return order


def split(documents: Iterable[str], special_tokens: Sequence[str]) -> list[str]:
    """The texts between special tokens."""
    longest_first = sorted(special_tokens, key=len, reverse=True)
    separator = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return [text for document in documents for text in re.split(separator, document)]


def pretokens(
    documents: Iterable[str], pattern: str | None, special_tokens: Sequence[str]
) -> Counter[bytes]:
    """How often each pretoken occurs; special tokens end a document and are none."""
    counts: Counter[bytes] = Counter()
    for text in split(documents, special_tokens):
        pieces = regex.findall(pattern, text) if pattern else [text] * bool(text)
        counts.update(piece.encode() for piece in pieces)
    return counts


def merges(
    counts: Counter[bytes],
    number: int,
    tie_break: str,
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    start: "Start | None" = None,
) -> list[Pair]:
    """The pairs that merge, in order; fewer than ``number`` where the counts hold no more."""
    start = start or Start(ids={bytes([byte]): byte for byte in range(256)}, merges=[])
    words = {word: [bytes([byte]) for byte in word] for word in counts}
    for pair in start.merges:
        words = {word: _merge(parts, pair) for word, parts in words.items()}
    ids = dict(start.ids)
    next_id = itertools.count(max(ids.values()) + 1)
    order = _order(tie_break)
    found: list[Pair] = []
    while len(found) < number:
        pairs: Counter[Pair] = Counter()
        for word, parts in words.items():
            for pair in itertools.pairwise(parts):
                joined = pair[0] + pair[1]
                if joined in ids:
                    continue
                if max_token_bytes is None or len(joined) <= max_token_bytes:
                    pairs[pair] += counts[word]
        if not pairs or max(pairs.values()) < min_frequency:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], order(pair, ids)))
        found.append(best)
        ids[best[0] + best[1]] = next(next_id)
        words = {word: _merge(parts, best) for word, parts in words.items()}
    return found


@dataclass(frozen=True, kw_only=True)
class Start:
    """A vocabulary to continue, merged in the order of its ranks."""

    ids: dict[bytes, int]
    """Of all tokens, special ones by their text."""
    merges: list[Pair]


def _merge(parts: list[bytes], pair: Pair) -> list[bytes]:
    merged: list[bytes] = []
    for part in parts:
        # A part that has just been made cannot be the left one again: its length is another.
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged
