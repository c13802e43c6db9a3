"""The tokenizer and the texts of the benches that pytest runs."""

from pathlib import Path

import pytest

import lmfast


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vocabulary", type=Path, help="a tokenizer.json; else one is trained")


@pytest.fixture(scope="session")
def vocabulary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer.json that all engines load; by default trained on lmfast's own sources."""
    given = request.config.getoption("--vocabulary")
    if given is not None:
        return given
    file = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    sources = sorted(Path(__file__).parent.parent.rglob("python/**/*.py"))
    lmfast.train_bpe(sources, vocab_size=4_096).save(file)
    return file
