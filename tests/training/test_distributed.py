import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lmfast.config import to_toml
from lmfast.errors import ConfigError
from lmfast.training import Trainer, read_metrics
from lmfast.training.distributed import World

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="torch is built without torch.distributed"
)


def train_on_two(config, tmp_path) -> dict[str, object]:
    """The summary of a run by two processes, in the environment that torchrun gives them."""
    settings = tmp_path / "run.toml"
    settings.write_text(to_toml(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "lmfast.cli", "train", str(settings), "--json"]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        subprocess.Popen(
            command,
            env={**os.environ, **shared, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    (out, error), (silent, other_error) = (process.communicate() for process in processes)
    assert [process.returncode for process in processes] == [0, 0], error + other_error
    assert silent == ""
    return json.loads(out)


@pytest.mark.slow
def test_two_processes_do_what_one_does_and_either_resumes_the_other(make_run, tmp_path):
    one = make_run(out=str(tmp_path / "one"), grad_accum_steps=2, log_every=1)
    Trainer(one).fit()
    # Two processes share the micro-steps of one ...
    two = replace(one, out=str(tmp_path / "two"), grad_accum_steps=1)
    summary = train_on_two(replace(two, save_every=4), tmp_path)
    assert (summary["step"], summary["tokens"]) == (6, 6 * one.tokens_per_step)
    compare(one, two)
    # ... and one goes on alone, as if they had been killed after the checkpoint of step 4.
    newest = Path(two.out) / "checkpoints" / "step-000006"
    newest.rename(tmp_path / "gone")
    Trainer(replace(one, out=two.out)).fit(resume=True)
    compare(one, two)


def compare(one, two) -> None:
    expected, found = (load_file(Path(c.out) / "model.safetensors") for c in (one, two))
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-5, msg=name)
    lines = [read_metrics(Path(c.out) / "metrics.jsonl") for c in (one, two)]
    assert len(lines[0]) == len(lines[1])
    for ours, theirs in zip(*lines, strict=True):
        assert (ours["step"], ours["tokens"]) == (theirs["step"], theirs["tokens"])
        for key in ("loss", "held_out_loss", "bits_per_byte", "grad_norm"):
            if key in ours:
                assert ours[key] == pytest.approx(theirs[key], rel=1e-4), key


def test_an_error_of_the_first_process_is_raised_in_all(monkeypatch):
    sent = []

    def from_main(world, value):
        if world.is_main:
            sent.append(value)
        return sent[-1]

    monkeypatch.setattr(World, "from_main", from_main)
    worlds = [World(rank=rank, size=2) for rank in range(2)]
    assert [world.on_main(lambda: 7) for world in worlds[:1]] == [7]

    def fail():
        raise ConfigError("no")

    for world in worlds:
        with pytest.raises(ConfigError, match="no"):
            world.on_main(fail if world.is_main else lambda: pytest.fail("not the first"))


def test_a_rank_that_is_no_number(monkeypatch):
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(ConfigError, match="RANK"):
        World.from_environment()
