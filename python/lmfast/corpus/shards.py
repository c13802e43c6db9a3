"""Read a folder of token shards as one long array of ids, through memory maps.

The writer is in Rust; ``manifest.json`` is the contract between the two.
"""

import bisect
import hashlib
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmfast.checks import as_path
from lmfast.corpus.manifest import ITEM_SIZE, Manifest, read_manifest
from lmfast.errors import CorpusError, FileError, MissingFileError
from lmfast.tokenizer import TOKENIZER_FILE


class TokenShards:
    """The token ids of a shard folder, in corpus order. Make one with ``TokenShards.open``."""

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        shards: list[NDArray[Any]],
        document_starts: NDArray[np.uint64],
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.document_starts = document_starts
        """uint64 [documents + 1]: index of the first token of each document, then ``tokens``."""
        self._shards = shards
        self._starts = [0, *itertools.accumulate(entry.tokens for entry in manifest.shards)]

    @classmethod
    def open(cls, path: str | Path, verify: bool = False) -> "TokenShards":
        """The shards in the folder ``path``.

        File sizes are always compared with the manifest; ``verify`` also reads every byte and
        checks checksums, the order of the document starts and the range of the ids.

        Raises:
            MissingFileError: The folder, its manifest or one of its files is not there.
            FileError: A file cannot be read.
            CorpusError: A file's size or content is not what the manifest says.
            InputTypeError: ``path`` is no path.
        """
        folder = as_path(path)
        manifest = read_manifest(folder)
        arrays = [
            _map(folder / entry.file, np.dtype(f"<u{ITEM_SIZE[manifest.dtype]}"), entry.tokens)
            for entry in manifest.shards
        ]
        starts_path = folder / manifest.document_starts_file
        starts = _map(starts_path, np.dtype("<u8"), manifest.documents + 1)
        if starts[0] != 0 or starts[-1] != manifest.tokens:
            msg = (
                f"cannot use {starts_path}: it runs from {starts[0]} to {starts[-1]}; "
                f"it must run from 0 to the {manifest.tokens} tokens of the manifest"
            )
            raise CorpusError(msg)
        shards = cls(folder, manifest, arrays, starts)
        if verify:
            shards._verify()
        return shards

    @property
    def tokens(self) -> int:
        """Token ids in all shards."""
        return self.manifest.tokens

    @property
    def documents(self) -> int:
        """Documents in all shards."""
        return self.manifest.documents

    @property
    def bytes(self) -> int:
        """Bytes of the text that was encoded, without separators."""
        return self.manifest.bytes

    @property
    def identity(self) -> str:
        """Identity of the tokenizer that wrote the ids, as hex."""
        return self.manifest.identity

    @property
    def vocab_size(self) -> int:
        """Ids that the tokenizer can emit; every id here is below it."""
        return self.manifest.vocab_size

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the checksums of all shards: the same ids in the same order, as hex."""
        checksums = "".join(entry.sha256 for entry in self.manifest.shards)
        return hashlib.sha256(checksums.encode()).hexdigest()

    @property
    def tokenizer_path(self) -> Path:
        """The copy of the tokenizer in the folder."""
        return self.path / TOKENIZER_FILE

    def read(self, start: int, length: int) -> NDArray[Any]:
        """A copy of the ids ``start .. start + length``, uint16 or uint32 [length].

        Raises:
            CorpusError: The range does not lie within ``0 .. tokens``.
        """
        if start < 0 or length < 0 or start + length > self.tokens:
            msg = (
                f"cannot read tokens {start}..{start + length} of {self.path}: "
                f"it holds {self.tokens}"
            )
            raise CorpusError(msg)
        result = np.empty(length, dtype=self.manifest.dtype)
        shard = bisect.bisect_right(self._starts, start) - 1
        filled = 0
        while filled < length:
            offset = start + filled - self._starts[shard]
            piece = self._shards[shard][offset : offset + length - filled]
            result[filled : filled + len(piece)] = piece
            filled += len(piece)
            shard += 1
        return result

    def _verify(self) -> None:
        manifest = self.manifest
        expected = {entry.file: entry.sha256 for entry in manifest.shards}
        expected[manifest.document_starts_file] = manifest.document_starts_sha256
        for name, sha256 in expected.items():
            with (self.path / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != sha256:
                msg = (
                    f"cannot use {self.path / name}: its SHA-256 is {found}, "
                    f"the manifest says {sha256}"
                )
                raise CorpusError(msg)
        if (self.document_starts[1:] < self.document_starts[:-1]).any():
            msg = f"cannot use {self.path / manifest.document_starts_file}: it does not ascend"
            raise CorpusError(msg)
        for entry, ids in zip(manifest.shards, self._shards, strict=True):
            check_ids(ids, self.vocab_size, self.path / entry.file)


def check_ids(ids: NDArray[Any], vocab_size: int, where: Path) -> None:
    """Refuse ids that the tokenizer does not have.

    Raises:
        CorpusError: An id is not below ``vocab_size``.
    """
    if len(ids) and ids.max() >= vocab_size:
        msg = f"cannot use {where}: it holds id {ids.max()}, the vocabulary has {vocab_size}"
        raise CorpusError(msg)


def _map(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """``count`` items of ``path``, read-only and mapped."""
    if not path.is_file():
        msg = f"cannot open {path}: the manifest names it, but there is no such file"
        raise MissingFileError(msg)
    found, expected = path.stat().st_size, count * dtype.itemsize
    if found != expected:
        kind = "cut short" if found < expected else "too long"
        msg = f"cannot use {path}: it is {kind}, {found} bytes where the manifest says {expected}"
        raise CorpusError(msg)
    if count == 0:
        return np.empty(0, dtype)  # an empty file cannot be mapped
    try:
        return np.memmap(path, dtype=dtype, mode="r")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise FileError(msg) from error
