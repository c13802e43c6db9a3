"""What a run records about itself: one JSON object per line of ``metrics.jsonl``."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lmfast.errors import FileError, MissingFileError
from lmfast.files import sync, write_whole
from lmfast.records import read_records


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One optimizer step, over all processes."""

    event: ClassVar[str] = "step"
    step: int
    """Counted from 1."""
    tokens: int
    """Tokens trained on so far, this step included."""
    loss: float
    """Mean nats per token over all tokens of the step, before its update."""
    lr: float
    grad_norm: float
    """Global norm of the gradient before clipping."""
    seconds: float
    """Wall time of this step, data included, evaluation and saving not."""
    tokens_per_second: float
    data_wait_seconds: float
    """The part of ``seconds`` spent waiting for batches, by the first process."""
    mfu: float | None
    """Model FLOP/s over the ceiling of all devices; None where no ceiling is known."""
    peak_memory_bytes: int | None
    """The most memory used so far: of the device on CUDA, of the whole process on a CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRecord:
    """The model on held-out text; step 0 is before the first update."""

    event: ClassVar[str] = "evaluation"
    step: int
    tokens: int
    """Tokens trained on so far."""
    held_out_loss: float
    """Mean nats per token over all scored tokens, special ones included, as in training."""
    bits_per_byte: float | None
    """Nats of text tokens / (ln 2 * their bytes); None where no text was scored."""
    scored_tokens: int
    scored_bytes: int
    """Bytes of text that the scored tokens stand for; special tokens stand for none."""
    seconds: float


Record = StepRecord | EvaluationRecord


class MetricsLog:
    """Appends records to a file, each line whole before the next step begins."""

    def __init__(self, path: Path, last_step: int | None = None) -> None:
        """Start over, or keep the lines of ``path`` up to and including ``last_step``.

        What a killed run wrote after its last checkpoint will be written again, so it is dropped,
        and so is a line that was cut short.
        """
        self.path = path
        lines = [] if last_step is None else read_metrics(path)
        kept = [line for line in lines if line["step"] <= (last_step or 0)]
        write_whole(path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self.evaluations = [_evaluation(line) for line in kept if line["event"] == "evaluation"]

    def write(self, record: Record) -> None:
        """Append one line.

        Raises:
            FileError: The file cannot be written.
        """
        if isinstance(record, EvaluationRecord):
            self.evaluations.append(record)
        line = {"event": record.event, **dataclasses.asdict(record)}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, allow_nan=False) + "\n")
        except OSError as error:
            msg = f"cannot write {self.path}: {error.strerror}"
            raise FileError(msg) from error

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        sync(self.path)


def read_metrics(path: str | Path) -> list[dict[str, Any]]:
    """The lines of a ``metrics.jsonl``; none where there is no such file.

    Raises:
        FileError: It cannot be read.
        CheckpointError: A finished line is not a record.
    """
    try:
        return read_records(path)
    except MissingFileError:
        return []


def _evaluation(line: Mapping[str, Any]) -> EvaluationRecord:
    names = [field.name for field in dataclasses.fields(EvaluationRecord)]
    return EvaluationRecord(**{name: line[name] for name in names})
