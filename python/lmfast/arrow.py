"""Tables as Arrow and Parquet files; pyarrow is an extra, and imported where it is needed."""

from __future__ import annotations

import dataclasses
import importlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmfast.errors import MissingDependencyError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def require_pyarrow(task: str) -> None:
    """Return if pyarrow is there for ``task``, such as ``read a.parquet``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        msg = f"cannot {task}: it needs pyarrow: pip install 'lmfast[arrow]'"
        raise MissingDependencyError(msg) from error


def arrow_file(
    suffix: str, row_type: type[DataclassInstance], rows: Sequence[DataclassInstance]
) -> bytes:
    """The content of an Arrow IPC file (``.arrow``) or of a Parquet file (``.parquet``).

    ``row_type`` is a dataclass of ``int``, ``bytes`` and ``float``: a column for each field.
    """
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"int": pa.int64(), "bytes": pa.binary(), "float": pa.float64()}
    fields = dataclasses.fields(row_type)
    schema = pa.schema([(f.name, kinds[getattr(f.type, "__name__", str(f.type))]) for f in fields])
    columns = {f.name: [getattr(row, f.name) for row in rows] for f in fields}
    table = pa.table(columns, schema=schema)
    content = io.BytesIO()
    if suffix == ".parquet":
        parquet.write_table(table, content)
    else:
        with pa.ipc.new_file(content, schema) as writer:
            writer.write_table(table)
    return content.getvalue()
