"""The files that tiktoken publishes: looked for where it keeps them, checked, else downloaded."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from lmfast.errors import FileError, MissingFileError
from lmfast.files import write_whole

_TIMEOUT_S = 60


@dataclass(frozen=True)
class PublishedFile:
    """A file of tiktoken's."""

    address: str
    sha256: str


_HOST = "https://openaipublic.blob.core.windows.net"
FILES: dict[str, PublishedFile] = {
    "vocab.bpe": PublishedFile(
        f"{_HOST}/gpt-2/encodings/main/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
    "encoder.json": PublishedFile(
        f"{_HOST}/gpt-2/encodings/main/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    "r50k_base": PublishedFile(
        f"{_HOST}/encodings/r50k_base.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    "p50k_base": PublishedFile(
        f"{_HOST}/encodings/p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "cl100k_base": PublishedFile(
        f"{_HOST}/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": PublishedFile(
        f"{_HOST}/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""Where tiktoken has its files from, and what they must hold."""


@contextmanager
def published_files(*names: str) -> Iterator[list[Path]]:
    """Where the files of these names are, checked; those that are not to be kept are gone after.

    Raises:
        MissingFileError: A file is not there, and cannot be downloaded.
        FileError: It cannot be kept, or what was downloaded is damaged.
    """
    with tempfile.TemporaryDirectory() as unkept:
        yield [_file(FILES[name], Path(unkept)) for name in names]


def _file(published: PublishedFile, unkept: Path) -> Path:
    """Where the file is, checked; below ``unkept`` where the user keeps none."""
    folder = _cache_folder()
    path = (unkept if folder is None else folder) / _cache_name(published.address)
    if path.is_file() and _sha256(path.read_bytes()) == published.sha256:
        return path
    content = _download(published, path)
    if _sha256(content) != published.sha256:
        msg = f"what {published.address} gave has another checksum than {published.sha256}"
        raise FileError(msg)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {path.parent}: {error.strerror}"
        raise FileError(msg) from error
    write_whole(path, content)
    return path


def _cache_folder() -> Path | None:
    """The folder by the rule of tiktoken; None where an empty variable says to keep nothing."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _cache_name(address: str) -> str:
    return hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()


def _download(published: PublishedFile, path: Path) -> bytes:
    try:
        with urlopen(published.address, timeout=_TIMEOUT_S) as response:
            content: bytes = response.read()
    except (OSError, ValueError) as error:
        damaged = ", and the one that is there has another checksum" if path.is_file() else ""
        msg = (
            f"cannot download {published.address}: {error}{damaged}. Without a network, get it "
            f"elsewhere and save it as {_cache_name(published.address)} in a folder that "
            "TIKTOKEN_CACHE_DIR names"
        )
        raise MissingFileError(msg) from error
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
