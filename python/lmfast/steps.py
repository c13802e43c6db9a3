"""How a text is built up: from its bytes to its tokens, merge by merge.

The rule of byte-pair encoding as it reads, with a heap so that a long text is no trouble; the
encoder in Rust gives the same ids by other means.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from lmfast._lmfast import Tokenizer as _Core
from lmfast.pretoken_steps import PretokenSteps, Step
from lmfast.steps_picture import drawn, html_block

_Merges = dict[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True, repr=False)
class TextSteps(Sequence[PretokenSteps]):
    """A text, pretoken by pretoken; a notebook shows it in colour."""

    pretokens: tuple[PretokenSteps, ...]

    def __len__(self) -> int:
        return len(self.pretokens)

    @overload
    def __getitem__(self, index: int) -> PretokenSteps: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PretokenSteps, ...]: ...
    def __getitem__(self, index: int | slice) -> PretokenSteps | tuple[PretokenSteps, ...]:
        return self.pretokens[index]

    @property
    def ids(self) -> list[int]:
        """The ids of the text, as ``encode_ordinary`` gives them."""
        return [token_id for pretoken in self.pretokens for token_id in pretoken.ids]

    def to_dict(self) -> dict[str, Any]:
        """The text for JSON."""
        return {
            "ids": self.ids,
            "pretokens": [pretoken.to_dict() for pretoken in self.pretokens],
        }

    def __repr__(self) -> str:
        return "\n".join(line.plain() for line in drawn(self))

    def _repr_html_(self) -> str:
        return html_block(drawn(self))


def steps_of(core: _Core, text: str | bytes) -> TextSteps:
    """How ``text`` is built up; the text of special tokens is text like any other.

    Time grows as n log n with the longest pretoken; equal pretokens are built once.

    Raises:
        TextError: The text has a lone surrogate.
    """
    merges = {(left, right): (rank, merged) for left, right, merged, rank in core.merges()}
    byte_ids = [core.token_id(bytes([byte])) for byte in range(256)]
    tokens = {token_id: token for token, token_id in core.tokens()}
    whole = {token: i for i, token in tokens.items()} if core.whole_pretokens_first else {}
    known: dict[bytes, tuple[tuple[Step, ...], tuple[int, ...], bool]] = {}
    built, start = [], 0
    for pretoken in core.pretokens(text):
        ids = tuple(byte_ids[byte] for byte in pretoken)
        if pretoken not in known:
            if pretoken in whole:
                known[pretoken] = (), (whole[pretoken],), True
            else:
                known[pretoken] = *_merge(ids, merges), False
        steps, final, is_whole = known[pretoken]
        seen = {*ids, *final, *(step.merged for step in steps)}
        built.append(
            PretokenSteps(
                pretoken=pretoken,
                start=start,
                steps=steps,
                ids=final,
                # A token of one byte is whole by itself: there is nothing to ask for.
                is_whole=is_whole and final != ids,
                tokens={token_id: tokens[token_id] for token_id in seen},
                byte_ids=ids,
            )
        )
        start += len(pretoken)
    return TextSteps(tuple(built))


def _merge(ids: tuple[int, ...], merges: _Merges) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """The merges that apply to the tokens ``ids`` of bytes, and what they end with."""
    end = len(ids)
    state = list(ids)  # by the first byte of each token; -1 where a token has been taken in
    after = list(range(1, end + 1))
    before = list(range(-1, end - 1))
    heap: list[tuple[int, int, int, int, int]] = []

    def offer(at: int) -> None:
        if at >= 0 and after[at] < end:
            left, right = state[at], state[after[at]]
            if (found := merges.get((left, right))) is not None:
                heapq.heappush(heap, (found[0], at, left, right, found[1]))

    for at in range(end):
        offer(at)
    steps = []
    while heap:
        rank, at, left, right, merged = heapq.heappop(heap)
        gone = after[at]
        if state[at] != left or gone >= end or state[gone] != right:
            continue  # one of the two has merged with another since
        steps.append(Step(at=at, rank=rank, left=left, right=right, merged=merged))
        state[at], state[gone] = merged, -1
        after[at] = after[gone]
        if after[at] < end:
            before[after[at]] = at
        offer(before[at])
        offer(at)
    return tuple(steps), tuple(token_id for token_id in state if token_id >= 0)
