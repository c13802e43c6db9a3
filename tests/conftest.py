"""Fixtures that several parts share. This folder is on ``sys.path``, as pytest puts it there."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shard_writer import write_shards

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
def byte_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> "Tokenizer":
    """Bytes and one special token, nothing merged: what it says of a text is easy to see."""
    from tiny_runs import make_byte_tokenizer

    return make_byte_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def make_run(tmp_path: Path, byte_tokenizer: "Tokenizer") -> Callable[..., "RunConfig"]:
    """Settings of a tiny run in the test's own folder."""
    from tiny_runs import tiny_run

    return lambda **changes: tiny_run(tmp_path, byte_tokenizer, **changes)
