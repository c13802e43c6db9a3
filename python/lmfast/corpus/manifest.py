"""The ``manifest.json`` of a shard folder, checked before it is used.

A manifest may come from anywhere, so counts, types and file names are refused unless they are
exactly what the writer produces.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from lmfast.errors import CorpusError, FileError, MissingFileError

MANIFEST_FILE = "manifest.json"
TRAIN_FOLDER, HELD_OUT_FOLDER = "train", "held_out"
"""Where the documents are that are trained on, and those held out, where some are."""
FORMAT = "lmfast.shards"
VERSION = 1
ITEM_SIZE = {"uint16": 2, "uint32": 4}

Table = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardEntry:
    """One file of token ids."""

    file: str
    tokens: int
    documents: int
    """Documents that start in this shard."""
    bytes: int
    """Bytes of source text, without separators."""
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A whole shard folder."""

    identity: str
    """Identity of the tokenizer that wrote the ids, as hex."""
    vocab_size: int
    dtype: Literal["uint16", "uint32"]
    documents: int
    tokens: int
    bytes: int
    """Bytes of source text, without separators."""
    shards: tuple[ShardEntry, ...]
    document_starts_file: str
    document_starts_sha256: str


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a shard folder.

    Raises:
        MissingFileError: There is no such folder, or it has no manifest.
        FileError: The manifest cannot be read.
        CorpusError: The manifest is not one, is of another version, or contradicts itself.
    """
    path = folder / MANIFEST_FILE
    try:
        is_folder = folder.is_dir()
    except OSError as error:
        msg = f"cannot open the shards {folder}: {error.strerror}"
        raise FileError(msg) from error
    if not is_folder:
        msg = f"cannot open the shards {folder}: there is no such folder"
        raise MissingFileError(msg)
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text)
    except FileNotFoundError as error:
        inner = [folder / name for name in (TRAIN_FOLDER, HELD_OUT_FOLDER)]
        found = [str(shards) for shards in inner if (shards / MANIFEST_FILE).exists()]
        if found:
            why = f"the shards are in {' and '.join(found)}"
        else:
            why = "it is not a shard folder, or its writing was not finished"
        msg = f"cannot open the shards {folder}: it has no {MANIFEST_FILE}; {why}"
        raise MissingFileError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise FileError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"cannot read {path}: it is not JSON ({error})"
        raise CorpusError(msg) from error
    return _Checker(path).manifest(table)


class _Checker:
    """Turns a JSON value into a ``Manifest``; every refusal names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def manifest(self, value: object) -> Manifest:
        table = self.table(value, "the manifest")
        if table.get("format") != FORMAT:
            self.refuse("format", table.get("format"), f"it must be {FORMAT!r}")
        if self.count(table, "version") != VERSION:
            accepted = f"this lmfast reads version {VERSION}"
            self.refuse("version", table["version"], accepted)
        tokenizer = self.table(table.get("tokenizer"), "tokenizer")
        starts = self.table(table.get("document_starts"), "document_starts")
        dtype = table.get("dtype")
        if dtype not in ("uint16", "uint32"):
            self.refuse("dtype", dtype, "it must be 'uint16' or 'uint32'")
        entries = table.get("shards")
        if not isinstance(entries, list):
            self.refuse("shards", entries, "it must be a list")
        manifest = Manifest(
            identity=self.sha256(tokenizer, "identity", "tokenizer."),
            vocab_size=self.count(tokenizer, "vocab_size", "tokenizer."),
            dtype=cast('Literal["uint16", "uint32"]', dtype),
            documents=self.count(table, "documents"),
            tokens=self.count(table, "tokens"),
            bytes=self.count(table, "bytes"),
            shards=tuple(self.shard(e, i) for i, e in enumerate(cast("list[object]", entries))),
            document_starts_file=self.file(starts, "document_starts."),
            document_starts_sha256=self.sha256(starts, "sha256", "document_starts."),
        )
        self.totals(manifest)
        return manifest

    def totals(self, manifest: Manifest) -> None:
        for key in ("tokens", "documents", "bytes"):
            found = getattr(manifest, key)
            total = sum(getattr(shard, key) for shard in manifest.shards)
            if found != total:
                self.refuse(key, found, f"its shards have {total} in all")
        if manifest.vocab_size > 256 ** ITEM_SIZE[manifest.dtype]:
            accepted = f"{manifest.dtype} holds {256 ** ITEM_SIZE[manifest.dtype]} ids at most"
            self.refuse("tokenizer.vocab_size", manifest.vocab_size, accepted)
        names = [shard.file for shard in manifest.shards]
        if len(set(names)) != len(names):
            self.refuse("shards", names, "each file must be named once")

    def shard(self, value: object, index: int) -> ShardEntry:
        where = f"shards[{index}]."
        table = self.table(value, where[:-1])
        return ShardEntry(
            file=self.file(table, where),
            tokens=self.count(table, "tokens", where),
            documents=self.count(table, "documents", where),
            bytes=self.count(table, "bytes", where),
            sha256=self.sha256(table, "sha256", where),
        )

    def table(self, value: object, where: str) -> Table:
        if not isinstance(value, dict):
            self.refuse(where, value, "it must be an object")
        return cast("Table", value)

    def count(self, table: Table, key: str, where: str = "") -> int:
        value = table.get(key)
        if type(value) is not int or value < 0:
            self.refuse(where + key, value, "it must be a whole number, at least 0")
        return cast("int", value)

    def sha256(self, table: Table, key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
            self.refuse(where + key, value, "it must be 64 lower-case hex digits")
        return cast("str", value)

    def file(self, table: Table, where: str) -> str:
        value = table.get("file")
        # A bare name: nothing that leads out of the folder on any system, and not hidden.
        plain = r"[A-Za-z0-9_-][A-Za-z0-9._-]{,99}"
        if not isinstance(value, str) or not re.fullmatch(plain, value):
            self.refuse(where + "file", value, "it must be the plain name of a file in the folder")
        return cast("str", value)

    def refuse(self, key: str, found: object, accepted: str) -> None:
        shown = repr(found)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        msg = f"cannot use {self.path}: {key} is {shown}; {accepted}"
        raise CorpusError(msg)
