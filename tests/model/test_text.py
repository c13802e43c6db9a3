from dataclasses import replace

import pytest
import torch

from lmfast.errors import MismatchError, MissingFileError
from lmfast.model import generate, generate_text, load_run
from lmfast.model.text import _decode
from lmfast.model.weights import save_config, save_weights
from tiny_models import CONFIG, random_model


@pytest.fixture
def model(byte_tokenizer):
    return random_model(replace(CONFIG, vocab_size=260))


def test_text_follows_the_prompt_within_one_document(model, byte_tokenizer):
    separator = byte_tokenizer.special_tokens["<|endoftext|>"]
    ids = generate(model, [separator, *b"ab"], max_tokens=30, seed=4, stop=range(256, 260))
    expected = bytes(ids).decode(errors="replace")
    assert "".join(generate_text(model, byte_tokenizer, "ab", max_tokens=30, seed=4)) == expected
    assert expected


def test_an_empty_prompt_begins_a_document(model, byte_tokenizer):
    assert len(list(generate_text(model, byte_tokenizer, max_tokens=5, temperature=0))) > 1


def test_characters_come_when_they_are_complete(byte_tokenizer):
    assert list(_decode(iter("aé€".encode()), byte_tokenizer)) == ["a", "", "é", "", "", "€", ""]
    assert list(_decode(iter([0xC3, 0x61, 0xE2]), byte_tokenizer)) == ["", "\ufffda", "", "\ufffd"]


def test_a_run_folder_is_model_and_tokenizer(tmp_path, model, byte_tokenizer):
    save_weights(model, tmp_path / "model.safetensors")
    save_config(model.config, tmp_path / "model.json")
    with pytest.raises(MissingFileError):
        load_run(tmp_path)
    byte_tokenizer.save(tmp_path / "tokenizer.json")
    loaded, tokenizer = load_run(tmp_path)
    assert tokenizer.identity == byte_tokenizer.identity
    assert torch.equal(loaded.embedding.weight, model.embedding.weight)
    small = random_model(CONFIG)
    save_weights(small, tmp_path / "model.safetensors")
    save_config(small.config, tmp_path / "model.json")
    with pytest.raises(MismatchError, match="257 ids, its model knows 50"):
        load_run(tmp_path)
