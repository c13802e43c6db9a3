from collections.abc import Callable
from pathlib import Path

import pytest
from lmfast.tokenizer import Tokenizer
from runs import tiny_run

from lmfast.config import RunConfig


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Bytes and one special token, nothing merged: what it says of a text is easy to see."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    path.write_text("{}")
    return Tokenizer.load(path)


@pytest.fixture
def make_run(tmp_path: Path, tokenizer: Tokenizer) -> Callable[..., RunConfig]:
    """Settings of a tiny run in the test's own folder."""
    return lambda **changes: tiny_run(tmp_path, tokenizer, **changes)
