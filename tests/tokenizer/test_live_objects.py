"""Tokenizers handed to other libraries and taken from them, with the same ids."""

import contextlib
import copy
import json
import pickle
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_vocabularies import odd_tokenizers
from test_added_tokens import added_tokens, file_of, ids_there, normalizers, ours_of, texts
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, any_text
from trained_tokenizers import Trained
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import lmfast
from lmfast.errors import InputTypeError, VocabularyError


def test_live_objects_give_the_same_ids(trained: Trained, tmp_path: Path) -> None:
    ours = trained.ours
    theirs = ours.to_huggingface()
    assert theirs.encode(MULTILINGUAL).ids == ours.encode_ordinary(MULTILINGUAL)
    assert lmfast.Tokenizer.from_huggingface(theirs) == ours
    wrapped = ours.to_transformers()
    assert wrapped(MULTILINGUAL)["input_ids"] == ours.encode_ordinary(MULTILINGUAL)
    assert lmfast.Tokenizer.from_huggingface(wrapped) == ours
    if ours.pattern is None:
        with pytest.raises(VocabularyError, match="pattern"):
            ours.to_tiktoken()
        return
    encoding = ours.to_tiktoken("x")
    assert encoding.name == "x"
    assert encoding.encode(MULTILINGUAL) == ours.encode_ordinary(MULTILINGUAL)
    text = f"a{END_OF_TEXT}b"
    policy = {"allowed_special": "all"}
    assert encoding.encode(text, **policy) == ours.encode(text, **policy)
    again = lmfast.Tokenizer.from_tiktoken(encoding)
    assert again.mergeable_ranks == ours.mergeable_ranks
    assert again.special_tokens == ours.special_tokens
    if ours.pretokenizer in lmfast.tokenizer.PRETOKENIZERS:
        assert again == ours


@settings(max_examples=100, deadline=None)
@given(text=any_text(), pattern=st.sampled_from([r"[a-z]+", r"\p{L}+| ", r"[^\s]+ ", "a|b"]))
def test_text_that_a_pattern_does_not_match_is_kept(text: str, pattern: str) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"  ": 256, b"ab": 257, b"\n\n": 258}
    ours = lmfast.Tokenizer.from_ranks(ranks, pattern)
    assert ours.to_tiktoken().encode_ordinary(text) == ours.encode_ordinary(text)


@settings(max_examples=150, deadline=None)
@given(tokenizer=odd_tokenizers(), text=st.text("abc ", max_size=30))
def test_an_odd_vocabulary_is_the_same_there_or_refused(
    tokenizer: lmfast.Tokenizer, text: str
) -> None:
    ids = tokenizer.encode_ordinary(text)
    for make in (
        lambda: tokenizer.to_tiktoken().encode_ordinary(text),
        lambda: tokenizer.to_huggingface().encode(text).ids,
    ):
        with contextlib.suppress(VocabularyError):
            assert make() == ids
    assert pickle.loads(pickle.dumps(tokenizer)) == copy.deepcopy(tokenizer) == tokenizer


@settings(max_examples=100, deadline=None)
@given(tokens=added_tokens(), normalizer=normalizers, text=texts)
def test_what_tiktoken_cannot_say_is_refused(tokens, normalizer, text) -> None:
    ours = ours_of(file_of(tokens, normalizer))
    expected = ids_there(ours.to_huggingface().to_str(), text)
    assert ours.encode(text, allowed_special="all") == expected
    try:
        encoding = ours.to_tiktoken()
    except VocabularyError:
        assert tokens or normalizer
    else:
        assert encoding.encode_ordinary(text) == ours.encode_ordinary(text)


@pytest.mark.parametrize("given_roles", [{}, {"eos_token": END_OF_TEXT, "pad_token": END_OF_TEXT}])
def test_transformers_loads_the_folder(
    gpt2: lmfast.Tokenizer, tmp_path: Path, given_roles: dict[str, str]
) -> None:
    ours = lmfast.Tokenizer(gpt2._core, roles=given_roles)
    ours.save_pretrained(tmp_path / "model")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert isinstance(theirs, PreTrainedTokenizerFast)
    ids = theirs(MULTILINGUAL)["input_ids"]
    assert ids == ours.encode_ordinary(MULTILINGUAL)
    assert theirs.decode(ids) == MULTILINGUAL
    assert theirs.eos_token == ours.eos_token
    again = lmfast.Tokenizer.from_pretrained(tmp_path / "model")
    assert again == ours
    assert again.roles == pickle.loads(pickle.dumps(again)).roles == given_roles
    assert lmfast.Tokenizer.from_huggingface(theirs).roles == given_roles
    theirs.save_pretrained(tmp_path / "theirs")
    assert lmfast.Tokenizer.from_pretrained(tmp_path / "theirs") == ours


def test_wrong_types() -> None:
    for wrong in (None, "gpt2", tiktoken, object()):
        with pytest.raises(InputTypeError, match=", not "):
            lmfast.Tokenizer.from_tiktoken(wrong)  # type: ignore[arg-type]
        with pytest.raises(InputTypeError, match=", not "):
            lmfast.Tokenizer.from_huggingface(wrong)  # type: ignore[arg-type]


def test_steps_that_are_no_pattern_have_no_counterpart_in_tiktoken() -> None:
    split = {"type": "Split", "pattern": {"String": "ab"}, "behavior": "Isolated", "invert": False}
    steps = [{"type": "Digits", "individual_digits": True}, split]
    cut = json.dumps({"type": "Sequence", "pretokenizers": steps})
    tokenizer = lmfast.train_bpe(iter(["ab12 ab12"]), vocab_size=258, pretokenizer=cut)
    assert tokenizer.to_huggingface().encode("xab12").ids == tokenizer.encode("xab12")
    with pytest.raises(VocabularyError, match="one pattern"):
        tokenizer.to_tiktoken()
