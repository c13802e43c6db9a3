"""The folder that a quickstart fills: a run folder, and what lies beside the run.

A quickstart starts over each time. The report is written last, so a folder that holds one holds a
finished quickstart. What a killed one left is cleared by the next and never reused.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from lmfast.errors import ConfigError, FileError
from lmfast.files import write_whole
from lmfast.training.files import locked

MARKER = ".quickstart"
DATA, REPORT, REPORT_TEXT, SAMPLE, PICTURE = (
    "data",
    "report.json",
    "report.txt",
    "sample.txt",
    "loss.png",
)


@contextlib.contextmanager
def owned(out: Path) -> Iterator[None]:
    """Make the folder, or clear what an earlier quickstart left there, and keep others out of it.

    Raises:
        ConfigError: The folder holds something else.
        FileError: Another quickstart is at work there, or it cannot be written.
    """
    try:
        if not _is_ours(out):
            msg = f"cannot use {out}: it is there and no quickstart made it; name another"
            raise ConfigError(msg)
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / MARKER, b"made by lmfast quickstart; the next one clears this folder\n")
        with locked(out / ".quickstart.lock"):
            _clear(out)
            yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        msg = f"cannot write {error.filename or out}: {error.strerror}"
        raise FileError(msg) from error


def _is_ours(out: Path) -> bool:
    """Whether nothing is there, or only what an earlier quickstart left, however early it ended."""
    if not out.exists() or (out / MARKER).exists():
        return True
    return out.is_dir() and all(path.name == f".{MARKER}.tmp" for path in out.iterdir())


def _clear(out: Path) -> None:
    # The report goes first: without it the rest claims nothing.
    names = [REPORT, REPORT_TEXT, PICTURE, SAMPLE, "model.json", "model.safetensors"]
    for name in [*names, "metrics.jsonl", "config.toml", "tokenizer.json"]:
        (out / name).unlink(missing_ok=True)
    for name in [DATA, "checkpoints"]:
        if (out / name).exists():
            shutil.rmtree(out / name)
