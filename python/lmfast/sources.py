"""Where the text of a corpus comes from: files, folders, patterns, iterators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lmfast._lmfast import Sources, expand_sources
from lmfast.arrow import require_pyarrow
from lmfast.columns import SUFFIXES, read_rows
from lmfast.errors import CorpusError, FileError, InputTypeError, MissingFileError

StrPath: TypeAlias = str | PathLike[str]
Corpus: TypeAlias = StrPath | Sequence[StrPath] | Iterable[str | bytes]
"""One path or several, or an iterator of documents; a list is taken as paths.

A path is a file, a folder, which stands for all files below it except hidden ones, or a pattern
such as ``data/**/*.jsonl.zst``. A file is UTF-8 text unless its name ends in ``.jsonl`` or
``.ndjson`` (in each line an object with the text in a field), ``.parquet`` or ``.arrow`` (the text
in a column); the first two kinds may go on with ``.gz`` or ``.zst``. Every line, row and item is a
document; in text files, and within documents, the text of special tokens ends one.
"""
OnError: TypeAlias = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """What of a corpus could not be used and was left out."""

    by_reason: dict[str, int] = field(default_factory=dict)
    """Documents by what was wrong: ``not_utf8``, ``not_json``, ``no_field``, ``not_string``,
    ``lone_surrogate``, ``too_long``; ``null`` counts rows without a value, which are no documents.
    """
    first: str | None = None
    """What was wrong with the first of them all, and where."""

    @property
    def documents(self) -> int:
        """How many documents there were, rows without a value not among them."""
        return sum(self.by_reason.values()) - self.null_rows

    @property
    def null_rows(self) -> int:
        """How many rows had no value."""
        return self.by_reason.get("null", 0)


def open_sources(corpus: Corpus, *, text_field: str, on_error: OnError) -> Sources:
    """The sources that a corpus stands for, for one pass over them.

    Args:
        corpus: Paths, or an iterator of documents.
        text_field: The field of JSON lines and the column of Parquet and Arrow files that holds the
            text; a dot leads into an object or a struct.
        on_error: What to do with a document that cannot be used.

    Raises:
        MissingFileError: A file is not there, or a pattern matches none.
        MissingDependencyError: Parquet or Arrow files need pyarrow.
        ConfigError: A pattern is malformed, or there is no such ``on_error``.
        InputTypeError: The corpus is neither paths nor an iterator.
    """
    inputs: list[tuple[StrPath | None, Iterator[Any] | None]] = []
    if isinstance(corpus, str | PathLike | Sequence):
        for file in map(Path, expand_sources(paths_of(corpus))):
            if file.suffix.lower() in SUFFIXES:
                require_pyarrow(f"read {file}")
                inputs.append((file, read_rows(file, text_field)))
            else:
                inputs.append((file, None))
    else:
        inputs.append((None, _documents(corpus)))
    return Sources(inputs, text_field, on_error)


def paths_of(sources: StrPath | Sequence[StrPath]) -> Sequence[StrPath]:
    """One path or several as several."""
    return [sources] if isinstance(sources, str | PathLike) else sources


def text_files(sources: StrPath | Sequence[StrPath]) -> list[Path]:
    """The files that paths stand for, where only text and JSON lines are read.

    Raises:
        MissingFileError: A file is not there, or a pattern matches none.
        ConfigError: A pattern is malformed.
        CorpusError: One is a Parquet or Arrow file.
    """
    files = list(map(Path, expand_sources(paths_of(sources))))
    for file in files:
        if file.suffix.lower() in SUFFIXES:
            msg = f"cannot read {file} here: it must be text or JSON lines with a field 'text'"
            raise CorpusError(msg)
    return files


def require_files(paths: Sequence[StrPath]) -> None:
    """Refuse paths that stand for no file at all.

    Raises:
        MissingFileError: A file is not there, a pattern matches none, or there are only folders
            with nothing in them.
        ConfigError: A pattern is malformed.
    """
    if not expand_sources(paths):
        msg = f"cannot read {', '.join(map(str, paths))}: there is no file in it"
        raise MissingFileError(msg)


def _documents(corpus: object) -> Iterator[object]:
    # A set or a mapping of paths would be trained on as if the paths were the text.
    if not isinstance(corpus, Iterable) or isinstance(corpus, Set | Mapping):
        msg = f"sources must be paths or an iterator of documents, not {type(corpus).__name__}"
        raise InputTypeError(msg)
    return iter(corpus)


def skipped_in(sources: Sources) -> Skipped:
    """What was left out of sources that were read."""
    by_reason, first = sources.skipped
    return Skipped(by_reason=dict(by_reason), first=first)


def files_of(paths: Iterable[StrPath]) -> list[Path]:
    """The regular files that ``paths`` stand for; none where reading will complain of a path."""
    return [path for path in _expanded(paths) or () if path.is_file()]


def bytes_on_disk(paths: Iterable[StrPath]) -> int | None:
    """The bytes of the files that ``paths`` stand for, compressed ones as they are.

    None where it cannot be told: a pipe, or a path that reading will complain of.
    """
    files = _expanded(paths)
    try:
        if files is None or not all(file.is_file() for file in files):
            return None
        return sum(file.stat().st_size for file in files)
    except OSError:
        return None


def _expanded(paths: Iterable[StrPath]) -> list[Path] | None:
    try:
        return [Path(path) for path in expand_sources(list(paths))]
    except (FileError, OSError, ValueError):
        return None
