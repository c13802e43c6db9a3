"""Corpora that break trainers: nothing, one thing, one thing without end."""

import random
from collections.abc import Iterator

import pytest

import lmfast
from lmfast.errors import CorpusError, VocabularyError

LEAST_BUDGET = 64 << 20

CORPORA = {
    "one letter": "a" * 300_000,
    "spaces and a letter": " " * 300_000 + "x",
    "lines without text": "\n" * 300_000,
    "equal lines": "the same line\n" * 30_000,
    "no cut": "".join(random.Random(1).choices("的一是不了人我在有他", k=60_000)),
    "every byte that text can hold": "".join(map(chr, range(0x250))) + "\U0010ffff" * 3,
    "digits": "1234567890" * 20_000,
    "combining marks": "e\u0301\u0302" * 20_000,
    "families": "👨‍👩‍👧‍👦" * 5_000,
}


def trained(text: str, **options: object) -> lmfast.Tokenizer:
    return lmfast.train_bpe(iter([text]), vocab_size=400, allow_fewer=True, **options)


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("pretokenizer", ["gpt2", "o200k", None])
def test_threads_and_memory_change_nothing(name: str, pretokenizer: str | None) -> None:
    text = CORPORA[name]
    found = trained(text, pretokenizer=pretokenizer)
    assert found == trained(text, pretokenizer=pretokenizer, threads=1)
    assert found == trained(text, pretokenizer=pretokenizer, threads=2, memory_budget=LEAST_BUDGET)
    assert found.decode(found.encode(text)) == text
    assert len(found.encode(text)) == found.training.tokens
    assert len(set(found.mergeable_ranks)) == len(found.mergeable_ranks) == 256 + len(found.merges)


def test_one_byte_gives_no_merge() -> None:
    assert trained("a").merges == []
    with pytest.raises(VocabularyError, match="after 0 merges"):
        lmfast.train_bpe(iter(["a"]), vocab_size=300)


def test_special_tokens_alone_are_no_text() -> None:
    with pytest.raises(CorpusError, match="empty"):
        trained("<|endoftext|>" * 1000)


def test_a_vocabulary_too_small_is_refused() -> None:
    with pytest.raises(VocabularyError, match="257 at least"):
        lmfast.train_bpe(iter(["text"]), vocab_size=256)


def test_many_tiny_documents() -> None:
    def documents() -> Iterator[str]:
        for _ in range(100_000):
            yield "ab"

    assert lmfast.train_bpe(documents(), vocab_size=258).training.counts == [100_000]
