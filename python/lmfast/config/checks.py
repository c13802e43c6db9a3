"""The checks that settings share; each names the key and the value it refuses."""

import math

from lmfast.errors import ConfigError


def require(condition: bool, key: str, found: object, accepted: str) -> None:
    """Raise a ``ConfigError`` that names ``key``, what was ``found`` and what is ``accepted``."""
    if not condition:
        msg = f"{key} = {found!r} is not usable: {accepted}"
        raise ConfigError(msg)


def require_positive(section: str, **values: float) -> None:
    """Refuse every value that is not greater than zero and finite."""
    for name, value in values.items():
        accepted = "it must be finite and greater than 0"
        require(0 < value < math.inf, f"{section}.{name}", value, accepted)


def require_text(key: str, found: str) -> None:
    """Refuse a name that is empty, or that no file of settings can hold: they are UTF-8."""
    strange = any(c == "\0" or "\ud800" <= c <= "\udfff" for c in found)
    require(found != "" and not strange, key, found, "it must be a name in UTF-8")
