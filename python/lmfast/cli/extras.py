"""What commands say when an extra is not installed."""

import contextlib
from collections.abc import Iterator

from lmfast.errors import MissingDependencyError


@contextlib.contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a failed import in a ``with`` into the advice to install an extra of lmfast.

    Raises:
        MissingDependencyError: A package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        msg = f"this command needs {error.name}, which is not installed: install lmfast[{extra}]"
        raise MissingDependencyError(msg) from error
