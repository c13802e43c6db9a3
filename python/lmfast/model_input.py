"""What ``tokenizer(texts)`` returns: ids cut to length, framed by special tokens, and padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lmfast.batch import Batch, Side, padding_mask
from lmfast.checks import whole
from lmfast.errors import ConfigError, needed_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tensors: TypeAlias = Literal["np", "pt"]


class BatchEncoding(dict[str, Any]):
    """A dict whose items are attributes, too: ``encoding.input_ids``, ``model(**encoding)``."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - lists, arrays or tensors
        try:
            return self[name]
        except KeyError:
            msg = f"there is no {name!r}; there are {', '.join(self)}"
            raise AttributeError(msg) from None

    def to(self, device: object) -> BatchEncoding:
        """The same with its tensors on ``device``; for ``return_tensors="pt"``."""
        return BatchEncoding({name: value.to(device) for name, value in self.items()})


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How ids are laid out."""

    before: Sequence[int]
    after: Sequence[int]
    max_tokens: int | None
    """The most ids of a text, ``before`` and ``after`` included."""
    pad: bool
    pad_id: int
    width: int | None
    multiple_of: int
    side: Side
    tensors: Tensors | None
    parts: frozenset[str] = field(default_factory=frozenset)
    """What is wanted beside the ids: ``attention_mask``, ``offset_mapping``, ``length``."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where each id of the result comes from: an index into the ids, the frame and the padding."""

    index: NDArray[np.int64]
    """``[tokens]``, or padded ``[texts, width]``."""
    offsets: NDArray[np.int64]
    """Where each text begins in a flat ``index``, ``[texts + 1]``."""
    mask: NDArray[np.bool_] | None
    """Which are no padding, ``[texts, width]``; None where nothing is padded."""

    def values(self, values: NDArray[Any], framing: Sequence[int], padding: int) -> NDArray[Any]:
        """``values`` of the ids laid out, with those of the frame and of the padding."""
        import numpy as np

        return np.concatenate([values, np.array([*framing, padding], values.dtype)])[self.index]

    def rows(self, values: NDArray[Any]) -> list[Any]:
        """Laid out values as a list per text."""
        if self.mask is not None:
            rows: list[Any] = values.tolist()
            return rows
        flat, ends = values.tolist(), self.offsets.tolist()
        return [flat[start:end] for start, end in pairwise(ends)]


def lay_out(lengths: NDArray[np.uint64], shape: Shape) -> Layout:
    """The layout of texts that have so many ids.

    Raises:
        ConfigError: A text does not fit, or tensors are asked for and the texts differ in length.
    """
    import numpy as np

    counts = lengths.astype(np.int64)
    before, after, tokens = len(shape.before), len(shape.after), int(counts.sum())
    room = None if shape.max_tokens is None else shape.max_tokens - before - after
    if room is not None and room < 0:
        msg = f"max_length={shape.max_tokens} leaves no room beside {before + after} special tokens"
        raise ConfigError(msg)
    # transformers has a length of 10**30 where it knows none, which NumPy cannot hold.
    kept = counts if room is None else np.minimum(counts, min(room, tokens))
    sizes = kept + before + after
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    place = _places(sizes)
    index: NDArray[np.int64] = np.empty(len(place), dtype=np.int64)
    from_end = np.repeat(sizes, sizes) - place
    head, tail = place < before, from_end <= after
    index[head] = np.tile(tokens + np.arange(before), len(sizes))
    index[tail] = np.tile(tokens + before + np.arange(after), len(sizes))
    index[~(head | tail)] = np.flatnonzero(_places(counts) < np.repeat(kept, counts))
    mask = None
    if shape.pad:
        mask = padding_mask(
            sizes.astype(np.uint64),
            length=shape.width,
            multiple_of=shape.multiple_of,
            side=shape.side,
        )
        flat, index = index, np.full(mask.shape, tokens + before + after, dtype=np.int64)
        index[mask] = flat
    elif shape.tensors is not None:
        if len(set(sizes.tolist())) > 1:
            msg = "texts of different lengths do not fit in one tensor; pass padding=True"
            raise ConfigError(msg)
        mask = np.ones((len(sizes), int(sizes.max(initial=0))), dtype=bool)
        index = index.reshape(mask.shape)
    return Layout(index=index, offsets=offsets, mask=mask)


def _places(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each item in its row, of rows that lie end to end."""
    import numpy as np

    starts = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) - np.repeat(starts, sizes)


def encoding_of(
    batch: Batch, spans: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], shape: Shape
) -> BatchEncoding:
    """The ids of ``batch`` as ``shape`` says; ``spans`` hold starts and ends where asked for."""
    import numpy as np

    layout = lay_out(batch.lengths, shape)
    frame = [*shape.before, *shape.after]
    # Below 0 are the ids that a loss ignores.
    pad_id = whole("pad_token_id", shape.pad_id, least=-(2**63), most=2**63 - 1)
    arrays = {"input_ids": layout.values(batch.ids.astype(np.int64), frame, pad_id)}
    if "attention_mask" in shape.parts:
        ones = np.ones(len(batch.ids), dtype=np.int64)
        arrays["attention_mask"] = layout.values(ones, [1] * len(frame), 0)
    if "offset_mapping" in shape.parts:
        nothing, nowhere = np.zeros(0, dtype=np.int64), [0] * len(frame)
        starts = np.concatenate([nothing, *(one for one, _ in spans)])
        ends = np.concatenate([nothing, *(one for _, one in spans)])
        both = [layout.values(values, nowhere, 0) for values in (starts, ends)]
        arrays["offset_mapping"] = np.stack(both, axis=-1)
    sizes = np.diff(layout.offsets)
    if layout.mask is not None:
        sizes = np.full(len(layout.mask), layout.mask.shape[1])
    if shape.tensors is None:
        lists = {name: layout.rows(values) for name, values in arrays.items()}
        if "offset_mapping" in lists:
            lists["offset_mapping"] = [list(map(tuple, row)) for row in lists["offset_mapping"]]
        if "length" in shape.parts:
            lists["length"] = sizes.tolist()
        return BatchEncoding(lists)
    if "length" in shape.parts:
        arrays["length"] = sizes
    return BatchEncoding(arrays if shape.tensors == "np" else _in_torch(arrays))


def _in_torch(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    with needed_by("return_tensors='pt'", "pip install 'lmfast[train]'"):
        import torch
    return {name: torch.from_numpy(values) for name, values in arrays.items()}
