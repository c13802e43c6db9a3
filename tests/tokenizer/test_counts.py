"""Counting apart from training: files of counts, memory budgets, rare pretokens."""

import dataclasses
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, random_words
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

import lmfast
from lmfast.bpe import Dropped
from lmfast.errors import ConfigError, CorpusError, FileError, InputTypeError, MissingFileError

PARTS = [MULTILINGUAL, random_words(2, "abcde", words=400), f"a{END_OF_TEXT}b a b", "", " end"]


def saved(parts: list[str], path: Path, **options: object) -> Path:
    lmfast.count_pretokens(iter(parts), **options).save(path)  # type: ignore[arg-type]
    return path


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(max_size=60), max_size=6))
def test_counts_are_those_of_the_pieces(texts: list[str]) -> None:
    counts = lmfast.count_pretokens(iter(texts), pretokenizer="cl100k", special_tokens=())
    split = Split(Regex(counts.pattern), "isolated")
    expected = Counter(
        piece.encode() for text in texts if text for piece, _ in split.pre_tokenize_str(text)
    )
    assert dict(counts.items()) == expected
    assert len(counts) == len(expected)
    assert counts.occurrences == expected.total()
    assert counts.text_bytes == sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("pretokenizer", ["gpt2", "o200k", r"\w+|\W", None])
def test_parts_give_the_vocabulary_of_the_whole(tmp_path: Path, pretokenizer: str | None) -> None:
    options = {"pretokenizer": pretokenizer, "special_tokens": [END_OF_TEXT, "<|pad|>"]}
    whole = lmfast.train_bpe(iter(PARTS), vocab_size=400, **options)  # type: ignore[arg-type]
    files = [saved([p], tmp_path / str(n), **options) for n, p in enumerate(PARTS)]
    assert lmfast.train_from_counts(files, vocab_size=400) == whole
    counts = lmfast.PretokenCounts.load(files[::-1])
    assert lmfast.train_from_counts(counts, vocab_size=400) == whole
    # Sums are sums again, however they come about.
    lmfast.PretokenCounts.load(files[:2]).save(tmp_path / "first")
    lmfast.PretokenCounts.load(files[2:]).save(tmp_path / "last")
    again = lmfast.train_from_counts([tmp_path / "first", tmp_path / "last"], vocab_size=400)
    assert again == whole
    assert again.training is not None
    assert whole.training is not None
    assert again.training.skipped is None, "count files do not say what was left out"
    assert dataclasses.replace(again.training, skipped=whole.training.skipped) == whole.training


def test_a_file_does_not_depend_on_threads_or_order(tmp_path: Path) -> None:
    first = saved(PARTS, tmp_path / "first", threads=1)
    last = saved(PARTS[::-1], tmp_path / "last", threads=3)
    assert first.read_bytes() == last.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "last"]


def test_what_is_dropped_is_told(tmp_path: Path) -> None:
    texts = ["aa aa bbb c", "aa c dddd"]
    exact = lmfast.count_pretokens(iter(texts))
    assert exact.dropped == Dropped(pretokens=0, occurrences=0, bytes=0)
    counts = lmfast.count_pretokens(iter(texts), min_count=2)
    assert dict(counts.items()) == {b"aa": 2, b" c": 2}
    assert counts.dropped == Dropped(pretokens=3, occurrences=3, bytes=len(" aa bbb dddd"))
    assert counts.text_bytes == exact.text_bytes
    record = lmfast.train_from_counts(counts, vocab_size=258).training
    assert record is not None
    assert (record.text_bytes, record.counts) == (8, [2])
    # Rare in each part is not rare in all: only the sum decides.
    files = [saved([text], tmp_path / str(n)) for n, text in enumerate(texts)]
    assert dict(lmfast.PretokenCounts.load(files, min_count=2).items()) == dict(counts.items())
    lossy = [saved([text], tmp_path / f"lossy{n}", min_count=2) for n, text in enumerate(texts)]
    assert lmfast.PretokenCounts.load(lossy).dropped.bytes == exact.text_bytes


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    file = saved(PARTS, tmp_path / "counts")
    other = saved(PARTS, tmp_path / "other", pretokenizer="cl100k")
    with pytest.raises(CorpusError, match=r"other cannot be used: its pretokenizer is .*, not "):
        lmfast.PretokenCounts.load([file, other])
    other = saved(PARTS, tmp_path / "other", special_tokens=())
    with pytest.raises(
        CorpusError, match=re.escape('its special tokens are [], not ["<|endoftext|>"')
    ):
        lmfast.train_from_counts([file, other], vocab_size=300)
    data = file.read_bytes()
    file.write_bytes(data[:-100])
    with pytest.raises(CorpusError, match="counts is damaged or cut off"):
        lmfast.PretokenCounts.load(file)
    file.write_text("some text")
    with pytest.raises(CorpusError, match="is no file of pretoken counts"):
        lmfast.PretokenCounts.load(file)
    with pytest.raises(MissingFileError):
        lmfast.PretokenCounts.load(tmp_path / "missing")
    with pytest.raises(CorpusError, match="not a file"):
        lmfast.PretokenCounts.load(tmp_path)
    with pytest.raises(ConfigError, match="name one at least"):
        lmfast.PretokenCounts.load([])
    with pytest.raises(InputTypeError):
        lmfast.PretokenCounts.load(3)  # type: ignore[arg-type]


def test_nothing_counted_is_no_vocabulary(tmp_path: Path) -> None:
    empty = saved([], tmp_path / "empty")
    assert len(lmfast.PretokenCounts.load(empty)) == 0
    with pytest.raises(CorpusError, match="empty"):
        lmfast.train_from_counts(empty, vocab_size=300)


def test_a_budget_too_small_is_refused_before_counting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1 MiB is too small for 2 threads: it takes 56 MiB"):
        lmfast.count_pretokens(tmp_path, memory_budget=1 << 20, threads=2)
    with pytest.raises(ConfigError, match="from 1 on"):
        lmfast.count_pretokens(tmp_path, memory_budget=0)


def unique_words(path: Path, megabytes: int) -> None:
    """Words that hardly ever come twice: the tables of counts grow with the corpus."""
    random = np.random.default_rng(0)
    with path.open("wb") as file:
        for _ in range(megabytes):
            words = random.integers(ord("a"), ord("z") + 1, (100_000, 10), dtype=np.uint8)
            words[:, 0] = ord(" ")
            file.write(words.tobytes())


# The peak of getrusage would be no good: a process begins with that of the one that started it.
MEASURE = """
import sys, lmfast

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

path, out, budget, folder = sys.argv[1:]
before = peak()
budget = int(budget) or None
counts = lmfast.count_pretokens(path, memory_budget=budget, temporary_folder=folder, threads=1)
print(peak() - before)
counts.save(out)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak in /proc")
def test_a_corpus_of_several_budgets_stays_within(tmp_path: Path) -> None:
    budget = 52 << 20
    corpus, folder = tmp_path / "corpus", tmp_path / "temporary"
    folder.mkdir()
    unique_words(corpus, 3 * budget >> 20)

    def count(budget: int) -> tuple[int, bytes]:
        out = tmp_path / "counts"
        command = [sys.executable, "-c", MEASURE, corpus, out, str(budget), folder]
        done = subprocess.run(command, check=True, capture_output=True)
        return int(done.stdout), out.read_bytes()

    bounded, counts = count(budget)
    unbounded, same = count(0)
    assert counts == same
    assert budget / 20 < bounded < budget
    assert unbounded > 3 * budget, "the test shows something only if memory would run out"
    assert not list(folder.iterdir())


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    corpus, script = tmp_path / "corpus", tmp_path / "script.py"
    unique_words(corpus, 8)
    before = set(tmp_path.iterdir())
    script.write_text(
        "import resource, signal, sys, lmfast\n"
        "from lmfast.errors import FileError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "counts = lmfast.count_pretokens(sys.argv[1])\n"
        "try:\n"
        "    counts.save(sys.argv[2])\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    before.add(script)
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, script, corpus, out], check=True, capture_output=True, text=True
    )
    assert f"cannot write {out}: File too large" in done.stdout
    assert set(tmp_path.iterdir()) == before


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    counts = lmfast.count_pretokens(iter(PARTS))
    with pytest.raises(FileError, match="missing/counts"):
        counts.save(tmp_path / "missing" / "counts")


def test_counts_are_shown_in_a_line() -> None:
    assert repr(lmfast.count_pretokens(iter(["a b b"]))) == "PretokenCounts(2 pretokens, 5 bytes)"
