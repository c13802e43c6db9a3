"""How a text is built up, as lines of coloured tokens: for a terminal, a notebook, or plain."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lmfast.pretoken_steps import Piece, PretokenSteps
from lmfast.token_text import escaped

BOUNDARY = "|"
"""Stands between tokens, so that they can be told apart without colour."""

COLOURS = ("#fde68a", "#bfdbfe", "#bbf7d0", "#fecaca", "#ddd6fe", "#fed7aa", "#99f6e4", "#fbcfe8")
"""Backgrounds for dark text; a token has the same one wherever it occurs."""

# A state is as long as its pretoken, and there are as many: beyond these a picture helps nobody.
_LONGEST_PRETOKEN = 160
_MOST_LINES = 400
# Of a pretoken that is not drawn again, or at all.
_SHOWN_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Tokens side by side, and a remark."""

    pieces: tuple[Piece, ...] = ()
    note: str = ""
    is_final: bool = False

    def plain(self) -> str:
        """The line without colour."""
        tokens = BOUNDARY.join(map(shown, self.pieces))
        return "   ".join(part for part in (tokens, self.note) if part)


def shown(piece: Piece) -> str:
    """The text of a piece, likewise."""
    return visible(piece.token)


def visible(token: bytes) -> str:
    """A token as text, with spaces that can be seen."""
    return escaped(token).replace(" ", "·")


def drawn(text: Sequence[PretokenSteps]) -> list[Line]:
    """The states of every pretoken, one a line, and what made each.

    A pretoken that was there before, and what would be too long, is told in a line.
    """
    lines: list[Line] = []
    seen: set[bytes] = set()
    for number, pretoken in enumerate(text):
        if len(lines) >= _MOST_LINES:
            rest = len(text) - number
            lines.append(Line(note=f"... and {rest:,} pretokens more, which are not drawn"))
            break
        is_new = pretoken.pretoken not in seen
        seen.add(pretoken.pretoken)
        lines.extend(_lines(pretoken) if is_new else [_repeated(pretoken)])
    tokens = sum(len(pretoken.ids) for pretoken in text)
    size = sum(len(pretoken.pretoken) for pretoken in text)
    lines.append(Line(note=f"{tokens:,} tokens from {size:,} bytes"))
    return lines


def _lines(pretoken: PretokenSteps) -> Iterator[Line]:
    if len(pretoken.pretoken) > _LONGEST_PRETOKEN:
        first = pretoken.final[:_SHOWN_TOKENS]
        made = f"{len(pretoken.steps):,} merges make {len(pretoken.ids):,} tokens"
        yield Line(
            pieces=first,
            note=f"... {len(pretoken.pretoken):,} bytes: {made}; too long to draw",
            is_final=True,
        )
        return
    states = pretoken.states()
    last = len(pretoken.steps) + pretoken.is_whole
    yield Line(pieces=next(states), note="bytes", is_final=last == 0)
    for number, (step, state) in enumerate(zip(pretoken.steps, states, strict=False), 1):
        left, right = (visible(pretoken.tokens[part]) for part in (step.left, step.right))
        note = f"rank {step.rank}: {left} + {right} = {step.merged}"
        yield Line(pieces=state, note=note, is_final=number == last)
    for state in islice(states, 1):
        yield Line(pieces=state, note=f"whole: {state[0].id}", is_final=True)


def _repeated(pretoken: PretokenSteps) -> Line:
    return Line(pieces=pretoken.final[:_SHOWN_TOKENS], note="as before", is_final=True)


def colour(piece: Piece) -> str:
    """The background of a token."""
    return COLOURS[piece.id % len(COLOURS)]


def html_block(lines: list[Line]) -> str:
    """The lines as HTML that needs nothing else; all text is escaped."""
    rows = "".join(f"<div{_margin(line)}>{_html(line)}</div>" for line in lines)
    style = "font-family:monospace;white-space:pre-wrap;line-height:1.6"
    return f'<div style="{style}">{rows}</div>'


def _margin(line: Line) -> str:
    return ' style="margin-bottom:0.6em;font-weight:bold"' if line.is_final else ""


def _html(line: Line) -> str:
    spans = [
        f'<span title="id {piece.id}" style="background:{colour(piece)};color:#111">'
        f"{html.escape(shown(piece))}</span>"
        for piece in line.pieces
    ]
    note = f'   <span style="opacity:0.6">{html.escape(line.note)}</span>' if line.note else ""
    return BOUNDARY.join(spans) + note
