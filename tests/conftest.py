"""Fixtures that several parts share. This folder is on ``sys.path``, as pytest puts it there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from shard_writer import write_shards


@pytest.fixture
def make_shards(tmp_path: Path) -> Callable[..., Path]:
    """Write a shard folder below the test's own folder and return its path."""

    def make(*args: object, name: str = "shards", **kwargs: object) -> Path:
        return write_shards(tmp_path / name, *args, **kwargs)  # type: ignore[arg-type]

    return make
