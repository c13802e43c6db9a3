"""One pretoken from its bytes to its tokens: each merge, and each state between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lmfast.token_text import escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A token and where it stands."""

    id: int
    token: bytes
    start: int
    """Its first byte, counted from the beginning of the pretoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One merge at one place."""

    at: int
    """The first byte of the left token, counted from the beginning of the pretoken."""
    rank: int
    left: int
    right: int
    merged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PretokenSteps:
    """One pretoken from its bytes to its tokens."""

    pretoken: bytes
    start: int
    """Its first byte, counted from the beginning of the text."""
    steps: tuple[Step, ...]
    """The merges in the order in which they apply: the lowest rank first, of these the leftmost."""
    ids: tuple[int, ...]
    """The tokens that come of it."""
    is_whole: bool
    """Whether it is a token by itself, in a vocabulary that asks for that before any merge."""
    tokens: dict[int, bytes]
    """The bytes of every token that occurs on the way."""
    byte_ids: tuple[int, ...]
    """The tokens of its single bytes."""

    def states(self) -> Iterator[tuple[Piece, ...]]:
        """The tokens before the first step, then after each; made one by one, as they are large."""
        state = [
            Piece(id=token_id, token=self.tokens[token_id], start=start)
            for start, token_id in enumerate(self.byte_ids)
        ]
        yield tuple(state)
        for step in self.steps:
            at = next(i for i, piece in enumerate(state) if piece.start == step.at)
            merged = Piece(id=step.merged, token=self.tokens[step.merged], start=step.at)
            state[at : at + 2] = [merged]
            yield tuple(state)
        if self.is_whole:
            yield (Piece(id=self.ids[0], token=self.pretoken, start=0),)

    @property
    def final(self) -> tuple[Piece, ...]:
        """The last of the states, at once."""
        pieces, start = [], 0
        for token_id in self.ids:
            token = self.tokens[token_id]
            pieces.append(Piece(id=token_id, token=token, start=start))
            start += len(token)
        return tuple(pieces)

    def to_dict(self) -> dict[str, Any]:
        """The pretoken for JSON; tokens are written as in a merge trace."""
        steps = [
            {
                "at": step.at,
                "rank": step.rank,
                "left": step.left,
                "right": step.right,
                "merged": step.merged,
                "token": escaped(self.tokens[step.merged]),
            }
            for step in self.steps
        ]
        tokens = [
            {"id": piece.id, "token": escaped(piece.token), "start": piece.start}
            for piece in self.final
        ]
        return {
            "pretoken": escaped(self.pretoken),
            "start": self.start,
            "byte_ids": list(self.byte_ids),
            "is_whole": self.is_whole,
            "steps": steps,
            "tokens": tokens,
        }
