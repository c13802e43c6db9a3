"""Errors say which document, which file and which setting it is."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from odd_vocabularies import SMALL as TOKENIZER

import lmfast
from lmfast.corpus import prepare
from lmfast.errors import (
    CorpusError,
    InputTypeError,
    LmfastError,
    SpecialTokenError,
    TextError,
    VocabularyError,
)
from lmfast.report import compression_report
from lmfast.sweep import sweep_sizes

BAD_DOCUMENTS: dict[str, tuple[object, type[LmfastError], str]] = {
    "surrogate": ("a\ud800", TextError, "text holds a lone surrogate"),
    "type": (5, InputTypeError, "text must be str or bytes, not int"),
    "special": ("a<|end|>", SpecialTokenError, "the text holds the special token"),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_document_is_named(name: str, threads: int) -> None:
    document, kind, message = BAD_DOCUMENTS[name]
    long = "ab " * 700_000  # is cut into parts, and so is the last one
    before = ["one", long, *["two"] * 200_000, long]
    for bad in (document, long + document if isinstance(document, str) else document):
        with pytest.raises(kind, match=message) as refused:
            TOKENIZER.encode_batch([*before, bad, "three"], threads)  # type: ignore[list-item]
        assert str(refused.value).startswith(f"document {len(before)}: ")
    with pytest.raises(kind, match=message) as refused:
        TOKENIZER.encode_batch([document])  # type: ignore[list-item]
    assert "document" not in str(refused.value)


def test_the_one_text_is_no_document() -> None:
    with pytest.raises(SpecialTokenError) as refused:
        TOKENIZER.encode("ab " * 700_000 + "<|end|>")
    assert "document" not in str(refused.value)


def test_a_file_that_is_no_text_says_what_it_is(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one two three four " * 20)
    counts = lmfast.count_pretokens(text)
    files = {
        "p0.counts": "it is a count file, which train_from_counts and PretokenCounts.load take",
        "zipped.txt": "by gzip, and read as such if its name ends in .gz",
        "standard.txt": "by zstd, and read as such if its name ends in .zst",
        "columns": "a Parquet file, and read as such if its name ends in .parquet",
        "picture.png": "'folder/*.txt', or leave out what is not UTF-8 by on_error=\"skip\"",
    }
    counts.save(tmp_path / "p0.counts")
    (tmp_path / "zipped.txt").write_bytes(gzip.compress(text.read_bytes()))
    (tmp_path / "standard.txt").write_bytes(b"\x28\xb5\x2f\xfd\x24\xff")
    (tmp_path / "columns").write_bytes(b"PAR1\x15\xff")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    for name, advice in files.items():
        file = tmp_path / name
        with pytest.raises(CorpusError) as refused:
            lmfast.count_pretokens([text, file])
        message = str(refused.value)
        assert message.startswith(f"{file} is not UTF-8: invalid at byte ")
        assert advice in message


def test_a_folder_stands_for_all_its_files_but_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("aaa")
    (tmp_path / "b").write_text("bbb")
    (tmp_path / ".cache").mkdir()
    for hidden in (".a.txt", ".cache/a.txt"):
        (tmp_path / hidden).write_bytes(b"\xff")
    counts = lmfast.count_pretokens(tmp_path)
    assert dict(counts.items()) == {b"aaa": 1, b"bbb": 1}
    (tmp_path / "p.png").write_bytes(b"\x89PNG")
    with pytest.raises(CorpusError, match=r"p\.png is not UTF-8"):
        lmfast.count_pretokens(tmp_path)
    assert lmfast.count_pretokens(tmp_path / "*.txt").items() == [(b"aaa", 1)]
    skipped = lmfast.count_pretokens(tmp_path, on_error="skip").skipped
    assert skipped is not None
    assert skipped.documents == 1


def test_what_min_count_drops_is_not_an_empty_corpus(tmp_path: Path) -> None:
    counts = lmfast.count_pretokens(iter(["one two", "two"]), min_count=9)
    assert len(counts) == 0
    with pytest.raises(CorpusError, match=r"min_count dropped all 3 pretokens.*3 times.*lower"):
        lmfast.train_from_counts(counts, vocab_size=300)
    counts.save(tmp_path / "counts")
    with pytest.raises(CorpusError, match="min_count dropped all 3"):
        lmfast.train_from_counts(tmp_path / "counts", vocab_size=300)


def test_the_length_of_tokens_is_given_as_a_reason() -> None:
    with pytest.raises(VocabularyError, match=r"0 merges .* a token of max_token_bytes=1 or fewer"):
        lmfast.train_bpe(iter(["aaa aaa"]), vocab_size=300, max_token_bytes=1)
    with pytest.raises(VocabularyError) as refused:
        lmfast.train_bpe(iter(["aaa aaa"]), vocab_size=300)
    assert "max_token_bytes" not in str(refused.value)


@pytest.mark.parametrize("wrong", ["tokenizer.json", None, np.zeros(3)])
def test_what_is_no_tokenizer_is_refused(tmp_path: Path, wrong: object) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one two three")
    calls: list[Callable[[], object]] = [
        lambda: prepare(text, wrong, tmp_path / "out"),  # type: ignore[arg-type]
        lambda: lmfast.extend(wrong, text, vocab_size=300),  # type: ignore[arg-type]
        lambda: compression_report(wrong, text),  # type: ignore[arg-type]
        lambda: sweep_sizes(wrong, [300]),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(InputTypeError, match=f"lmfast.Tokenizer.* not {type(wrong).__name__}"):
            call()
    assert not (tmp_path / "out").exists()
