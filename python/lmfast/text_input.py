"""What the methods of a tokenizer take: text, ids, and which special tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from lmfast.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

END_OF_TEXT = "<|endoftext|>"

Text: TypeAlias = "str | bytes | bytearray | memoryview | NDArray[np.uint8]"
"""Text, or its bytes, which need not be UTF-8. All but ``str`` and ``bytes`` are copied first."""
Special: TypeAlias = Literal["all"] | Collection[str]
Ids: TypeAlias = "Iterable[int] | NDArray[np.integer]"
Progress: TypeAlias = Callable[[int], object]
TextErrors: TypeAlias = Literal["strict", "replace"]
"""What to do with lone surrogates: refuse the text, or put U+FFFD in their place."""


def well_formed(text: Text, errors: TextErrors) -> Text:
    """The text as the core takes it: with U+FFFD for lone surrogates where that is asked for.

    Two surrogates that make a pair are the character that they make in UTF-16, as in tiktoken.

    Raises:
        ConfigError: ``errors`` is neither of the two.
    """
    _check(errors)
    if errors == "strict" or not isinstance(text, str):
        return text
    try:
        return str.encode(text)  # whatever a subclass makes of it
    except UnicodeEncodeError:
        return str.encode(text, "utf-16", "surrogatepass").decode("utf-16", "replace")


def all_well_formed(texts: Iterable[Text], errors: TextErrors) -> Iterable[Text]:
    """The same for several texts; what is none of these is left to the core to refuse.

    Raises:
        ConfigError: ``errors`` is neither of the two.
    """
    _check(errors)
    if errors == "strict" or isinstance(texts, str | bytes):
        return texts
    if isinstance(texts, list | tuple):
        # As a list, so that the core knows how many there are.
        return [well_formed(text, errors) for text in texts]
    try:
        given = iter(texts)
    except TypeError:
        return texts
    return (well_formed(text, errors) for text in given)


def _check(errors: str) -> None:
    if errors not in ("strict", "replace"):
        msg = f"there is no error handler {errors!r} for text; use strict or replace"
        raise ConfigError(msg)
