"""Every error that lmfast raises on purpose.

    LmfastError
    ├── ConfigError             ValueError         a setting is unknown or unusable
    ├── VocabularyError         ValueError         a vocabulary cannot be built or read
    ├── SpecialTokenError       ValueError         text holds a special token that was not allowed
    ├── UnknownTokenError       KeyError           an id or token the vocabulary lacks
    ├── TextError               ValueError         text or bytes that are not UTF-8
    ├── CorpusError             ValueError         a source or a shard holds something it must not
    ├── MismatchError           ValueError         two things that do not belong together
    ├── CheckpointError         ValueError         a checkpoint cannot be used
    ├── DivergenceError         FloatingPointError a loss or a gradient that is not finite
    ├── HardwareError           ValueError         a device that is not known or not there
    ├── InputTypeError          TypeError          an argument of the wrong type
    ├── MissingDependencyError  ImportError        an extra that is not installed
    └── FileError               OSError            a file cannot be read or written
        └── MissingFileError    FileNotFoundError  a file is not there

Each also inherits the built-in that a caller would expect. A message says what could not be done,
where, what was found, and what is accepted.
"""

import contextlib
from collections.abc import Iterator


class LmfastError(Exception):
    """The base of all errors that lmfast raises on purpose."""

    def __str__(self) -> str:
        # KeyError would show the repr of its message, quotes and escapes included.
        return Exception.__str__(self)


class ConfigError(LmfastError, ValueError):
    """A setting is unknown, ill-typed or contradicts another."""


class VocabularyError(LmfastError, ValueError):
    """A vocabulary cannot be built, read or used as asked."""


class SpecialTokenError(LmfastError, ValueError):
    """Text holds a special token that was not allowed."""


class UnknownTokenError(LmfastError, KeyError):
    """An id or a token that the vocabulary does not have."""


class TextError(LmfastError, ValueError):
    """Text that UTF-8 cannot write, such as a lone surrogate, or bytes that are not UTF-8."""


class CorpusError(LmfastError, ValueError):
    """A source or a shard holds something it must not."""


class MismatchError(LmfastError, ValueError):
    """Two things that do not belong together, such as shards and another tokenizer."""


class CheckpointError(LmfastError, ValueError):
    """A checkpoint cannot be used."""


class DivergenceError(LmfastError, FloatingPointError):
    """A loss or a gradient that is not finite."""


class HardwareError(LmfastError, ValueError):
    """A device that is not known or not there."""


class InputTypeError(LmfastError, TypeError):
    """An argument of the wrong type."""


class MissingDependencyError(LmfastError, ImportError):
    """An extra that is not installed."""


class FileError(LmfastError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file is not there."""


@contextlib.contextmanager
def needed_by(what: str, install: str) -> Iterator[None]:
    """Turn a failed import in a ``with`` into advice: what needs the package, what to install.

    Raises:
        MissingDependencyError: A package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        msg = f"{what} needs {error.name}, which is not installed: {install}"
        raise MissingDependencyError(msg) from error
