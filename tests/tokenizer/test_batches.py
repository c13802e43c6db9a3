"""Many documents, and documents that are one long run."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_texts import AWKWARD, MULTILINGUAL
from trained_tokenizers import Trained

import lmfast
from lmfast import errors

DOCUMENTS = [*AWKWARD, *MULTILINGUAL.splitlines(keepends=True), "", MULTILINGUAL * 30, b"\xff\xfe"]

LENGTH = 200_000
RANDOM = random.Random(1)
RUNS = {
    "random digits": "".join(RANDOM.choices("0123456789", k=LENGTH)),
    "random letters": "".join(RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=LENGTH)),
    "random symbols": "".join(RANDOM.choices("=-+*/.,;:!?", k=LENGTH)),
    "letter": "a" * LENGTH,
    "letters": "ab" * (LENGTH // 2),
    "upper": "A" * LENGTH,
    "spaces and a letter": " " * LENGTH + "x",
    "caret": "^" * LENGTH,
    "underscore": "_" * LENGTH,
    "newlines": "\n" * LENGTH,
    "CRLF": "\r\n" * (LENGTH // 2),
    "digits": "7" * LENGTH,
    "NUL": "\0" * LENGTH,
    "emoji": "👩‍👩‍👧" * (LENGTH // 18),
    "CJK": "水" * (LENGTH // 3),
    "marks": "e" + "\u0301" * (LENGTH // 2),
    "apostrophes": "'" * LENGTH,
    "contractions": "'s" * (LENGTH // 2),
}


@pytest.mark.parametrize("threads", [1, 2, 7, None])
def test_a_batch_is_each_document_encoded(trained: Trained, threads: int | None) -> None:
    batch = trained.ours.encode_batch(DOCUMENTS, threads, disallowed_special=())
    assert batch.ids.dtype == np.uint32
    assert batch.offsets.dtype == np.uint64
    assert len(batch) == len(DOCUMENTS)
    assert batch.tolist() == [trained.ours.encode_ordinary(document) for document in DOCUMENTS]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_document_in_many_parts_ends_where_it_does(trained: Trained, threads: int) -> None:
    long = MULTILINGUAL * (1_500_000 // len(MULTILINGUAL.encode()) + 1)
    documents = ["a", long, "", long + "b", "c"]
    batch = trained.ours.encode_batch(documents, threads, disallowed_special=())
    assert [trained.ours.decode(ids) for ids in batch] == documents
    peer = trained.tiktoken
    assert peer is None or batch.tolist() == [peer.encode_ordinary(each) for each in documents]


@given(
    parts=st.lists(st.sampled_from(["--", "-", "a b", "é", "", "<|endoftext|>"])),
    as_bytes=st.booleans(),
    threads=st.sampled_from([1, 3]),
)
def test_documents_are_those_between_separators(
    all_trained: dict[str, Trained], *, parts: list[str], as_bytes: bool, threads: int
) -> None:
    gpt2, text = all_trained["gpt2"].ours, "".join(parts)
    expected = gpt2.encode_batch(text.split("--"), disallowed_special=())
    batch = gpt2.encode_documents(
        text.encode() if as_bytes else text, "--", threads, disallowed_special=()
    )
    assert batch == expected


def test_documents_end_at_the_end_of_text(gpt2: lmfast.Tokenizer) -> None:
    batch = gpt2.encode_documents("one<|endoftext|>two<|endoftext|>")
    assert batch == [gpt2.encode("one"), gpt2.encode("two"), []]
    with pytest.raises(errors.SpecialTokenError, match="document 1: "):
        gpt2.encode_documents(b"one--<|endoftext|>", "--")
    with pytest.raises(errors.ConfigError, match="separator"):
        gpt2.encode_documents("one", "")
    with pytest.raises(errors.InputTypeError, match="separator must be str"):
        gpt2.encode_documents("one", b"--")  # type: ignore[arg-type]
    with pytest.raises(errors.InputTypeError, match="text must be"):
        gpt2.encode_documents(["one"])  # type: ignore[arg-type]


def test_a_batch_is_a_sequence(gpt2: lmfast.Tokenizer) -> None:
    batch = gpt2.encode_batch(["one", "", "three words here"])
    assert batch[0].tolist() == gpt2.encode("one")
    assert batch[-1].tolist() == gpt2.encode("three words here")
    assert [ids.tolist() for ids in batch[:2]] == [gpt2.encode("one"), []]
    assert batch[0].base is not None, "a view"
    with pytest.raises(IndexError):
        batch[3]
    assert len(gpt2.encode_batch([])) == 0
    assert gpt2.encode_batch(iter(["one"])).tolist() == [gpt2.encode("one")]


def test_progress_ends_with_all_bytes(gpt2: lmfast.Tokenizer) -> None:
    for count in (0, 1, 20, 2000):
        seen: list[int] = []
        gpt2.encode_batch([MULTILINGUAL] * count, on_progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == count * len(MULTILINGUAL.encode())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "o200k", "llama3"])
def test_long_runs(all_trained: dict[str, Trained], kind: str, run: str) -> None:
    trained = all_trained[kind]
    assert trained.tiktoken is not None
    text = RUNS[run]
    assert trained.ours.encode_ordinary(text) == trained.tiktoken.encode_ordinary(text)


@pytest.mark.parametrize("letter", ["a", "水", " ", "\0"])
def test_long_runs_without_cuts(all_trained: dict[str, Trained], letter: str) -> None:
    ours = all_trained["none"].ours
    text = letter * LENGTH
    assert ours.decode(ours.encode_ordinary(text)) == text


def test_a_million_of_a_character(gpt2: lmfast.Tokenizer) -> None:
    """Far more than tiktoken or a backtracking regex can take."""
    text = " " * 1_000_000 + "^" * 1_000_000
    ids = gpt2.encode_ordinary(text)
    assert gpt2.decode(ids) == text
