import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.corpus import Loader, TokenShards
from lmfast.corpus.permutation import permute
from lmfast.errors import ConfigError, CorpusError, InputTypeError
from shard_writer import write_shards


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**63 - 1), epoch=st.integers(0, 2**40))
def test_the_shuffle_is_a_bijection(size, seed, epoch):
    positions = np.arange(size)
    shuffled = permute(positions, size, seed, np.full(size, epoch))
    assert np.array_equal(np.sort(shuffled), positions)


def test_the_shuffle_reaches_every_order_of_a_few_items_about_equally():
    # 24 orders of 4 items over 12,000 epochs: 500 each, standard deviation about 22.
    epochs = np.arange(12_000)
    orders = permute(np.tile(np.arange(4), 12_000), 4, 11, np.repeat(epochs, 4)).reshape(-1, 4)
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert counts.min() > 350
    assert counts.max() < 650


def test_the_shuffle_leaves_no_neighbours_together():
    size = 100_000
    shuffled = permute(np.arange(size), size, 7, np.zeros(size, int))
    steps = np.diff(shuffled)
    assert (steps == 1).sum() < 10
    assert abs(np.corrcoef(shuffled[:-1], shuffled[1:])[0, 1]) < 0.02


def test_the_shuffle_needs_no_table():
    size = 10**15
    shuffled = permute(np.array([0, 1, size - 1]), size, 3, np.zeros(3, int))
    assert len(set(shuffled)) == 3
    assert ((shuffled >= 0) & (shuffled < size)).all()


@pytest.fixture
def corpus(make_shards):
    return TokenShards.open(make_shards([list(range(53))], shard_tokens=10))


def test_an_epoch_predicts_every_token_but_the_first(corpus):
    for context_length in (1, 4, 13, 51, 52):
        loader = Loader(corpus, context_length, seed=5)
        batch = loader.batch(0, loader.windows)
        assert batch.dtype == np.int64
        assert batch.shape == (loader.windows, context_length + 1)
        assert np.array_equal(np.diff(batch, axis=1), np.ones_like(batch[:, 1:]))
        assert set(batch[:, 1:].ravel()) == set(range(1, 53))
        # Only the last window overlaps, so no more windows are used than are needed.
        assert (loader.windows - 1) * context_length < 52


def test_without_shuffle_windows_come_in_order(corpus):
    loader = Loader(corpus, 10, seed=0, shuffle=False)
    assert list(loader.starts(0, 8)) == [0, 10, 20, 30, 40, 42, 0, 10]


def test_epochs_and_seeds_differ(corpus):
    loader = Loader(corpus, 2, seed=1)
    n = loader.windows
    first, second = loader.starts(0, n), loader.starts(n, n)
    assert sorted(first) == sorted(second)
    assert list(first) != list(second)
    assert list(first) != list(Loader(corpus, 2, seed=2).starts(0, n))


@given(first=st.integers(0, 200), count=st.integers(1, 60), cut=st.integers(0, 60))
def test_a_batch_depends_on_its_position_only(tmp_path_factory, first, count, cut):
    folder = tmp_path_factory.mktemp("c") / "shards"
    loader = Loader(TokenShards.open(write_shards(folder, [list(range(99))])), 3, seed=9)
    cut = min(cut, count - 1)
    whole = loader.batch(first, count)
    parts = [loader.batch(first + i, n) for i, n in ((0, cut), (cut, count - cut)) if n]
    assert np.array_equal(whole, np.concatenate(parts))


def test_a_corpus_shorter_than_one_window_is_refused(corpus):
    with pytest.raises(CorpusError, match="holds 53 tokens; with context_length = 53"):
        Loader(corpus, 53, seed=0)


@pytest.mark.parametrize(
    ("length", "error"),
    [
        (0, ConfigError),
        (-1, ConfigError),
        (1.5, InputTypeError),
        ("2", InputTypeError),
        (None, InputTypeError),
    ],
)
def test_a_context_is_a_whole_number_of_tokens(corpus, length, error):
    with pytest.raises(error, match="context_length must be a whole number"):
        Loader(corpus, length, seed=0)


def test_ids_beyond_the_vocabulary_stop_at_the_batch(make_shards):
    shards = TokenShards.open(make_shards([[1, 2, 5]], vocab_size=5))
    with pytest.raises(CorpusError, match="holds id 5"):
        Loader(shards, 2, seed=0).batch(0, 1)
