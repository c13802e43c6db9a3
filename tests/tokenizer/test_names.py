"""The names of tiktoken and of Hugging Face, with the meaning that they have there."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, any_text
from trained_tokenizers import Trained
from transformers import PreTrainedTokenizerFast

import lmfast
from lmfast.errors import ConfigError, TextError, UnknownTokenError

KINDS_OF_BYTES = [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)]


def test_as_in_tiktoken(trained: Trained) -> None:
    ours, theirs = trained.ours, trained.tiktoken
    if theirs is None:
        return
    assert ours.max_token_value == theirs.max_token_value
    assert ours.eot_token == theirs.eot_token
    assert ours.special_tokens_set == theirs.special_tokens_set
    assert ours.token_byte_values() == theirs.token_byte_values()
    lines = MULTILINGUAL.splitlines(keepends=True)
    assert ours.encode_ordinary_batch(lines) == theirs.encode_ordinary_batch(lines)
    ids = ours.encode_ordinary(MULTILINGUAL)
    assert ours.encode_to_numpy(MULTILINGUAL).tolist() == ids
    assert ours.encode_to_numpy(MULTILINGUAL).dtype == theirs.encode_to_numpy("a").dtype
    assert ours.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
    for token_id in range(ours.n_vocab):
        token = theirs.decode_single_token_bytes(token_id)
        assert ours.decode_single_token_bytes(token_id) == token
        assert ours.encode_single_token(token) == theirs.encode_single_token(token)
        assert ours.is_special_token(token_id) == theirs.is_special_token(token_id)


def test_no_end_of_text() -> None:
    ours = lmfast.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, "gpt2")
    with pytest.raises(UnknownTokenError, match=re.escape("no special token <|endoftext|>")):
        _ = ours.eot_token


def test_as_in_hugging_face(trained: Trained) -> None:
    ours, theirs = trained.ours, trained.hugging_face
    transformers = PreTrainedTokenizerFast(tokenizer_file=str(trained.file))
    assert ours.get_vocab() == theirs.get_vocab() == transformers.get_vocab()
    assert ours.vocab_size == theirs.get_vocab_size() == transformers.vocab_size
    assert len(ours) == len(transformers)
    for token, token_id in ours.get_vocab().items():
        assert ours.token_to_id(token) == theirs.token_to_id(token) == token_id
        assert ours.id_to_token(token_id) == theirs.id_to_token(token_id) == token
    assert ours.id_to_token(1500) is theirs.id_to_token(1500) is None
    assert ours.token_to_id("no such") is theirs.token_to_id("no such") is None
    ids = ours.encode_to_numpy(f"{MULTILINGUAL}{END_OF_TEXT}", allowed_special="all")
    tokens = transformers.convert_ids_to_tokens(ids.tolist())
    assert ours.convert_ids_to_tokens(ids) == tokens
    assert ours.convert_tokens_to_ids(tokens) == ids.tolist()
    assert ours.convert_ids_to_tokens(97) == transformers.convert_ids_to_tokens(97)
    assert ours.convert_tokens_to_ids(END_OF_TEXT) == ours.eot_token
    with pytest.raises(UnknownTokenError, match="'no such'"):
        ours.convert_tokens_to_ids(["a", "no such"])
    with pytest.raises(UnknownTokenError, match="1500"):
        ours.convert_ids_to_tokens([1500])


SURROGATES = st.text(st.characters(categories=["Cs", "Ll", "So"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(text=st.one_of(SURROGATES, any_text()))
def test_lone_surrogates_are_replaced_as_in_tiktoken(
    all_trained: dict[str, Trained], text: str
) -> None:
    ours, theirs = all_trained["gpt2"].ours, all_trained["gpt2"].tiktoken
    assert theirs is not None
    ids = theirs.encode_ordinary(text)
    assert ours.encode_ordinary(text, errors="replace") == ids
    assert ours.encode(text, errors="replace", disallowed_special=()) == ids
    options = {"errors": "replace", "disallowed_special": ()}
    assert ours.encode_to_numpy(text, **options).tolist() == ids  # type: ignore[arg-type]
    assert ours.encode_batch([text, b"\xff"], **options)[0].tolist() == ids  # type: ignore[arg-type]
    assert ours.encode_ordinary_batch([text], errors="replace") == [ids]
    assert ours.count_tokens(text, errors="replace") == len(ids)
    assert ours.encode_with_offsets(text, **options).ids.tolist() == ids  # type: ignore[arg-type]
    assert ours.truncate(text, 1 << 20, errors="replace") == ours.decode(ids)
    split = ours([text], errors="replace", split_special_tokens=True)
    assert split.input_ids == [ids]


def test_the_default_refuses_lone_surrogates(gpt2: lmfast.Tokenizer) -> None:
    for method in (
        gpt2.encode,
        gpt2.encode_ordinary,
        gpt2.encode_to_numpy,
        gpt2.encode_with_offsets,
        gpt2.count_tokens,
        lambda text, **errors: gpt2.truncate(text, 3, **errors),
        lambda text, **errors: gpt2.encode_batch([text], **errors),
        lambda text, **errors: gpt2.encode_ordinary_batch([text], **errors),
        lambda text, **errors: gpt2(text, **errors),
    ):
        with pytest.raises(TextError, match="lone surrogate"):
            method("a\ud800")
        with pytest.raises(ConfigError, match="no error handler 'ignore'"):
            method("a", errors="ignore")


@pytest.mark.parametrize("kind", KINDS_OF_BYTES)
def test_bytes_of_any_kind(gpt2: lmfast.Tokenizer, kind: type) -> None:
    data = MULTILINGUAL.encode() + b"\xff"
    text, ids = kind(data), gpt2.encode(data)
    assert gpt2.encode(text) == gpt2.encode_to_numpy(text).tolist() == ids
    assert gpt2.encode_batch([text, "a"])[0].tolist() == ids
    assert gpt2.count_tokens(text) == len(ids)
    assert gpt2.truncate(text, len(ids)) == data
    assert gpt2.encode_with_offsets(text, "byte").ends[-1] == len(data)
    assert gpt2(text).input_ids == ids
    if kind is not bytes:
        assert gpt2.encode(text[::2]) == gpt2.encode(data[::2])


def test_subclasses_of_str_and_bytes(gpt2: lmfast.Tokenizer) -> None:
    class Str(str):
        __slots__ = ()

    class Bytes(bytes):
        __slots__ = ()

    for text in (Str("some words"), Bytes(b"some words"), np.str_("some words")):
        assert gpt2.encode(text) == gpt2.encode("some words")
        assert gpt2.encode_batch([text]) == [gpt2.encode("some words")]
        assert type(gpt2.truncate(text, 1)) in (str, bytes)
