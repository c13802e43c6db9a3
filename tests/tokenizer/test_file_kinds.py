"""Files told apart by what is in them, folders of published models, Tekken, and what is refused."""

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from tokenizer_texts import MULTILINGUAL, any_text

import lmfast
from lmfast.errors import LmfastError, MissingFileError, VocabularyError

PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def tekken_of(trained: lmfast.Tokenizer) -> dict[str, Any]:
    """Mistral's file of the ranks of ``trained``, with more of them than its model knows."""
    ranks = sorted(trained.mergeable_ranks.items(), key=lambda item: item[1])
    names = ["<unk>", "<s>", "</s>", "[INST]"]
    return {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(ranks),
            "default_vocab_size": len(ranks) - 100 + 10,
            "default_num_special_tokens": 10,
            "version": "v3",
        },
        "vocab": [
            {"rank": n, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for n, (token, _) in enumerate(ranks)
        ],
        "special_tokens": [
            {"rank": n, "token_str": name, "is_control": True} for n, name in enumerate(names)
        ],
    }


@pytest.fixture(scope="module")
def tekken(all_trained: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mistral") / "tekken.json"
    path.write_text(json.dumps(tekken_of(all_trained["gpt2"].ours)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tekken_peer(all_trained: dict[str, Any]) -> tiktoken.Encoding:
    """Mistral's own reader puts the ranks into tiktoken, and adds the special tokens' number."""
    ranks = list(all_trained["gpt2"].ours.mergeable_ranks.items())
    return tiktoken.Encoding(
        "tekken", pat_str=PATTERN, mergeable_ranks=dict(ranks[:-100]), special_tokens={}
    )


@settings(max_examples=80, deadline=None)
@given(text=any_text())
def test_tekken_is_ranks_after_special_tokens(
    tekken: Path, tekken_peer: tiktoken.Encoding, text: str
) -> None:
    ours = lmfast.Tokenizer.load(tekken)
    expected = [token + 10 for token in tekken_peer.encode_ordinary(text)]
    assert ours.encode_ordinary(text) == expected


def test_tekken_names_every_id(tekken: Path, tmp_path: Path) -> None:
    ours = lmfast.Tokenizer.load(tekken.parent)
    assert ours.n_vocab == 1499 - 100 + 10
    assert list(ours.special_tokens)[3:5] == ["[INST]", "<SPECIAL_4>"]
    assert ours.encode("<s>a", allowed_special="all")[0] == 1
    ours.save(tmp_path / "tokenizer.json")
    assert lmfast.Tokenizer.load(tmp_path) == ours
    first = json.loads(tekken.read_text())
    del first["special_tokens"]
    first["config"]["default_num_special_tokens"] = 20
    (tmp_path / "first.json").write_text(json.dumps(first))
    assert lmfast.Tokenizer.load(tmp_path / "first.json").special_tokens["[TOOL_CONTENT]"] == 19


def test_names_of_files_do_not_matter(gpt2: lmfast.Tokenizer, tmp_path: Path) -> None:
    gpt2.save(tmp_path / "a.model", "tiktoken")
    gpt2.save(tmp_path / "b.bin")
    gpt2.save(tmp_path / "c", "gpt2")
    special = gpt2.special_tokens
    assert lmfast.Tokenizer.load(tmp_path / "a.model", "gpt2", special) == gpt2
    assert lmfast.Tokenizer.load(tmp_path / "b.bin") == gpt2
    for name in ("vocab.json", "merges.txt"):
        assert lmfast.Tokenizer.load(tmp_path / "c" / name, "gpt2", special) == gpt2
    (tmp_path / "c" / "merges.txt").rename(tmp_path / "c" / "vocab.bpe")
    with pytest.raises(VocabularyError, match=r"vocab\.json and merges\.txt"):
        lmfast.Tokenizer.load(tmp_path / "c" / "vocab.bpe", "gpt2")


@pytest.mark.parametrize("name", ["qwen.tiktoken", "tokenizer.model"])
def test_a_folder_with_ranks(gpt2: lmfast.Tokenizer, tmp_path: Path, name: str) -> None:
    gpt2.save(tmp_path / name, "tiktoken")
    assert lmfast.Tokenizer.load(tmp_path, "gpt2", gpt2.special_tokens) == gpt2
    if name != "tokenizer.model":
        gpt2.save(tmp_path / "second.tiktoken", "tiktoken")
        with pytest.raises(VocabularyError, match=r"qwen\.tiktoken, second\.tiktoken"):
            lmfast.Tokenizer.load(tmp_path, "gpt2")


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"tekken\.json"):
        lmfast.Tokenizer.load(tmp_path)


def test_roles_come_from_the_files_beside(gpt2: lmfast.Tokenizer, tmp_path: Path) -> None:
    gpt2.save(tmp_path / "tokenizer.json")
    (tmp_path / "special_tokens_map.json").write_text('{"eos_token": "<|endoftext|>"}')
    config = {
        "bos_token": {"content": "<|endoftext|>", "lstrip": False},
        "pad_token": "<not there>",
        "unk_token": None,
        "chat_template": "{{ x }}",
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    loaded = lmfast.Tokenizer.load(tmp_path)
    assert loaded.roles == {"eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}
    assert (loaded.eos_token, loaded.pad_token) == ("<|endoftext|>", None)
    loaded.save_pretrained(tmp_path)
    written = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert written["chat_template"] == "{{ x }}"
    (tmp_path / "tokenizer_config.json").write_text("[1]")
    with pytest.raises(VocabularyError, match=r"tokenizer_config\.json"):
        lmfast.Tokenizer.load(tmp_path)


def test_special_tokens_of_gpt2_files_come_from_beside(
    gpt2: lmfast.Tokenizer, tmp_path: Path
) -> None:
    gpt2.save(tmp_path, "gpt2")
    (tmp_path / "special_tokens_map.json").write_text('{"eos_token": "<|endoftext|>"}')
    assert lmfast.Tokenizer.load(tmp_path, "gpt2") == gpt2
    (tmp_path / "added_tokens.json").write_text('{"<extra>": 1600}')
    loaded = lmfast.Tokenizer.load(tmp_path, "gpt2")
    assert loaded.special_tokens == {"<|endoftext|>": 1499, "<extra>": 1600}
    (tmp_path / "added_tokens.json").write_text('{"<|endoftext|>": 7}')
    with pytest.raises(VocabularyError, match="1499, not 7"):
        lmfast.Tokenizer.load(tmp_path, "gpt2")
    (tmp_path / "added_tokens.json").write_text('{"<extra>": "x"}')
    with pytest.raises(VocabularyError, match="not the id"):
        lmfast.Tokenizer.load(tmp_path, "gpt2")


UNIGRAM = {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}}
WORDPIECE = {"model": {"type": "WordPiece", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}}
REFUSED: dict[str, tuple[bytes, str]] = {
    "sentencepiece": (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n\x0c\n\x03<s>\xff", "SentencePiece"),
    "WordPiece": (b"[PAD]\n[unused0]\nthe\n", "WordPiece"),
    "Unigram in json": (json.dumps(UNIGRAM).encode(), "Unigram"),
    "WordPiece in json": (json.dumps(WORDPIECE).encode(), "WordPiece"),
    "config": (b'{"tokenizer_class": "X", "model_max_length": 5}', "load the folder"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "gzip": (b"\x1f\x8b\x08\0\xff", "gzip"),
    "UTF-16": ("{}".encode("utf-16"), "UTF-16"),
    "BOM": (b"\xef\xbb\xbf{}", "byte order mark"),
    "empty": (b"", "empty"),
    "blank": (b" \n", "empty"),
    "NUL": (b"\0" * 100, "UTF-8"),
    "deep": (b'{"a":' * 100_000, "not JSON"),
    "deep list": (b'{"model":' + b"[" * 100_000, "not JSON"),
    "deep and whole": (b'{"model":' + b"[" * 9999 + b"]" * 9999 + b"}", "tokenizer.json"),
    "list": (b"[[[[", "list"),
    "number": (b"5", "none of"),
    "text": (b"Call me Ishmael, some years ago", "none of"),
    "object": (b"{}", "no model"),
    "rank too large": (b"AA== 99999999999999999999\n", "line 1"),
    "id too large": (b"AA== 4294967295\n", "ids are below"),
    "tekken huge": (
        b'{"config": {"pattern": "a", "default_vocab_size": 1099511627776, '
        b'"default_num_special_tokens": 1099511627776}, "vocab": []}',
        "at most",
    ),
    "tekken negative": (
        b'{"config": {"pattern": "a", "default_vocab_size": -1, '
        b'"default_num_special_tokens": 0}, "vocab": []}',
        "not a tekken",
    ),
    "tekken wrong": (b'{"config": {}, "vocab": {}}', "not a tekken"),
    "added id": (b'{"model": {"vocab": {}}, "added_tokens": [{"id": -1, "content": ""}]}', "json"),
    "added twice": (
        b'{"model": {"vocab": {}}, "added_tokens": [{"id": 1, "content": "a"}, '
        b'{"id": 1, "content": "b"}]}',
        "0x00|both have",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    content, why = REFUSED[name]
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=why) as refused:
        lmfast.Tokenizer.load(path, *(["gpt2"] if name.startswith(("rank", "id")) else []))
    message = str(refused.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 400


def test_a_file_cut_or_changed_anywhere_is_refused_or_read(
    tekken: Path, gpt2: lmfast.Tokenizer, tmp_path: Path
) -> None:
    """Never a panic; every third byte of the file's beginning and end."""
    gpt2.save(tmp_path / "tokenizer.json")
    target = tmp_path / "damaged"
    for file in (tekken, tmp_path / "tokenizer.json"):
        content = file.read_bytes()
        places = [*range(0, 400, 37), *range(len(content) - 400, len(content), 37)]
        for at in places:
            for damaged in (content[:at], content[:at] + b"}" + content[at + 1 :]):
                target.write_bytes(damaged)
                with contextlib.suppress(LmfastError):
                    lmfast.Tokenizer.load(target).encode_ordinary(MULTILINGUAL)
