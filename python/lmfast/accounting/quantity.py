"""One number with its unit, formula and convention; what every accounting function returns.

It shows itself in a terminal (``rich``), in a notebook (``_repr_html_``) and as JSON (``to_dict``).
"""

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.tree import Tree

SI_PREFIXES = ((1e24, "Y"), (1e21, "Z"), (1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"))
BINARY_PREFIXES = ((2**50, "Pi"), (2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
DURATIONS = ((86_400, "days"), (3_600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A value that says what it is, how it was computed and under which convention.

    ``parts`` are what it is made of, each a quantity of its own; ``quantity["name"]`` takes one.
    """

    name: str
    value: float | int | None
    """Plain SI: bytes, FLOPs, seconds. ``None`` is unknown, never a guess."""
    unit: str
    formula: str
    convention: str = ""
    parts: tuple["Quantity", ...] = ()

    def __getitem__(self, name: str) -> "Quantity":
        """The part called ``name``.

        Raises:
            KeyError: There is no such part.
        """
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def __str__(self) -> str:
        return f"{label(self.name)}: {show(self.value, self.unit)}"

    def known(self) -> float | int:
        """The value, where the caller has made sure that there is one.

        Raises:
            ValueError: It is unknown.
        """
        if self.value is None:
            msg = f"{label(self.name)} is not known ({self.formula})"
            raise ValueError(msg)
        return self.value

    def rows(self, depth: int = 0) -> Iterator[tuple[int, "Quantity"]]:
        """This quantity and all beneath it, each with its depth."""
        yield depth, self
        for part in self.parts:
            yield from part.rows(depth + 1)

    def to_dict(self) -> dict[str, Any]:
        """The quantity for JSON, its value a plain SI number."""
        result: dict[str, Any] = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "formula": self.formula,
            "convention": self.convention,
        }
        if self.parts:
            result["parts"] = [part.to_dict() for part in self.parts]
        return result

    def __rich__(self) -> "Tree":
        from rich.text import Text
        from rich.tree import Tree

        def line(quantity: Quantity, said: str) -> Text:
            text = Text.assemble(
                f"{label(quantity.name)}  ", (show(quantity.value, quantity.unit), "bold")
            )
            text.append(f"  = {quantity.formula}", style="dim")
            if quantity.convention not in ("", said):
                text.append(f"  [{quantity.convention}]", style="italic dim")
            return text

        tree = Tree(line(self, ""))
        stack = [(tree, self)]
        while stack:
            branch, quantity = stack.pop()
            stack.extend((branch.add(line(part, self.convention)), part) for part in quantity.parts)
        return tree

    def _repr_html_(self) -> str:
        header = "<tr><th>quantity</th><th>value</th><th>formula</th><th>convention</th></tr>"
        cells = [
            f"<tr><td style='padding-left:{1 + depth}em'>{html.escape(label(row.name))}</td>"
            f"<td style='text-align:right'>{html.escape(show(row.value, row.unit))}</td>"
            f"<td>{html.escape(row.formula)}</td><td>{html.escape(row.convention)}</td></tr>"
            for depth, row in self.rows()
        ]
        return f"<table>{header}{''.join(cells)}</table>"


class Page(ABC):
    """Several quantities that belong together; shows them in a terminal and in a notebook."""

    __slots__ = ()

    @abstractmethod
    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""

    def __rich__(self) -> "Group":
        from rich.console import Group

        return Group(*self.quantities())

    def _repr_html_(self) -> str:
        return "".join(quantity._repr_html_() for quantity in self.quantities())


def in_bytes(name: str, value: int, formula: str) -> Quantity:
    """A quantity of memory."""
    return Quantity(name=name, value=value, unit="byte", formula=formula)


def total(
    name: str,
    parts: "list[Quantity] | tuple[Quantity, ...]",
    *,
    unit: str,
    formula: str = "",
    convention: str = "",
) -> Quantity:
    """The sum of ``parts``, which it keeps; unknown when one of them is unknown."""
    values = [part.value for part in parts]
    known = [value for value in values if value is not None]
    return Quantity(
        name=name,
        value=sum(known) if len(known) == len(values) else None,
        unit=unit,
        formula=formula or " + ".join(label(part.name) for part in parts),
        convention=convention,
        parts=tuple(parts),
    )


def label(name: str) -> str:
    """A name as people read it."""
    return name.replace("_", " ")


def show(value: float | int | None, unit: str) -> str:
    """The value as people read it: 4.513 TFLOP, 3.57 GiB, 143.6 days, 52.8 %."""
    if value is None:
        return "unknown"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} {unit}"
    if unit == "byte":
        return _scaled(value, BINARY_PREFIXES, "B")
    if unit == "s":
        scale, name = next((d for d in DURATIONS if abs(value) >= d[0]), DURATIONS[-1])
        return f"{value / scale:,.4g} {name}"
    if unit == "ratio":
        return f"{100 * value:.4g} %"
    if unit in ("FLOP", "FLOP/s", "byte/s"):
        return _scaled(value, (*SI_PREFIXES, (1e6, "M"), (1e3, "k")), unit.replace("byte", "B"))
    if isinstance(value, int) or (value.is_integer() and abs(value) < 2**53):
        return f"{int(value):,} {unit}".rstrip()
    return f"{value:,.4g} {unit}".rstrip()


def _scaled(value: float, prefixes: tuple[tuple[float, str], ...], unit: str) -> str:
    for scale, prefix in prefixes:
        if abs(value) >= scale:
            return f"{value / scale:,.4g} {prefix}{unit}"
    return f"{value:,.4g} {unit}"
