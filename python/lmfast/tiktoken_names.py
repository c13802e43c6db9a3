"""What users of tiktoken type, where it has the same meaning here."""

from __future__ import annotations

from collections.abc import Iterable

from lmfast._lmfast import Tokenizer as _Core
from lmfast.batch import Batch
from lmfast.errors import UnknownTokenError
from lmfast.text_input import END_OF_TEXT, Ids, Text, TextErrors, all_well_formed


class TiktokenNames:
    """Names of ``tiktoken.Encoding``."""

    __slots__ = ()
    _core: _Core

    @property
    def max_token_value(self) -> int:
        """The greatest id."""
        return self._core.n_vocab - 1

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``.

        Raises:
            UnknownTokenError: There is no such special token.
        """
        for text, token_id in self._core.special_tokens:
            if text == END_OF_TEXT:
                return token_id
        msg = f"there is no special token {END_OF_TEXT}; special_tokens has those there are"
        raise UnknownTokenError(msg)

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return {text for text, _ in self._core.special_tokens}

    def is_special_token(self, token_id: int) -> bool:
        """Whether ``token_id`` is that of a special token."""
        return any(token_id == special_id for _, special_id in self._core.special_tokens)

    def encode_ordinary_batch(
        self,
        texts: Iterable[Text],
        threads: int | None = None,
        *,
        errors: TextErrors = "strict",
    ) -> Batch:
        """The ids of each text, as ``encode_ordinary`` gives them, on many threads.

        Raises:
            TextError: A text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        texts = all_well_formed(texts, errors)
        return Batch(*self._core.encode_batch(texts, (), (), threads, None))

    def encode_single_token(self, token: str | bytes) -> int:
        """The id of the token, special or not, that is exactly ``token``.

        Raises:
            UnknownTokenError: There is no such token.
        """
        return self._core.token_id(token)

    def decode_single_token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token.

        Raises:
            UnknownTokenError: No token has this id.
        """
        return self._core.token_bytes(token_id)

    def decode_tokens_bytes(self, ids: Ids) -> list[bytes]:
        """The bytes of each token.

        Raises:
            UnknownTokenError: No token has one of the ids.
        """
        return [self._core.token_bytes(token_id) for token_id in ids]

    def token_byte_values(self) -> list[bytes]:
        """The bytes of every token that is not special, sorted."""
        return sorted(token for token, _ in self._core.tokens())
