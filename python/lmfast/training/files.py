"""A folder that one run at a time writes to."""

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
