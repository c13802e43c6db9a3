"""The training run: loop, optimizer, schedule, evaluation, checkpoints, measurements.

Needs ``lmfast[train]``.
"""

from lmfast.training.memory import MemoryMeasurement, measure_memory, peak_memory_bytes
from lmfast.training.metrics import EvaluationRecord, StepRecord, read_metrics
from lmfast.training.timing import measure_step_seconds
from lmfast.training.trainer import RunSummary, Trainer

__all__ = [
    "EvaluationRecord",
    "MemoryMeasurement",
    "RunSummary",
    "StepRecord",
    "Trainer",
    "measure_memory",
    "measure_step_seconds",
    "peak_memory_bytes",
    "read_metrics",
]
