"""Tokenizers of other libraries, made from and into those of lmfast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmfast._lmfast import Tokenizer as _Core
from lmfast.errors import InputTypeError, VocabularyError, needed_by
from lmfast.formats.pretokenizers import PRETOKENIZERS
from lmfast.formats.roles import Roles, known_roles

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    import transformers


def core_of_tiktoken(encoding: object) -> _Core:
    """The core's counterpart of a ``tiktoken.Encoding``.

    Raises:
        InputTypeError: It is none.
    """
    parts = ("_mergeable_ranks", "_pat_str", "_special_tokens")
    if not all(hasattr(encoding, part) for part in parts):
        msg = f"expected a tiktoken.Encoding, not {type(encoding).__name__}"
        raise InputTypeError(msg)
    ranks, pattern, special = (getattr(encoding, part) for part in parts)
    return _Core.from_ranks(ranks, pattern, special)


def core_of_hugging_face(
    tokenizer: tokenizers.Tokenizer | transformers.PreTrainedTokenizerFast,
) -> tuple[_Core, dict[str, str]]:
    """The core's counterpart of a tokenizer of ``tokenizers`` or transformers, and its roles.

    Raises:
        InputTypeError: It is neither.
        VocabularyError: It is not byte-level BPE.
    """
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    to_str = getattr(fast, "to_str", None)
    if not callable(to_str):
        msg = (
            "expected a tokenizers.Tokenizer, or one of transformers that is fast, "
            f"not {type(tokenizer).__name__}"
        )
        raise InputTypeError(msg)
    core = _Core.from_json(to_str())
    said = getattr(tokenizer, "special_tokens_map", None)
    return core, known_roles(said if isinstance(said, dict) else {}, core)


def to_tiktoken(core: _Core, name: str) -> tiktoken.Encoding:
    """The same tokenizer as a ``tiktoken.Encoding``.

    Raises:
        VocabularyError: tiktoken has no exact counterpart.
        MissingDependencyError: tiktoken is not installed.
    """
    with needed_by("to_tiktoken", "pip install tiktoken"):
        import tiktoken
    pattern = core.pattern
    # Steps in sequence are spelled as JSON.
    if pattern is None or pattern.startswith("{"):
        msg = "cannot make a tiktoken.Encoding: this tokenizer does not cut by one pattern"
        raise VocabularyError(msg)
    try:
        core.check_ranks()
    except VocabularyError as error:
        msg = f"cannot make a tiktoken.Encoding: {error}"
        raise VocabularyError(msg) from error
    if core.pretokenizer not in PRETOKENIZERS:
        # tiktoken drops what a pattern does not match; here that is a pretoken of its own.
        pattern = rf"(?:{pattern})|(?:(?!{pattern})[\s\S])+"
    return tiktoken.Encoding(
        name,
        pat_str=pattern,
        mergeable_ranks=dict(core.tokens()),
        special_tokens=dict(core.special_tokens),
    )


def to_hugging_face(core: _Core) -> tokenizers.Tokenizer:
    """The same tokenizer as a ``tokenizers.Tokenizer``.

    Raises:
        VocabularyError: Hugging Face has no exact counterpart.
        MissingDependencyError: tokenizers is not installed.
    """
    with needed_by("to_huggingface", "pip install tokenizers"):
        import tokenizers
    ranks = [rank for *_, rank in core.merges()]
    if len(set(ranks)) < len(ranks):
        msg = (
            "cannot make a Hugging Face tokenizer: in this vocabulary of ranks alone some tokens "
            "merge in several ways of one rank, which Hugging Face would put in an order"
        )
        raise VocabularyError(msg)
    return tokenizers.Tokenizer.from_str(core.to_json())


def to_transformers(core: _Core, roles: Roles) -> transformers.PreTrainedTokenizerFast:
    """The same tokenizer as transformers wraps it.

    Raises:
        VocabularyError: Hugging Face has no exact counterpart.
        MissingDependencyError: transformers is not installed.
    """
    with needed_by("to_transformers", "pip install transformers"):
        import transformers
    wrap: Any = transformers.PreTrainedTokenizerFast  # not typed
    made: transformers.PreTrainedTokenizerFast = wrap(
        tokenizer_object=to_hugging_face(core), clean_up_tokenization_spaces=False, **roles
    )
    return made
