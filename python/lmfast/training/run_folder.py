"""The folder of a run, and what must be true of it before a run writes there.

config.toml          the settings           metrics.jsonl        a line per record
tokenizer.json       a copy of the shards'  checkpoints/         the newest few
model.safetensors, model.json               the trained model, once the run is finished
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from lmfast.config import RunConfig, to_toml
from lmfast.corpus import TokenShards
from lmfast.errors import ConfigError, FileError
from lmfast.files import sync, write_whole
from lmfast.model import Transformer
from lmfast.model.weights import CONFIG_FILE, WEIGHTS_FILE, save_config, save_weights
from lmfast.tokenizer import TOKENIZER_FILE
from lmfast.training.checkpoint import Checkpoints
from lmfast.training.files import locked

LOCK = ".lock"
"""Held by the run that writes; it stays, and so tells the folder of a run from any other."""


class RunFolder:
    """Paths and rules of one run folder."""

    def __init__(self, config: RunConfig) -> None:
        self.path = Path(config.out)
        self.config = config
        self.checkpoints = Checkpoints(self.path / "checkpoints", config.keep_checkpoints)

    @property
    def metrics(self) -> Path:
        """Where the run records itself."""
        return self.path / "metrics.jsonl"

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Make the folder and keep every other run out of it for the time of a ``with``.

        Raises:
            ConfigError: It holds files of the names that a run writes, and no run made it.
            FileError: Another run is writing to it, or it cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            names = ("config.toml", TOKENIZER_FILE, self.metrics.name, WEIGHTS_FILE, CONFIG_FILE)
            foreign = [name for name in names if (self.path / name).exists()]
            if foreign and not (self.path / LOCK).exists():
                msg = (
                    f"cannot start a run in {self.path}: no run made it, and its {foreign[0]} "
                    "would be overwritten; change 'out'"
                )
                raise ConfigError(msg)
        except OSError as error:
            msg = f"cannot make the run folder {self.path}: {error.strerror}"
            raise FileError(msg) from error
        with locked(self.path / LOCK):
            self.checkpoints.clean()
            yield

    def begin(self, shards: TokenShards, resume: bool) -> int:
        """The step to continue from, 0 for a new run; settings and tokenizer are put in place.

        Raises:
            ConfigError: The folder holds a run that must not be overwritten.
            FileError: Settings or tokenizer cannot be written.
        """
        steps = self.checkpoints.steps()
        found = None
        if steps and not resume:
            found = f"a checkpoint of step {steps[-1]}; resume it or change 'out'"
        elif not steps and (self.path / WEIGHTS_FILE).exists():
            found = f"a {WEIGHTS_FILE} and no checkpoint to resume from; change 'out'"
        if found:
            msg = f"cannot start a run in {self.path}: it holds {found}"
            raise ConfigError(msg)
        write_whole(self.path / "config.toml", to_toml(self.config).encode())
        write_whole(self.path / TOKENIZER_FILE, shards.tokenizer_path.read_bytes())
        return steps[-1] if steps else 0

    def finish(self, model: Transformer) -> None:
        """Put the trained model in place: the weights, then the shape, whose presence says so."""
        self._put(WEIGHTS_FILE, lambda path: save_weights(model, path))
        self._put(CONFIG_FILE, lambda path: save_config(model.config, path))

    def _put(self, name: str, save: Callable[[Path], None]) -> None:
        temporary = self.path / f".{name}.tmp"
        try:
            save(temporary)
            sync(temporary)
            temporary.replace(self.path / name)
            sync(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            if isinstance(error, FileError):
                raise
            msg = f"cannot write {self.path / name}: {error.strerror}"
            raise FileError(msg) from error
