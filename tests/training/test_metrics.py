import json

import pytest

from lmfast.errors import CheckpointError, FileError
from lmfast.training import EvaluationRecord, StepRecord, read_metrics
from lmfast.training.metrics import MetricsLog


def step_record(step: int) -> StepRecord:
    return StepRecord(
        step=step,
        tokens=10 * step,
        loss=1.0,
        lr=0.1,
        grad_norm=2.0,
        seconds=0.5,
        tokens_per_second=20.0,
        data_wait_seconds=0.01,
        mfu=None,
        peak_memory_bytes=None,
    )


def evaluation(step: int) -> EvaluationRecord:
    return EvaluationRecord(
        step=step,
        tokens=1,
        held_out_loss=2.0,
        bits_per_byte=None,
        scored_tokens=5,
        scored_bytes=0,
        seconds=0.1,
    )


def test_records_become_lines_and_come_back(tmp_path):
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path)
    for record in (evaluation(0), step_record(1), step_record(2), evaluation(2)):
        log.write(record)
    lines = read_metrics(path)
    assert [line["event"] for line in lines] == ["evaluation", "step", "step", "evaluation"]
    assert lines[1]["tokens_per_second"] == 20.0
    assert lines[0]["bits_per_byte"] is None
    assert MetricsLog(path, last_step=2).evaluations == [evaluation(0), evaluation(2)]


def test_resuming_drops_what_will_be_written_again(tmp_path):
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path)
    for step in range(1, 6):
        log.write(step_record(step))
    with path.open("a") as file:
        file.write('{"event": "step", "step": 6, "lo')
    MetricsLog(path, last_step=3)
    assert [line["step"] for line in read_metrics(path)] == [1, 2, 3]
    MetricsLog(path)
    assert path.read_text() == ""


@pytest.mark.parametrize("line", ["", "{", "[]", "7", '{"step": 1}', '{"step": "1", "event": "x"}'])
def test_a_line_that_is_no_record(tmp_path, line):
    path = tmp_path / "metrics.jsonl"
    good = json.dumps({"event": "step", "step": 1})
    path.write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(CheckpointError, match="line 2 is not a record"):
        read_metrics(path)


def test_an_unwritable_place(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.path = tmp_path
    with pytest.raises(FileError, match="cannot write"):
        log.write(step_record(1))
