"""Arguments that are what they should be, or an error that names them."""

import operator
from os import PathLike
from pathlib import Path

from lmfast.errors import ConfigError, InputTypeError


def as_path(path: str | PathLike[str]) -> Path:
    """``path``, if it is one.

    Raises:
        InputTypeError: It is something else.
    """
    try:
        return Path(path)
    except TypeError as error:
        msg = f"a path must be str or os.PathLike, not {type(path).__name__}"
        raise InputTypeError(msg) from error


def whole(what: str, value: int, *, least: int, most: int | None = None) -> int:
    """``value``, if it is a whole number in range.

    Raises:
        ConfigError: It is out of range.
        InputTypeError: It is no whole number.
    """
    try:
        number = operator.index(value)
    except TypeError as error:
        msg = f"{what} must be a whole number, not {type(value).__name__}"
        raise InputTypeError(msg) from error
    if number < least or (most is not None and number > most):
        end = "on" if most is None else f"to {most}"
        msg = f"{what} must be a whole number from {least} {end}, not {number}"
        raise ConfigError(msg)
    return number
