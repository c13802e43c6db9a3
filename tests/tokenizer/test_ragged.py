"""A batch as a list of lists, and as a matrix."""

import copy
import pickle
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmfast import Batch
from lmfast.errors import ConfigError, InputTypeError, UnknownTokenError

LISTS = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=5), max_size=6)


@settings(deadline=None)
@given(lists=LISTS, index=st.slices(6), place=st.integers(-7, 7))
def test_a_list_of_lists(lists: list[list[int]], index: slice, place: int) -> None:
    batch = Batch.from_lists(lists)
    assert batch.ids.dtype == np.uint32
    assert batch.offsets.dtype == np.uint64
    assert batch == lists
    assert len(batch) == len(lists)
    assert batch.tolist() == [ids.tolist() for ids in batch] == lists
    assert batch.lengths.tolist() == list(map(len, lists))
    assert batch[index] == lists[index]
    assert batch[index] == Batch.from_lists(lists[index])
    try:
        expected = lists[place]
    except IndexError:
        with pytest.raises(IndexError):
            batch[place]
    else:
        assert batch[place].tolist() == expected
    for again in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert again == batch


@settings(deadline=None)
@given(
    lists=LISTS,
    side=st.sampled_from(["left", "right"]),
    more=st.one_of(st.none(), st.integers(0, 3)),
    multiple_of=st.integers(1, 4),
)
def test_a_matrix(
    lists: list[list[int]], side: Literal["left", "right"], more: int | None, multiple_of: int
) -> None:
    longest = max(map(len, lists), default=0)
    length = None if more is None else longest + more
    width = -(-(longest if length is None else length) // multiple_of) * multiple_of
    ids, mask = Batch.from_lists(lists).to_padded(
        7, length=length, multiple_of=multiple_of, side=side
    )
    assert ids.shape == mask.shape == (len(lists), width)
    for row, is_id, expected in zip(ids.tolist(), mask.tolist(), lists, strict=True):
        padding = [7] * (width - len(expected))
        assert row == (expected + padding if side == "right" else padding + expected)
        real = [True] * len(expected)
        unreal = [False] * len(padding)
        assert is_id == (real + unreal if side == "right" else unreal + real)


def test_slices_are_views_and_a_batch_is_not_hashed() -> None:
    batch = Batch.from_lists([[1], [2, 3], [4]])
    assert np.shares_memory(batch[1:].ids, batch.ids)
    assert batch != Batch.from_lists([[1, 2], [3], [4]])
    assert batch != "batch"
    assert repr(batch) == "Batch(3 texts, 4 tokens)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


def test_what_is_refused() -> None:
    batch = Batch.from_lists([[1, 2, 3]])
    with pytest.raises(ConfigError, match="3 tokens does not fit in a width of 2"):
        batch.to_padded(0, length=2)
    with pytest.raises(ConfigError, match=r"multiple_of .* not 0"):
        batch.to_padded(0, multiple_of=0)
    for pad_id in (-1, 1 << 32, 10**30):
        with pytest.raises(ConfigError, match=f"pad_id .* not {pad_id}"):
            batch.to_padded(pad_id)
    for beyond in ({"length": 1 << 62}, {"length": 10**30}, {"multiple_of": 10**30}):
        with pytest.raises(ConfigError, match="must be a whole number from"):
            batch.to_padded(0, **beyond)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="larger than any memory"):
        Batch.from_lists([[1]] * 4).to_padded(0, length=1 << 59)
    for wrong_number in ({"pad_id": "x"}, {"pad_id": 0, "length": 2.5}):
        with pytest.raises(InputTypeError, match="must be a whole number, not"):
            batch.to_padded(**wrong_number)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="not 'top'"):
        batch.to_padded(0, side="top")  # type: ignore[arg-type]
    for wrong in ([1, 2], 5, ["12"], [[1.5]]):
        with pytest.raises(InputTypeError, match=", not "):
            Batch.from_lists(wrong)  # type: ignore[arg-type]
    for unknown in (-1, 1 << 32):
        with pytest.raises(UnknownTokenError):
            Batch.from_lists([[unknown]])
