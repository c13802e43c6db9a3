"""Advice of the library, which names Python's arguments, as the command line's options."""

import re

_OPTIONS = (
    (re.compile(r"\(allow_fewer\)"), "(--allow-fewer)"),
    (re.compile(r"\bmin_count dropped all\b"), "--min-count dropped all"),
    (re.compile(r"\bmax_token_bytes=(?=\d)"), "--max-token-bytes "),
    (
        re.compile(r"by on_error=\"skip\", where a call takes it$"),
        "by --on-error skip, where a command takes it",
    ),
    (
        re.compile(r"which train_from_counts and PretokenCounts\.load take$"),
        "which 'train --from-counts' and 'merge-counts' take",
    ),
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
