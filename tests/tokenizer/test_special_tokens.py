"""Special tokens in text: tiktoken's policy, and which of several that overlap is found."""

from itertools import combinations

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import lmfast
from conftest import in_tiktoken
from lmfast.errors import SpecialTokenError, VocabularyError

SPECIAL = {"<|a|>": 300, "<|b|>": 301, "\n\n": 302, "é§": 305}
OVERLAPPING = {"<|a|>": 300, "<|a|><|b|>": 301, "<|b|>": 302, "|>": 303, "> <": 304}
PIECES = ["<|a|>", "<|b|>", "<|", "|>", "\n", " ", "a", "é", "§", "<|a|", "> <", "é§"]

texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
subsets = st.one_of(st.just("all"), st.sets(st.sampled_from([*SPECIAL, "<|c|>"])))


def byte_tokenizer(special: dict[str, int]) -> lmfast.Tokenizer:
    ranks = {bytes([byte]): byte for byte in range(256)}
    return lmfast.Tokenizer.from_ranks(ranks, "gpt2", special)


OURS = byte_tokenizer(SPECIAL)
THEIRS = in_tiktoken(OURS)
OURS_OVERLAPPING = byte_tokenizer(OVERLAPPING)
THEIRS_OVERLAPPING = tokenizers.Tokenizer.from_str(OURS_OVERLAPPING._core.to_json())


def outcome(
    tokenizer: lmfast.Tokenizer | tiktoken.Encoding, text: str, **policy: object
) -> list[int] | str:
    try:
        return tokenizer.encode(text, **policy)  # type: ignore[arg-type]
    except ValueError:
        return "refused"


@settings(max_examples=150, deadline=None)
@given(text=texts, allowed=subsets, disallowed=subsets)
def test_the_policy_is_that_of_tiktoken(text: str, allowed: object, disallowed: object) -> None:
    policy = {"allowed_special": allowed, "disallowed_special": disallowed}
    assert outcome(OURS, text, **policy) == outcome(THEIRS, text, **policy)
    assert outcome(OURS, text) == outcome(THEIRS, text)
    assert OURS.encode_ordinary(text) == THEIRS.encode_ordinary(text)
    assert OURS.n_vocab == THEIRS.n_vocab
    assert OURS.special_tokens == THEIRS._special_tokens


@settings(max_examples=100, deadline=None)
@given(text=texts)
def test_the_longest_of_the_leftmost_is_found_as_hugging_face_finds_it(text: str) -> None:
    """tiktoken takes any of them, by the order of a hash table."""
    ids = OURS_OVERLAPPING.encode(text, allowed_special="all")
    assert ids == THEIRS_OVERLAPPING.encode(text).ids


def test_some_of_those_that_overlap_may_be_allowed() -> None:
    """Those not allowed do not hide the ones that are."""
    text = "<|a|><|b|>"
    for size in range(len(OVERLAPPING) + 1):
        for allowed in map(set, combinations(OVERLAPPING, size)):
            ids = OURS_OVERLAPPING.encode(text, allowed_special=allowed, disallowed_special=())
            assert {token for token in ids if token >= 256} <= {OVERLAPPING[t] for t in allowed}
            assert OURS_OVERLAPPING.decode(ids) == text
            if "<|a|><|b|>" in allowed:
                assert ids == [301]


def test_the_refusal_says_what_and_where_and_what_to_do() -> None:
    with pytest.raises(SpecialTokenError, match="at byte 3") as refused:
        OURS.encode("é <|b|> <|a|>")
    assert isinstance(refused.value, ValueError)
    for word in ("<|b|>", "allowed_special", "disallowed_special=()"):
        assert word in str(refused.value)
    with pytest.raises(SpecialTokenError, match=r"<\|a\|>"):
        OURS.encode_batch(["fine", "<|a|>"])


def test_a_batch_has_the_same_policy() -> None:
    documents = ["<|a|>x", "y<|b|>", ""]
    policy = {"allowed_special": {"<|a|>"}, "disallowed_special": ()}
    batch = OURS.encode_batch(documents, **policy)  # type: ignore[arg-type]
    assert batch.tolist() == [OURS.encode(text, **policy) for text in documents]  # type: ignore[arg-type]


def test_three_thousand_special_tokens_do_not_crawl() -> None:
    special = {f"<|reserved {index}|>": 1000 + index for index in range(3_000)}
    tokenizer = byte_tokenizer(special)
    text = "".join(special)
    assert tokenizer.encode(text, allowed_special="all") == list(special.values())
    assert tokenizer.decode(list(special.values())) == text


@pytest.mark.parametrize(
    ("special", "named"),
    [
        ({"<|a|>": 97}, "97"),
        ({"": 300}, "empty"),
        ({"<|a|>": 300, "<|b|>": 300}, "300"),
        ({"a": 300}, "'a'|\"a\""),
        ({"Ġ": 300}, "Ġ"),
    ],
    ids=["id taken", "empty", "id twice", "text of a token", "spelling of a token"],
)
def test_special_tokens_that_cannot_be(special: dict[str, int], named: str) -> None:
    """The last: in a tokenizer.json both would be the same key."""
    with pytest.raises(VocabularyError, match=named):
        byte_tokenizer(special)
