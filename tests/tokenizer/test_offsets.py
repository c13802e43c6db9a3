"""Where tokens lie in a text, against slow arithmetic and against the peers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, any_text, ordinary_text
from trained_tokenizers import Trained

import lmfast
from lmfast.errors import ConfigError, SpecialTokenError, TextError


def characters_before(data: bytes, at: int) -> int:
    """How many characters of the decoded text end at or before byte ``at``, one at a time."""
    text = data.decode("utf-8", "replace")
    ends, position = [], 0
    for character in text:
        # What U+FFFD stands for is as long as takes the decoder to the same next character.
        if character != "\ufffd" or data[position : position + 3] == "\ufffd".encode():
            position += len(character.encode())
        else:
            rest = text[len(ends) + 1 :]
            position = next(
                cut
                for cut in range(position + 1, len(data) + 1)
                if data[cut:].decode("utf-8", "replace") == rest
            )
        ends.append(position)
    return sum(end <= at for end in ends)


@settings(max_examples=60, deadline=None)
@given(data=st.one_of(any_text().map(str.encode), st.binary(max_size=20)))
def test_spans_are_running_sums(all_trained: dict[str, Trained], data: bytes) -> None:
    for kind in ("gpt2", "o200k", "none"):
        ours = all_trained[kind].ours
        ids, starts, ends = ours.encode_with_offsets(data, "byte", disallowed_special=())
        assert ids.tolist() == ours.encode_ordinary(data)
        assert ids.dtype == np.uint32
        lengths = [len(ours.token_bytes(i)) for i in ids.tolist()]
        assert ends.tolist() == np.cumsum(lengths, dtype=int).tolist()
        assert starts.tolist() == (ends - lengths).tolist()
        characters = ours.encode_with_offsets(data, "char", disallowed_special=())
        assert characters.ids.tolist() == ids.tolist()
        expected = [characters_before(data, start) for start in starts.tolist()]
        assert characters.starts.tolist() == expected
        expected = [characters_before(data, end - 1) + 1 for end in ends.tolist()]
        assert characters.ends.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(text=any_text())
def test_a_span_is_the_smallest_that_holds_the_token(
    all_trained: dict[str, Trained], text: str
) -> None:
    for trained in all_trained.values():
        spans = trained.ours.encode_with_offsets(text, allowed_special="all")
        for token_id, start, end in zip(*(values.tolist() for values in spans), strict=True):
            token = trained.ours.token_bytes(token_id)
            assert token in text[start:end].encode()
            assert token not in text[start + 1 : end].encode() or text[start] == text[start + 1]


@settings(max_examples=60, deadline=None)
@given(text=ordinary_text())
def test_as_hugging_face(all_trained: dict[str, Trained], text: str) -> None:
    for trained in all_trained.values():
        theirs = trained.hugging_face.encode(text, add_special_tokens=False)
        ours = trained.ours.encode_with_offsets(text)
        assert list(zip(ours.starts.tolist(), ours.ends.tolist(), strict=True)) == theirs.offsets


@settings(max_examples=60, deadline=None)
@given(text=any_text())
def test_decoded_as_tiktoken(all_trained: dict[str, Trained], text: str) -> None:
    for trained in all_trained.values():
        if trained.tiktoken is not None:
            ids = trained.ours.encode(text, allowed_special="all")
            theirs = trained.tiktoken.decode_with_offsets(ids)
            assert trained.ours.decode_with_offsets(ids) == theirs
            spans = trained.ours.encode_with_offsets(text, allowed_special="all")
            assert spans.starts.tolist() == theirs[1]


@settings(max_examples=60, deadline=None)
@given(ids=st.lists(st.integers(0, 1499), max_size=30))
def test_any_ids_decoded_with_offsets(all_trained: dict[str, Trained], ids: list[int]) -> None:
    gpt2 = all_trained["gpt2"].ours
    text, starts = gpt2.decode_with_offsets(np.array(ids, dtype=np.uint16))
    assert text == gpt2.decode(ids)
    data = gpt2.decode_bytes(ids)
    ends = [len(gpt2.decode_bytes(ids[:count])) for count in range(len(ids))]
    assert starts == [characters_before(data, end) for end in ends]


def test_special_tokens_and_errors(gpt2: lmfast.Tokenizer) -> None:
    text = f"é{END_OF_TEXT}😀"
    spans = gpt2.encode_with_offsets(text, allowed_special={END_OF_TEXT})
    at = spans.ids.tolist().index(gpt2.eot_token)
    assert (spans.starts[at], spans.ends[at]) == (1, 1 + len(END_OF_TEXT))
    with pytest.raises(SpecialTokenError):
        gpt2.encode_with_offsets(text)
    with pytest.raises(ConfigError, match="'char' or 'byte', not in 'word'"):
        gpt2.encode_with_offsets(text, "word")  # type: ignore[arg-type]
    half = gpt2.encode_ordinary("é".encode()[:1])
    assert gpt2.decode_with_offsets(half) == ("\ufffd", [0])
    with pytest.raises(TextError, match="unexpected end"):
        gpt2.decode_with_offsets(half, errors="strict")
    with pytest.raises(ConfigError, match="left out have no place"):
        gpt2.decode_with_offsets(half, errors="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_a_long_text(gpt2: lmfast.Tokenizer, unit: str) -> None:
    text = "añb 😀 " * 300_000
    ids, starts, ends = gpt2.encode_with_offsets(text, unit)  # type: ignore[arg-type]
    assert ends[-1] == len(text if unit == "char" else text.encode())
    assert (starts[1:] <= ends[:-1]).all()
    assert len(ids) == gpt2.count_tokens(text)
