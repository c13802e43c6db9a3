"""The pretokenizers that users name."""

import re
from pathlib import Path

from lmfast._lmfast import pretokenizer_names
from lmfast.errors import VocabularyError

PRETOKENIZERS = tuple(pretokenizer_names())
"""The names of those that lmfast knows."""


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


def named_for(path: Path, pretokenizer: str | None) -> str | None:
    """The same, for a file that does not say how text is cut.

    Raises:
        VocabularyError: It is not given either, or not known.
    """
    if pretokenizer is None:
        msg = (
            f"{path} does not say how text is cut, and a guess would give wrong ids: pass "
            f"pretokenizer= {', '.join(PRETOKENIZERS)}, a regular expression, or none"
        )
        raise VocabularyError(msg)
    return pretokenizer_argument(pretokenizer)
