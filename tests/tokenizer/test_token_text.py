"""Tokens as text: nothing is lost, and nothing needs a second look."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.errors import TextError
from lmfast.token_text import escaped, unescaped

tokens = st.one_of(
    st.binary(max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(str.encode),
    st.lists(st.sampled_from([b"\\", b"x", b"4", b"a", b"\xc3", b"\xa9", b"\xed\xa0\x80"])).map(
        b"".join
    ),
)


@given(tokens)
def test_what_is_written_is_read(token: bytes) -> None:
    text = escaped(token)
    assert unescaped(text) == token
    assert text.isprintable()


@given(tokens, tokens)
def test_two_tokens_are_never_written_alike(one: bytes, other: bytes) -> None:
    assert (escaped(one) == escaped(other)) == (one == other)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b" the", " the"),
        ("水é".encode(), "水é"),
        ("水".encode()[:2], r"\xe6\xb0"),
        (b"\n\\n", r"\x0a\\n"),
        ("\u00a0\u200b".encode(), r"\xc2\xa0\xe2\x80\x8b"),
    ],
)
def test_how_it_reads(token: bytes, text: str) -> None:
    assert escaped(token) == text


@pytest.mark.parametrize("text", ["\\", r"\x4", r"\X41", r"\x4G", r"\n", r"a\\\b"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(TextError, match="as a token"):
        unescaped(text)
    with pytest.raises(TextError, match="lone surrogate"):
        unescaped("\ud800")
