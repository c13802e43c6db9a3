"""A tokenizer may be named as tiktoken names it, where there is no such file."""

import json

import pytest

import lmfast as library
from lmfast.cli.tokenizer import options

BYTES = library.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, "gpt2")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "get_encoding", {"cl100k_base": BYTES}.__getitem__)


def test_an_encoding_is_named(lmfast, tmp_path):
    arguments = ("encode", "cl100k_base", "--text", "ab", "--json")
    code, stdout, stderr = lmfast("tokenizer", *arguments)
    assert code == 0, stderr
    assert json.loads(stdout) == {"ids": [97, 98]}
    (tmp_path / "text.txt").write_text("some text")
    BYTES.save(tmp_path / "bytes.json")
    arguments = ("report", "bytes.json", "text.txt", "--against", "cl100k_base", "--json")
    code, stdout, stderr = lmfast("tokenizer", *arguments)
    assert code == 0, stderr
    names = [one["name"] for one in json.loads(stdout)["tokenizers"]]
    assert names == ["bytes.json", "cl100k_base"]


def test_a_file_goes_before_an_encoding(lmfast, tmp_path):
    (tmp_path / "text.txt").write_text("aaaa")
    library.train_bpe(tmp_path / "text.txt", vocab_size=258).save(tmp_path / "named.json")
    (tmp_path / "named.json").rename("cl100k_base")
    _, stdout, _ = lmfast("tokenizer", "encode", "cl100k_base", "--text", "aa", "--json")
    assert json.loads(stdout) == {"ids": [256]}


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["cl100k"], ["there is no such file", "no such encoding", "o200k_base"]),
        (["cl100k_base", "--pretokenizer", "gpt2"], ["has its own pretokenizer"]),
        (["cl100k_base", "--special", "<a>=300"], ["and special tokens"]),
    ],
)
def test_what_is_no_name(lmfast, arguments, messages):
    code, _, stderr = lmfast("tokenizer", "encode", *arguments, "--text", "ab")
    assert (code, stderr.count("\n")) == (2, 1)
    assert all(message in stderr for message in messages)
