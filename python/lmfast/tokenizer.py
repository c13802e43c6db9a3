"""The tokenizer: text to ids and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lmfast._lmfast import Tokenizer as _Core
from lmfast.batch import Batch
from lmfast.decoding import DecodingMethods
from lmfast.encoding import EncodingMethods
from lmfast.errors import InputTypeError
from lmfast.formats import PRETOKENIZERS, FileMethods, Roles, pretokenizer_argument
from lmfast.formats.loading import TOKENIZER_FILE
from lmfast.steps import TextSteps, steps_of
from lmfast.text_input import END_OF_TEXT, Ids, Progress, Special
from lmfast.tiktoken_names import TiktokenNames
from lmfast.trace import TrainingRecord
from lmfast.transformers_names import TransformersNames

__all__ = [
    "END_OF_TEXT",
    "PRETOKENIZERS",
    "TOKENIZER_FILE",
    "AddedToken",
    "Batch",
    "Ids",
    "Progress",
    "Special",
    "Tokenizer",
    "pretokenizer_argument",
    "require_tokenizer",
]


class AddedToken(NamedTuple):
    """A token that is matched as a whole."""

    text: str
    id: int
    special: bool
    """Found only where a call allows it."""
    normalized: bool
    """Found in normalized text rather than in the text as it is."""
    lstrip: bool
    """Swallows the space before it."""
    rstrip: bool
    """Swallows the space behind it."""
    single_word: bool
    """Found only where no word goes on beside it."""


class Tokenizer(FileMethods, EncodingMethods, DecodingMethods, TiktokenNames, TransformersNames):
    """A byte-level BPE tokenizer; safe to share between threads, and to pickle.

    Load one with ``Tokenizer.load``, or train one with ``lmfast.train_bpe``.
    """

    __slots__ = ("_core", "roles", "training")

    def __init__(
        self,
        core: _Core,
        training: TrainingRecord | None = None,
        *,
        roles: Roles | None = None,
    ) -> None:
        _require_core(core)
        self._core = core
        self.roles: Roles = {} if roles is None else roles
        """What special tokens are for, by transformers' names, such as ``eos_token``; only for
        those that the files of a published tokenizer name."""
        self.training = training
        """What training counted; None for a vocabulary that was loaded. Only training, extending,
        and truncating what was trained leave a record."""

    @property
    def n_vocab(self) -> int:
        """One more than the greatest id, special tokens included."""
        return self._core.n_vocab

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special tokens and their ids, lowest id first."""
        return dict(self._core.special_tokens)

    @property
    def added_tokens(self) -> list[AddedToken]:
        """All tokens that are matched as a whole, with how they are matched, lowest id first.

        Those that are not special are always found, whatever a call allows.
        """
        return [
            AddedToken(text, token_id, *flags) for text, token_id, flags in self._core.added_tokens
        ]

    @property
    def normalizer(self) -> list[str]:
        """The Unicode normal forms that text is given before it is encoded, such as ``"NFC"``."""
        return self._core.normalizer

    @property
    def template(self) -> tuple[list[int], list[int]]:
        """The ids that the file puts before and behind a text; ``encode`` leaves them out."""
        return self._core.template

    @property
    def keeps_text(self) -> bool:
        """Whether the ids of a text always decode to it.

        Not where text is normalized, or where an added token swallows the space beside it.
        """
        return self._core.keeps_text

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

    def token_id(self, token: str | bytes) -> int:
        """The id of the token, special or not, that is exactly ``token``.

        Raises:
            UnknownTokenError: There is no such token.
        """
        return self._core.token_id(token)

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

    def __reduce__(self) -> tuple[Callable[[str, Roles], Tokenizer], tuple[str, Roles]]:
        return _from_json, (self._core.to_json(), dict(self.roles))


def require_tokenizer(value: object) -> None:
    """Refuse what is no tokenizer, such as the path of one.

    Raises:
        InputTypeError: It is something else.
    """
    if not isinstance(value, Tokenizer):
        msg = (
            f"a tokenizer must be lmfast.Tokenizer, as Tokenizer.load gives it, not "
            f"{type(value).__name__}"
        )
        raise InputTypeError(msg)


def _require_core(value: object) -> None:
    if not isinstance(value, _Core):
        msg = (
            "a Tokenizer comes from Tokenizer.load(path), Tokenizer.from_pretrained(name), "
            f"lmfast.get_encoding(name) or lmfast.train_bpe, not from {type(value).__name__}"
        )
        raise InputTypeError(msg)


def _from_json(text: str, roles: Roles) -> Tokenizer:
    return Tokenizer(_Core.from_json(text), roles=roles)
