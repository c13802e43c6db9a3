import json
import math

import pytest

from lmfast.accounting import count_flops
from lmfast.accounting.hardware import Device, Peaks
from lmfast.accounting.run_check import check_run
from lmfast.config import DataConfig, ModelConfig, RunConfig, ScheduleConfig, to_toml
from lmfast.errors import CheckpointError, MissingFileError
from lmfast.training.trainer import Trainer

MODEL = ModelConfig(vocab_size=1_000, context_length=64, d_model=64, n_layer=2, n_head=4)
DEVICE = Device(name="mine", dense=Peaks(fp32=1e11), source="timed", measured=True)
TOKENS = 8 * 64


@pytest.fixture
def run(tmp_path):
    config = RunConfig(
        model=MODEL, data=DataConfig(train="x"), schedule=ScheduleConfig(steps=3), precision="fp32"
    )
    (tmp_path / "config.toml").write_text(to_toml(config))

    def write(seconds, wait=0.0, **more):
        lines = [
            {
                "event": "evaluation",
                "step": 0,
                "held_out_loss": math.log(1_000) + 0.5,
                "scored_tokens": 1_000,
                "scored_bytes": 4_100,
            }
        ]
        for step in (1, 2, 3):
            timing = {"seconds": 99.0 if step == 1 else seconds, "data_wait_seconds": wait}
            lines.append({"event": "step", "step": step, "tokens": step * TOKENS, **timing, **more})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / "metrics.jsonl").write_text(text + '{"event": "st')
        return tmp_path

    return write


def flops_per_step():
    return count_flops(MODEL).per_token().value * TOKENS


def test_a_run_as_predicted(run):
    seconds = flops_per_step() / (1e11 * 0.5)
    report = check_run(run(seconds), DEVICE, assumed_mfu=0.5)
    assert report["tokens_per_step"].ratio == 1
    assert report["seconds_per_step"].ratio == pytest.approx(1)
    assert report["mfu"].measured == pytest.approx(0.5)
    assert report["seconds_per_step"].why == "the assumed MFU holds"
    assert report["first_loss"].ratio == pytest.approx(1)
    assert report["bytes_per_token"].measured == pytest.approx(4.1)
    assert report["flops_per_step"].measured == flops_per_step()
    assert report["peak_memory"].measured is None
    json.dumps(report.to_dict(), allow_nan=False)


def test_the_assumption_that_explains_a_gap(run):
    seconds = flops_per_step() / (1e11 * 0.25)
    why = check_run(run(seconds), DEVICE, assumed_mfu=0.5)["seconds_per_step"].why
    assert "MFU = 0.5" in why
    assert "0.25 was reached" in why
    why = check_run(run(seconds, wait=seconds / 2), DEVICE, assumed_mfu=0.5)["seconds_per_step"].why
    assert "waiting for data takes 50 %" in why


def test_several_processes(run):
    folder = run(1.0)
    text = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(text.replace(f'"tokens": {3 * TOKENS}', '"tokens": 3072'))
    report = check_run(folder, DEVICE)
    assert report["tokens_per_step"].ratio == 2
    assert "2 processes" in report["tokens_per_step"].why


def test_without_a_device_time_stays_unknown(run):
    report = check_run(run(1.0))
    assert report["seconds_per_step"].predicted is None
    assert report["mfu"].measured is None
    assert report["flops_per_second"].measured == flops_per_step()


def test_recorded_memory_is_compared(run):
    report = check_run(run(1.0, peak_memory_bytes=10**7))
    assert report["peak_memory"].measured == 10**7


def test_a_run_that_has_not_begun(run):
    folder = run(1.0)
    (folder / "metrics.jsonl").write_text("")
    report = check_run(folder, DEVICE)
    assert report["seconds_per_step"].measured is None
    assert report["tokens_per_step"].measured is None


def test_a_run_of_the_trainer(make_run):
    trainer = Trainer(make_run())
    summary = trainer.fit()
    report = check_run(summary.out, DEVICE)
    assert report["tokens_per_step"].ratio == 1
    assert report["first_loss"].ratio == pytest.approx(1, rel=0.05)
    assert report["seconds_per_step"].measured > 0
    assert report["mfu"].measured == pytest.approx(
        report["flops_per_second"].measured / DEVICE.dense.fp32
    )
    assert 0.9 < report["bytes_per_token"].measured < 1, "bytes, and separators that stand for none"
    assert report["peak_memory"].measured > report["peak_memory"].predicted


def test_what_is_no_run(tmp_path, run):
    with pytest.raises(MissingFileError):
        check_run(tmp_path / "nowhere")
    folder = run(1.0)
    (folder / "metrics.jsonl").write_text('{"event": "step"}\n')
    with pytest.raises(CheckpointError, match="line 1 is not a record"):
        check_run(folder)
