"""Writing so that a reader, or a kill at any moment, finds the old content or the new."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lmfast.errors import FileError

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


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


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold ``path`` as a lock; the system releases it when the process ends, however it ends.

    Raises:
        FileError: Another process holds it, or it cannot be written.
    """
    with contextlib.ExitStack() as until_done:
        try:
            file = until_done.enter_context(path.open("a+", encoding="utf-8"))
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror}"
            raise FileError(msg) from error
        try:
            _lock(file)
        except OSError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            msg = f"cannot use {path.parent}: another run is writing to it (process {holder})"
            raise FileError(msg) from error
        # Who holds it is good to know, and no reason to give up where the disk is full.
        with contextlib.suppress(OSError):
            file.truncate(0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield
