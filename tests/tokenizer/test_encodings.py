"""Tiktoken's names, with files in its cache folder that hold small vocabularies."""

import hashlib
import io
import json
from pathlib import Path

import pytest
import tiktoken
import tiktoken.model
from tiktoken_ext import openai_public
from tokenizer_texts import MULTILINGUAL

import lmfast
from lmfast import published
from lmfast.encodings import encoding_name_for_model
from lmfast.errors import ConfigError, FileError, InputTypeError, MissingFileError
from lmfast.published import FILES, PublishedFile

NAMES = list(openai_public.ENCODING_CONSTRUCTORS)


@pytest.fixture
def cache(gpt2: lmfast.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every file is that of a small vocabulary, and the table asks for it."""
    folder = tmp_path / "cache"
    folder.mkdir()
    gpt2.save(tmp_path / "ranks", "tiktoken")
    gpt2.save(tmp_path / "gpt2", "gpt2")
    for name, file in FILES.items():
        own = {"vocab.bpe": "gpt2/merges.txt", "encoder.json": "gpt2/vocab.json"}
        content = (tmp_path / own.get(name, "ranks")).read_bytes()
        if name == "encoder.json":
            vocab = json.loads(content)
            del vocab["<|endoftext|>"]
            content = json.dumps(vocab).encode()
        digest = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(FILES, name, PublishedFile(file.address, digest))
        (folder / hashlib.sha1(file.address.encode()).hexdigest()).write_bytes(content)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


def no_network(*_: object, **__: object) -> None:
    msg = "no network"
    raise OSError(msg)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "urlopen", no_network)


@pytest.mark.parametrize("name", NAMES)
def test_an_encoding_is_that_of_tiktoken(
    cache: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = lmfast.get_encoding(name)
    ranks = ours.mergeable_ranks
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda **_: ranks)
    arguments = openai_public.ENCODING_CONSTRUCTORS[name]()
    arguments.pop("explicit_n_vocab", None)
    theirs = tiktoken.Encoding(**arguments)
    # An id has one text here, while tiktoken has two for this one.
    known = {t: n for t, n in theirs._special_tokens.items() if t != "<|reserved_200018|>"}
    assert ours.special_tokens == known
    assert ours.encode_ordinary(MULTILINGUAL) == theirs.encode_ordinary(MULTILINGUAL)
    text = "".join(ours.special_tokens)
    assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")


def test_addresses_and_checksums_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()

    def record(address: str, expected_hash: str) -> dict[bytes, int]:
        asked.add((address, expected_hash))
        return {}

    def record_both(**files: str) -> dict[bytes, int]:
        asked.add((files["vocab_bpe_file"], files["vocab_bpe_hash"]))
        asked.add((files["encoder_json_file"], files["encoder_json_hash"]))
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", record)
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", record_both)
    for make in openai_public.ENCODING_CONSTRUCTORS.values():
        make()
    assert asked == {(file.address, file.sha256) for file in FILES.values()}


def test_models_are_those_of_tiktoken() -> None:
    prefixes = tiktoken.model.MODEL_PREFIX_TO_ENCODING
    models = [*tiktoken.model.MODEL_TO_ENCODING, *(f"{prefix}2099" for prefix in prefixes)]
    for model in models:
        assert encoding_name_for_model(model) == tiktoken.encoding_name_for_model(model)
    for model in ("gpt-9", "", "o1x", "xgpt-4"):
        with pytest.raises(ConfigError, match="no encoding on record"):
            lmfast.encoding_for_model(model)
        with pytest.raises(KeyError):
            tiktoken.encoding_name_for_model(model)


def test_a_model_has_its_encoding(cache: Path) -> None:
    assert lmfast.encoding_for_model("gpt-4o") == lmfast.get_encoding("o200k_base")


def test_what_is_not_there_is_downloaded_and_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = lmfast.get_encoding("cl100k_base")
    (path,) = [cache / published._cache_name(FILES["cl100k_base"].address)]
    content = path.read_bytes()
    for there in (None, b"damaged"):
        path.unlink()
        if there is not None:
            path.write_bytes(there)
        with pytest.raises(MissingFileError, match=rf"no network.*{path.name}.*TIKTOKEN_CACHE_DIR"):
            lmfast.get_encoding("cl100k_base")
        with monkeypatch.context() as patch:
            patch.setattr(published, "urlopen", lambda *_, **__: io.BytesIO(b"something else"))
            with pytest.raises(FileError, match="another checksum"):
                lmfast.get_encoding("cl100k_base")
            patch.setattr(published, "urlopen", lambda *_, **__: io.BytesIO(content))
            assert lmfast.get_encoding("cl100k_base") == expected
        assert path.read_bytes() == content


def test_where_files_are_kept(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lmfast.get_encoding("cl100k_base")
    content = (cache / published._cache_name(FILES["cl100k_base"].address)).read_bytes()
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(cache))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert lmfast.get_encoding("cl100k_base") == expected
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    monkeypatch.setattr(published.tempfile, "tempdir", str(tmp_path))
    cache.rename(tmp_path / "data-gym-cache")
    assert lmfast.get_encoding("cl100k_base") == expected
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr(published, "urlopen", lambda *_, **__: io.BytesIO(content))
    assert lmfast.get_encoding("cl100k_base") == expected


def test_names_that_are_none() -> None:
    with pytest.raises(ConfigError, match="o200k_harmony"):
        lmfast.get_encoding("gpt5")
    with pytest.raises(InputTypeError, match=", not NoneType"):
        lmfast.get_encoding(None)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match=", not int"):
        lmfast.encoding_for_model(4)  # type: ignore[arg-type]
