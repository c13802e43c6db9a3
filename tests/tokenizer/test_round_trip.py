"""What is encoded comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import any_text

import lmfast
from conftest import Trained
from lmfast.errors import TextError


@settings(max_examples=60, deadline=None)
@given(data=st.one_of(st.binary(max_size=80), any_text().map(str.encode)))
def test_bytes_come_back(all_trained: dict[str, Trained], data: bytes) -> None:
    for trained in all_trained.values():
        ids = trained.ours.encode_ordinary(data)
        assert trained.ours.decode_bytes(ids) == data
        assert b"".join(map(trained.ours.token_bytes, ids)) == data


@settings(max_examples=60, deadline=None)
@given(text=any_text())
def test_text_comes_back(all_trained: dict[str, Trained], text: str) -> None:
    for trained in all_trained.values():
        ids = trained.ours.encode_ordinary(text)
        assert ids == trained.ours.encode_ordinary(text.encode())
        assert trained.ours.decode(ids, errors="strict") == text
        special = trained.ours.encode(text, allowed_special="all")
        assert trained.ours.decode(special, errors="strict") == text


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int32, np.int64, np.uint64])
def test_ids_may_be_of_any_integer_type(gpt2: lmfast.Tokenizer, dtype: type) -> None:
    ids = np.array(gpt2.encode_ordinary("some text, ü"), dtype=dtype)
    assert gpt2.decode(ids) == "some text, ü"
    assert gpt2.decode(ids[::2]) == gpt2.decode(ids[::2].tolist())
    assert gpt2.decode(iter(ids.tolist())) == "some text, ü"
    assert gpt2.decode(np.array([], dtype=dtype)) == gpt2.decode([]) == ""


def test_a_character_cut_through_is_replaced_ignored_or_refused(gpt2: lmfast.Tokenizer) -> None:
    ids = [gpt2.token_id(b"\xf0"), gpt2.token_id("a"), *map(gpt2.token_id, ["é".encode()[:1]])]
    assert gpt2.decode(ids) == "\ufffda\ufffd"
    assert gpt2.decode(ids, errors="ignore") == "a"
    with pytest.raises(TextError, match="at byte 0"):
        gpt2.decode(ids, errors="strict")


def test_invalid_bytes_cut_pretokens(gpt2: lmfast.Tokenizer) -> None:
    """Valid stretches are encoded as if each stood alone, so a broken byte harms only itself."""
    parts = [b"some text", b"\xff\xfe", b" more", b"\xe4\xb8"]
    ids = [token for part in parts for token in gpt2.encode_ordinary(part)]
    assert gpt2.encode_ordinary(b"".join(parts)) == ids


def test_tokens_know_their_ids(trained: Trained) -> None:
    ours = trained.ours
    ranks = ours.mergeable_ranks
    assert ours.n_vocab == 1500
    assert sorted(ranks.values()) == list(range(1499))
    assert [ranks[bytes([byte])] for byte in range(256)] == list(range(256))
    for token, token_id in ranks.items():
        assert ours.token_bytes(token_id) == token
        assert ours.token_id(token) == token_id
    assert ours.token_id("<|endoftext|>") == ours.special_tokens["<|endoftext|>"] == 1499
    assert ours.token_bytes(1499) == b"<|endoftext|>"
    assert len(ours.merges) == 1499 - 256
    assert [left + right for left, right in ours.merges] == list(ranks)[256:]
    lengths = ours.token_byte_lengths()
    assert lengths[1499] == 0
    assert lengths[:1499].tolist() == [len(token) for token in ranks]
