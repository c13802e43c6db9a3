import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from lmfast.config import DataConfig, RunConfig, ScheduleConfig, to_toml
from lmfast.errors import CheckpointError, ConfigError, FileError, MismatchError
from lmfast.training import Trainer, read_metrics
from lmfast.training import checkpoint as checkpoint_module
from tiny_runs import MODEL, write_corpus

# What depends on the machine and on what else the process has done.
MEASURED = {"seconds", "tokens_per_second", "data_wait_seconds", "peak_memory_bytes"}


class Killed(BaseException):
    """Not an Exception, so that nothing on the way can take care of it."""


def outcome(config: RunConfig) -> tuple[dict[str, torch.Tensor], list[dict[str, object]]]:
    """Everything that a resumed run must have in common with one that was not interrupted."""
    out = Path(config.out)
    state = load_file(out / "model.safetensors")
    for path in sorted((out / "checkpoints").iterdir()):
        tensors = load_file(path / "optimizer.safetensors")
        state |= {f"{path.name}.{name}": tensor for name, tensor in tensors.items()}
    lines = read_metrics(out / "metrics.jsonl")
    assert all(line["peak_memory_bytes"] > 0 for line in lines if "peak_memory_bytes" in line)
    assert any("peak_memory_bytes" in line for line in lines)
    return state, [{k: v for k, v in line.items() if k not in MEASURED} for line in lines]


def assert_same(found, expected):
    assert found[1] == expected[1]
    assert found[0].keys() == expected[0].keys()
    for name, tensor in found[0].items():
        assert torch.equal(tensor, expected[0][name]), name


@pytest.fixture
def config(make_run, tmp_path):
    return make_run(out=str(tmp_path / "interrupted"), checkpointing="full")


@pytest.fixture
def expected(config, tmp_path):
    """Of a run of six steps that nothing interrupts."""
    torch.manual_seed(0)
    whole = replace(config, out=str(tmp_path / "whole"))
    Trainer(whole).fit()
    return outcome(whole)


@pytest.mark.parametrize("killed_at", [1, 2, 3, 5, 6])
def test_an_interrupted_run_ends_as_if_it_had_not_been(config, expected, killed_at):
    def kill(record):
        if record.step == killed_at:
            raise Killed

    with pytest.raises(Killed):
        Trainer(config).fit(on_step=kill)
    if killed_at > config.save_every:
        torch.manual_seed(killed_at)  # a new process would not have the old random state either
    Trainer(config).fit(resume=True)
    assert_same(outcome(config), expected)


def test_a_kill_at_any_moment_of_saving_leaves_a_checkpoint_or_none(config, expected, monkeypatch):
    """Dies before each file operation in turn, each time after having resumed from the last."""
    moments, fates = 0, []
    finished = False
    while not finished:
        moments += 1
        with monkeypatch.context() as patch:
            die_at_operation(patch, moments)
            try:
                Trainer(config).fit(resume=True)
                finished = True
            except Killed:
                pass
        if not finished:
            fates.append(Trainer(config).folder.checkpoints.steps())
    assert [] in fates
    assert [2, 4] in fates
    Trainer(config).fit(resume=True)
    assert_same(outcome(config), expected)


def die_at_operation(patch: pytest.MonkeyPatch, moment: int) -> None:
    operations = 0

    def counted(real):
        def operation(*args, **kwargs):
            nonlocal operations
            operations += 1
            if operations == moment:
                raise Killed
            return real(*args, **kwargs)

        return operation

    patch.setattr(checkpoint_module, "sync", counted(checkpoint_module.sync))
    patch.setattr(checkpoint_module, "save_tensors", counted(checkpoint_module.save_tensors))
    patch.setattr(Path, "rename", counted(Path.rename))
    patch.setattr(shutil, "rmtree", counted(shutil.rmtree))


def test_kill_9_in_the_middle_of_saving(config, expected, tmp_path):
    settings = tmp_path / "run.toml"
    settings.write_text(to_toml(config))
    program = """
import os, signal, sys, torch
torch.manual_seed(0)
from lmfast.config import RunConfig, from_dict, load_toml
from lmfast.training import Trainer, checkpoint

real, saves = checkpoint.save_tensors, 0

def save_tensors(tensors, path):
    global saves
    saves += 1
    real(tensors, path)
    if saves == 4:  # of four files, the last of the second checkpoint
        path.write_bytes(path.read_bytes()[:100])
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.save_tensors = save_tensors
import lmfast.model.weights
lmfast.model.weights.save_tensors = save_tensors
Trainer(from_dict(RunConfig, load_toml(sys.argv[1]))).fit()
"""
    done = subprocess.run([sys.executable, "-c", program, str(settings)], env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    assert [path.name for path in (Path(config.out) / "checkpoints").glob("step-*")] == [
        "step-000002"
    ]
    Trainer(config).fit(resume=True)
    assert_same(outcome(config), expected)


def test_resume_can_lengthen_a_run(config):
    Trainer(config).fit()
    longer = replace(config, schedule=ScheduleConfig(steps=8, warmup_steps=2))
    assert Trainer(longer).fit(resume=True).step == 8
    steps = [line["step"] for line in read_metrics(f"{config.out}/metrics.jsonl") if "lr" in line]
    assert steps == [1, 2, 4, 6, 8]


def test_checkpoints_of_something_else_are_refused(config, tmp_path, byte_tokenizer):
    Trainer(config).fit()
    for changed, match in (
        (replace(config, model=replace(MODEL, d_ff=48)), r"model\.d_ff = 32, not 48"),
        (replace(config, seed=1), "seed = 0, not 1"),
    ):
        with pytest.raises(MismatchError, match=match):
            Trainer(changed).fit(resume=True)
    write_corpus(tmp_path / "other", byte_tokenizer, seed=9)
    other = replace(config, data=DataConfig(train=str(tmp_path / "other")))
    with pytest.raises(MismatchError, match="training shards"):
        Trainer(other).fit(resume=True)
    state = Path(config.out, "checkpoints", "step-000006", "state.json")
    table = json.loads(state.read_text())
    state.write_text(json.dumps({**table, "tokenizer_identity": "1" * 64}))
    with pytest.raises(MismatchError, match="tokenizer = '1111"):
        Trainer(config).fit(resume=True)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("state.json", b"{", "damaged"),
        ("state.json", b"[]", "damaged"),
        ("state.json", b"{}", "damaged"),
        ("state.json", b'{"version": 99}', "version 99"),
        ("state.json", b'{"version": 1, "step": 3}', "damaged"),
        ("state.json", b"[" * 100_000, "damaged"),
        ("model.safetensors", b"", "damaged"),
        ("optimizer.safetensors", b"\xff" * 20, "damaged"),
    ],
)
def test_damaged_checkpoints_are_named(config, name, content, match):
    Trainer(config).fit()
    path = Path(config.out, "checkpoints", "step-000006", name)
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=match) as caught:
        Trainer(config).fit(resume=True)
    assert name in str(caught.value)


@pytest.mark.parametrize("change", [{"step": 4}, {"samples": -1}, {"samples": "x"}, {"config": 1}])
def test_a_state_that_cannot_be(config, change):
    Trainer(config).fit()
    state = Path(config.out, "checkpoints", "step-000006", "state.json")
    state.write_text(json.dumps({**json.loads(state.read_text()), **change}))
    with pytest.raises(CheckpointError, match="damaged"):
        Trainer(config).fit(resume=True)


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("rng.cpu", None),
        ("rng.cpu", torch.zeros(3, dtype=torch.uint8)),
        ("exp_avg.embedding.weight", None),
        ("exp_avg.embedding.weight", torch.zeros(2, 2)),
        ("exp_avg.embedding.weight", torch.zeros(257, 16, dtype=torch.int32)),
        ("exp_avg.nothing", torch.zeros(1)),
    ],
)
def test_an_optimizer_that_lacks_something_does_not_start_over(config, name, replacement):
    Trainer(config).fit()
    path = Path(config.out, "checkpoints", "step-000006", "optimizer.safetensors")
    tensors = load_file(path)
    tensors.pop(name, None)
    if replacement is not None:
        tensors[name] = replacement
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match=r"optimizer\.safetensors"):
        Trainer(config).fit(resume=True)


@pytest.mark.parametrize("content", [b"\xff\n", b"[" * 100_000 + b"\n"])
def test_metrics_that_are_none(config, content):
    Trainer(config).fit()
    Path(config.out, "metrics.jsonl").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"metrics\.jsonl"):
        Trainer(config).fit(resume=True)


@pytest.mark.parametrize("name", ["config.toml", "tokenizer.json", "metrics.jsonl", "model.json"])
def test_files_that_no_run_made_are_not_overwritten(config, name):
    out = Path(config.out)
    out.mkdir()
    (out / name).write_text("precious")
    with pytest.raises(ConfigError, match=f"its {name} would be overwritten"):
        Trainer(config).fit()
    assert [path.name for path in out.iterdir()] == [name]


def test_a_name_that_is_taken_at_the_end_is_an_error(config):
    out = Path(config.out)
    with pytest.raises(FileError, match=r"model\.safetensors"):
        Trainer(config).fit(on_step=lambda _: (out / "model.safetensors").mkdir(exist_ok=True))
