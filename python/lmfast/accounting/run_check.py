"""A finished run against its predictions: predicted, measured, and what explains the gap.

It reads ``config.toml`` and ``metrics.jsonl`` of a run folder and imports nothing of the trainer.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmfast.accounting.compression import first_loss
from lmfast.accounting.duration import training_time
from lmfast.accounting.flops import check_6nd, count_flops
from lmfast.accounting.hardware import Device
from lmfast.accounting.memory import estimate_memory
from lmfast.accounting.quantity import show
from lmfast.accounting.recipes import trainer_recipe
from lmfast.accounting.utilisation import mfu
from lmfast.accounting.vocabulary import EXPECTED_BYTES_PER_TOKEN
from lmfast.config import RunConfig, from_dict, load_toml
from lmfast.records import read_records

# A gap smaller than this needs no explanation.
AGREEMENT = 0.1
LARGE_WAIT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One quantity, predicted and measured; ``None`` is what is not known."""

    name: str
    unit: str
    predicted: float | None
    measured: float | None
    why: str
    """Where the prediction comes from, or what explains the gap."""

    @property
    def ratio(self) -> float | None:
        """Measured over predicted."""
        if self.predicted is None or self.measured is None or self.predicted == 0:
            return None
        return self.measured / self.predicted

    def to_dict(self) -> dict[str, Any]:
        """The comparison for JSON, all but its name."""
        return {
            "predicted": self.predicted,
            "measured": self.measured,
            "ratio": self.ratio,
            "unit": self.unit,
            "why": self.why,
        }

    def __str__(self) -> str:
        ratio = f"{self.ratio:.3f}" if self.ratio is not None else "-"
        pair = f"{show(self.predicted, self.unit)} → {show(self.measured, self.unit)}"
        return f"{self.name}: {pair} (x {ratio}); {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What was predicted for a run and what came of it."""

    run: str
    comparisons: tuple[Comparison, ...]

    def __getitem__(self, name: str) -> Comparison:
        for comparison in self.comparisons:
            if comparison.name == name:
                return comparison
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return {
            "run": self.run,
            "comparisons": {line.name: line.to_dict() for line in self.comparisons},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """What ``metrics.jsonl`` says."""

    seconds: float | None
    tokens_per_step: float | None
    wait_share: float | None
    first_loss: float | None
    bytes_per_token: float | None
    peak_memory: float | None


def check_run(
    run: str | Path,
    device: Device | None = None,
    *,
    dtype: str | None = None,
    assumed_mfu: float = 0.4,
    expected_bytes_per_token: float = EXPECTED_BYTES_PER_TOKEN["english"],
) -> RunReport:
    """Predicted against measured for a run folder.

    Args:
        run: Folder with ``config.toml`` and ``metrics.jsonl``.
        device: Whose peak the time is computed with; without it, time and MFU stay unknown.
        dtype: What the run computed in; default: what its configuration says, fp32 for ``auto``.
        assumed_mfu: What the prediction of time takes for granted.
        expected_bytes_per_token: What the corpus should give.

    Raises:
        MissingFileError: A file of the run is not there.
        ConfigError: The configuration cannot be used.
        CheckpointError: A line of the metrics is not a record.
    """
    folder = Path(run)
    config = from_dict(RunConfig, load_toml(folder / "config.toml"))
    measured = _read(folder / "metrics.jsonl")
    kind = dtype or {"bf16": "bf16"}.get(config.precision, "fp32")
    return RunReport(
        run=str(run),
        comparisons=(
            _tokens(config, measured),
            *_compute(config, measured, device, kind, assumed_mfu),
            _memory(config, measured, kind),
            Comparison(
                name="first_loss",
                unit="nat/token",
                predicted=first_loss(config.model.vocab_size).value,
                measured=measured.first_loss,
                why="predicted: ln of the vocabulary size, and 1/2 for logits of unit variance",
            ),
            Comparison(
                name="bytes_per_token",
                unit="byte/token",
                predicted=expected_bytes_per_token,
                measured=measured.bytes_per_token,
                why="measured: bytes over all scored tokens; predicted: as given",
            ),
        ),
    )


def _tokens(config: RunConfig, measured: _Measured) -> Comparison:
    ratio = (measured.tokens_per_step or 0) / config.tokens_per_step
    several = f"{ratio:.0f} processes" if ratio >= 1.5 else "one process"
    return Comparison(
        name="tokens_per_step",
        unit="token",
        predicted=config.tokens_per_step,
        measured=measured.tokens_per_step,
        why=f"micro_batch_size · grad_accum_steps · context_length, {several}",
    )


def _compute(
    config: RunConfig, measured: _Measured, device: Device | None, dtype: str, assumed: float
) -> list[Comparison]:
    per_token = count_flops(config.model).per_token()
    tokens = measured.tokens_per_step or config.tokens_per_step
    flops = per_token.known() * tokens
    ratio = check_6nd(config.model).known()
    count = max(1, round(tokens / config.tokens_per_step))
    peak = device.peak(dtype).value if device is not None else None
    predicted = training_time(flops, peak, assumed, count).value
    rate = tokens / measured.seconds if measured.seconds else None
    reached = mfu(rate, per_token, peak, count).value if rate is not None else None
    return [
        Comparison(
            name="flops_per_step",
            unit="FLOP",
            predicted=flops * ratio,
            measured=flops,
            why=f"predicted by 6·N·D, {100 * ratio:.4g} % of the exact count (palm) beside it",
        ),
        Comparison(
            name="seconds_per_step",
            unit="s",
            predicted=predicted,
            measured=measured.seconds,
            why=_why_time(predicted, measured, reached, assumed),
        ),
        Comparison(
            name="mfu",
            unit="ratio",
            predicted=assumed,
            measured=reached,
            why="predicted: assumed" if device is not None else "no device given, so no peak",
        ),
        Comparison(
            name="flops_per_second",
            unit="FLOP/s",
            predicted=None if peak is None else peak * assumed * count,
            measured=flops / measured.seconds if measured.seconds else None,
            why="exact count over the median time of a step",
        ),
    ]


def _why_time(
    predicted: float | None, measured: _Measured, reached: float | None, assumed: float
) -> str:
    if predicted is None or measured.seconds is None or reached is None:
        return "no prediction without a device's peak"
    gap = measured.seconds / predicted - 1
    if abs(gap) < AGREEMENT:
        return "the assumed MFU holds"
    wait = measured.wait_share or 0.0
    if gap > 0 and wait > LARGE_WAIT:
        return f"waiting for data takes {100 * wait:.3g} % of a step"
    return f"the assumption MFU = {assumed:g} explains it: {reached:.3g} was reached"


def _memory(config: RunConfig, measured: _Measured, dtype: str) -> Comparison:
    estimate = estimate_memory(
        config.model,
        config.micro_batch_size,
        recipe=trainer_recipe(dtype),
        checkpointing=config.checkpointing,
        grad_accum_steps=config.grad_accum_steps,
    )
    known = measured.peak_memory is not None
    return Comparison(
        name="peak_memory",
        unit="byte",
        predicted=estimate.peak.known(),
        measured=measured.peak_memory,
        why="a process on a CPU also holds the interpreter and its libraries"
        if known
        else "the run recorded no peak_memory_bytes",
    )


def _read(path: Path) -> _Measured:
    records = read_records(path)
    steps = [record for record in records if record["event"] == "step"]
    # The first step warms up: caches, allocator, compilation.
    timed = steps[1:] or steps
    seconds = _numbers(timed, "seconds")
    waits = _numbers(timed, "data_wait_seconds")
    evaluations = [record for record in records if record["event"] == "evaluation"]
    losses = _numbers(evaluations, "held_out_loss") or _numbers(steps, "loss")
    peaks = _numbers(records, "peak_memory_bytes")
    return _Measured(
        seconds=statistics.median(seconds) if seconds else None,
        tokens_per_step=steps[-1]["tokens"] / steps[-1]["step"] if steps else None,
        wait_share=sum(waits) / sum(seconds) if waits and seconds else None,
        first_loss=losses[0] if losses else None,
        bytes_per_token=_compression(evaluations),
        peak_memory=max(peaks) if peaks else None,
    )


def _numbers(records: list[dict[str, Any]], key: str) -> list[float]:
    return [record[key] for record in records if isinstance(record.get(key), int | float)]


def _compression(evaluations: list[dict[str, Any]]) -> float | None:
    for record in reversed(evaluations):
        tokens, text = record.get("scored_tokens"), record.get("scored_bytes")
        if tokens and text:
            return float(text / tokens)
    return None
