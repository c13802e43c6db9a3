"""The steps to a text's tokens: they end where the encoder does, and each is one merge."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_vocabularies import from_file, odd_tokenizers
from tokenizer_texts import any_text
from trained_tokenizers import KINDS, Trained

import lmfast
from lmfast.pretoken_steps import PretokenSteps


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(text=st.one_of(any_text(), st.binary(max_size=60)))
def test_the_last_state_is_what_the_encoder_gives(
    all_trained: dict[str, Trained], kind: str, text: str | bytes
) -> None:
    tokenizer = all_trained[kind].ours
    steps = tokenizer.steps(text)
    assert steps.ids == tokenizer.encode_ordinary(text)
    data = text if isinstance(text, bytes) else text.encode()
    assert b"".join(pretoken.pretoken for pretoken in steps) == data
    starts = [0, *itertools.accumulate(len(pretoken.pretoken) for pretoken in steps)]
    assert [pretoken.start for pretoken in steps] == starts[:-1]
    for pretoken in steps[:20]:
        check_states(tokenizer, pretoken)


def check_states(tokenizer: lmfast.Tokenizer, pretoken: PretokenSteps) -> None:
    """Each state is the one before with two tokens joined, and the merge exists."""
    states = list(pretoken.states())
    assert [piece.token for piece in states[0]] == [bytes([b]) for b in pretoken.pretoken]
    assert states[-1] == pretoken.final
    assert len(states) == 1 + len(pretoken.steps) + pretoken.is_whole
    merges = tokenizer.merges
    for before, after, step in zip(states, states[1:], pretoken.steps, strict=False):
        at = [piece.start for piece in before].index(step.at)
        left, right = before[at : at + 2]
        assert (left.id, right.id) == (step.left, step.right)
        assert (left.token, right.token) in merges
        assert after[at].token == left.token + right.token == tokenizer.token_bytes(step.merged)
        assert (before[:at], before[at + 2 :]) == (after[:at], after[at + 1 :])
    for state in states:
        assert b"".join(piece.token for piece in state) == pretoken.pretoken
        starts = itertools.accumulate((len(piece.token) for piece in state), initial=0)
        assert [piece.start for piece in state] == list(starts)[:-1]


@settings(max_examples=60, deadline=None)
@given(tokenizer=odd_tokenizers(), text=st.text("abc ", max_size=40))
def test_vocabularies_of_others(tokenizer: lmfast.Tokenizer, text: str) -> None:
    steps = tokenizer.steps(text)
    assert steps.ids == tokenizer.encode_ordinary(text)
    for pretoken in steps:
        check_states(tokenizer, pretoken)


def test_a_token_as_a_whole_needs_no_merge(tmp_path: Path) -> None:
    tokenizer = from_file(tmp_path, [b"abc", b"ab"], [(b"a", b"b")], ignore_merges=True)
    steps = tokenizer.steps("abc")
    assert steps.ids == [256]
    assert steps[0].is_whole
    assert not steps[0].steps
    assert repr(steps) == "a|b|c   bytes\nabc   whole: 256\n1 tokens from 3 bytes"


def test_a_long_pretoken_is_no_trouble(gpt2: lmfast.Tokenizer) -> None:
    text = "therein" * 15_000
    steps = gpt2.steps(text)
    assert steps.ids == gpt2.encode_ordinary(text)
    assert len(repr(steps)) < 1000
    assert len(steps._repr_html_()) < 10_000


def test_a_picture_tells_tokens_apart() -> None:
    tokenizer = lmfast.train_bpe(iter(["<b> & <b>"]), vocab_size=258, special_tokens=[])
    steps = tokenizer.steps(" <b>\\\x00 <b>")
    assert repr(steps).splitlines()[0] == "·|<   bytes"
    assert "as before" in repr(steps)
    page = steps._repr_html_()
    assert "&lt;" in page
    assert "<b>" not in page
    assert "\\\\" in page
    assert "\\x00" in page
    assert "http" not in page


def test_a_long_text_is_cut_short_in_the_picture(gpt2: lmfast.Tokenizer) -> None:
    steps = gpt2.steps(" ".join(map(str, range(10_000, 12_000))))
    assert "pretokens more, which are not drawn" in repr(steps)
    assert repr(steps[1:2]).startswith("(PretokenSteps(")


def test_nothing_has_no_steps(gpt2: lmfast.Tokenizer) -> None:
    steps = gpt2.steps("")
    assert (len(steps), steps.ids, repr(steps)) == (0, [], "0 tokens from 0 bytes")


def test_text_must_be_text(gpt2: lmfast.Tokenizer) -> None:
    with pytest.raises(lmfast.errors.TextError):
        gpt2.steps("\ud800")
    with pytest.raises(lmfast.errors.InputTypeError):
        gpt2.steps(1)  # type: ignore[arg-type]
