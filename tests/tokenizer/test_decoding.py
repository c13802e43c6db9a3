"""Decoding many texts, and ids that come one after the other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, any_text
from trained_tokenizers import Trained

import lmfast
from lmfast.errors import ConfigError, TextError, UnknownTokenError

IDS = st.lists(st.integers(0, 1499), max_size=30)


@settings(max_examples=60, deadline=None)
@given(ids=IDS, cuts=st.lists(st.integers(0, 30)), errors=st.sampled_from(["replace", "ignore"]))
def test_a_stream_gives_what_decode_gives(
    all_trained: dict[str, Trained], ids: list[int], cuts: list[int], errors: str
) -> None:
    for kind in ("gpt2", "none"):
        ours = all_trained[kind].ours
        stream = ours.decode_stream(errors)  # type: ignore[arg-type]
        text = ours.decode(ids, errors)  # type: ignore[arg-type]
        for _ in range(2):  # it begins anew
            assert "".join(stream.push(token_id) for token_id in ids) + stream.finish() == text
        edges = [0, *sorted(cut for cut in cuts if cut < len(ids)), len(ids)]
        parts = [ids[start:end] for start, end in pairwise(edges)]
        assert "".join(map(stream.push, parts)) + stream.finish() == text


@settings(max_examples=60, deadline=None)
@given(text=any_text())
def test_a_stream_holds_back_no_more_than_it_must(
    all_trained: dict[str, Trained], text: str
) -> None:
    for trained in all_trained.values():
        ours = trained.ours
        stream, data, shown = ours.decode_stream("strict"), b"", ""
        for token_id in ours.encode(text, allowed_special="all"):
            shown += stream.push(token_id)
            data += ours.token_bytes(token_id)
            assert shown == data.decode("utf-8", "ignore")
        assert stream.finish() == ""


def test_a_stream_that_ends_within_a_character(gpt2: lmfast.Tokenizer) -> None:
    first = gpt2.encode_ordinary("é".encode()[:1])
    for errors, rest in (("replace", "\ufffd"), ("ignore", "")):
        stream = gpt2.decode_stream(errors)  # type: ignore[arg-type]
        assert stream.push(first) == ""
        assert stream.finish() == rest
    strict = gpt2.decode_stream("strict")
    strict.push(first)
    with pytest.raises(TextError, match="unexpected end"):
        strict.finish()
    assert strict.push(gpt2.encode("a")) == "a", "it begins anew"
    strict.push(first)
    with pytest.raises(TextError, match="invalid continuation"):
        strict.push(gpt2.encode("a"))


def test_a_stream_goes_on_in_two_ways(gpt2: lmfast.Tokenizer) -> None:
    first, second = (gpt2.token_id(bytes([byte])) for byte in "é".encode())
    stream = gpt2.decode_stream()
    stream.push(np.uint32(first))
    assert stream.copy().push(second) == "é"
    assert stream.push(gpt2.encode("a")) == "\ufffda"


def test_special_tokens_are_left_out_where_asked(gpt2: lmfast.Tokenizer) -> None:
    text = f"one{END_OF_TEXT}two"
    ids = gpt2.encode(text, allowed_special="all")
    assert gpt2.decode(ids) == text
    assert gpt2.decode(ids, skip_special_tokens=True) == "onetwo"
    stream = gpt2.decode_stream(skip_special_tokens=True)
    assert "".join(map(stream.push, ids)) == "onetwo"
    batch = lmfast.Batch.from_lists([ids, [], ids[:1]])
    assert gpt2.decode_batch(batch, skip_special_tokens=True)[:2] == ["onetwo", ""]


@pytest.mark.parametrize("threads", [1, 2, None])
def test_a_batch_is_each_text_decoded(trained: Trained, threads: int | None) -> None:
    lines = [*MULTILINGUAL.splitlines(keepends=True), "", MULTILINGUAL * 200]
    batch = trained.ours.encode_batch(lines)
    assert trained.ours.decode_batch(batch, threads) == lines
    assert trained.ours.decode_batch(batch[2:5], threads) == lines[2:5]
    assert trained.ours.decode_batch(batch.tolist(), threads) == lines
    assert trained.ours.decode_batch(iter(batch), threads) == lines
    assert trained.ours.decode_batch([], threads) == []


def test_what_decoding_refuses(gpt2: lmfast.Tokenizer) -> None:
    first = gpt2.encode_ordinary("é".encode()[:1])
    assert gpt2.decode_batch([first, [97]]) == ["\ufffd", gpt2.decode([97])]
    with pytest.raises(TextError, match="unexpected end"):
        gpt2.decode_batch([first], errors="strict")
    with pytest.raises(UnknownTokenError, match="1500"):
        gpt2.decode_batch([[1], [1500]])
    for call in (gpt2.decode_stream, lambda errors: gpt2.decode_batch([], errors=errors)):
        with pytest.raises(ConfigError, match="no error handler 'loose'"):
            call("loose")
    stream = gpt2.decode_stream()
    stream.push(first)
    with pytest.raises(UnknownTokenError):
        stream.push(1500)
    assert stream.finish() == "\ufffd", "what had come before"
    wrong = lmfast.Batch(np.zeros(2, np.uint32), np.array([0, 3], np.uint64))
    with pytest.raises(ConfigError, match="from 0 to 3, but there are 2"):
        gpt2.decode_batch(wrong)
