"""Tokenizer files: written, read, and the same afterwards; damaged ones are refused by name."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL

import lmfast
from conftest import Trained
from lmfast.errors import ConfigError, FileError, MissingFileError, VocabularyError

FORMATS = ["huggingface", "tiktoken", "gpt2"]


def save(tokenizer: lmfast.Tokenizer, folder: Path, form: str) -> Path:
    """Write into ``folder``; the path to load."""
    path = {
        "huggingface": folder / "tokenizer.json",
        "tiktoken": folder / "vocabulary.tiktoken",
        "gpt2": folder / "gpt2",
    }[form]
    tokenizer.save(path, form)  # type: ignore[arg-type]
    return path


def load(path: Path, like: lmfast.Tokenizer) -> lmfast.Tokenizer:
    if path.name == "tokenizer.json":
        return lmfast.Tokenizer.load(path)
    return lmfast.Tokenizer.load(path, like.pretokenizer or "none", like.special_tokens)


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_saved_is_loaded(trained: Trained, tmp_path: Path, form: str) -> None:
    path = save(trained.ours, tmp_path, form)
    loaded = load(path, trained.ours)
    assert loaded == trained.ours
    assert loaded.identity == trained.ours.identity
    assert loaded.merges == trained.ours.merges
    assert loaded.special_tokens == trained.ours.special_tokens
    assert loaded.encode_ordinary(MULTILINGUAL) == trained.ours.encode_ordinary(MULTILINGUAL)
    written = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    save(loaded, tmp_path, form)
    assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == written


@pytest.mark.parametrize("tie_break", ["lexicographic", "huggingface", "smallest_id"])
@pytest.mark.parametrize("max_token_bytes", [None, 4])
def test_ranks_alone_hold_every_trained_vocabulary(
    tmp_path: Path, tie_break: str, max_token_bytes: int | None
) -> None:
    """A token is made in one way only, so a .tiktoken file loses nothing."""
    trained = lmfast.train_bpe(
        iter([MULTILINGUAL, "aaaa aaa aaaaaaa abababa " * 5]),
        vocab_size=800,
        tie_break=tie_break,  # type: ignore[arg-type]
        max_token_bytes=max_token_bytes,
        allow_fewer=True,
    )
    assert load(save(trained, tmp_path, "tiktoken"), trained) == trained


def test_a_folder_with_a_tokenizer_json_is_that_tokenizer(trained: Trained) -> None:
    assert lmfast.Tokenizer.load(trained.file.parent) == trained.ours
    assert lmfast.Tokenizer.load(str(trained.file)) == trained.ours


def test_hugging_face_saves_what_we_load(trained: Trained, tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    trained.hugging_face.save(str(path))
    assert lmfast.Tokenizer.load(path) == trained.ours


def test_a_vocabulary_that_hugging_face_trained(tmp_path: Path) -> None:
    theirs = tokenizers.ByteLevelBPETokenizer()
    theirs.train_from_iterator(
        MULTILINGUAL.splitlines(), 700, special_tokens=["<s>"], show_progress=False
    )
    theirs.save(str(tmp_path / "tokenizer.json"))
    theirs.save_model(str(tmp_path))
    ids = theirs.encode(MULTILINGUAL).ids
    from_json = lmfast.Tokenizer.load(tmp_path / "tokenizer.json")
    assert from_json.encode_ordinary(MULTILINGUAL) == ids
    (tmp_path / "tokenizer.json").unlink()
    for special in (["<s>"], {"<s>": 0}):
        assert lmfast.Tokenizer.load(tmp_path, "gpt2", special) == from_json
    with pytest.raises(VocabularyError, match="other ids"):
        lmfast.Tokenizer.load(tmp_path, "gpt2", {"<s>": 1})


@pytest.mark.parametrize("form", FORMATS)
def test_saving_leaves_no_temporary_file(gpt2: lmfast.Tokenizer, tmp_path: Path, form: str) -> None:
    path = save(gpt2, tmp_path, form)
    save(gpt2, tmp_path, form)
    files = {file.name for file in tmp_path.rglob("*") if file.is_file()}
    assert files == ({"vocab.json", "merges.txt"} if form == "gpt2" else {path.name})


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_cannot_be_written(gpt2: lmfast.Tokenizer, tmp_path: Path, form: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match="file"):
        gpt2.save(tmp_path / "file" / "below", form)  # type: ignore[arg-type]
    (tmp_path / "folder").mkdir()
    if form != "gpt2":
        with pytest.raises(FileError, match="folder"):
            gpt2.save(tmp_path / "folder", form)  # type: ignore[arg-type]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_there_are_three_formats(gpt2: lmfast.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="huggingface, tiktoken, gpt2"):
        gpt2.save(tmp_path / "x", "sentencepiece")  # type: ignore[arg-type]


def _json(change: Callable[[dict[str, object]], object]) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        file = json.loads(data)
        change(file)
        return json.dumps(file).encode()

    return damage


# Format, file and what happened to it.
DAMAGE: dict[str, tuple[str, str, Callable[[bytes], bytes]]] = {
    "json truncated": ("huggingface", "tokenizer.json", lambda data: data[: len(data) // 2]),
    "json empty": ("huggingface", "tokenizer.json", lambda data: b""),
    "json not UTF-8": ("huggingface", "tokenizer.json", lambda data: b"\xff" + data),
    "json a list": ("huggingface", "tokenizer.json", lambda data: b"[]"),
    "json null": ("huggingface", "tokenizer.json", lambda data: b"null"),
    "json without model": ("huggingface", "tokenizer.json", _json(lambda f: f.pop("model"))),
    "json id text": (
        "huggingface",
        "tokenizer.json",
        _json(lambda f: f["model"]["vocab"].update(a="97")),  # type: ignore[index]
    ),
    "json id negative": (
        "huggingface",
        "tokenizer.json",
        _json(lambda f: f["model"]["vocab"].update(a=-1)),  # type: ignore[index]
    ),
    "json id twice": (
        "huggingface",
        "tokenizer.json",
        _json(lambda f: f["model"]["vocab"].update(a=98)),  # type: ignore[index]
    ),
    "json byte missing": (
        "huggingface",
        "tokenizer.json",
        _json(lambda f: f["model"]["vocab"].pop("a")),  # type: ignore[index]
    ),
    "json merge of no token": (
        "huggingface",
        "tokenizer.json",
        _json(lambda f: f["model"]["merges"].append(["a", "nothing"])),  # type: ignore[index]
    ),
    "json pattern broken": (
        "huggingface",
        "tokenizer.json",
        lambda data: data.replace(b"'(?:", b"'(?:(", 1),
    ),
    "tiktoken truncated": ("tiktoken", "vocabulary.tiktoken", lambda data: data[:-4]),
    "tiktoken half gone": ("tiktoken", "vocabulary.tiktoken", lambda data: data[: len(data) // 9]),
    "tiktoken empty": ("tiktoken", "vocabulary.tiktoken", lambda data: b""),
    "tiktoken no base64": ("tiktoken", "vocabulary.tiktoken", lambda data: b"!!! 0\n" + data),
    "tiktoken not UTF-8": ("tiktoken", "vocabulary.tiktoken", lambda data: data + b"\xff 9\n"),
    "tiktoken rank twice": ("tiktoken", "vocabulary.tiktoken", lambda data: data + b"enp6 300\n"),
    "tiktoken bytes twice": ("tiktoken", "vocabulary.tiktoken", lambda data: data + b"YQ== 9999\n"),
    "tiktoken special id taken": (
        "tiktoken",
        "vocabulary.tiktoken",
        lambda data: data + b"enp6eg== 1499\n",
    ),
    "vocab truncated": ("gpt2", "vocab.json", lambda data: data[:-9]),
    "vocab without special": (
        "gpt2",
        "vocab.json",
        _json(lambda f: f.pop(END_OF_TEXT)),
    ),
    "vocab not UTF-8": ("gpt2", "vocab.json", lambda data: b"\xff" + data),
    "vocab id twice": ("gpt2", "vocab.json", _json(lambda f: f.update(a=98))),
    "merges of one": ("gpt2", "merges.txt", lambda data: data + b"alone\n"),
    "merges of three": ("gpt2", "merges.txt", lambda data: data + b"a b c\n"),
    "merges of no token": ("gpt2", "merges.txt", lambda data: data + b"qqq zzz\n"),
    "merges not UTF-8": ("gpt2", "merges.txt", lambda data: data + b"\xff a\n"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_named(gpt2: lmfast.Tokenizer, tmp_path: Path, name: str) -> None:
    form, damaged, damage = DAMAGE[name]
    path = save(gpt2, tmp_path, form)
    (file,) = tmp_path.rglob(damaged)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(VocabularyError) as refused:
        load(path, gpt2)
    message = str(refused.value)
    assert isinstance(refused.value, ValueError)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize("missing", ["vocab.json", "merges.txt"])
def test_half_of_the_two_files(gpt2: lmfast.Tokenizer, tmp_path: Path, missing: str) -> None:
    path = save(gpt2, tmp_path, "gpt2")
    (path / missing).unlink()
    with pytest.raises(MissingFileError, match=missing):
        load(path, gpt2)


def test_a_format_that_does_not_say_all_must_be_told(
    gpt2: lmfast.Tokenizer, tmp_path: Path
) -> None:
    for form in ("tiktoken", "gpt2"):
        with pytest.raises(VocabularyError, match="pretokenizer="):
            lmfast.Tokenizer.load(save(gpt2, tmp_path, form))
    path = save(gpt2, tmp_path, "huggingface")
    with pytest.raises(VocabularyError, match="holds its own"):
        lmfast.Tokenizer.load(path, "gpt2")


def test_merges_that_begin_with_a_hash(tmp_path: Path) -> None:
    """Only the first line of merges.txt is a header."""
    trained = lmfast.train_bpe(iter(["########" * 9]), vocab_size=260)
    assert trained.merges[0] == (b"#", b"#")
    path = save(trained, tmp_path, "gpt2")
    assert load(path, trained) == trained
    merges = path / "merges.txt"
    merges.write_text(merges.read_text().split("\n", 1)[1])
    assert load(path, trained) == trained


def test_a_merge_out_of_id_order_does_not_fit_into_ranks(tmp_path: Path) -> None:
    """The file would load, and give other ids."""
    theirs = tokenizers.ByteLevelBPETokenizer()
    theirs.train_from_iterator(["abc abc ab"], 258, special_tokens=[], show_progress=False)
    file = json.loads(theirs.to_str())
    file["model"]["merges"].reverse()
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    loaded = lmfast.Tokenizer.load(tmp_path / "tokenizer.json")
    with pytest.raises(VocabularyError, match=r"write a tokenizer\.json"):
        loaded.save(tmp_path / "x.tiktoken", "tiktoken")
    assert not (tmp_path / "x.tiktoken").exists()
