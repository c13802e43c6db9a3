"""Results on stdout: for people, or as JSON."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from lmfast.accounting.quantity import show
from lmfast.accounting.saved import SavedTensor
from lmfast.errors import ConfigError


def emit(as_json: bool, data: dict[str, Any], *pages: RenderableType) -> None:
    """Print ``data`` as JSON, or else ``pages`` for people.

    Raises:
        ConfigError: A result is beyond the range of numbers, which JSON cannot say.
    """
    if as_json:
        try:
            print(json.dumps(data, indent=2, allow_nan=False))
        except ValueError as error:
            msg = "a result is beyond the range of numbers: the settings are too extreme"
            raise ConfigError(msg) from error
        return
    console = Console(markup=False)  # names and paths may hold brackets
    for page in pages:
        if isinstance(page, str):
            print(page)
        else:
            console.print(page)


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds results alone."""
    print(text, file=sys.stderr)


def saved_table(rows: Iterable[SavedTensor]) -> Table:
    """The tensors that a block saves, one per line."""
    table = Table("module", "saved tensor", "elements", "bytes each", "bytes", title="one block")
    for row in rows:
        cells = (f"{row.elements:,}", str(row.width), show(row.bytes, "byte"))
        table.add_row(row.module, row.name, *cells)
    return table
