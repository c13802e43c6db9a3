"""The ids of tiktoken and of Hugging Face tokenizers, on any text."""

from itertools import cycle

import pytest
import tiktoken
from hypothesis import given, settings
from tokenizer_texts import AWKWARD, END_OF_TEXT, MULTILINGUAL, library_files, ordinary_text
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split
from trained_tokenizers import KINDS, SCHEMES, Trained
from transformers import PreTrainedTokenizerFast

import lmfast


def assert_as_peers(trained: Trained, text: str) -> None:
    ids = trained.ours.encode_ordinary(text)
    assert trained.hugging_face.encode(text, add_special_tokens=False).ids == ids
    if trained.tiktoken is not None:
        assert trained.tiktoken.encode_ordinary(text) == ids


@settings(max_examples=60, deadline=None)
@given(text=ordinary_text())
def test_random_and_awkward_text(all_trained: dict[str, Trained], text: str) -> None:
    for trained in all_trained.values():
        assert_as_peers(trained, text)


def test_every_two_awkward_pieces(trained: Trained) -> None:
    """Each pair once, behind and before a letter, a digit, a space or a newline in turn."""
    between = cycle(["x ", "\nA", "1", " ", "a"])
    for left in AWKWARD:
        text = "".join(f"{left}{right}{next(between)}" for right in AWKWARD)
        assert_as_peers(trained, text.replace(END_OF_TEXT, ""))


# All that Unicode has given a meaning to; where it has not, a sample.
ASSIGNED = [*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200)]
CODE_POINTS = "".join(map(chr, [*ASSIGNED, *range(0x33480, 0x110000, 251)]))


@pytest.mark.parametrize(
    "pattern",
    [r"\p{L}", r"\p{N}", r"\s", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"],
)
def test_peers_have_the_same_unicode_tables(pattern: str) -> None:
    """Those of Unicode 16.0 today; when one moves on, the message says which code points differ."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    matches = tiktoken.Encoding("class", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    in_tiktoken = set(matches.decode(matches.encode_ordinary(CODE_POINTS)))
    removed = Split(Regex(pattern), "removed").pre_tokenize_str(CODE_POINTS)
    in_hugging_face = set(CODE_POINTS).difference(*(text for text, _ in removed))
    assert sorted(map(hex, map(ord, in_tiktoken ^ in_hugging_face))) == []


@pytest.mark.parametrize("kind", SCHEMES)
def test_every_code_point(all_trained: dict[str, Trained], kind: str) -> None:
    """Between letters, behind a number and before a space; tables of tiktoken as those above."""
    trained = all_trained[kind]
    assert trained.tiktoken is not None
    for start in range(0, len(CODE_POINTS), 4096):
        text = "".join(f"a{c}A1{c} " for c in CODE_POINTS[start : start + 4096])
        assert trained.ours.encode_ordinary(text) == trained.tiktoken.encode_ordinary(text)


def test_ordinary_files(trained: Trained) -> None:
    if trained.ours.pattern is None:
        return assert_as_peers(trained, MULTILINGUAL * 3)
    for path in library_files(0.3):
        assert_as_peers(trained, path.read_text(encoding="utf-8"))
    return assert_as_peers(trained, MULTILINGUAL)


@pytest.mark.parametrize("kind", KINDS)
def test_transformers_loads_the_file(all_trained: dict[str, Trained], kind: str) -> None:
    trained = all_trained[kind]
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(trained.file))
    ids = theirs.encode(MULTILINGUAL, add_special_tokens=False)
    assert ids == trained.ours.encode_ordinary(MULTILINGUAL)
    assert theirs.decode(ids, clean_up_tokenization_spaces=False) == MULTILINGUAL
    assert len(theirs) == trained.ours.n_vocab


def test_hugging_face_reads_what_we_know_of_tokens(trained: Trained) -> None:
    vocabulary = trained.hugging_face.get_vocab(with_added_tokens=True)
    assert len(vocabulary) == trained.ours.n_vocab
    for text, token_id in trained.ours.special_tokens.items():
        assert trained.hugging_face.token_to_id(text) == token_id


def test_ranks_make_the_same_tokenizer(gpt2: lmfast.Tokenizer) -> None:
    again = lmfast.Tokenizer.from_ranks(gpt2.mergeable_ranks, "gpt2", gpt2.special_tokens)
    assert again == gpt2
