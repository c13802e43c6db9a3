"""Published tokenizers, from a cache of the hub that the test makes; no network is asked."""

import sys
from pathlib import Path

import pytest

import lmfast
from lmfast.errors import MissingDependencyError, MissingFileError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(gpt2: lmfast.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one model, laid out as huggingface_hub does."""
    repository = tmp_path / "hub" / "models--org--model"
    snapshot = repository / "snapshots" / COMMIT
    gpt2_with_roles = lmfast.Tokenizer(gpt2._core, roles={"eos_token": "<|endoftext|>"})
    gpt2_with_roles.save_pretrained(snapshot)
    for name in ("main", "v1"):
        reference = repository / "refs" / name
        reference.parent.mkdir(exist_ok=True)
        reference.write_text(COMMIT)
    import huggingface_hub.constants as constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


@pytest.mark.parametrize("revision", [None, "v1", COMMIT])
def test_a_model_in_the_cache(cache: Path, gpt2: lmfast.Tokenizer, revision: str | None) -> None:
    for local in (True, False):
        loaded = lmfast.Tokenizer.from_pretrained(
            "org/model", revision, cache_dir=cache, local_files_only=local
        )
        assert loaded == gpt2
        assert loaded.eos_token == "<|endoftext|>"


@pytest.mark.parametrize("name", ["org/other", "no such folder", "../x", "a/b/c", ""])
def test_what_is_not_there(cache: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cache)  # what lies beside the working folder is nobody's business
    with pytest.raises(MissingFileError) as missing:
        lmfast.Tokenizer.from_pretrained(name, cache_dir=cache)
    assert "\n" not in str(missing.value)
    with pytest.raises(MissingFileError):
        lmfast.Tokenizer.from_pretrained("org/model", "v2", cache_dir=cache)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=r"lmfast\[hub\]"):
        lmfast.Tokenizer.from_pretrained("org/model")
