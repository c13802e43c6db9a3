"""The text in a column of Parquet and Arrow files, through pyarrow, batch by batch."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lmfast.errors import CorpusError, FileError, MissingFileError

SUFFIXES = (".parquet", ".arrow")

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rows: TypeAlias = "tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_] | None, int]"
"""The bytes of all rows, where each begins and ends in them, which of them have a value (None: all
of them), and the bytes of the file that they stand for."""

_Arrow: TypeAlias = Any
"""Something of pyarrow, which declares no types."""

# A batch is about this many bytes of text: enough to outweigh its overhead, and one of many.
_BATCH_BYTES = 1 << 20
# Rows that share their values take little of a file and much of memory.
_MOST_ROWS = 1 << 12


def read_rows(path: Path, column: str) -> Iterator[Rows]:
    """The rows of one column, in order; a dot in its name leads into a struct.

    Memory holds about a batch: a row group is decoded page by page. The bytes of the file are
    spread evenly over its rows.

    Raises:
        MissingFileError: The file is not there.
        FileError: It cannot be read.
        CorpusError: It is damaged or no such file, or has no such column, or one that holds
            something else than strings.
    """
    pyarrow = importlib.import_module("pyarrow")
    try:
        if path.suffix.lower() == ".parquet":
            yield from _read_parquet(path, column)
        else:
            yield from _read_arrow(path, column)
    except FileNotFoundError as error:
        msg = f"cannot read {path}: there is no such file"
        raise MissingFileError(msg) from error
    except pyarrow.ArrowException as error:
        msg = f"cannot read {path}: {error}"
        raise CorpusError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise FileError(msg) from error


def _read_parquet(path: Path, column: str) -> Iterator[Rows]:
    parquet = importlib.import_module("pyarrow.parquet")
    size = path.stat().st_size
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        names = _names(file.schema_arrow, column, path)
        wanted = ".".join(names)
        rows = file.metadata.num_rows
        batch_rows = _rows_per_batch(_column_bytes(file.metadata, wanted), rows)
        read = 0
        for batch in file.iter_batches(batch_size=batch_rows, columns=[wanted]):
            progress = _share(size, read, batch.num_rows, rows)
            read += batch.num_rows
            yield _rows(_field(batch, names), progress)


def _column_bytes(metadata: _Arrow, column: str) -> int:
    """Bytes of a column in all row groups, decompressed."""
    size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        size += sum(
            chunk.total_uncompressed_size
            for chunk in chunks
            if (chunk.path_in_schema + ".").startswith(column + ".")
        )
    return size


def _rows_per_batch(size: int, rows: int) -> int:
    """How many rows come to about a batch, where ``rows`` come to ``size`` bytes."""
    row_bytes = max(1, size // max(1, rows))
    return min(max(1, _BATCH_BYTES // row_bytes), _MOST_ROWS)


def _read_arrow(path: Path, column: str) -> Iterator[Rows]:
    pyarrow = importlib.import_module("pyarrow")
    size, done = path.stat().st_size, 0
    with pyarrow.memory_map(str(path)) as source:
        for batch, position in _arrow_batches(source, size):
            rows = _field(batch, _names(batch.schema, column, path))
            batch_rows = _rows_per_batch(rows.nbytes, len(rows))
            for start in range(0, len(rows), batch_rows):
                yield _rows(rows.slice(start, batch_rows), 0)
            yield _rows(rows.slice(0, 0), position - done)
            done = position
    yield _rows(pyarrow.array([], pyarrow.string()), size - done)


def _arrow_batches(source: _Arrow, size: int) -> Iterator[tuple[_Arrow, int]]:
    """The record batches of a file or a stream, and the bytes read with each."""
    pyarrow = importlib.import_module("pyarrow")
    try:
        reader = pyarrow.ipc.open_file(source)
    except pyarrow.ArrowInvalid:
        source.seek(0)
        for batch in pyarrow.ipc.open_stream(source):
            yield batch, source.tell()
        return
    batches = reader.num_record_batches
    for number in range(batches):
        yield reader.get_batch(number), size * (number + 1) // batches


def _share(size: int, read: int, more: int, rows: int) -> int:
    """The bytes that ``more`` rows after ``read`` of ``rows`` stand for; all rows come to all."""
    return size * (read + more) // rows - size * read // rows


def _names(schema: _Arrow, column: str, path: Path) -> list[str]:
    """The names that lead to the column: one, or those of structs before it.

    Raises:
        CorpusError: It is not there, or does not hold strings.
    """
    types = importlib.import_module("pyarrow.types")
    names = [column] if column in schema.names else column.split(".")
    fields: list[_Arrow] = list(schema)
    kind: _Arrow = None
    for number, name in enumerate(names):
        kind = next((field.type for field in fields if field.name == name), None)
        if kind is None:
            inside = f" in {'.'.join(names[:number])}" if number else ""
            msg = f"{path} has no column {column!r}; the columns{inside} are: {_listed(fields)}"
            raise CorpusError(msg)
        fields = list(kind.fields) if types.is_struct(kind) else []
    value = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(value) or types.is_large_string(value) or types.is_string_view(value)):
        msg = f"the column {column!r} of {path} holds {kind}, not strings; "
        msg += f"the columns are: {_listed(schema)}"
        raise CorpusError(msg)
    if schema.names.count(names[0]) > 1:
        msg = f"{path} has several columns {names[0]!r}: which one holds the text cannot be told"
        raise CorpusError(msg)
    return names


def _listed(fields: Iterable[_Arrow]) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in fields) or "none"


def _field(batch: _Arrow, names: list[str]) -> _Arrow:
    compute = importlib.import_module("pyarrow.compute")
    array = batch.column(names[0])
    for name in names[1:]:
        array = compute.struct_field(array, name)
    return array


def _rows(array: _Arrow, progress: int) -> Rows:
    import numpy as np

    pyarrow = importlib.import_module("pyarrow")
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    # Bytes, since a cast to strings would check what is checked later.
    array = array.cast(pyarrow.large_binary())
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        data = b""
    starts = np.zeros(len(array) + 1, np.int64)
    if len(array):
        starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    has_value = None
    if array.null_count:
        has_value = array.is_valid().to_numpy(zero_copy_only=False)
    return np.frombuffer(data, np.uint8), starts, has_value, progress
