"""The tokenizer: text to ids and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from lmfast._lmfast import Tokenizer as _Core
from lmfast._lmfast import pretokenizer_names
from lmfast.errors import ConfigError, FileError, InputTypeError, TextError, VocabularyError
from lmfast.sources import StrPath
from lmfast.steps import TextSteps, steps_of
from lmfast.trace import TrainingRecord

if TYPE_CHECKING:
    # Loaded when arrays are asked for: it takes longer to load than all else here.
    import numpy as np
    from numpy.typing import NDArray

Special: TypeAlias = Literal["all"] | Collection[str]
Ids: TypeAlias = "Iterable[int] | NDArray[np.integer]"
Progress: TypeAlias = Callable[[int], object]

END_OF_TEXT = "<|endoftext|>"
PRETOKENIZERS = tuple(pretokenizer_names())
"""The names of those that lmfast knows."""
TOKENIZER_FILE = "tokenizer.json"
"""The name of a tokenizer in a folder of shards or of a run."""


@dataclass(frozen=True, slots=True)
class Batch(Sequence["NDArray[np.uint32]"]):
    """The ids of many documents, end to end; a document's own are a view, not a copy."""

    ids: NDArray[np.uint32]
    """Ids of all documents, ``[tokens]``."""
    offsets: NDArray[np.uint64]
    """Where each document begins in ``ids``, then where the last one ends, ``[documents + 1]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[np.uint32]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[np.uint32] | list[NDArray[np.uint32]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self.ids[self.offsets[place] : self.offsets[place + 1]]

    def tolist(self) -> list[list[int]]:
        """The ids of each document as a list."""
        return [ids.tolist() for ids in self]


class Tokenizer:
    """A byte-level BPE tokenizer; safe to share between threads, and to pickle.

    Load one with ``Tokenizer.load``, or train one with ``lmfast.train_bpe``.
    """

    __slots__ = ("_core", "training")

    def __init__(self, core: _Core, training: TrainingRecord | None = None) -> None:
        self._core = core
        self.training = training
        """What training counted; None for a vocabulary that was loaded. Only training, extending,
        and truncating what was trained leave a record."""

    @classmethod
    def load(
        cls,
        path: StrPath,
        pretokenizer: str | None = None,
        special_tokens: Mapping[str, int] | Sequence[str] | None = None,
    ) -> Tokenizer:
        """The tokenizer in a file or folder.

        Args:
            path: A ``tokenizer.json``; a ``.tiktoken`` file; or a folder that holds a
                ``tokenizer.json``, or GPT-2's ``vocab.json`` and ``merges.txt``.
            pretokenizer: For the formats that do not say: one of ``PRETOKENIZERS``, such as
                ``"cl100k"``, a regular expression, or ``"none"``.
            special_tokens: For the same formats. With ids for ``.tiktoken``; for GPT-2's files
                their names, which ``vocab.json`` lists with their ids.

        Raises:
            MissingFileError: There is no such file.
            VocabularyError: The file is not a byte-level BPE vocabulary, or the arguments do not
                fit its format.
        """
        file = _path(path)
        try:
            if file.is_dir() and (file / TOKENIZER_FILE).exists():
                file = file / TOKENIZER_FILE
            is_folder = file.is_dir()
        except OSError as error:
            msg = f"cannot read {file}: {error.strerror}"
            raise FileError(msg) from error
        if is_folder:
            names = () if special_tokens is None else special_tokens
            loaded = cls(_Core.load_gpt2(file, _named(pretokenizer, file), names))
            if isinstance(names, Mapping) and loaded.special_tokens != dict(names):
                msg = (
                    f"{file} gives special tokens other ids than those asked for: "
                    f"{loaded.special_tokens}, not {dict(names)}"
                )
                raise VocabularyError(msg)
            return loaded
        if file.suffix == ".tiktoken":
            ids = _with_ids(special_tokens, file)
            return cls(_Core.load_tiktoken(file, _named(pretokenizer, file), ids))
        if pretokenizer is not None or special_tokens is not None:
            msg = f"{file} holds its own pretokenizer and special tokens; load it without them"
            raise VocabularyError(msg)
        return cls(_Core.load_json(file))

    @classmethod
    def from_ranks(
        cls,
        mergeable_ranks: Mapping[bytes, int],
        pretokenizer: str | None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """The tokenizer of tiktoken's arguments: ``mergeable_ranks`` maps bytes to ids.

        Raises:
            VocabularyError: Ids or bytes clash, or a single byte is missing.
        """
        specials = {} if special_tokens is None else special_tokens
        cut = pretokenizer_argument(pretokenizer)
        return cls(_Core.from_ranks(mergeable_ranks, cut, specials))

    def save(
        self, path: StrPath, format: Literal["huggingface", "tiktoken", "gpt2"] = "huggingface"
    ) -> None:
        """Write the tokenizer, whole or not at all.

        Args:
            path: The file; for ``gpt2`` the folder.
            format: ``huggingface`` is a ``tokenizer.json`` and holds everything. ``tiktoken`` holds
                ranks alone, ``gpt2`` (``vocab.json`` and ``merges.txt``) no pretokenizer: what is
                missing must be given to ``load``.

        Raises:
            ConfigError: There is no such format.
            FileError: The file cannot be written.
            VocabularyError: The format cannot hold this tokenizer.
        """
        save = {
            "huggingface": self._core.save_json,
            "tiktoken": self._core.save_tiktoken,
            "gpt2": self._core.save_gpt2,
        }
        if format not in save:
            msg = f"there is no tokenizer format {format!r}; known are {', '.join(save)}"
            raise ConfigError(msg)
        save[format](path)

    @property
    def n_vocab(self) -> int:
        """One more than the greatest id, special tokens included."""
        return self._core.n_vocab

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special tokens and their ids, lowest id first."""
        return dict(self._core.special_tokens)

    @property
    def pretokenizer(self) -> str | None:
        """The name of the pretokenizer, or the user's own pattern; ``None`` where none cuts."""
        return self._core.pretokenizer

    @property
    def pattern(self) -> str | None:
        """The regular expression that cuts as the pretokenizer does; ``None`` where none cuts.

        tiktoken and Hugging Face tokenizers both read it alike. Of several steps that have no one
        pattern it is the JSON of their ``pre_tokenizer``, which begins with a brace.
        """
        return self._core.pattern

    @property
    def pretokenizer_engine(self) -> str:
        """What finds the pretokens: ``scanner``, ``automaton``, ``backtracking`` or ``none``.

        A named pretokenizer has a scanner of its own. A regular expression becomes an automaton,
        which takes linear time, if it looks ahead no further than one character; else it is left to
        an engine that goes back, which is slower and may give up. Of steps it is the slowest.
        """
        return self._core.pretokenizer_engine

    @property
    def unicode_version(self) -> str:
        r"""The version of Unicode that says what ``\p{L}``, ``\s`` and other classes hold."""
        return self._core.unicode_version

    @property
    def mergeable_ranks(self) -> dict[bytes, int]:
        """The id of each token that is not special, as ``tiktoken.Encoding`` takes them."""
        return dict(self._core.tokens())

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs that merge, lowest rank first."""
        bytes_of = {token_id: token for token, token_id in self._core.tokens()}
        return [(bytes_of[left], bytes_of[right]) for left, right, *_ in self._core.merges()]

    @property
    def identity(self) -> str:
        """A SHA-256 of all that decides which ids a text gets; shards and checkpoints carry it."""
        return self._core.identity

    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
    ) -> list[int]:
        """The ids of ``text``, with tiktoken's policy on special tokens.

        Args:
            text: What to encode. Bytes need not be UTF-8.
            allowed_special: Special tokens that become their ids when their text occurs.
            disallowed_special: Special tokens that must not occur. ``"all"`` is all that are not
                allowed: raw text that looks like a control token is an attack or a mistake, so it
                is refused unless the caller says otherwise. ``()`` refuses none.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            TextError: The text has a lone surrogate.
        """
        return self._core.encode(text, allowed_special, disallowed_special)

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """The ids of ``text``; the text of special tokens is text like any other.

        Raises:
            TextError: The text has a lone surrogate.
        """
        return self._core.encode(text, (), ())

    def encode_batch(
        self,
        documents: Sequence[str | bytes],
        threads: int | None = None,
        *,
        allowed_special: Special = frozenset(),
        disallowed_special: Special = "all",
        on_progress: Progress | None = None,
    ) -> Batch:
        """The ids of each document, encoded on many threads; the same for any number of them.

        Args:
            documents: What to encode.
            threads: ``None`` is one per core.
            allowed_special: As in ``encode``.
            disallowed_special: As in ``encode``.
            on_progress: Called now and then with the bytes done.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            TextError: A text has a lone surrogate.
        """
        ids, offsets = self._core.encode_batch(
            documents, allowed_special, disallowed_special, threads, on_progress
        )
        return Batch(ids, offsets)

    def decode(self, ids: Ids, errors: Literal["strict", "replace", "ignore"] = "replace") -> str:
        """The text that ``ids`` stand for.

        Args:
            ids: Ids of any integer type.
            errors: What to do where the bytes are not UTF-8, as happens when ids are cut inside a
                character; the choices are those of ``bytes.decode``.

        Raises:
            UnknownTokenError: No token has one of the ids.
            TextError: The bytes are not UTF-8, and ``errors`` is ``"strict"``.
            ConfigError: ``errors`` is none of the three.
        """
        if errors not in ("strict", "replace", "ignore"):
            msg = f"there is no error handler {errors!r}; use strict, replace or ignore"
            raise ConfigError(msg)
        data = self._core.decode_bytes(ids)
        try:
            return data.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            msg = (
                f"cannot decode the ids as UTF-8: {error.reason} at byte {error.start}; "
                "decode_bytes gives the bytes, errors='replace' puts U+FFFD there"
            )
            raise TextError(msg) from error

    def decode_bytes(self, ids: Ids) -> bytes:
        """The bytes that ``ids`` stand for; special tokens stand for their text.

        Raises:
            UnknownTokenError: No token has one of the ids.
        """
        return self._core.decode_bytes(ids)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token.

        Raises:
            UnknownTokenError: No token has this id.
        """
        return self._core.token_bytes(token_id)

    def token_id(self, token: str | bytes) -> int:
        """The id of the token, special or not, that is exactly ``token``.

        Raises:
            UnknownTokenError: There is no such token.
        """
        return self._core.token_id(token)

    def token_byte_lengths(self) -> NDArray[np.int64]:
        """The length in bytes of each token, ``[n_vocab]``; 0 for special tokens and gaps."""
        import numpy as np

        lengths = np.zeros(self.n_vocab, dtype=np.int64)
        for token, token_id in self._core.tokens():
            lengths[token_id] = len(token)
        return lengths

    def steps(self, text: str | bytes) -> TextSteps:
        """How ``text`` is built up, merge by merge; special tokens in it are text.

        Raises:
            TextError: The text has a lone surrogate.
        """
        return steps_of(self._core, text)

    def truncated_to(self, n_vocab: int) -> Tokenizer:
        """The tokenizer of ``n_vocab`` tokens, special ones included, that training would give.

        Training finds the merges of a smaller vocabulary first, so that the first ones of this are
        its merges. The special tokens stay, and follow them.

        Raises:
            VocabularyError: ``n_vocab`` is out of range, or the ids of this vocabulary are not its
                ranks, as in one that was not trained so.
        """
        core = self._core.truncated_to(n_vocab)
        record = self.training
        return Tokenizer(core, None if record is None else record.truncated_to(core))

    def __repr__(self) -> str:
        name = self.pretokenizer or "none"
        return f"Tokenizer(n_vocab={self.n_vocab}, pretokenizer={name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __reduce__(self) -> tuple[Callable[[str], Tokenizer], tuple[str]]:
        return _from_json, (self._core.to_json(),)


def _from_json(text: str) -> Tokenizer:
    return Tokenizer(_Core.from_json(text))


def _path(path: StrPath) -> Path:
    try:
        return Path(path)
    except TypeError as error:
        msg = f"a path must be str or os.PathLike, not {type(path).__name__}"
        raise InputTypeError(msg) from error


def pretokenizer_argument(name: str | None) -> str | None:
    """The name or pattern as the core takes it: None for ``"none"``.

    Raises:
        VocabularyError: It looks like a name, and is none that is known.
    """
    if name == "none":
        return None
    if isinstance(name, str) and name not in PRETOKENIZERS and re.fullmatch(r"[\w-]*", name):
        known = ", ".join(PRETOKENIZERS)
        msg = f"there is no pretokenizer {name!r}: use {known}, none, or a regular expression"
        raise VocabularyError(msg)
    return name


def _named(pretokenizer: str | None, path: Path) -> str | None:
    if pretokenizer is None:
        msg = (
            f"{path} does not say how text is cut, and a guess would give wrong ids: pass "
            f"pretokenizer= {', '.join(PRETOKENIZERS)}, a regular expression, or none"
        )
        raise VocabularyError(msg)
    return pretokenizer_argument(pretokenizer)


def _with_ids(
    special_tokens: Mapping[str, int] | Sequence[str] | None, path: Path
) -> Mapping[str, int]:
    if special_tokens is None:
        return {}
    if not isinstance(special_tokens, Mapping):
        found = type(special_tokens).__name__
        msg = f"{path} holds no special tokens: special_tokens must be a dict of ids, not {found}"
        raise InputTypeError(msg)
    return special_tokens
