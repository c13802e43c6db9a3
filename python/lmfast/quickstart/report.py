"""The report of a quickstart: for people in the terminal and as text, for programs as JSON."""

import io
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lmfast.accounting.quantity import show
from lmfast.accounting.run_check import Comparison

WIDTH = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a quickstart did, predicted and measured."""

    out: str
    facts: dict[str, Any]
    """Settings and circumstances, plain values under named keys."""
    comparisons: tuple[Comparison, ...]
    sample: str
    """Text that the trained model wrote."""
    notes: tuple[str, ...] = ()
    """What a reader must know to read the rest rightly."""

    def __getitem__(self, name: str) -> Comparison:
        for comparison in self.comparisons:
            if comparison.name == name:
                return comparison
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON: SI numbers, ``None`` for what is not known."""
        return {
            "out": self.out,
            "facts": self.facts,
            "comparisons": {line.name: line.to_dict() for line in self.comparisons},
            "sample": self.sample,
            "notes": list(self.notes),
        }

    def render(self) -> RenderableType:
        """The report for a terminal."""
        facts = Table(show_header=False, box=None)
        for key, value in self.facts.items():
            shown = f"{value:,}" if isinstance(value, int) else f"{value}"
            facts.add_row(key.replace("_", " "), Text(shown, overflow="fold"))
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("", no_wrap=True)
        for column in ("predicted", "measured", "ratio"):
            table.add_column(column, justify="right", no_wrap=True)
        for line in self.comparisons:
            pair = (show(value, line.unit) for value in (line.predicted, line.measured))
            ratio = "" if line.ratio is None else f"{line.ratio:.3f}"
            table.add_row(line.name.replace("_", " "), *pair, ratio)
        notes = [Text(f"note: {note}") for note in self.notes]
        sample = Panel(Text(self.sample), title="what the model writes", title_align="left")
        return Group(facts, table, *notes, sample)

    def explain(self) -> RenderableType:
        """Where each prediction comes from."""
        table = Table(show_header=False, box=None)
        for line in self.comparisons:
            table.add_row(line.name.replace("_", " "), Text(line.why))
        return table

    def to_text(self) -> str:
        """The same without colour."""
        console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
        with console.capture() as captured:
            console.print(self.render(), self.explain())
        return captured.get()
