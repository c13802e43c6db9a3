"""Fixtures that several parts share. This folder is on ``sys.path``, as pytest puts it there."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shard_writer import write_shards

# Before anything imports torch, and for subprocesses, too: models of a few thousand parameters
# gain nothing from threads, and threads that wait in a spin take the cores from everyone else.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if TYPE_CHECKING:
    from lmfast.config import RunConfig
    from lmfast.tokenizer import Tokenizer


@pytest.fixture
def make_shards(tmp_path: Path) -> Callable[..., Path]:
    """Write a shard folder below the test's own folder and return its path."""

    def make(*args: object, name: str = "shards", **kwargs: object) -> Path:
        return write_shards(tmp_path / name, *args, **kwargs)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def byte_tokenizer() -> "Tokenizer":
    """Bytes and one special token."""
    from tiny_runs import make_byte_tokenizer

    return make_byte_tokenizer()


@pytest.fixture
def make_run(tmp_path: Path, byte_tokenizer: "Tokenizer") -> Callable[..., "RunConfig"]:
    """Settings of a tiny run in the test's own folder."""
    from tiny_runs import tiny_run

    return lambda **changes: tiny_run(tmp_path, byte_tokenizer, **changes)
