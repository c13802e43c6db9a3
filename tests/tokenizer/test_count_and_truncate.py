"""Counting tokens, and cutting text to so many."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_vocabularies import odd_tokenizers
from tokenizer_texts import AWKWARD, END_OF_TEXT, MULTILINGUAL, any_text
from trained_tokenizers import Trained

import lmfast
from lmfast.errors import ConfigError, InputTypeError, SpecialTokenError

# A part of the text that is encoded at a time has 64 KiB, so these have several.
LONG_TEXTS = {
    "prose": MULTILINGUAL * 60,
    "specials": f"word{END_OF_TEXT} {END_OF_TEXT}{END_OF_TEXT}" * 8_000,
    "one letter": "a" * 200_000,
    "digits": "7" * 200_000,
    "whitespace": "x" + " \n" * 100_000,
    "CJK": "水" * 70_000,
    "invalid": MULTILINGUAL.encode() * 20 + b"\xff\xfe" * 50_000 + "é 水\n".encode() * 20_000,
    "invalid and cut": b"\xff" + "😀".encode()[:3] * 60_000,
}


@settings(max_examples=80, deadline=None)
@given(text=st.one_of(any_text(), st.binary(max_size=60)))
def test_the_count_is_that_of_the_ids(all_trained: dict[str, Trained], text: str | bytes) -> None:
    for trained in all_trained.values():
        ours = trained.ours
        assert ours.count_tokens(text) == len(ours.encode_ordinary(text))
        assert ours.count_tokens(text, allowed_special="all") == len(
            ours.encode(text, allowed_special="all")
        )


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_long_texts_are_counted_in_parts(trained: Trained, name: str) -> None:
    text = LONG_TEXTS[name]
    assert trained.ours.count_tokens(text) == len(trained.ours.encode_ordinary(text))
    with_special = trained.ours.encode(text, allowed_special="all")
    assert trained.ours.count_tokens(text, allowed_special="all") == len(with_special)


def test_counting_refuses_nothing_unless_asked_to(gpt2: lmfast.Tokenizer) -> None:
    assert gpt2.count_tokens(f"a{END_OF_TEXT}") > 2
    assert gpt2.count_tokens(f"a{END_OF_TEXT}", allowed_special="all") == 2
    with pytest.raises(SpecialTokenError):
        gpt2.count_tokens(f"a{END_OF_TEXT}", disallowed_special="all")


def slowly_truncated(
    ours: lmfast.Tokenizer, text: str, max_tokens: int, side: str, allowed: object
) -> str:
    """By the words of the docstring, one try after the other."""
    ids = ours.encode(text, allowed_special=allowed, disallowed_special=())  # type: ignore[arg-type]
    if len(ids) <= max_tokens:
        return text
    for count in range(max_tokens, 0, -1):
        if side == "right":
            kept = ours.decode_bytes(ids[:count]).decode("utf-8", "ignore")
        else:
            data = ours.decode_bytes(ids[-count:])
            # Of a character that is cut through, the last bytes are left.
            whole = next(i for i in range(5) if data[i : i + 1] == b"" or data[i] & 0xC0 != 0x80)
            kept = data[whole:].decode()
        by_itself = ours.encode(kept, allowed_special=allowed, disallowed_special=())  # type: ignore[arg-type]
        if len(by_itself) <= max_tokens:
            return kept
    return ""


@settings(max_examples=80, deadline=None)
@given(
    text=any_text(),
    max_tokens=st.integers(0, 20),
    side=st.sampled_from(["left", "right"]),
    allowed=st.sampled_from([(), "all"]),
)
@example(text="x\n \n \n\n y", max_tokens=3, side="right", allowed=())
def test_truncated_as_promised(
    all_trained: dict[str, Trained], text: str, max_tokens: int, side: str, allowed: object
) -> None:
    for trained in all_trained.values():
        ours = trained.ours
        kept = ours.truncate(text, max_tokens, side, allowed_special=allowed)  # type: ignore[arg-type]
        assert kept == slowly_truncated(ours, text, max_tokens, side, allowed)
        assert text.startswith(kept) if side == "right" else text.endswith(kept)
        assert ours.count_tokens(kept, allowed_special=allowed) <= max_tokens  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    ours=odd_tokenizers(),
    text=st.text("abc x", max_size=20),
    max_tokens=st.integers(0, 9),
    side=st.sampled_from(["left", "right"]),
)
def test_truncated_with_odd_vocabularies(
    ours: lmfast.Tokenizer, text: str, max_tokens: int, side: str
) -> None:
    kept = ours.truncate(text, max_tokens, side)  # type: ignore[arg-type]
    assert kept == slowly_truncated(ours, text, max_tokens, side, ())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", LONG_TEXTS)
def test_long_texts_are_truncated(trained: Trained, name: str, side: str) -> None:
    text = LONG_TEXTS[name]
    ours = trained.ours
    count = ours.count_tokens(text)
    for most in (0, 1, count // 2, count - 1):
        kept = ours.truncate(text, most, side)  # type: ignore[arg-type]
        assert type(kept) is type(text)
        assert text.startswith(kept) if side == "right" else text.endswith(kept)  # type: ignore[arg-type]
        assert ours.count_tokens(kept) <= most
        assert len(kept) > 0.9 * len(text) or most < count - 1
    assert ours.truncate(text, count, side) == text  # type: ignore[arg-type]
    assert ours.truncate(text, 1 << 80, side) == text  # type: ignore[arg-type]


def test_a_character_is_left_whole_or_out(gpt2: lmfast.Tokenizer) -> None:
    for piece in AWKWARD:
        text = f"{piece}👩‍👩‍👧水"
        for most in range(gpt2.count_tokens(text)):
            for side in ("left", "right"):
                kept = gpt2.truncate(text, most, side)
                data = gpt2.truncate(text.encode(), most, side)
                assert isinstance(kept, str)
                assert kept.encode() == data


def test_what_truncate_refuses(gpt2: lmfast.Tokenizer) -> None:
    with pytest.raises(ConfigError, match="not 'top'"):
        gpt2.truncate("text", 3, "top")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="from 0 on, not -1"):
        gpt2.truncate("text", -1)
    with pytest.raises(InputTypeError):
        gpt2.truncate("text", 1.5)  # type: ignore[arg-type]
    with pytest.raises(SpecialTokenError):
        gpt2.truncate(f"a{END_OF_TEXT}", 1, disallowed_special="all")
    assert gpt2.truncate("a\ud800b c", 2, errors="replace") == "a"
