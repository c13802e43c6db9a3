"""What users of transformers and of Hugging Face tokenizers type, where it has the same meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, cast, overload

from lmfast._lmfast import Tokenizer as _Core
from lmfast.batch import MOST_PLACES, Batch, Side
from lmfast.checks import whole
from lmfast.errors import ConfigError, InputTypeError, UnknownTokenError
from lmfast.formats import Roles
from lmfast.model_input import BatchEncoding, Shape, Tensors, encoding_of
from lmfast.text_input import Ids, Text, TextErrors, well_formed


class TransformersNames:
    """Names of ``transformers.PreTrainedTokenizerFast`` and ``tokenizers.Tokenizer``."""

    __slots__ = ()
    _core: _Core
    roles: Roles

    @property
    def vocab_size(self) -> int:
        """The number of tokens, special ones included; ``n_vocab`` counts gaps in the ids, too."""
        return self._core.n_tokens

    def __len__(self) -> int:
        return self._core.n_tokens

    def get_vocab(self) -> dict[str, int]:
        """The id of each token, in the spelling of ``tokenizer.json``: ``" the"`` is ``"Ġthe"``."""
        return dict(self._core.spellings())

    def token_to_id(self, token: str) -> int | None:
        """The id of the token that ``tokenizer.json`` spells so, or None if there is none."""
        return self._core.id_of_spelling(token)

    def id_to_token(self, token_id: int) -> str | None:
        """The token of that id in the spelling of ``tokenizer.json``, or None if there is none."""
        try:
            return self._core.spelling(token_id)
        except UnknownTokenError:
            return None

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def convert_tokens_to_ids(self, tokens: Sequence[str]) -> list[int]: ...
    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> int | list[int]:
        """The id of a token in the spelling of ``tokenizer.json``, or the ids of several.

        Raises:
            UnknownTokenError: There is no such token.
        """
        return (
            self._known_id(tokens) if isinstance(tokens, str) else list(map(self._known_id, tokens))
        )

    def _known_id(self, token: str) -> int:
        token_id = self._core.id_of_spelling(token)
        if token_id is None:
            msg = f"there is no token {token!r} in the spelling of tokenizer.json"
            raise UnknownTokenError(msg)
        return token_id

    @overload
    def convert_ids_to_tokens(self, ids: int) -> str: ...
    @overload
    def convert_ids_to_tokens(self, ids: Ids) -> list[str]: ...
    def convert_ids_to_tokens(self, ids: int | Ids) -> str | list[str]:
        """The token of an id in the spelling of ``tokenizer.json``, or the tokens of several.

        Raises:
            UnknownTokenError: No token has one of the ids.
        """
        if isinstance(ids, Iterable):
            return list(map(self._core.spelling, ids))
        return self._core.spelling(ids)

    def __call__(
        self,
        text: Text | Sequence[Text],
        text_pair: object = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | Literal["longest", "max_length", "do_not_pad"] = False,
        truncation: bool | Literal["longest_first", "only_first", "do_not_truncate"] = False,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: Side = "right",
        pad_token_id: int | None = None,
        split_special_tokens: bool = False,
        return_tensors: Tensors | None = None,
        return_attention_mask: bool = True,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        stride: Literal[0] = 0,
        return_overflowing_tokens: Literal[False] = False,
        return_special_tokens_mask: Literal[False] = False,
        return_token_type_ids: Literal[False] | None = None,
        is_split_into_words: Literal[False] = False,
        errors: TextErrors = "strict",
        threads: int | None = None,
    ) -> BatchEncoding:
        """What a model takes, as transformers' tokenizers return it for the same arguments.

        Args:
            text: A text, or a sequence of texts.
            text_pair: Not supported.
            add_special_tokens: Put the special tokens around each text that the tokenizer's file
                asks for.
            padding: ``True`` or ``"longest"`` pads to the longest text, ``"max_length"`` to
                ``max_length``.
            truncation: Cut off the end of what has more than ``max_length`` ids, the special tokens
                around it included. Of single texts, ``"longest_first"`` and ``"only_first"`` say
                the same as ``True``.
            max_length: See there.
            pad_to_multiple_of: Round the padded length up.
            padding_side: Where padding goes.
            pad_token_id: The id to pad with. None is that of ``pad_token``; where the tokenizer's
                files name none, it must be given here, since a tokenizer is never changed.
            split_special_tokens: Special tokens in the text are text. By default they become
                their ids, as in transformers; pass True for text that others wrote.
            return_tensors: ``"np"`` for int64 arrays, ``"pt"`` for torch tensors; None for lists.
            return_attention_mask: Add ``attention_mask``: 1 for ids, 0 for padding.
            return_offsets_mapping: Add ``offset_mapping``: where each token begins and ends in its
                text, in characters; ``(0, 0)`` for padding and the special tokens around.
            return_length: Add ``length``: the number of ids of each text, with padding.
            stride: Not supported, nor are the four that follow.
            return_overflowing_tokens: Not supported.
            return_special_tokens_mask: Not supported.
            return_token_type_ids: Not supported.
            is_split_into_words: Not supported.
            errors: As in ``encode``.
            threads: ``None`` is one per core.

        Raises:
            ConfigError: Something is asked for that is not supported, or lacks what it needs, or a
                number is out of range.
            InputTypeError: A text is neither ``str`` nor bytes, or a number is not a whole number.
            TextError: A text has a lone surrogate, and ``errors`` is ``"strict"``.
        """
        if text_pair is not None:
            msg = "text pairs are not supported: encode both texts, and join their ids as needed"
            raise ConfigError(msg)
        _refuse(
            stride=stride,
            return_overflowing_tokens=return_overflowing_tokens,
            return_special_tokens_mask=return_special_tokens_mask,
            return_token_type_ids=return_token_type_ids,
            is_split_into_words=is_split_into_words,
        )
        pads, truncates = _pads(padding), _truncates(truncation)
        if pads and pad_token_id is None and "pad_token" in self.roles:
            pad_token_id = self._core.token_id(self.roles["pad_token"])
        if max_length is not None:
            max_length = whole("max_length", max_length, least=0)
        multiple_of = 1
        if pad_to_multiple_of is not None:
            multiple_of = whole("pad_to_multiple_of", pad_to_multiple_of, least=1, most=MOST_PLACES)
        _check_given(
            needs_length=truncates or padding == "max_length",
            max_length=max_length,
            lacks_pad_id=pads and pad_token_id is None,
        )
        before, after = self._core.template if add_special_tokens else ((), ())
        shape = Shape(
            before=before,
            after=after,
            max_tokens=max_length if truncates else None,
            pad=pads,
            pad_id=0 if pad_token_id is None else pad_token_id,
            width=max_length if padding == "max_length" else None,
            multiple_of=multiple_of,
            side=padding_side,
            tensors=_known_tensors(return_tensors),
            parts=frozenset(
                name
                for name, wanted in (
                    ("attention_mask", return_attention_mask),
                    ("offset_mapping", return_offsets_mapping),
                    ("length", return_length),
                )
                if wanted
            ),
        )
        is_one = _is_one(text)
        given = [cast("Text", text)] if is_one else _each(cast("Sequence[Text]", text))
        texts = [well_formed(one, errors) for one in given]
        allowed = () if split_special_tokens else "all"
        batch = Batch(*self._core.encode_batch(texts, allowed, (), threads, None))
        spans = []
        if return_offsets_mapping:
            spans = [
                self._core.spans(one, ids, True) for one, ids in zip(texts, batch, strict=True)
            ]
        encoding = encoding_of(batch, spans, shape)
        if is_one and return_tensors is None:
            rows = {name: value[0] for name, value in encoding.items() if name != "length"}
            return BatchEncoding(encoding | rows)
        return encoding


def _each(texts: Sequence[Text]) -> Iterable[Text]:
    try:
        return iter(texts)
    except TypeError as error:
        msg = f"text must be str or bytes, or a list of them, not {type(texts).__name__}"
        raise InputTypeError(msg) from error


def _is_one(text: Text | Sequence[Text]) -> bool:
    # Of arrays, those of numbers are one text; lists and arrays of objects hold texts.
    return isinstance(text, str | bytes | bytearray | memoryview) or (
        getattr(text, "dtype", None) == "uint8"
    )


def _refuse(**arguments: object) -> None:
    """Refuse arguments of transformers that ask for more than is done here."""
    for name, value in arguments.items():
        if value:
            msg = f"{name}={value!r} is not supported: leave {name} out"
            raise ConfigError(msg)


def _pads(padding: object) -> bool:
    if padding not in (False, True, "longest", "max_length", "do_not_pad"):
        msg = f"padding cannot be {padding!r}; use True, False, 'longest' or 'max_length'"
        raise ConfigError(msg)
    return padding not in (False, "do_not_pad")


def _truncates(truncation: object) -> bool:
    if truncation not in (False, True, "longest_first", "only_first", "do_not_truncate"):
        msg = f"truncation cannot be {truncation!r}; use True or False"
        raise ConfigError(msg)
    return truncation not in (False, "do_not_truncate")


def _check_given(*, needs_length: bool, max_length: int | None, lacks_pad_id: bool) -> None:
    """Name at once all that must be given and was not; refuse a length that does nothing."""
    missing = []
    if needs_length and max_length is None:
        missing.append("max_length (for truncation=True or padding='max_length')")
    if lacks_pad_id:
        missing.append(
            "pad_token_id (the tokenizer's files name no pad_token; where the attention mask is "
            "used, any id will do)"
        )
    if missing:
        msg = f"cannot truncate or pad without {', nor without '.join(missing)}"
        raise ConfigError(msg)
    if not needs_length and max_length is not None:
        msg = (
            f"max_length={max_length} does nothing without truncation=True or padding='max_length'"
        )
        raise ConfigError(msg)


def _known_tensors(tensors: Tensors | None) -> Tensors | None:
    if tensors not in (None, "np", "pt"):
        msg = f"return_tensors cannot be {tensors!r}; use 'np', 'pt' or None"
        raise ConfigError(msg)
    return tensors
