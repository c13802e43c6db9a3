"""The records in ``metrics.jsonl``, which the trainer continues and the accounting checks."""

import json
from pathlib import Path
from typing import Any

from lmfast.errors import CheckpointError, FileError, MissingFileError


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The records, one a line, without a last line that is not finished.

    Raises:
        MissingFileError: There is no such file.
        FileError: It cannot be read.
        CheckpointError: A finished line is not a record.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        msg = f"cannot read the records {path}: there is no such file"
        raise MissingFileError(msg) from error
    except OSError as error:
        msg = f"cannot read the records {path}: {error.strerror}"
        raise FileError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"cannot read the records {path}: {error}"
        raise CheckpointError(msg) from error
    # A trainer may have been killed, or be at work, in the middle of the last line.
    *lines, _unfinished = text.split("\n")
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            sound = type(record["step"]) is int and isinstance(record["event"], str)
        except (ValueError, TypeError, KeyError, RecursionError):
            sound = False
        if not sound:
            msg = f"cannot use {path}: line {number} is not a record of a run"
            raise CheckpointError(msg)
        records.append(record)
    return records
