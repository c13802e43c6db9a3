"""What the processes share in which one engine does one job; little is imported.

An engine is judged by the peak of memory of its process.
"""

import json
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SPECIAL = "<|endoftext|>"
READ_CHARACTERS = 1 << 20
READY_BYTES = 3 << 29


def documents(path: str | Path) -> Iterator[str]:
    """The documents of a file, in which the special token ends each."""
    rest = ""
    with Path(path).open(encoding="utf-8", newline="") as file:
        while block := file.read(READ_CHARACTERS):
            *whole, rest = (rest + block).split(SPECIAL)
            yield from whole
    yield rest


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def have_memory_ready() -> None:
    """Let a process take memory and give it back, so that no engine pays for what another does not.

    Free memory of a virtual machine may have gone back to its host, and then takes a hundred times
    as long to be had again: whoever is first would pay for all.
    """
    if hasattr(os, "sysconf"):
        subprocess.run([sys.executable, __file__], check=False)


def _take_memory() -> None:
    most = os.sysconf("SC_AVPHYS_PAGES") * mmap.PAGESIZE // 2
    memory = mmap.mmap(-1, min(most, READY_BYTES))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    for page in range(0, len(memory), mmap.PAGESIZE):
        memory[page] = 1


def answer(found: dict[str, object]) -> None:
    """Tell it to the process that started this one."""
    print(json.dumps(found))


if __name__ == "__main__":
    _take_memory()
