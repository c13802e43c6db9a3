from dataclasses import replace

import pytest
import torch

from lmfast.errors import CheckpointError, FileError, MissingFileError
from lmfast.model import Transformer, load_model
from lmfast.model.weights import load_weights, save_config, save_weights
from tiny_models import CONFIG, random_ids, random_model


@pytest.fixture
def folder(tmp_path):
    save_weights(random_model(CONFIG), tmp_path / "model.safetensors")
    save_config(CONFIG, tmp_path / "model.json")
    return tmp_path


@pytest.mark.parametrize("tied", [False, True])
def test_a_saved_model_comes_back_whole(tmp_path, tied):
    config = replace(CONFIG, tied_embeddings=tied)
    model, ids = random_model(config), random_ids(2, 5)
    save_weights(model, tmp_path / "model.safetensors")
    save_config(config, tmp_path / "model.json")
    loaded = load_model(tmp_path)
    assert loaded.config == config
    assert not loaded.training
    assert torch.equal(loaded(ids), model(ids))


def test_unfinished_and_damaged_folders(folder, tmp_path):
    with pytest.raises(MissingFileError, match=r"model\.json"):
        load_model(tmp_path / "nowhere")
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    with pytest.raises(CheckpointError, match="damaged"):
        load_model(folder)
    weights.unlink()
    with pytest.raises(MissingFileError, match=r"model\.safetensors"):
        load_model(folder)
    for text in ("{", "[]", '{"vocab_size": 0}', '{"vocab_size": 9, "surprise": 1}'):
        (folder / "model.json").write_text(text)
        with pytest.raises(CheckpointError, match=r"model\.json"):
            load_model(folder)


def test_weights_of_another_shape_are_refused(folder):
    path = folder / "model.safetensors"
    with pytest.raises(CheckpointError, match=r"tensor .* is .* of shape"):
        load_weights(Transformer(replace(CONFIG, d_ff=41)), path)
    with pytest.raises(CheckpointError, match="in the model it is missing"):
        load_weights(Transformer(replace(CONFIG, tied_embeddings=True)), path)


def test_an_unwritable_place_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot write"):
        save_weights(Transformer(CONFIG), tmp_path / "no" / "model.safetensors")
