import json
import subprocess
import sys

import pytest

from lmfast.config import to_toml


@pytest.fixture
def settings(make_run, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(to_toml(make_run()))
    return path


def test_from_settings_to_generated_text(lmfast, settings, tmp_path):
    out = tmp_path / "elsewhere"
    code, stdout, stderr = lmfast("train", str(settings), "--set", f"out={out}", "--json")
    assert code == 0, stderr
    summary = json.loads(stdout)
    assert (summary["step"], summary["out"]) == (6, str(out))
    assert summary["last_evaluation"]["bits_per_byte"] < 8
    assert "step 6/6  loss" in stderr
    assert "bits per byte" in stderr

    code, stdout, stderr = lmfast("train", str(settings), "--set", f"out={out}")
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: cannot start a run")
    code, stdout, stderr = lmfast("train", str(settings), "--set", f"out={out}", "--resume")
    assert (code, stdout) == (0, "")
    assert f"the trained model is in {out}" in stderr

    options = ("--prompt", "the ", "--max-tokens", "12", "--seed", "3", "--device", "cpu")
    code, stdout, _ = lmfast("generate", str(out), *options)
    assert code == 0
    assert stdout.startswith("the ")
    code, as_json, _ = lmfast("generate", str(out), *options, "--json")
    result = json.loads(as_json)
    assert result["prompt"] + result["text"] + "\n" == stdout
    assert result["seconds"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nowhere.toml"], "there is no such file"),
        (["train", "{settings}", "--set", "model.n_layers=3"], "did you mean n_layer?"),
        (["train", "{settings}", "--set", "data.train=nowhere"], "there is no such folder"),
        (["train", "{settings}", "--set", "device=abacus"], "cannot use device 'abacus'"),
        (["train", "{settings}", "--set", "model.vocab_size=9"], "model.vocab_size is 9"),
        (["generate", "nowhere"], "cannot load a model from nowhere"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(lmfast, settings, arguments, message):
    code, stdout, stderr = lmfast(*[word.format(settings=settings) for word in arguments])
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: ")
    assert stderr.count("\n") == 1
    assert message in stderr


@pytest.mark.parametrize("command", ["train", "generate"])
def test_help_teaches_by_example(lmfast, command):
    code, stdout, _ = lmfast(command, "--help")
    assert code == 0
    assert f"lmfast {command} r" in stdout


@pytest.mark.parametrize("command", ["train", "generate"])
def test_without_torch_the_extra_is_named(settings, command):
    program = (
        "import sys; sys.modules['torch'] = None; "
        "from lmfast.cli import main; sys.argv = ['lmfast', *sys.argv[1:]]; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command, str(settings)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "needs torch, which is not installed: install lmfast[train]" in done.stderr


def test_the_command_line_itself_loads_no_torch():
    program = "import sys, lmfast.cli, lmfast.corpus; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
