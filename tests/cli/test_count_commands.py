"""Counting on many processes, then training on the sum."""

import json
import os
import signal
import subprocess
import sys

import pytest

from lmfast import PretokenCounts, Tokenizer

PARTS = [
    "the cat sat on the mat<|endoftext|>the dog sat on the log\n" * 20,
    "a cat and a dog, a mat and a log\n" * 30,
    "猫がマットの上に座った。犬も座った。\n" * 10,
]


@pytest.fixture
def parts(tmp_path):
    paths = [tmp_path / f"part-{number}.txt" for number in range(len(PARTS))]
    for path, text in zip(paths, PARTS, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def start(*arguments, **options):
    command = [sys.executable, "-m", "lmfast.cli", "tokenizer", *map(str, arguments)]
    return subprocess.Popen(command, **options)


def test_processes_give_the_vocabulary_of_one(lmfast, parts, tmp_path):
    counts = [path.with_suffix(".counts") for path in parts]
    running = [start("count", part, "--out", out) for part, out in zip(parts, counts, strict=True)]
    assert [process.wait() for process in running] == [0, 0, 0]

    whole, sum_, apart = (str(tmp_path / name) for name in ("whole.json", "all", "apart.json"))
    options = ("--vocab-size", "300", "--json", "--out")
    code, stdout, stderr = lmfast("tokenizer", "train", *map(str, parts), *options, whole)
    assert code == 0, stderr
    expected = json.loads(stdout)
    code, stdout, stderr = lmfast(
        *("tokenizer", "merge-counts", *map(str, counts), "--out", sum_, "--json")
    )
    assert code == 0, stderr
    merged = json.loads(stdout)
    assert merged["files"] == 3
    assert merged["text_bytes"] == expected["text_bytes"]
    for files in ([sum_], [str(path) for path in counts]):
        code, stdout, stderr = lmfast(
            "tokenizer", "train", "--from-counts", *files, *options, apart
        )
        assert code == 0, stderr
        assert json.loads(stdout)["rows"] == expected["rows"]
        assert Tokenizer.load(apart).identity == Tokenizer.load(whole).identity


def test_what_is_dropped_is_told(lmfast, parts, tmp_path):
    out = str(tmp_path / "counts")
    arguments = ("tokenizer", "count", str(parts[1]), "--out", out, "--min-count", "31")
    code, stdout, stderr = lmfast(*arguments, "--json")
    assert code == 0, stderr
    result = json.loads(stdout)
    # "a", " cat", " dog", ",", " mat", " log" and the newlines; " a" and " and" come twice a line.
    assert result["pretokens"] == 2
    assert (
        result["dropped_occurrences"] + result["occurrences"]
        == PretokenCounts.load(_counted(lmfast, parts[1], tmp_path)).occurrences
    )
    code, stdout, stderr = lmfast(*arguments)
    assert (code, stdout) == (0, "")
    assert "the count of any pair is too low by" in stderr


def _counted(lmfast, part, folder):
    out = str(folder / "exact")
    assert lmfast("tokenizer", "count", str(part), "--out", out)[0] == 0
    return out


@pytest.mark.parametrize("option", ["--pretokenizer", "--special"])
def test_how_text_was_cut_is_not_asked_again(lmfast, parts, tmp_path, option):
    counts = _counted(lmfast, parts[0], tmp_path)
    code, _, stderr = lmfast("tokenizer", "train", "--from-counts", counts, option, "64")
    assert code == 2
    assert f"error: {option} cannot go with --from-counts" in stderr


def test_a_text_is_no_count_file(lmfast, parts):
    code, _, stderr = lmfast("tokenizer", "train", "--from-counts", str(parts[0]))
    assert code == 2
    assert "is no file of pretoken counts" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_killed_count_leaves_nothing(tmp_path):
    pipe, folder = tmp_path / "pipe.txt", tmp_path / "out"
    os.mkfifo(pipe)
    folder.mkdir()
    process = start("count", pipe, "--out", folder / "counts", "--temporary-folder", folder)
    with pipe.open("w") as file:  # which waits until the process reads
        file.write("some text " * 1000)
        file.flush()
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not list(folder.iterdir())


def test_two_at_once_leave_one_whole_file(parts, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "counts"
    running = [start("count", parts[0], "--out", out, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert list(folder.iterdir()) == [out]
    assert PretokenCounts.load(out).text_bytes == len(PARTS[0]) - 20 * len("<|endoftext|>")
