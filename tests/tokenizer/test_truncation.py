"""A smaller vocabulary is the first part of a larger one."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_vocabularies import from_file
from test_train_rule import SPECIAL, TIE_BREAKS, documents
from trained_tokenizers import Trained

import lmfast
from lmfast.errors import ConfigError, CorpusError, InputTypeError, VocabularyError

LEAST = 256 + len(SPECIAL)


@settings(max_examples=40, deadline=None)
@given(
    texts=documents,
    pretokenizer=st.sampled_from(["gpt2", "o200k", None]),
    tie_break=st.sampled_from(TIE_BREAKS),
    part=st.floats(0, 1),
)
def test_truncated_is_what_training_at_that_size_gives(
    texts: list[str], pretokenizer: str | None, tie_break: str, part: float
) -> None:
    def train(vocab_size: int) -> lmfast.Tokenizer:
        return lmfast.train_bpe(
            iter(texts),
            vocab_size=vocab_size,
            pretokenizer=pretokenizer,
            special_tokens=SPECIAL,
            tie_break=tie_break,  # type: ignore[arg-type]
            allow_fewer=True,
        )

    try:
        large = train(LEAST + 40)
    except CorpusError:
        return  # nothing but special tokens
    size = LEAST + round(part * (large.n_vocab - LEAST))
    small, trained = large.truncated_to(size), train(size)
    assert small.n_vocab == size
    assert small.identity == trained.identity
    assert small.special_tokens == trained.special_tokens
    assert small.training == trained.training
    assert list(small.training.trace()) == list(trained.training.trace())
    assert small.truncated_to(LEAST) == large.truncated_to(LEAST)


def test_a_truncated_record_tells_what_was_left_out() -> None:
    trained = lmfast.train_bpe(iter([b"ab abc", b"\xff"]), vocab_size=259, on_error="skip")
    assert trained.training.skipped.by_reason == {"not_utf8": 1}
    assert trained.truncated_to(258).training.skipped == trained.training.skipped


def test_a_loaded_vocabulary_has_no_record_to_truncate(trained: Trained) -> None:
    loaded = lmfast.Tokenizer.load(trained.file).truncated_to(700)
    assert loaded.training is None
    assert loaded == trained.ours.truncated_to(700)
    assert trained.ours.truncated_to(trained.ours.n_vocab) == trained.ours


@pytest.mark.parametrize("size", [0, 256, 1501])
def test_what_stays_must_fit(gpt2: lmfast.Tokenizer, size: int) -> None:
    with pytest.raises(VocabularyError, match="it must be 257 to 1500"):
        gpt2.truncated_to(size)


def test_a_size_is_a_whole_number(gpt2: lmfast.Tokenizer) -> None:
    with pytest.raises(InputTypeError):
        gpt2.truncated_to(300.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        gpt2.truncated_to(-1)


def test_ids_that_are_no_ranks_are_refused(tmp_path: Path) -> None:
    single = {bytes([byte]): byte for byte in range(256)}

    def refused(tokenizer: lmfast.Tokenizer) -> str:
        with pytest.raises(VocabularyError) as caught:
            tokenizer.truncated_to(257)
        return str(caught.value)

    from_ranks = lmfast.Tokenizer.from_ranks
    shifted = {bytes([byte]): 255 - byte for byte in range(256)}
    assert "the byte 0x00 has the id 255" in refused(from_ranks(shifted, "gpt2"))
    gap = from_ranks({**single, b"ab": 300}, "gpt2")
    assert "merge 0 makes the id 300" in refused(gap)
    out_of_reach = from_ranks({**single, b"abc": 256}, "gpt2")
    assert "as a whole" in refused(out_of_reach)
    early = from_ranks({**single, b"ab": 256}, "gpt2", {"<|end|>": 400})
    assert "'<|end|>' has the id 400" in refused(early).replace('"', "'")
    unreachable = from_file(tmp_path, [b"ab", b"abc"], [(b"a", b"b")])
    assert "no merge makes the token of id 257" in refused(unreachable)
    swapped = from_file(tmp_path, [b"ab", b"bc"], [(b"b", b"c"), (b"a", b"b")])
    assert "merge 0 makes the id 257" in refused(swapped)
