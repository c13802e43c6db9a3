"""Checkpoints: everything that the next step depends on, written whole or not at all.

A checkpoint is a folder ``step-000200`` of two safetensors files and ``state.json``. It is written
under a hidden name, flushed to disk, and renamed, so that any folder of that name is complete.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lmfast.config import from_dict
from lmfast.config.checks import require
from lmfast.errors import CheckpointError, FileError, MismatchError
from lmfast.files import sync
from lmfast.model.weights import load_tensors, load_weights, save_tensors, save_weights
from lmfast.training.device import ResolvedPrecision
from lmfast.training.engine import Engine

MODEL_FILE, OPTIMIZER_FILE, STATE_FILE = "model.safetensors", "optimizer.safetensors", "state.json"
VERSION = 1
ADAMW_STATE = ("step", "exp_avg", "exp_avg_sq")
"""What torch's AdamW keeps of each parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands, and what must be unchanged for it to continue."""

    step: int
    """Updates made."""
    samples: int
    """Windows consumed; the loader continues from here, with any number of processes."""
    device: str
    """Type of the device, such as ``cpu``."""
    precision: ResolvedPrecision
    """What ``auto`` came to; it is measured, and must not change on a resume."""
    tokenizer_identity: str
    corpus_fingerprint: str
    """Of the training shards: ``samples`` is a position in this corpus."""
    config: dict[str, Any]


class Checkpoints:
    """The checkpoints of one run, in one folder."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, ascending."""
        names = [path.name for path in self.folder.glob("step-*")]
        return sorted(int(name[5:]) for name in names if re.fullmatch(r"step-\d+", name))

    def path(self, step: int) -> Path:
        """The folder of the checkpoint of ``step``."""
        return self.folder / f"step-{step:06}"

    def save(self, engine: Engine, state: RunState) -> None:
        """Write a checkpoint, then drop those beyond the newest ``keep``.

        Raises:
            FileError: It cannot be written; those before are untouched.
        """
        final, temporary = self.path(state.step), self.folder / f".step-{state.step:06}.tmp"
        try:
            temporary.mkdir(parents=True)
            save_weights(engine.model, temporary / MODEL_FILE)
            save_tensors(_optimizer_tensors(engine), temporary / OPTIMIZER_FILE)
            text = json.dumps({"version": VERSION, **asdict(state)}, indent=1)
            (temporary / STATE_FILE).write_text(text + "\n", encoding="utf-8")
            for path in (*temporary.iterdir(), temporary):
                sync(path)
            temporary.rename(final)
            sync(self.folder)
            for step in self.steps()[: -self.keep]:
                self._discard(self.path(step))
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)  # a full disk can use the room
            msg = f"cannot write the checkpoint {final}: {error.strerror or error}"
            raise FileError(msg) from error

    def clean(self) -> None:
        """Remove what an interrupted save or removal left behind."""
        for path in self.folder.glob(".step-*.tmp"):
            self._discard(path)

    def load(self, step: int, engine: Engine) -> None:
        """Fill model, optimizer and random generators from the checkpoint of ``step``.

        Raises:
            CheckpointError: A file is damaged or does not fit.
        """
        path = self.path(step)
        load_weights(engine.model, path / MODEL_FILE)
        _load_optimizer(engine, path / OPTIMIZER_FILE)

    def state(self, step: int) -> RunState:
        """Where the run stood at ``step``.

        Raises:
            CheckpointError: The file is damaged or of another version.
        """
        path = self.path(step) / STATE_FILE
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            version = table.pop("version")
            if version == VERSION:
                state = from_dict(RunState, table)
                require(state.step == step, "step", state.step, f"the folder says {step}")
                require(state.samples >= 0, "samples", state.samples, "it must be at least 0")
                return state
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            msg = f"cannot read {path}: it is damaged ({error})"
            raise CheckpointError(msg) from error
        msg = f"cannot read {path}: it has version {version!r}, this lmfast reads {VERSION}"
        raise CheckpointError(msg)

    def _discard(self, path: Path) -> None:
        """Remove a folder so that no half of it ever has the name of a whole one."""
        if not path.name.startswith("."):
            path = path.rename(path.with_name(f".{path.name}.old.tmp"))
        shutil.rmtree(path)


def require_same(name: str, found: object, expected: object, path: Path) -> None:
    """Refuse a checkpoint that belongs to something else.

    Raises:
        MismatchError: ``found`` in the checkpoint is not what this run has; tables are compared
            key by key.
    """
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in expected.keys() | found.keys():
            require_same(f"{name}.{key}", found.get(key), expected.get(key), path)
    elif found != expected:
        msg = f"cannot resume from {path}: it was made with {name} = {found!r}, not {expected!r}"
        raise MismatchError(msg)


def _optimizer_tensors(engine: Engine) -> dict[str, Tensor]:
    """AdamW's state by parameter name, and the states of torch's random generators."""
    tensors = {"rng.cpu": torch.get_rng_state()}
    if engine.device.type == "cuda":
        tensors["rng.cuda"] = torch.cuda.get_rng_state(engine.device)
    for name, parameter in engine.model.named_parameters():
        for key, value in engine.optimizer.state[parameter].items():
            tensors[f"{key}.{name}"] = value
    return tensors


def _load_optimizer(engine: Engine, path: Path) -> None:
    tensors = load_tensors(path)
    generators = {key: tensors.pop(key) for key in ("rng.cpu", "rng.cuda") if key in tensors}
    parameters = dict(engine.model.named_parameters())
    expected = {f"{kind}.{name}" for kind in ADAMW_STATE for name in parameters}
    different = sorted(expected ^ tensors.keys())
    if different or "rng.cpu" not in generators:
        msg = f"cannot load {path}: it is damaged at {different[0] if different else 'rng.cpu'}"
        raise CheckpointError(msg)
    try:
        torch.set_rng_state(generators["rng.cpu"])
        if "rng.cuda" in generators and engine.device.type == "cuda":
            torch.cuda.set_rng_state(generators["rng.cuda"], engine.device)
    except (RuntimeError, TypeError) as error:
        msg = f"cannot load {path}: its random generators are damaged ({error})"
        raise CheckpointError(msg) from error
    for key, value in tensors.items():
        kind, _, name = key.partition(".")
        parameter = parameters[name]
        shape = () if kind == "step" else parameter.shape
        if value.shape != shape or value.dtype != torch.float32:
            msg = f"cannot load {path}: {key} is {value.dtype} of shape {tuple(value.shape)}"
            raise CheckpointError(msg)
        # torch keeps the count of updates on the CPU unless the update is fused.
        on_device = value.ndim > 0 or engine.optimizer.defaults["fused"]
        engine.optimizer.state[parameter][kind] = value.to(engine.device if on_device else "cpu")
