"""The trained vocabularies as fixtures."""

import pytest
from trained_tokenizers import KINDS, Trained, train_kind

import lmfast


@pytest.fixture(scope="session")
def all_trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    """A vocabulary of each kind."""
    return {kind: train_kind(kind, tmp_path_factory.mktemp("trained")) for kind in KINDS}


@pytest.fixture(params=KINDS)
def trained(request: pytest.FixtureRequest, all_trained: dict[str, Trained]) -> Trained:
    """One kind after the other."""
    return all_trained[request.param]


@pytest.fixture
def gpt2(all_trained: dict[str, Trained]) -> lmfast.Tokenizer:
    """Where one kind is as good as another."""
    return all_trained["gpt2"].ours
