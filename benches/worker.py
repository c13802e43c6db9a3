"""What the processes share in which one engine does one job; little is imported.

An engine is judged by the peak of memory of its process.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

SPECIAL = "<|endoftext|>"
READ_CHARACTERS = 1 << 20


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


def answer(found: dict[str, object]) -> None:
    """Tell it to the process that started this one."""
    print(json.dumps(found))
