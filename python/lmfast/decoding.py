"""Ids to text: the methods of ``Tokenizer`` that decode, and decoding while ids still come."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from lmfast._lmfast import Tokenizer as _Core
from lmfast.batch import Batch
from lmfast.errors import ConfigError, TextError
from lmfast.text_input import Ids

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Errors: TypeAlias = Literal["strict", "replace", "ignore"]


class DecodingMethods:
    """Ids to text."""

    __slots__ = ()
    _core: _Core

    def decode(
        self, ids: Ids, errors: Errors = "replace", *, skip_special_tokens: bool = False
    ) -> str:
        """The text that ``ids`` stand for.

        Args:
            ids: Ids of any integer type.
            errors: What to do where the bytes are not UTF-8, as happens when ids are cut inside a
                character; the choices are those of ``bytes.decode``.
            skip_special_tokens: Leave out special tokens, which else stand for their text.

        Raises:
            UnknownTokenError: No token has one of the ids.
            TextError: The bytes are not UTF-8, and ``errors`` is ``"strict"``.
            ConfigError: ``errors`` is none of the three.
        """
        _check(errors)
        return _text(self._core.decode_bytes(ids, skip_special_tokens), errors)

    def decode_bytes(self, ids: Ids) -> bytes:
        """The bytes that ``ids`` stand for; special tokens stand for their text.

        Raises:
            UnknownTokenError: No token has one of the ids.
        """
        return self._core.decode_bytes(ids, False)

    def decode_batch(
        self,
        batch: Batch | Iterable[Ids],
        threads: int | None = None,
        *,
        errors: Errors = "replace",
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """The text of each list of ids, decoded on many threads; arguments as for ``decode``.

        Raises:
            UnknownTokenError: No token has one of the ids.
            TextError: The bytes of a text are not UTF-8, and ``errors`` is ``"strict"``.
            ConfigError: ``errors`` is none of the three.
        """
        _check(errors)
        flat = batch if isinstance(batch, Batch) else Batch.from_lists(batch)
        texts = self._core.decode_batch(flat.ids, flat.offsets, skip_special_tokens, threads)
        return [_text(text, errors) for text in texts]

    def decode_with_offsets(
        self, ids: Ids, errors: Literal["strict", "replace"] = "replace"
    ) -> tuple[str, list[int]]:
        """The text of ``ids``, and where in it each token begins, in characters.

        A token that begins inside a character begins where that does, as in tiktoken.

        Raises:
            UnknownTokenError: No token has one of the ids.
            TextError: The bytes are not UTF-8, and ``errors`` is ``"strict"``.
            ConfigError: ``errors`` is neither of the two.
        """
        _check(errors)
        if errors not in ("strict", "replace"):
            msg = "characters that are left out have no place: use strict or replace"
            raise ConfigError(msg)
        known = list(ids)
        data = self._core.decode_bytes(known, False)
        text = _text(data, errors)
        starts, _ = self._core.spans(data, known, True)
        return text, starts.tolist()

    def decode_stream(
        self, errors: Errors = "replace", *, skip_special_tokens: bool = False
    ) -> DecodeStream:
        """A decoder that takes ids as they come; arguments as for ``decode``.

        Raises:
            ConfigError: ``errors`` is none of the three.
        """
        _check(errors)
        return DecodeStream(self._core, errors, skip_special_tokens)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token.

        Raises:
            UnknownTokenError: No token has this id.
        """
        return self._core.token_bytes(token_id)

    def token_byte_lengths(self) -> NDArray[np.int64]:
        """The length in bytes of each token, ``[n_vocab]``; 0 for special tokens and gaps."""
        import numpy as np

        lengths = np.zeros(self._core.n_vocab, dtype=np.int64)
        for token, token_id in self._core.tokens():
            lengths[token_id] = len(token)
        return lengths


class DecodeStream:
    """Text of ids that come one after the other, as a model writes them.

    Holds back the bytes of a character that is not whole yet: what it has returned is never taken
    back, and put together it is what ``decode`` gives for all ids at once.
    """

    __slots__ = ("_core", "_decoder", "_errors", "_skip_special")

    def __init__(self, core: _Core, errors: Errors, skip_special: bool) -> None:
        self._core = core
        self._errors = errors
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._skip_special = skip_special

    def push(self, ids: int | Ids) -> str:
        """The text that is whole now that ``ids``, one or several, have come; it may be empty.

        Raises:
            UnknownTokenError: No token has one of the ids; nothing has been taken in.
            TextError: The bytes are not UTF-8, and ``errors`` is ``"strict"``.
        """
        several = ids if isinstance(ids, Iterable) else (ids,)
        return self._decode(self._core.decode_bytes(several, self._skip_special), final=False)

    def finish(self) -> str:
        """The rest, where the last character never became whole; the stream begins anew.

        Raises:
            TextError: There is such a rest, and ``errors`` is ``"strict"``.
        """
        try:
            return self._decode(b"", final=True)
        finally:
            self._decoder.reset()

    def copy(self) -> DecodeStream:
        """A stream that goes on from here by itself, as beams of a search do."""
        again = DecodeStream(self._core, self._errors, self._skip_special)
        again._decoder.setstate(self._decoder.getstate())
        return again

    def _decode(self, data: bytes, final: bool) -> str:
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from error


def _check(errors: str) -> None:
    if errors not in ("strict", "replace", "ignore"):
        msg = f"there is no error handler {errors!r}; use strict, replace or ignore"
        raise ConfigError(msg)


def _text(data: bytes, errors: Errors) -> str:
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from error


def _not_utf8(error: UnicodeDecodeError) -> TextError:
    msg = (
        f"cannot decode the ids as UTF-8: {error.reason} at byte {error.start}; "
        "decode_bytes gives the bytes, errors='replace' puts U+FFFD there"
    )
    return TextError(msg)
