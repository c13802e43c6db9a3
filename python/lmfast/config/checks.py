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
