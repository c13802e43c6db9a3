"""Making shards: the settings that are refused, and what is left behind."""

import pytest

import lmfast
from lmfast.corpus import TokenShards, prepare
from lmfast.errors import ConfigError, CorpusError, InputTypeError, MissingFileError


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("ab ab\n" * 20)
    return path


@pytest.fixture
def tokenizer(corpus):
    return lmfast.train_bpe(corpus, vocab_size=259)


@pytest.mark.parametrize("name", ["shard_tokens", "held_out_one_in", "max_document_bytes"])
@pytest.mark.parametrize(
    ("value", "error"),
    [(0, ConfigError), (-1, ConfigError), (1.5, InputTypeError), ("2", InputTypeError)],
)
def test_sizes_that_mean_nothing_are_refused(tmp_path, corpus, tokenizer, name, value, error):
    with pytest.raises(error):
        prepare(corpus, tokenizer, tmp_path / "out", **{name: value})
    assert not (tmp_path / "out").exists()


def test_sizes_beyond_all_bounds_are_no_bounds(tmp_path, corpus, tokenizer):
    sizes = {"shard_tokens": 2**64, "max_document_bytes": 2**100, "threads": 2**64}
    assert prepare(corpus, tokenizer, tmp_path / "out", **sizes).train.documents == 1


@pytest.mark.parametrize("out", [None, 5, b"out"])
def test_a_folder_is_a_path(corpus, tokenizer, out):
    with pytest.raises(InputTypeError, match=r"path must be str or os\.PathLike, not "):
        prepare(corpus, tokenizer, out)
    with pytest.raises(InputTypeError, match=r"path must be str or os\.PathLike, not "):
        TokenShards.open(out)


def test_a_refused_corpus_leaves_nothing_behind(tmp_path, corpus, tokenizer):
    with pytest.raises(CorpusError, match="single one"):
        prepare(corpus, tokenizer, tmp_path / "above" / "out", held_out_one_in=2)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_link_that_leads_nowhere_is_in_the_way(tmp_path, corpus, tokenizer):
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match="there already"):
        prepare(corpus, tokenizer, tmp_path / "out")


def test_the_folder_above_the_shards_names_theirs(tmp_path, tokenizer):
    prepare(iter(["ab", "b", "a"]), tokenizer, tmp_path / "out", held_out_one_in=2)
    with pytest.raises(MissingFileError, match=r"the shards are in .*train and .*held_out"):
        TokenShards.open(tmp_path / "out")
