"""Tokens written as text that people can read and programs can read back."""

import re

from lmfast.errors import TextError

_ESCAPE = re.compile(rb"\\(?:(\\)|x([0-9a-f]{2}))|\\")


def escaped(token: bytes) -> str:
    r"""``token`` as printable text that stands for these bytes alone.

    Printable characters and spaces stand for themselves, a backslash for two, and every other byte
    is ``\x`` with two hexadecimal digits: control characters, invisible ones, and what is no
    UTF-8.
    """
    text = token.decode("utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if character == "\\":
        return r"\\"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def unescaped(text: str) -> bytes:
    """The bytes that ``escaped`` wrote as ``text``.

    Raises:
        TextError: A backslash stands for nothing, or the text has a lone surrogate.
    """

    def meant(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return b"\\"
        if found[2] is None:
            msg = rf"cannot read {text!r} as a token: a backslash is written \\, a byte \x and two"
            msg += " hexadecimal digits in lower case"
            raise TextError(msg)
        return bytes.fromhex(found[2].decode())

    try:
        written = text.encode()
    except UnicodeEncodeError as error:
        msg = f"cannot read {text!r} as a token: it has a lone surrogate"
        raise TextError(msg) from error
    return _ESCAPE.sub(meant, written)
