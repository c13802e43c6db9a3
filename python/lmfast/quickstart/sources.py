"""The text that a quickstart trains on."""

import stat
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lmfast.errors import CorpusError, FileError, MissingFileError

SMALLEST_BYTES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Files to train on, and what is known of them before reading."""

    paths: tuple[Path, ...]
    description: str
    left_out: tuple[Path, ...] = ()
    """Files that are not UTF-8."""
    bytes: int
    """On disk."""

    @property
    def max_document_bytes(self) -> int:
        """Longer documents are cut: a hundredth of the corpus, so that some can be held out."""
        return min(max(self.bytes // 100, 1 << 12), 1 << 20)


def standard_library() -> Sources:
    """The sources of Python's standard library: tens of MB of text that every machine has.

    Raises:
        CorpusError: This Python comes without sources.
    """
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths: list[Path] = []
    left_out: list[Path] = []
    for path in sorted(folder.rglob("*.py")):
        if "site-packages" in path.parts or "dist-packages" in path.parts:
            continue
        # A few of the library's tests are written in other encodings on purpose.
        (paths if _is_utf8(path) else left_out).append(path)
    if not paths:
        msg = f"found no Python sources in {folder}: name a corpus, as in 'lmfast quickstart FILE'"
        raise CorpusError(msg)
    return Sources(
        paths=tuple(paths),
        description=f"the Python standard library ({len(paths)} files)",
        left_out=tuple(left_out),
        bytes=_size(paths),
    )


def from_paths(paths: Iterable[str | Path]) -> Sources:
    """The sources that a user names.

    Raises:
        MissingFileError: One of them is not there.
        FileError: One of them cannot be read.
        CorpusError: One of them is neither a file nor a folder.
    """
    found = tuple(Path(path) for path in paths)
    for path in found:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError as error:
            msg = f"cannot read the corpus {path}: there is no such file or folder"
            raise MissingFileError(msg) from error
        except OSError as error:
            msg = f"cannot read the corpus {path}: {error.strerror}"
            raise FileError(msg) from error
        # A pipe would be empty the second time, a device has no end.
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            msg = f"cannot use the corpus {path}: read twice, it must be a file or a folder"
            raise CorpusError(msg)
    files = [file for path in found for file in (path.rglob("*") if path.is_dir() else [path])]
    size = _size(file for file in files if file.is_file())
    if size < SMALLEST_BYTES:
        msg = (
            f"cannot use the corpus {', '.join(map(str, found))}: it has {size:,} bytes, and a "
            f"quickstart needs {SMALLEST_BYTES:,} to hold some of it out"
        )
        raise CorpusError(msg)
    return Sources(paths=found, description=", ".join(str(path) for path in found), bytes=size)


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _size(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)
