import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lmfast.cli import app

RUNNER = CliRunner()


def account(*arguments):
    return RUNNER.invoke(app, ["account", *arguments])


def numbers(*arguments):
    result = account(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_params():
    assert numbers("params", "--model", "gpt2-small")["parameters"] == 124_439_808
    assert numbers("params", "--model", "gpt2-small", "--set", "bias=false")["parameters"] == (
        124_337_664
    )
    plain = numbers("params", "--set", "vocab_size=100", "--set", "model.n_layer=2")
    assert plain["parameters"] == sum(plain["modules"].values())


def test_flops():
    data = numbers("flops", "--model", "xl", "--context-length", "1024")
    assert data["forward_flops"] == 4_513_336_524_800
    assert data["training_flops"] == 3 * data["forward_flops"]


def test_memory():
    options = ("--model", "gpt2-xl", "--recipe", "bf16", "--batch", "4", "--checkpointing", "full")
    data = numbers("memory", *options)
    assert data["total_bytes"] == sum(data["buckets"].values())
    assert data["bytes_per_parameter"] == 12


def test_time():
    options = ("--params", "70e9", "--tokens", "15e12", "--devices", "1024", "--mfu", "0.5")
    assert 143 < numbers("time", *options, "--peak-flops", "989.4e12")["days"] < 144


def test_check():
    assert numbers("check", "--model", "gpt2-small")["ratio"] == pytest.approx(0.8738, abs=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [
        ["params", "--model", "gpt2-small"],
        ["flops", "--model", "mixtral-8x7b"],
        ["memory", "--model", "gpt2-small", "--explain"],
        ["time", "--model", "gpt2-small", "--tokens", "1e9", "--peak-flops", "1e12"],
        ["check", "--model", "gpt2-small"],
    ],
)
def test_pages_for_people(arguments):
    result = account(*arguments)
    assert result.exit_code == 0, result.output
    assert "=" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["params", "--model", "gpt5"], "known models"),
        (["params", "--model", "nothing.toml"], "no such file"),
        (["params", "--set", "vocab=3"], "did you mean vocab_size"),
        (["flops", "--model", "xl", "--convention", "mine"], "6nd, palm"),
        (["time", "--tokens", "1e9"], "--params or --model"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(arguments, said):
    command = [sys.executable, "-m", "lmfast.cli", "account", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_nothing_heavy_is_imported():
    code = (
        "import sys, lmfast.accounting, lmfast.cli.account;"
        "assert not {'torch', 'matplotlib', 'einops'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
