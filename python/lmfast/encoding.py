"""Text to ids: the methods of ``Tokenizer`` that encode."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from lmfast._lmfast import Tokenizer as _Core
from lmfast.batch import Batch, Side
from lmfast.errors import ConfigError
from lmfast.text_input import (
    END_OF_TEXT,
    Progress,
    Special,
    Text,
    TextErrors,
    all_well_formed,
    well_formed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Spans(NamedTuple):
    """The ids of a text, and where in it each token lies."""

    ids: NDArray[np.uint32]
    """``[tokens]``."""
    starts: NDArray[np.int64]
    """Where each token begins, ``[tokens]``."""
    ends: NDArray[np.int64]
    """Where each token ends, one past its last byte or character, ``[tokens]``."""


class EncodingMethods:
    """Text to ids."""

    __slots__ = ()
    _core: _Core

    def encode(
        self,
        text: Text,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        errors: TextErrors = "strict",
    ) -> list[int]:
        """The ids of ``text``, with tiktoken's policy on special tokens.

        Args:
            text: What to encode. Bytes need not be UTF-8.
            allowed_special: Special tokens that become their ids when their text occurs.
            disallowed_special: Special tokens that must not occur. ``"all"`` is all that are not
                allowed: raw text that looks like a control token is an attack or a mistake, so it
                is refused unless the caller says otherwise. ``()`` refuses none.
            errors: ``"replace"`` puts U+FFFD in the place of a lone surrogate.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        return self._core.encode(well_formed(text, errors), allowed_special, disallowed_special)

    def encode_ordinary(self, text: Text, *, errors: TextErrors = "strict") -> list[int]:
        """The ids of ``text``; the text of special tokens is text like any other.

        Raises:
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        return self._core.encode(well_formed(text, errors), (), ())

    def encode_to_numpy(
        self,
        text: Text,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        errors: TextErrors = "strict",
    ) -> NDArray[np.uint32]:
        """The ids of ``text`` as an array: no Python object per token, a ninth of the memory.

        Arguments and errors are those of ``encode``.
        """
        text = well_formed(text, errors)
        return self._core.encode_to_numpy(text, allowed_special, disallowed_special)

    def encode_batch(
        self,
        documents: Iterable[Text],
        threads: int | None = None,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        errors: TextErrors = "strict",
        on_progress: Progress | None = None,
    ) -> Batch:
        """The ids of each document, encoded on many threads; the same for any number of them.

        Args:
            documents: What to encode. Any iterable will do, such as a generator, and is asked for
                the next documents while others are encoded; all are kept until the end.
            threads: ``None`` is one per core.
            allowed_special: As in ``encode``.
            disallowed_special: As in ``encode``.
            errors: As in ``encode``.
            on_progress: Called now and then with the bytes done.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            TextError: A text has a lone surrogate, and ``errors`` is ``"strict"``.
            InputTypeError: A document is no text. All three say which document, counted from 0.
        """
        documents = all_well_formed(documents, errors)
        return Batch(
            *self._core.encode_batch(
                documents, allowed_special, disallowed_special, threads, on_progress
            )
        )

    def encode_documents(
        self,
        text: Text,
        separator: str = END_OF_TEXT,
        threads: int | None = None,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        errors: TextErrors = "strict",
        on_progress: Progress | None = None,
    ) -> Batch:
        """The ids of each document of a text that has a separator between them.

        What ``encode_batch(text.split(separator))`` gives, without a copy of each. So there is one
        document more than separators, an empty one where the text ends with one.

        Args:
            text: What to encode. Bytes need not be UTF-8.
            separator: What stands between two documents. It gets no id.
            threads: As in ``encode_batch``.
            allowed_special: As in ``encode``.
            disallowed_special: As in ``encode``.
            errors: As in ``encode``; what it replaces is replaced before the text is cut.
            on_progress: As in ``encode_batch``.

        Raises:
            ConfigError: ``separator`` is empty.
            SpecialTokenError: A disallowed special token occurs in a document; the error says in
                which, counted from 0.
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
            InputTypeError: ``text`` is neither ``str`` nor bytes, or ``separator`` is no ``str``.
        """
        text = well_formed(text, errors)
        return Batch(
            *self._core.encode_documents(
                text, separator, allowed_special, disallowed_special, threads, on_progress
            )
        )

    def encode_with_offsets(
        self,
        text: Text,
        unit: Literal["char", "byte"] = "char",
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        errors: TextErrors = "strict",
    ) -> Spans:
        """The ids of ``text``, and where each token begins and ends.

        In bytes the tokens lie end to end, and are ``text[start:end]`` of the UTF-8. In characters
        a token that holds only a part of a character has the span of the whole one: the smallest
        piece ``text[start:end]`` that holds the token. So neighbours may overlap in one character.

        Args:
            text: What to encode.
            unit: ``"char"`` counts code points, as Python indexes a ``str``; where bytes are not
                UTF-8, those of the text that ``decode`` gives. ``"byte"`` counts bytes of UTF-8.
            allowed_special: As in ``encode``.
            disallowed_special: As in ``encode``.
            errors: As in ``encode``. Places are those in the text after replacing.

        Raises:
            ConfigError: There is no such unit.
            SpecialTokenError: A disallowed special token occurs.
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        if unit not in ("char", "byte"):
            msg = f"offsets are counted in 'char' or 'byte', not in {unit!r}"
            raise ConfigError(msg)
        text = well_formed(text, errors)
        ids = self._core.encode_to_numpy(text, allowed_special, disallowed_special)
        return Spans(ids, *self._core.spans(text, ids, unit == "char"))

    def count_tokens(
        self,
        text: Text,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = (),
        errors: TextErrors = "strict",
    ) -> int:
        """The number of ids of ``text``, without a list of them.

        The text of special tokens is text unless they are allowed, and by default refused nowhere:
        it does no harm to count it.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        text = well_formed(text, errors)
        return self._core.count_tokens(text, allowed_special, disallowed_special)

    def truncate(
        self,
        text: Text,
        max_tokens: int,
        side: Side = "right",
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = (),
        errors: TextErrors = "strict",
    ) -> str | bytes:
        """The longest beginning of ``text`` of at most ``max_tokens`` tokens.

        It is a text of whole characters, and the ones that the first tokens of ``text`` hold, as
        many of them as go. Encoded by itself it never has more than ``max_tokens`` tokens, which
        the mere first tokens may: the last word, cut elsewhere, can need more of them. A ``str``
        for a ``str``, else ``bytes``.

        Args:
            text: What to cut.
            max_tokens: The most tokens that may be left.
            side: The side that is cut off: ``"left"`` leaves the end of the text.
            allowed_special: As in ``count_tokens``.
            disallowed_special: As in ``count_tokens``.
            errors: As in ``encode``.

        Raises:
            ConfigError: There is no such side, or ``max_tokens`` is negative.
            SpecialTokenError: A disallowed special token occurs.
            TextError: The text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        if side not in ("left", "right"):
            msg = f"text is cut off on the left or the right side, not {side!r}"
            raise ConfigError(msg)
        kept = self._core.truncate(
            well_formed(text, errors),
            max_tokens,
            side == "left",
            allowed_special,
            disallowed_special,
        )
        return kept.decode() if isinstance(text, str) and isinstance(kept, bytes) else kept
