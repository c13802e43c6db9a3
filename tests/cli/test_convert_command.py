"""``lmfast tokenizer convert``."""

import json
from pathlib import Path

import pytest

import lmfast as library


@pytest.fixture
def source(tmp_path: Path) -> str:
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256}
    library.Tokenizer.from_ranks(ranks, "gpt2").save(tmp_path / "in.json")
    return str(tmp_path / "in.json")


def test_a_tokenizer_in_other_formats(lmfast, tmp_path: Path) -> None:
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256}
    tokenizer = library.Tokenizer.from_ranks(ranks, "gpt2", {"<|end|>": 257})
    tokenizer.save(tmp_path / "in.json")
    source = str(tmp_path / "in.json")
    code, stdout, _ = lmfast(
        "tokenizer", "convert", source, str(tmp_path / "x.tiktoken"), "--to", "tiktoken", "--json"
    )
    assert (code, json.loads(stdout)["identity"]) == (0, tokenizer.identity)
    code, _, stderr = lmfast(
        "tokenizer",
        "convert",
        str(tmp_path / "x.tiktoken"),
        str(tmp_path / "folder"),
        *("--to", "pretrained", "--pretokenizer", "gpt2", "--special", "<|end|>=257"),
    )
    assert (code, "folder" in stderr) == (0, True)
    assert library.Tokenizer.load(tmp_path / "folder") == tokenizer


@pytest.mark.parametrize(
    ("name", "written"), [("x.json", "huggingface"), ("x.tiktoken", "tiktoken")]
)
def test_the_ending_says_the_format(lmfast, source: str, tmp_path: Path, name, written) -> None:
    out = tmp_path / name
    code, stdout, _ = lmfast("tokenizer", "convert", source, str(out), "--json")
    assert (code, json.loads(stdout)["format"]) == (0, written)
    assert (out.read_bytes()[:1] == b"{") == (written == "huggingface")
    cut = "gpt2" if written == "tiktoken" else None
    assert library.Tokenizer.load(out, cut) == library.Tokenizer.load(source)


@pytest.mark.parametrize("name", ["x", "x.model", "folder.json"])
def test_a_name_that_says_no_format_is_refused(lmfast, source: str, tmp_path: Path, name) -> None:
    (tmp_path / "folder.json").mkdir()
    code, _, stderr = lmfast("tokenizer", "convert", source, str(tmp_path / name))
    assert (code, "--to huggingface, tiktoken, gpt2, pretrained" in stderr) == (2, True)
    assert not (tmp_path / name).is_file()


def test_ranks_are_not_overwritten_by_a_tokenizer_json(lmfast, source: str, tmp_path: Path) -> None:
    ranks, corpus = tmp_path / "x.tiktoken", tmp_path / "corpus.txt"
    ranks.write_text("old")
    corpus.write_text("ab ab " * 9)
    for arguments in (
        ("convert", source, str(ranks), "--to", "huggingface"),
        ("train", str(corpus), "--vocab-size", "258", "--out", str(ranks)),
        ("extend", source, str(corpus), "--vocab-size", "258", "--out", str(ranks)),
        ("sweep", str(corpus), "--vocab-sizes", "258", "--out", str(ranks)),
    ):
        code, _, stderr = lmfast("tokenizer", *arguments)
        assert (code, "convert --to tiktoken" in stderr) == (2, True), stderr
    with pytest.raises(library.errors.ConfigError, match=r"save\(path, 'tiktoken'\)"):
        library.Tokenizer.load(source).save(ranks)
    assert ranks.read_text() == "old"
