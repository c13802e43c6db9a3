"""Tokenizers in files, in caches and in other libraries: found, read, written, handed over."""

from lmfast.formats.methods import FileMethods
from lmfast.formats.pretokenizers import PRETOKENIZERS, pretokenizer_argument
from lmfast.formats.roles import Roles

__all__ = ["PRETOKENIZERS", "FileMethods", "Roles", "pretokenizer_argument"]
