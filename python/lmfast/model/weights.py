"""A model as two files: ``model.safetensors`` and ``model.json``, its shape. No pickle."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from lmfast.config import ModelConfig, from_dict, to_dict
from lmfast.errors import CheckpointError, FileError, MissingFileError
from lmfast.model.transformer import Transformer

WEIGHTS_FILE = "model.safetensors"
CONFIG_FILE = "model.json"


def save_weights(model: Transformer, path: Path) -> None:
    """Write the parameters of ``model``, by name, in fp32 as they are trained.

    Raises:
        FileError: The file cannot be written.
    """
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_tensors(tensors, path)


def load_weights(model: Transformer, path: Path) -> None:
    """Fill ``model`` from a file that ``save_weights`` wrote.

    Raises:
        MissingFileError: There is no such file.
        CheckpointError: The file is damaged or belongs to a model of another shape.
    """
    tensors = load_tensors(path)
    expected = model.state_dict()
    for name in expected.keys() | tensors.keys():
        found, wanted = _kind(tensors.get(name)), _kind(expected.get(name))
        if found != wanted:
            msg = f"cannot load {path}: tensor {name} is {found}, in the model it is {wanted}"
            raise CheckpointError(msg)
    model.load_state_dict(tensors)


def _kind(tensor: torch.Tensor | None) -> str:
    return "missing" if tensor is None else f"{tensor.dtype} of shape {tuple(tensor.shape)}"


def save_config(config: ModelConfig, path: Path) -> None:
    """Write the shape of a model as JSON."""
    path.write_text(json.dumps(to_dict(config), indent=1) + "\n", encoding="utf-8")


def load_model(folder: str | Path, device: str | torch.device = "cpu") -> Transformer:
    """The trained model in a run folder, in evaluation mode.

    Raises:
        MissingFileError: The folder holds no finished model.
        CheckpointError: One of its files is damaged.
    """
    path = Path(folder) / CONFIG_FILE
    try:
        config = from_dict(ModelConfig, json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        msg = (
            f"cannot load a model from {folder}: it has no {CONFIG_FILE}, so it is not the folder "
            "of a run or the run was not finished"
        )
        raise MissingFileError(msg) from error
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
        msg = f"cannot read {path}: {error}"
        raise CheckpointError(msg) from error
    model = Transformer(config)
    load_weights(model, Path(folder) / WEIGHTS_FILE)
    return model.to(device).eval()


def save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Write named tensors as safetensors.

    Raises:
        FileError: The file cannot be written.
    """
    try:
        save_file(tensors, path)
    except (OSError, SafetensorError) as error:
        msg = f"cannot write {path}: {error}"
        raise FileError(msg) from error


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file, on the CPU.

    Raises:
        MissingFileError: There is no such file.
        CheckpointError: The file is cut short or is not safetensors.
    """
    try:
        return load_file(path)
    except FileNotFoundError as error:
        msg = f"cannot load {path}: there is no such file"
        raise MissingFileError(msg) from error
    except (OSError, SafetensorError) as error:
        msg = f"cannot load {path}: it is damaged or not safetensors ({error})"
        raise CheckpointError(msg) from error
