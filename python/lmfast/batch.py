"""The ids of many texts: ragged, in two flat arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, overload

from lmfast._lmfast import flatten_ids
from lmfast.checks import whole
from lmfast.errors import ConfigError

if TYPE_CHECKING:
    # Loaded when arrays are asked for: it takes longer to load than all else here.
    import numpy as np
    from numpy.typing import NDArray

    from lmfast.text_input import Ids

Side: TypeAlias = Literal["left", "right"]

# What an array of 8-byte numbers can hold at all; memory holds less.
MOST_PLACES = sys.maxsize // 8


class Padded(NamedTuple):
    """A batch as a matrix."""

    ids: NDArray[np.uint32]
    """``[texts, width]``."""
    mask: NDArray[np.bool_]
    """Which of them are ids of the text, ``[texts, width]``; False where it is padding."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch(Sequence["NDArray[np.uint32]"]):
    """The ids of many texts, end to end; those of one, or of a slice, are a view, not a copy.

    Equal to another batch, or to a list of lists, that holds the same ids.
    """

    ids: NDArray[np.uint32]
    """Ids of all texts, ``[tokens]``."""
    offsets: NDArray[np.uint64]
    """Where each text begins in ``ids``, then where the last one ends, ``[texts + 1]``."""

    @classmethod
    def from_lists(cls, lists: Iterable[Ids]) -> Batch:
        """The batch of these ids, a list or an array per text.

        Raises:
            UnknownTokenError: A number cannot be an id.
        """
        return cls(*flatten_ids(lists))

    @property
    def lengths(self) -> NDArray[np.uint64]:
        """The number of tokens of each text, ``[texts]``."""
        return self.offsets[1:] - self.offsets[:-1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> NDArray[np.uint32] | Batch:
        if not isinstance(index, slice):
            place = range(len(self))[index]
            return self.ids[self.offsets[place] : self.offsets[place + 1]]
        places = range(len(self))[index]
        if places.step != 1 or not places:
            return Batch.from_lists(self[place] for place in places)
        offsets = self.offsets[places.start : places.stop + 1]
        return Batch(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        for start, end in pairwise(self.offsets.tolist()):
            yield self.ids[start:end]

    def tolist(self) -> list[list[int]]:
        """The ids of each text as a list."""
        ids = self.ids.tolist()
        return [ids[start:end] for start, end in pairwise(self.offsets.tolist())]

    def to_padded(
        self,
        pad_id: int,
        *,
        length: int | None = None,
        multiple_of: int = 1,
        side: Side = "right",
    ) -> Padded:
        """The ids as a matrix, and which of them are padding.

        Args:
            pad_id: The id to fill up with. Any will do where the mask is used.
            length: The width; ``None`` is that of the longest text.
            multiple_of: The width is rounded up to a multiple of this.
            side: Where padding goes.

        Raises:
            ConfigError: A text is longer than ``length``, or a setting is out of range.
            InputTypeError: A number is not a whole number.
        """
        import numpy as np

        pad_id = whole("pad_id", pad_id, least=0, most=2**32 - 1)
        mask = padding_mask(self.lengths, length=length, multiple_of=multiple_of, side=side)
        ids = np.full(mask.shape, pad_id, dtype=np.uint32)
        ids[mask] = self.ids
        return Padded(ids, mask)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Batch):
            import numpy as np

            same_ids = np.array_equal(self.ids, other.ids)
            return same_ids and np.array_equal(self.offsets, other.offsets)
        return self.tolist() == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Batch({len(self)} texts, {len(self.ids)} tokens)"


def padding_mask(
    lengths: NDArray[np.uint64], *, length: int | None, multiple_of: int, side: Side
) -> NDArray[np.bool_]:
    """Where the ids of texts of these lengths go in a matrix, ``[texts, width]``.

    Raises:
        ConfigError: A text is longer than ``length``, or a setting is out of range.
        InputTypeError: A number is not a whole number.
    """
    import numpy as np

    if side not in ("left", "right"):
        msg = f"padding goes to the left or the right side, not {side!r}"
        raise ConfigError(msg)
    multiple_of = whole("multiple_of", multiple_of, least=1, most=MOST_PLACES)
    longest = int(lengths.max(initial=0))
    width = longest if length is None else whole("a width", length, least=0, most=MOST_PLACES)
    if width < longest:
        msg = f"a text of {longest} tokens does not fit in a width of {width}; truncate it first"
        raise ConfigError(msg)
    width += -width % multiple_of
    if width * len(lengths) > MOST_PLACES:
        msg = f"a matrix of {len(lengths)} texts by {width} places is larger than any memory"
        raise ConfigError(msg)
    places, ends = np.arange(width), lengths.astype(np.int64)[:, None]
    return places < ends if side == "right" else places >= width - ends
