import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lmfast.cli import app
from lmfast.errors import LmfastError

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
    data = numbers("time", *options, "--hardware", "h100-sxm", "--price", "2")
    assert 143 < data["days"] < 144
    assert data["price"] == pytest.approx(data["seconds"] / 3_600 * 1_024 * 2)


def test_roofline():
    sizes = ("--m", "1024", "--k", "1024", "--n", "1024", "--dtype", "bf16")
    data = numbers("roofline", *sizes, "--hardware", "h100-sxm")
    assert data["intensity"] == pytest.approx(1_024 / 3)
    assert data["ridge"] == pytest.approx(295.3, abs=0.1)
    assert data["bound"] == "compute"
    model = ("--model", "llama3-8b", "--phase", "decode", "--batch", "16")
    load = numbers("roofline", *model, "--hardware", "h100-sxm")
    assert {operation["bound"] for operation in load["operations"]} == {"memory"}


def test_dtypes():
    data = numbers("dtypes", "--value", "1e-8")
    assert data["fp16"]["values"] == {"1e-08": 0}
    assert data["bf16"]["values"]["1e-08"] > 0
    assert data["fp16"]["largest"] == 65_504


def test_hardware():
    assert numbers("hardware", "h100-sxm")["dense"]["bf16"] == 989.4e12
    assert "h200-sxm" in numbers("hardware")


def test_memory_of_many_devices():
    options = ("--model", "llama3-8b", "--recipe", "bf16-master", "--checkpointing", "full")
    spread = ("--devices", "8", "--zero", "3", "--hardware", "h100-sxm", "--frontier")
    data = numbers("memory", *options, *spread)
    assert data["buckets"]["parameters"] == 8_030_261_248 * 2 // 8
    assert data["largest_micro_batch"] >= 1
    assert {point["policy"] for point in data["frontier"]} >= {"none", "full", "every-2"}


def test_plan():
    options = ("--hardware", "h100-sxm", "--devices", "64", "--tokens", "2e11", "--zero", "3")
    data = numbers("plan", "llama3-8b", *options, "--recipe", "bf16", "--price", "2")
    assert data["fits"] is not None
    assert data["days"] > 0
    assert data["price"] > 0


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "sweep.json"
    path.write_text("[[4096, 3.2], [16384, 3.95], [65536, 4.45]]")
    return str(path)


def test_vocab(sweep):
    data = numbers("vocab", sweep, "--model", "gpt2-small", "--budget", "1e18")
    assert data["cheapest_vocab_size"] == 16_384
    assert len(data["rows"]) == 3
    assert data["bytes_within_budget"]["16384"] > data["bytes_within_budget"]["65536"]
    result = account("vocab", sweep, "--model", "gpt2-small", "--text", "english")
    assert "shortfall" in result.stdout


def test_measure_stores_what_hardware_then_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("LMFAST_HARDWARE", str(tmp_path / "hardware.toml"))
    monkeypatch.setattr("lmfast.accounting.measure.COPY_BYTES", 2**20)
    monkeypatch.setattr("lmfast.accounting.measure.SIZES", (64,))
    measured = numbers("measure", "--name", "mine")
    found = numbers("hardware", "mine")
    assert found["dense"] == measured["dense"]
    assert found["measured"]


def test_pictures(tmp_path, sweep):
    for arguments in (
        ["roofline", "--model", "gpt2-small", "--hardware", "h100-sxm"],
        ["memory", "--model", "gpt2-small", "--hardware", "h100-sxm"],
        ["vocab", sweep, "--model", "gpt2-small"],
    ):
        path = tmp_path / f"{arguments[0]}.svg"
        result = account(*arguments, "--picture", str(path))
        assert result.exit_code == 0, result.output
        assert "<svg" in path.read_text()


def test_check():
    assert numbers("check", "--model", "gpt2-small")["ratio"] == pytest.approx(0.8738, abs=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [
        ["params", "--model", "gpt2-small"],
        ["flops", "--model", "mixtral-8x7b"],
        ["memory", "--model", "gpt2-small", "--explain"],
        ["memory", "--model", "gpt2-small", "--frontier", "--hardware", "t4"],
        ["time", "--model", "gpt2-small", "--tokens", "1e9", "--peak-flops", "1e12"],
        ["roofline", "--m", "8", "--k", "8", "--n", "8", "--hardware", "h100-sxm"],
        ["roofline", "--m", "8", "--k", "8", "--n", "8", "--hardware", "t4"],
        ["roofline", "--model", "gpt2-small", "--hardware", "t4"],
        ["plan", "gpt2-small", "--hardware", "t4", "--tokens", "1e9"],
        ["plan", "gpt2-small", "--hardware", "h100-sxm", "--tokens", "1e9", "--price", "1"],
        ["check", "--model", "gpt2-small"],
    ],
)
def test_pages_for_people(arguments):
    result = account(*arguments)
    assert result.exit_code == 0, result.output
    assert len(result.stdout) > 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["params", "--model", "gpt5"], "known models"),
        (["params", "--model", "nothing.toml"], "no such file"),
        (["params", "--set", "vocab=3"], "did you mean vocab_size"),
        (["flops", "--model", "xl", "--convention", "mine"], "6nd, palm"),
        (["time", "--tokens", "1e9"], "--params or --model"),
        (["time", "--tokens", "1e9", "--params", "1e9"], "--hardware or --peak-flops"),
        (["roofline", "--hardware", "h100"], "h100-sxm"),
        (["roofline", "--hardware", "h100-sxm"], "--m, --k and --n, or --model"),
        (["check", "nowhere"], "there is no such file"),
        (["vocab", "nowhere.json"], "there is no such file"),
    ],
)
def test_errors_say_what_is_accepted(arguments, said):
    result = account(*arguments)
    assert isinstance(result.exception, LmfastError)
    assert said in str(result.exception)
    assert "\n" not in str(result.exception)


def test_an_error_is_one_line_and_exit_code_2():
    command = [sys.executable, "-m", "lmfast.cli", "account", "params", "--model", "gpt5"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1


def test_nothing_heavy_is_imported():
    code = (
        "import sys, lmfast.accounting, lmfast.cli.account;"
        "assert not {'torch', 'matplotlib', 'einops'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
