"""Advice of the library, which names Python's arguments, as the command line's options."""

import re

_OPTIONS = (
    (re.compile(r"\(allow_fewer\)"), "(--allow-fewer)"),
    (
        re.compile(
            r"pass allowed_special=\{.*\} to encode it as a special token, or "
            r"disallowed_special=\(\) to encode it as ordinary text$",
            re.DOTALL,
        ),
        "pass --allow-special to encode special tokens as such ('inspect --text' shows what they "
        "are as text)",
    ),
)


def in_options(message: str) -> str:
    """The message of an error with options in the place of arguments."""
    for arguments, options in _OPTIONS:
        message = arguments.sub(options, message)
    return message
