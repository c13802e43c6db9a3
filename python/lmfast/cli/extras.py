"""What commands say when an extra is not installed."""

from contextlib import AbstractContextManager

from lmfast.errors import needed_by


def needs_extra(extra: str) -> AbstractContextManager[None]:
    """Turn a failed import in a ``with`` into the advice to install an extra of lmfast.

    Raises:
        MissingDependencyError: A package is not installed.
    """
    return needed_by("this command", f"install lmfast[{extra}]")
