"""A merge trace as Arrow; pyarrow is imported where one is written."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmfast.errors import MissingDependencyError

if TYPE_CHECKING:
    from lmfast.trace import TracedMerge


def need_pyarrow(suffix: str) -> None:
    """Fail where pyarrow is not there.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        msg = f"a trace in {suffix} needs pyarrow: pip install 'lmfast[arrow]'"
        raise MissingDependencyError(msg) from error


def arrow_file(suffix: str, rows: Sequence[TracedMerge]) -> bytes:
    """The content of an Arrow IPC file (``.arrow``) or of a Parquet file (``.parquet``).

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    need_pyarrow(suffix)
    import pyarrow as pa
    from pyarrow import parquet

    from lmfast.trace import TracedMerge

    kinds = {"int": pa.int64(), "bytes": pa.binary(), "float": pa.float64()}
    fields = dataclasses.fields(TracedMerge)
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
