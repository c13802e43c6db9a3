"""Counting on many processes, then training on the sum."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
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
        assert json.loads(stdout)["skipped"] is None
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
        result["dropped"]["occurrences"] + result["occurrences"]
        == PretokenCounts.load(_counted(lmfast, parts[1], tmp_path)).occurrences
    )
    code, stdout, stderr = lmfast(*arguments)
    assert (code, stdout) == (0, "")
    assert "the count of any pair is too low by" in stderr


def _counted(lmfast, part, folder):
    out = str(folder / "exact")
    assert lmfast("tokenizer", "count", str(part), "--out", out)[0] == 0
    return out


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--pretokenizer", "gpt2"),
        ("--special", "x"),
        ("--text-field", "text"),
        ("--on-error", "raise"),
    ],
)
def test_how_text_was_counted_is_not_asked_again(lmfast, parts, tmp_path, option, value):
    counts = _counted(lmfast, parts[0], tmp_path)
    code, _, stderr = lmfast("tokenizer", "train", "--from-counts", counts, option, value)
    assert code == 2
    assert f"error: {option} cannot go with --from-counts" in stderr


def test_a_text_is_no_count_file(lmfast, parts):
    code, _, stderr = lmfast("tokenizer", "train", "--from-counts", str(parts[0]))
    assert code == 2
    assert "is no file of pretoken counts" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks for open files in /proc")
def test_a_killed_count_leaves_nothing(tmp_path):
    pipe, folder = tmp_path / "pipe.txt", tmp_path / "out"
    os.mkfifo(pipe)
    folder.mkdir()
    limits = ("--memory-budget", "52", "--threads", "1", "--temporary-folder", folder)
    process = start("count", pipe, "--out", folder / "counts", *limits)
    with pipe.open("wb", buffering=0) as file:  # which waits until the process reads
        for megabyte in range(200):
            file.write(unique_words(megabyte))
            if open_below(folder, process.pid):
                break
        else:
            pytest.fail("the counts fit the budget: there was no temporary file to be left")
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not list(folder.iterdir())


def unique_words(seed):
    """A megabyte of words that hardly ever come twice: counts need memory."""
    random = np.random.default_rng(seed)
    words = random.integers(ord("a"), ord("z") + 1, (100_000, 10), dtype=np.uint8)
    words[:, 0] = ord(" ")
    return words.tobytes()


def open_below(folder, process):
    """Whether a process has a file below a folder open, with a name or without."""
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since
            if descriptor.readlink().is_relative_to(folder):
                return True
    return False


def test_two_at_once_leave_one_whole_file(parts, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "counts"
    running = [start("count", parts[0], "--out", out, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert list(folder.iterdir()) == [out]
    assert PretokenCounts.load(out).text_bytes == len(PARTS[0]) - 20 * len("<|endoftext|>")


def test_a_folder_without_a_file_is_refused_as_an_empty_pattern_is(lmfast, tmp_path):
    (tmp_path / "empty").mkdir()
    out = tmp_path / "out.counts"
    for corpus in (tmp_path / "empty", tmp_path / "*.txt"):
        code, _, stderr = lmfast("tokenizer", "count", str(corpus), "--out", str(out))
        assert (code, str(corpus) in stderr) == (2, True)
    assert not out.exists()
