"""``tokenizer(texts)`` beside transformers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, any_text
from trained_tokenizers import Trained
from transformers import PreTrainedTokenizerFast

import lmfast
from lmfast.errors import ConfigError, InputTypeError
from lmfast.model_input import Shape, encoding_of

PAD = 1499  # <|endoftext|>, as users of GPT-2 do it
OUTPUTS = {"return_offsets_mapping": True, "return_length": True, "return_token_type_ids": False}


@pytest.fixture(scope="session")
def theirs(all_trained: dict[str, Trained]) -> PreTrainedTokenizerFast:
    file = str(all_trained["gpt2"].file)
    return PreTrainedTokenizerFast(tokenizer_file=file, pad_token=END_OF_TEXT)


def call_both(
    ours: lmfast.Tokenizer, theirs: PreTrainedTokenizerFast, text: object, **options: object
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    beside = theirs(text, **OUTPUTS, **options)
    wanted = {name: value for name, value in OUTPUTS.items() if name != "return_token_type_ids"}
    pad = {"pad_token_id": PAD} if options.get("padding") else {}
    return ours(text, **wanted, **options, **pad), beside  # type: ignore[arg-type]


CHOICES = st.fixed_dictionaries(
    {
        "padding": st.sampled_from([True, False, "longest", "max_length", "do_not_pad"]),
        "truncation": st.booleans(),
        "add_special_tokens": st.booleans(),
        "padding_side": st.sampled_from(["left", "right"]),
        "pad_to_multiple_of": st.sampled_from([None, 1, 4]),
        "return_attention_mask": st.booleans(),
        "split_special_tokens": st.booleans(),
    }
)


@settings(max_examples=150, deadline=None)
@given(
    text=st.one_of(any_text(), st.lists(any_text(), min_size=1, max_size=4)),
    choices=CHOICES,
    length=st.integers(1, 12),
    tensors=st.booleans(),
)
def test_as_transformers(
    all_trained: dict[str, Trained],
    theirs: PreTrainedTokenizerFast,
    text: str | list[str],
    choices: dict[str, Any],
    length: int,
    tensors: bool,
) -> None:
    options = dict(choices)
    if choices["truncation"]:
        # Theirs takes none but multiples, where ours rounds the width up.
        options["max_length"] = length * (choices["pad_to_multiple_of"] or 1)
    elif choices["padding"] == "max_length":
        options["max_length"] = 4000  # theirs leaves longer ones as they are, ours refuses
    if tensors and choices["padding"] in (True, "longest", "max_length"):
        options["return_tensors"] = "np"
    ours, beside = call_both(all_trained["gpt2"].ours, theirs, text, **options)
    assert set(ours) == set(beside)
    for name, value in ours.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == np.int64
            assert value.tolist() == beside[name].tolist()
        else:
            assert value == beside[name]


def test_tensors_of_torch(gpt2: lmfast.Tokenizer, theirs: PreTrainedTokenizerFast) -> None:
    import torch

    texts = ["one", "two words and more", ""]
    ours, beside = call_both(gpt2, theirs, texts, padding=True, return_tensors="pt")
    for name, value in ours.items():
        assert value.dtype == beside[name].dtype
        assert torch.equal(value, beside[name])
    assert isinstance(ours, lmfast.model_input.BatchEncoding)
    moved = ours.to("cpu")
    assert torch.equal(moved.input_ids, ours.input_ids)


def test_an_encoding_is_a_mapping_with_attributes(gpt2: lmfast.Tokenizer) -> None:
    encoding = gpt2("some words")
    assert list(encoding) == ["input_ids", "attention_mask"]
    assert encoding.input_ids == encoding["input_ids"] == gpt2.encode("some words")
    assert dict(**encoding) == encoding
    with pytest.raises(AttributeError, match="no 'labels'; there are input_ids, attention_mask"):
        _ = encoding.labels


def test_no_texts(gpt2: lmfast.Tokenizer) -> None:
    assert gpt2([], return_offsets_mapping=True).input_ids == []
    padded = gpt2([], padding=True, pad_token_id=0, return_tensors="np")
    assert padded.input_ids.shape == (0, 0)


@pytest.mark.parametrize("tensors", [None, "np"])
def test_special_tokens_around_each_text(gpt2: lmfast.Tokenizer, tensors: str | None) -> None:
    """As a tokenizer's file may ask for; the ids of a text, then what is wanted around them."""
    spans = [gpt2.encode_with_offsets(text) for text in ("ab cd", "", "x")]
    batch = lmfast.Batch.from_lists([list(one.ids) for one in spans])
    shape = Shape(
        before=[7, 8],
        after=[9],
        max_tokens=4,
        pad=True,
        pad_id=0,
        width=None,
        multiple_of=1,
        side="left",
        tensors=tensors,  # type: ignore[arg-type]
        parts=frozenset(["attention_mask", "offset_mapping", "length"]),
    )
    encoding = encoding_of(batch, [(one.starts, one.ends) for one in spans], shape)
    plain = {name: np.asarray(value).tolist() for name, value in encoding.items()}
    first, third = batch[0].tolist()[0], batch[2].tolist()[0]
    assert plain["input_ids"] == [[7, 8, first, 9], [0, 7, 8, 9], [7, 8, third, 9]]
    assert plain["attention_mask"] == [[1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]]
    end = int(spans[0].ends[0])
    assert plain["offset_mapping"][0] == [[0, 0], [0, 0], [0, end], [0, 0]]
    assert plain["length"] == [4, 4, 4]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "pairs": ({"text_pair": "b"}, "pairs are not supported"),
    "padding without an id": ({"padding": True}, r"without pad_token_id \(the"),
    "both, told at once": (
        {"truncation": True, "padding": True},
        r"without max_length \(.*, nor without pad_token_id",
    ),
    "strides": ({"stride": 2}, "stride=2 is not supported"),
    "what is cut off": (
        {"return_overflowing_tokens": True},
        "return_overflowing_tokens=True is not supported",
    ),
    "masks of special tokens": (
        {"return_special_tokens_mask": True},
        "return_special_tokens_mask=True is not supported",
    ),
    "token types": ({"return_token_type_ids": True}, "return_token_type_ids=True is not"),
    "words": ({"is_split_into_words": True}, "is_split_into_words=True is not supported"),
    "padding of another kind": ({"padding": "widest"}, "cannot be 'widest'"),
    "truncation without a length": ({"truncation": True}, r"without max_length \(for truncation"),
    "truncation of another kind": ({"truncation": "only_second"}, "cannot be 'only_second'"),
    "a length without use": ({"max_length": 5}, "does nothing without"),
    "tensors of another kind": ({"return_tensors": "tf"}, "cannot be 'tf'"),
    "texts of different lengths": ({"return_tensors": "np"}, "pass padding=True"),
    "longer than the width": (
        {"padding": "max_length", "max_length": 1, "pad_token_id": 0},
        "does not fit in a width of 1",
    ),
    "a negative length": (
        {"truncation": True, "max_length": -1},
        "max_length must be a whole number from 0 on, not -1",
    ),
    "multiples of nothing": (
        {"padding": True, "pad_token_id": 0, "pad_to_multiple_of": -1},
        "pad_to_multiple_of must be .* from 1 to",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(gpt2: lmfast.Tokenizer, name: str) -> None:
    options, message = REFUSED[name]
    with pytest.raises(ConfigError, match=message):
        gpt2(["a", "some more words"], **options)


def test_wrong_types(gpt2: lmfast.Tokenizer) -> None:
    for text in (5, [5], None):
        with pytest.raises(InputTypeError, match="text must be"):
            gpt2(text)  # type: ignore[arg-type]
    for name in ("max_length", "pad_to_multiple_of"):
        for value in ("5", 1.5):
            with pytest.raises(InputTypeError, match=f"{name} must be a whole number, not "):
                gpt2("a", truncation=True, **{"max_length": 5, name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="return_overflowing"):
        gpt2("a", return_overflowing=True)  # type: ignore[call-arg]


def test_padding_takes_the_pad_token_that_the_files_name(
    gpt2: lmfast.Tokenizer, theirs: PreTrainedTokenizerFast
) -> None:
    named = lmfast.Tokenizer(gpt2._core, roles={"pad_token": END_OF_TEXT})
    texts = ["one", "two words and more"]
    assert named(texts, padding=True).input_ids == theirs(texts, padding=True)["input_ids"]
    assert named(texts, padding=True, pad_token_id=5).input_ids[0][-1] == 5


@pytest.mark.parametrize("truncation", ["longest_first", "only_first", "do_not_truncate"])
def test_names_of_truncation(
    gpt2: lmfast.Tokenizer, theirs: PreTrainedTokenizerFast, truncation: Any
) -> None:
    length = {} if truncation == "do_not_truncate" else {"max_length": 2}
    options: dict[str, Any] = {"truncation": truncation, **length}
    ours, beside = call_both(gpt2, theirs, "some more words", **options)
    assert dict(ours) == dict(beside)


def test_numbers_beyond_all_bounds(gpt2: lmfast.Tokenizer) -> None:
    texts = ["one", "two three"]
    # transformers has such a length where it knows none.
    assert gpt2(texts, truncation=True, max_length=10**30) == gpt2(texts)
    for pad in (10**30, -(10**30)):
        with pytest.raises(ConfigError, match=f"not {pad}"):
            gpt2(texts, padding=True, pad_token_id=pad)
    rows = gpt2(texts, padding=True, pad_token_id=-100).input_ids
    assert rows[0][-1] == -100
