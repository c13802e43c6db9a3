"""The trace of a training: replaying it over the corpus gives what it says."""

import itertools
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from reference_trainer import pretokens
from test_train_rule import SPECIAL, documents

import lmfast
from lmfast.errors import ConfigError, CorpusError, FileError, MissingDependencyError
from lmfast.token_text import unescaped
from lmfast.trace import TracedMerge

TEXT = "the theme of the thesis: aaaa bbbbb\n\x00 naïve 水水 \\n " * 3


@pytest.fixture
def trained() -> lmfast.Tokenizer:
    return lmfast.train_bpe(iter([TEXT]), vocab_size=285)


@settings(max_examples=40, deadline=None)
@given(texts=documents)
def test_replaying_the_trace_gives_its_counts(texts: list[str]) -> None:
    try:
        trained = lmfast.train_bpe(
            iter(texts), vocab_size=300, special_tokens=SPECIAL, allow_fewer=True
        )
    except CorpusError:
        return  # nothing but special tokens
    counts = pretokens(texts, trained.pattern, SPECIAL)
    words = {word: [bytes([byte]) for byte in word] for word in counts}
    text_bytes = sum(len(word) * times for word, times in counts.items())
    rows = list(trained.training.trace())
    assert [row.rank for row in rows] == list(range(len(trained.merges)))
    for row in rows:
        pair = (row.left_bytes, row.right_bytes)
        pairs = Counter[tuple[bytes, bytes]]()
        for word, parts in words.items():
            for other in itertools.pairwise(parts):
                pairs[other] += counts[word]
        assert row.ties == list(pairs.values()).count(row.count)
        found = applied = 0
        for word, parts in words.items():
            found += counts[word] * sum(p == pair for p in itertools.pairwise(parts))
            at = 0
            while at + 1 < len(parts):
                if (parts[at], parts[at + 1]) == pair:
                    parts[at : at + 2] = [row.token]
                    applied += counts[word]
                at += 1
        assert (row.count, row.applied) == (found, applied)
        assert row.tokens == sum(len(parts) * counts[word] for word, parts in words.items())
        assert row.bytes_per_token == text_bytes / row.tokens
        assert row.vocab_size == 256 + len(SPECIAL) + row.rank + 1
        assert trained.token_bytes(row.id) == row.token == b"".join(pair)
        assert (trained.token_id(pair[0]), trained.token_id(pair[1])) == (row.left, row.right)


def test_jsonl_holds_every_row(trained: lmfast.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "merges.jsonl"
    trained.training.write_trace(path)
    read = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for name in ("left_bytes", "right_bytes", "token"):
            row[name] = unescaped(row[name])
        read.append(TracedMerge(**row))
    assert read == list(trained.training.trace())


@pytest.mark.parametrize("suffix", [".arrow", ".parquet", ".PARQUET"])
def test_arrow_holds_every_row(trained: lmfast.Tokenizer, tmp_path: Path, suffix: str) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"merges{suffix}"
    trained.training.write_trace(path)
    if suffix == ".arrow":
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all()
    else:
        from pyarrow import parquet

        table = parquet.read_table(path)
    assert [TracedMerge(**row) for row in table.to_pylist()] == list(trained.training.trace())


def test_what_cannot_be_written(
    trained: lmfast.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = trained.training.write_trace
    with pytest.raises(ConfigError, match=r"\.jsonl, \.arrow or \.parquet"):
        write(tmp_path / "merges.csv")
    with pytest.raises(FileError, match="cannot write"):
        write(tmp_path / "no" / "merges.jsonl")

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"merges\.parquet: .*lmfast\[arrow\]"):
        write(tmp_path / "merges.parquet")
    assert not list(tmp_path.iterdir())


def test_a_record_is_shown_in_a_line(trained: lmfast.Tokenizer) -> None:
    record = trained.training
    assert record is not None
    assert repr(record) == (
        f"TrainingRecord(28 merges, {len(TEXT.encode())} bytes, {record.tokens} tokens)"
    )
