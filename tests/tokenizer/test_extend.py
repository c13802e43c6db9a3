"""Continuing a vocabulary: every id stays, and new merges follow the rule."""

from pathlib import Path

import pytest
import reference_trainer as reference
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_vocabularies import from_file, odd_tokenizers
from test_added_tokens import file_of, ours_of
from test_train_rule import SPECIAL, TIE_BREAKS, documents
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, library_files, ordinary_text, random_words
from trained_tokenizers import KINDS, Trained

import lmfast
from lmfast.errors import ConfigError, CorpusError, InputTypeError, VocabularyError
from lmfast.sweep import sweep_sizes


def start(tokenizer: lmfast.Tokenizer) -> reference.Start:
    special = {text.encode(): i for text, i in tokenizer.special_tokens.items()}
    ids = {**tokenizer.mergeable_ranks, **special}
    return reference.Start(ids=ids, merges=tokenizer.merges)


@settings(max_examples=60, deadline=None)
@given(
    old=documents,
    texts=documents,
    pretokenizer=st.sampled_from(["gpt2", "o200k", None]),
    tie_break=st.sampled_from(TIE_BREAKS),
    min_frequency=st.integers(1, 3),
    max_token_bytes=st.one_of(st.none(), st.integers(1, 6)),
    threads=st.sampled_from([1, 2]),
)
def test_new_merges_follow_the_rule(
    old: list[str],
    texts: list[str],
    pretokenizer: str | None,
    tie_break: str,
    min_frequency: int,
    max_token_bytes: int | None,
    threads: int,
) -> None:
    options = {
        "tie_break": tie_break,
        "min_frequency": min_frequency,
        "max_token_bytes": max_token_bytes,
    }
    try:
        small = lmfast.train_bpe(
            iter(old),
            vocab_size=256 + len(SPECIAL) + 10,
            pretokenizer=pretokenizer,
            special_tokens=SPECIAL,
            allow_fewer=True,
        )
        large = lmfast.extend(
            small,
            iter(texts),
            vocab_size=small.n_vocab + 30,
            allow_fewer=True,
            threads=threads,
            **options,  # type: ignore[arg-type]
        )
    except CorpusError:
        return  # nothing but special tokens
    counts = reference.pretokens(texts, small.pattern, SPECIAL)
    expected = reference.merges(counts, 30, start=start(small), **options)  # type: ignore[arg-type]
    assert large.merges == small.merges + expected
    assert_kept(small, large)
    check_record(small, large, texts)


def assert_kept(small: lmfast.Tokenizer, large: lmfast.Tokenizer) -> None:
    """Every id of ``small`` is one of ``large``, and what is new follows them."""
    assert large.special_tokens == small.special_tokens
    new = dict(large.mergeable_ranks.items() - small.mergeable_ranks.items())
    assert {**small.mergeable_ranks, **new} == large.mergeable_ranks
    assert sorted(new.values()) == list(range(small.n_vocab, large.n_vocab))
    assert not {text.encode() for text in small.special_tokens} & set(new)


def check_record(small: lmfast.Tokenizer, large: lmfast.Tokenizer, texts: list[str]) -> None:
    """The record tells what encoding the corpus gives."""
    record = large.training
    documents = [text for text in reference.split(texts, SPECIAL) if text]
    tokens = [sum(len(one.encode_ordinary(text)) for text in documents) for one in (small, large)]
    assert [record.start_tokens, record.tokens] == tokens
    assert record.text_bytes == sum(len(text.encode()) for text in documents)
    assert record.first_rank == len(small.merges)
    rows = list(record.trace())
    assert [row.id for row in rows] == list(range(small.n_vocab, large.n_vocab))
    assert [row.rank for row in rows] == list(range(len(small.merges), len(large.merges)))
    sizes = [len(small.mergeable_ranks) + len(SPECIAL) + 1 + i for i in range(len(rows))]
    assert [row.vocab_size for row in rows] == sizes
    if rows:
        assert rows[-1].tokens == record.tokens


@settings(max_examples=60, deadline=None)
@given(small=odd_tokenizers(), text=st.text("abc ", min_size=1, max_size=60))
def test_vocabularies_of_others(
    tmp_path_factory: pytest.TempPathFactory, small: lmfast.Tokenizer, text: str
) -> None:
    large = lmfast.extend(small, iter([text]), vocab_size=small.n_vocab + 8, allow_fewer=True)
    assert_kept(small, large)
    path = tmp_path_factory.mktemp("saved") / "tokenizer.json"
    large.save(path)
    loaded = lmfast.Tokenizer.load(path)
    assert loaded.encode_ordinary(text) == large.encode_ordinary(text)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    assert theirs.encode(text).ids == large.encode_ordinary(text)


@pytest.fixture(scope="module")
def extended(all_trained: dict[str, Trained]) -> dict[str, tuple[lmfast.Tokenizer, ...]]:
    """A vocabulary of each kind, and the same with more from other text."""
    corpus = MULTILINGUAL * 3 + random_words(7, "abcdeéü水", words=500)
    return {
        kind: (one.ours, lmfast.extend(one.ours, iter([corpus]), vocab_size=1700))
        for kind, one in all_trained.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_one_is_read_everywhere(
    extended: dict[str, tuple[lmfast.Tokenizer, ...]], kind: str, tmp_path: Path
) -> None:
    small, large = extended[kind]
    assert_kept(small, large)
    assert large.special_tokens == {END_OF_TEXT: 1499}
    path = tmp_path / "tokenizer.json"
    large.save(path)
    assert lmfast.Tokenizer.load(path) == large
    theirs = tokenizers.Tokenizer.from_file(str(path))

    @settings(max_examples=30, deadline=None)
    @given(ordinary_text())
    def same_ids(text: str) -> None:
        assert theirs.encode(text).ids == large.encode_ordinary(text)
        assert large.decode(large.encode_ordinary(text)) == text
        assert large.steps(text).ids == large.encode_ordinary(text)

    same_ids()
    assert theirs.encode(f"a{END_OF_TEXT}b").ids[1] == 1499
    assert theirs.get_vocab_size() == 1700


def test_other_formats_hold_it(
    extended: dict[str, tuple[lmfast.Tokenizer, ...]], tmp_path: Path
) -> None:
    large = extended["gpt2"][1]
    large.save(tmp_path / "large.tiktoken", "tiktoken")
    special = large.special_tokens
    assert lmfast.Tokenizer.load(tmp_path / "large.tiktoken", "gpt2", special) == large
    large.save(tmp_path / "gpt2", "gpt2")
    assert lmfast.Tokenizer.load(tmp_path / "gpt2", "gpt2", list(special)) == large


def test_text_of_before_keeps_its_ids(extended: dict[str, tuple[lmfast.Tokenizer, ...]]) -> None:
    """What no new merge applies to is encoded as before."""
    small, large = extended["gpt2"]
    ids = large.encode_ordinary("\n".join(path.read_text() for path in library_files(0.1)))
    first = min(i for i, new in enumerate(ids) if new >= small.n_vocab)
    assert first > 0
    assert small.encode_ordinary(large.decode(ids[:first]))[:-2] == ids[:first][:-2]


def test_extending_on_the_same_corpus_is_training_on() -> None:
    text = random_words(3, "abcdeéü水", words=300)
    options = {"special_tokens": [], "pretokenizer": "gpt2"}
    small = lmfast.train_bpe(iter([text]), vocab_size=300, **options)  # type: ignore[arg-type]
    whole = lmfast.train_bpe(iter([text]), vocab_size=350, **options)  # type: ignore[arg-type]
    large = lmfast.extend(small, iter([text]), vocab_size=350)
    assert large == whole
    assert large.training.counts == whole.training.counts[44:]
    assert large.truncated_to(320) == whole.truncated_to(320)
    assert large.truncated_to(320).training.counts == whole.training.counts[44 : 320 - 256]
    assert large.truncated_to(280).training is None
    rows = sweep_sizes(large, [280, 300, 350]).rows
    expected = sweep_sizes(whole, [300, 350]).rows
    assert [row.bytes_per_token for row in rows] == [
        None,
        *(row.bytes_per_token for row in expected),
    ]
    assert lmfast.extend(small, iter([text]), vocab_size=300) == small


def test_a_pair_that_is_a_token_already_never_merges(tmp_path: Path) -> None:
    """``abc`` is there, but no merge makes it; ``Ġq`` is how files spell a space and a ``q``."""
    small = from_file(tmp_path, [b"abc", b"ab"], [(b"a", b"b")])
    large = lmfast.extend(small, iter(["abc abc abcd"]), vocab_size=258 + 9, allow_fewer=True)
    assert (b"ab", b"c") not in large.merges
    assert large.token_id(b"abc") == 256
    assert_kept(small, large)
    special = lmfast.train_bpe(iter(["xy xy"]), vocab_size=258, special_tokens=["Ġq"])
    large = lmfast.extend(special, iter([" q qq" * 9]), vocab_size=300, allow_fewer=True)
    assert (b" ", b"q") not in large.merges
    assert (b"q", b"q") in large.merges


def test_what_cannot_be_extended(gpt2: lmfast.Tokenizer) -> None:
    texts = ["ab " * 20]
    with pytest.raises(VocabularyError, match="at least"):
        lmfast.extend(gpt2, iter(texts), vocab_size=1499)
    with pytest.raises(VocabularyError, match="cannot fill a vocabulary of 9000"):
        lmfast.extend(gpt2, iter(texts), vocab_size=9000)
    with pytest.raises(CorpusError, match="empty"):
        lmfast.extend(gpt2, iter([END_OF_TEXT]), vocab_size=1600)
    with pytest.raises(ConfigError, match="tie-break"):
        lmfast.extend(gpt2, iter(texts), vocab_size=1600, tie_break="none")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError):
        lmfast.extend(gpt2, 7, vocab_size=1600)  # type: ignore[arg-type]


def test_a_normal_form_cannot_be_extended() -> None:
    tokenizer = ours_of(file_of([], normalizer={"type": "NFC"}))
    with pytest.raises(VocabularyError, match="normalizes text"):
        lmfast.extend(tokenizer, iter(["abab"]), vocab_size=tokenizer.n_vocab + 1)
