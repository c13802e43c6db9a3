"""The processes that share a run, as ``torchrun`` starts them; a single one without it."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.distributed as dist

from lmfast.errors import ConfigError, LmfastError
from lmfast.training.device import resolve_device

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Which process this is, of how many."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """Rank within this machine; which of its GPUs to use."""

    @classmethod
    def from_environment(cls) -> "World":
        """What ``torchrun`` put into the environment; one process without it.

        Raises:
            ConfigError: A variable is not a number.
        """
        names = {"rank": "RANK", "size": "WORLD_SIZE", "local_rank": "LOCAL_RANK"}
        found = {key: os.environ[name] for key, name in names.items() if name in os.environ}
        try:
            return cls(**{key: int(value) for key, value in found.items()})
        except ValueError as error:
            msg = f"cannot tell which process this is: RANK and its like must be numbers ({error})"
            raise ConfigError(msg) from error

    @property
    def is_main(self) -> bool:
        """Whether this process writes files."""
        return self.rank == 0

    @contextlib.contextmanager
    def joined(self, device: torch.device) -> Iterator[None]:
        """Connect the processes for the time of a ``with``: NCCL between GPUs, else gloo."""
        if self.size == 1 or dist.is_initialized():
            yield
            return
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        try:
            yield
        finally:
            dist.destroy_process_group()

    def sum(self, values: Sequence[float], device: torch.device) -> list[float]:
        """Each value summed over the processes, in fp64."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=device)
        dist.all_reduce(total)
        result: list[float] = total.tolist()
        return result

    def device(self, name: str) -> torch.device:
        """The device of that name for this process; each takes a GPU of its own.

        Raises:
            HardwareError: There is no such device here.
        """
        device = resolve_device(name)
        if self.size > 1 and device.type == "cuda":
            device = resolve_device(f"cuda:{self.local_rank}")
            torch.cuda.set_device(device)
        return device

    def from_main(self, value: T) -> T:
        """What the first process passed in, in every process."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box)
        return box[0]

    def on_main(self, action: Callable[[], T]) -> T:
        """The result of ``action``, done by the first process; an error is raised in all of them.

        Raises:
            LmfastError: What ``action`` raised.
        """
        result: T | None = None
        error: LmfastError | None = None
        if self.is_main:
            try:
                result = action()
            except LmfastError as raised:
                error = raised
        error = self.from_main(error)
        if error is not None:
            raise error
        return cast("T", self.from_main(result))
