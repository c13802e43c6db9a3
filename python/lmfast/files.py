"""Writing so that a reader, or a kill at any moment, finds the old content or the new."""

import contextlib
import os
import sys
from pathlib import Path

from lmfast.errors import FileError


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` in ``path`` through a temporary file that is renamed when it is on the disk.

    Raises:
        FileError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_bytes(content)
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        msg = f"cannot write {path}: {error.strerror}"
        raise FileError(msg) from error


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and sys.platform == "win32":
        return  # Windows has no handle for a folder, and orders its names by itself.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
