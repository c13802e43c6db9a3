"""Results on stdout: for people, or as JSON."""

import json
from collections.abc import Iterable
from typing import Any

import rich
from rich.console import RenderableType
from rich.table import Table

from lmfast.accounting.quantity import show
from lmfast.accounting.saved import SavedTensor


def emit(as_json: bool, data: dict[str, Any], *pages: RenderableType) -> None:
    """Print ``data`` as JSON, or else ``pages`` for people."""
    if as_json:
        print(json.dumps(data, indent=2, ensure_ascii=False))
        return
    for page in pages:
        if isinstance(page, str):
            print(page)
        else:
            rich.print(page)


def saved_table(rows: Iterable[SavedTensor]) -> Table:
    """The tensors that a block saves, one per line."""
    table = Table("module", "saved tensor", "elements", "bytes each", "bytes", title="one block")
    for row in rows:
        cells = (f"{row.elements:,}", str(row.width), show(row.bytes, "byte"))
        table.add_row(row.module, row.name, *cells)
    return table
