"""What every command owes its caller: one line for an error, clean streams, honest exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lmfast


@pytest.fixture
def tokenizer(tmp_path):
    (tmp_path / "corpus.txt").write_text("ab ab\n" * 20)
    trained = lmfast.train_bpe(tmp_path / "corpus.txt", vocab_size=257 + 2)
    trained.save(tmp_path / "tokenizer.json")
    return str(tmp_path / "tokenizer.json")


def shell(command, tokenizer, **environment):
    """Run ``command`` in a shell, where ``$LMFAST`` is the command line."""
    names = {"LMFAST": f"{sys.executable} -m lmfast.cli", "T": tokenizer, **environment}
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env={**os.environ, **names}
    )


def test_a_closed_standard_input_is_no_empty_corpus(tokenizer, tmp_path):
    out = str(tmp_path / "out")
    done = shell('$LMFAST tokenizer count - --out "$OUT" <&-', tokenizer, OUT=out)
    assert (done.returncode, "standard input: it is closed" in done.stderr) == (2, True)
    assert not Path(out).exists()


def test_the_package_is_light():
    heavy = "{'numpy', 'torch', 'ssl', 'hashlib', 'urllib.request'}"
    code = f"import sys, lmfast; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("module", ["lmfast", "lmfast.cli"])
def test_the_package_runs_as_a_module(module):
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True)
    assert (done.returncode, done.stdout.decode().strip()) == (0, lmfast.__version__)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["tokenizer", "nonsense"],
        ["tokenizer", "train"],
        ["tokenizer", "train", "x", "--vocab-size", "nan"],
        ["tokenizer", "train", "x", "--threads", "0"],
        ["tokenizer", "train", "x", "--tie-break", "best"],
        ["tokenizer", "train", "x" * 300],
        ["tokenizer", "train", "a\nb \x1b[31m"],
        ["tokenizer", "inspect", "x" * 300],
        ["tokenizer", "decode", "{t}", "1.5"],
        ["tokenizer", "decode", "{t}", "--shards", "x" * 300],
        ["account", "params", "--model", "x" * 300 + ".toml"],
        ["account", "time", "--params", "1", "--tokens", "1", "--peak-flops", "0"],
        ["account", "time", "--params", "1", "--tokens", "1", "--peak-flops", "nan"],
        ["account", "time", "--params", "1", "--tokens", "1", "--peak-flops", "1", "--price=-1"],
        ["account", "plan", "llama3-8b", "--hardware", "h100-sxm", "--tokens", "nan"],
        ["account", "plan", "llama3-8b", "--hardware", "h100-sxm", "--tokens", "1e308", "--json"],
    ],
)
def test_what_a_user_gets_wrong_is_one_line(lmfast, tokenizer, arguments):
    code, stdout, stderr = lmfast(*[word.format(t=tokenizer) for word in arguments])
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: ")
    assert stderr.count("\n") == 1
    assert stderr[:-1].isprintable()


def test_a_usage_error_names_the_help_to_read(lmfast):
    assert "tokenizer train --help'" in lmfast("tokenizer", "train")[2]


def test_numbers_that_json_lacks_are_text(lmfast):
    def refuse(constant):
        raise AssertionError(constant)

    _, stdout, _ = lmfast("account", "dtypes", "--value", "1e308", "--value", "nan", "--json")
    table = json.loads(stdout, parse_constant=refuse)
    assert table["fp16"]["values"] == {"1e+308": "inf", "nan": "nan"}


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_is_told_by_the_exit_code_alone(tokenizer, tmp_path, unbuffered):
    (tmp_path / "ids").write_text("97 10 " * 500_000)
    command = "$LMFAST tokenizer decode $T < $IDS | head -1; echo ${PIPESTATUS[0]}"
    names = {"IDS": str(tmp_path / "ids"), "PYTHONUNBUFFERED": unbuffered}
    result = shell(command, tokenizer, **names)
    assert (result.stdout.split(), result.stderr) == (["a", "1"], "")


@pytest.mark.parametrize("command", ["decode $T 97", "inspect $T", "inspect $T --json"])
@pytest.mark.parametrize("target", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_an_error(tokenizer, command, target):
    if target == ">/dev/full" and not Path("/dev/full").is_char_device():
        pytest.skip("this system has no /dev/full")
    result = shell(f"$LMFAST tokenizer {command} {target}", tokenizer)
    assert result.returncode == 2
    assert result.stderr.startswith("error: cannot write to standard output")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_input_that_is_closed_is_an_error(tokenizer, command):
    result = shell(f"$LMFAST tokenizer {command} $T <&-", tokenizer)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: cannot read standard input: it is closed\n"


def test_ids_on_standard_input_must_be_text(tokenizer):
    result = shell(r"printf '\xff' | $LMFAST tokenizer decode $T", tokenizer)
    assert result.returncode == 2
    assert result.stderr == "error: cannot read standard input: it is not UTF-8 at byte 0\n"


def test_notes_that_nobody_reads_do_not_get_into_the_output(tokenizer, tmp_path):
    command = "$LMFAST tokenizer encode $T $CORPUS --out $OUT --json 2>&-"
    names = {"CORPUS": str(tmp_path / "corpus.txt"), "OUT": str(tmp_path / "shards")}
    result = shell(command, tokenizer, **names)
    assert json.loads(result.stdout)["folders"][0]["documents"] == 1


def test_a_terminal_without_unicode_gets_all_there_is(tokenizer):
    command = "$LMFAST tokenizer inspect $T --text é --longest 0"
    result = shell(f"{command} && {command} --json", tokenizer, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert result.stderr == ""


def test_what_encode_writes_is_read_by_decode(tokenizer):
    command = "$LMFAST tokenizer encode $T --text 'ab 1' {} | $LMFAST tokenizer decode $T"
    for options in ("", "--json"):
        result = shell(command.format(options), tokenizer)
        assert (result.stdout, result.stderr) == ("ab 1", "")


@pytest.mark.parametrize("text", ['{"ids": [1.5]}', '{"ids": 5}', "{}", '{"ids": [1', "1.5"])
def test_what_is_no_ids_is_refused(tokenizer, text):
    result = shell('printf %s "$TEXT" | $LMFAST tokenizer decode $T', tokenizer, TEXT=text)
    assert (result.returncode, result.stdout) == (2, "")
    assert "or JSON as 'encode --json' writes it" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="the system has no such name")
@pytest.mark.parametrize("pipe", ["cat corpus.txt | $LMFAST", "< corpus.txt $LMFAST"])
def test_a_corpus_may_come_on_standard_input(tokenizer, tmp_path, monkeypatch, pipe):
    monkeypatch.chdir(tmp_path)
    trained = lmfast.Tokenizer.load(tokenizer)
    commands = {
        "train - --vocab-size 259 --out t.json": lambda: lmfast.Tokenizer.load("t.json") == trained,
        "count - --out p.counts": lambda: lmfast.PretokenCounts.load("p.counts").text_bytes == 120,
        "encode $T - --out shards": lambda: Path("shards/manifest.json").exists(),
        "report $T - --json": lambda: True,
        "sweep - --vocab-sizes 258": lambda: True,
    }
    for command, is_done in commands.items():
        result = shell(pipe.replace("$LMFAST", f"$LMFAST tokenizer {command}"), tokenizer)
        assert result.returncode == 0, result.stderr
        assert is_done(), command
        assert "report" not in command or json.loads(result.stdout)["text"]["bytes"] == 120
