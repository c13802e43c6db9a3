"""The Rust half of lmfast; ``lmfast.Tokenizer`` and ``lmfast.train_bpe`` are its Python face."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str

Path: TypeAlias = str | PathLike[str]
Progress: TypeAlias = Callable[[int], object] | None
Special: TypeAlias = Literal["all"] | Collection[str]

@final
class Tokenizer:
    @staticmethod
    def from_json(text: str) -> Tokenizer: ...
    @staticmethod
    def load_json(path: Path) -> Tokenizer: ...
    @staticmethod
    def load_tiktoken(
        path: Path, pretokenizer: str | None, special_tokens: Mapping[str, int]
    ) -> Tokenizer: ...
    @staticmethod
    def load_gpt2(
        folder: Path, pretokenizer: str | None, special_tokens: Iterable[str]
    ) -> Tokenizer: ...
    @staticmethod
    def from_ranks(
        ranks: Mapping[bytes, int],
        pretokenizer: str | None,
        special_tokens: Mapping[str, int],
    ) -> Tokenizer: ...
    def to_json(self) -> str: ...
    def save_json(self, path: Path) -> None: ...
    def save_tiktoken(self, path: Path) -> None: ...
    def save_gpt2(self, folder: Path) -> None: ...
    @property
    def n_vocab(self) -> int: ...
    @property
    def identity(self) -> str: ...
    @property
    def pretokenizer(self) -> str | None: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def special_tokens(self) -> list[tuple[str, int]]: ...
    def tokens(self) -> list[tuple[bytes, int]]: ...
    def merges(self) -> list[tuple[int, int]]: ...
    def token_bytes(self, id: int) -> bytes: ...
    def token_id(self, token: str | bytes) -> int: ...
    def encode(
        self, text: str | bytes, allowed_special: Special, disallowed_special: Special
    ) -> list[int]: ...
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        allowed_special: Special,
        disallowed_special: Special,
        threads: int | None,
        on_progress: Progress,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes: ...

@final
class PretokenCounts:
    def __new__(
        cls, pretokenizer: str | None, special_tokens: Iterable[str]
    ) -> PretokenCounts: ...
    def __len__(self) -> int: ...
    def add_texts(self, texts: Sequence[str], threads: int | None) -> None: ...
    def add_files(
        self, files: Sequence[Path], threads: int | None, on_progress: Progress
    ) -> None: ...
    def train(
        self,
        vocab_size: int,
        tie_break: str,
        min_frequency: int,
        max_token_bytes: int | None,
        allow_fewer: bool,
        on_progress: Progress,
    ) -> Tokenizer: ...

def expand_sources(paths: Sequence[Path]) -> list[PathLike[str]]: ...
def write_shards(
    tokenizer: Tokenizer,
    files: Sequence[Path],
    folder: Path,
    held_out: tuple[Path, int] | None,
    separator: str,
    max_document_bytes: int | None,
    shard_tokens: int,
    threads: int | None,
    on_progress: Progress,
) -> tuple[tuple[int, int, int], tuple[int, int, int] | None]: ...
