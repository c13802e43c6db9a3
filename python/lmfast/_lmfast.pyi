"""The Rust half of lmfast; ``lmfast.Tokenizer`` and ``lmfast.train_bpe`` are its Python face."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PretokenCounts",
    "Sources",
    "Tokenizer",
    "__version__",
    "character_class",
    "expand_sources",
    "flatten_ids",
    "for_each_text",
    "pretokenizer_names",
    "write_shards",
]

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Progress: TypeAlias = Callable[[int], object] | None
_Text: TypeAlias = str | bytes | bytearray | memoryview | NDArray[np.uint8]
_Ids: TypeAlias = Iterable[int] | NDArray[np.integer]
_Special: TypeAlias = Literal["all"] | Collection[str]

@final
class Tokenizer:
    @staticmethod
    def from_json(text: str) -> Tokenizer: ...
    @staticmethod
    def load_json(path: _Path) -> Tokenizer: ...
    @staticmethod
    def load_tiktoken(
        path: _Path, pretokenizer: str | None, special_tokens: Mapping[str, int]
    ) -> Tokenizer: ...
    @staticmethod
    def kind_of_file(
        path: _Path,
    ) -> Literal["tokenizer.json", "tekken.json", "tiktoken", "gpt2"]: ...
    @staticmethod
    def load_tekken(path: _Path) -> Tokenizer: ...
    @staticmethod
    def load_gpt2(
        vocab: _Path,
        merges: _Path,
        pretokenizer: str | None,
        special_tokens: Iterable[str],
        more_tokens: Mapping[str, int],
    ) -> Tokenizer: ...
    @staticmethod
    def from_ranks(
        ranks: Mapping[bytes, int],
        pretokenizer: str | None,
        special_tokens: Mapping[str, int],
    ) -> Tokenizer: ...
    def to_json(self) -> str: ...
    def save_json(self, path: _Path) -> None: ...
    def save_tiktoken(self, path: _Path) -> None: ...
    def check_ranks(self) -> None: ...
    def save_gpt2(self, folder: _Path) -> None: ...
    @property
    def n_vocab(self) -> int: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def template(self) -> tuple[list[int], list[int]]: ...
    @property
    def identity(self) -> str: ...
    @property
    def pretokenizer(self) -> str | None: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def pretokenizer_engine(self) -> str: ...
    @property
    def unicode_version(self) -> str: ...
    @property
    def special_tokens(self) -> list[tuple[str, int]]: ...
    @property
    def added_tokens(self) -> list[tuple[str, int, list[bool]]]: ...
    @property
    def normalizer(self) -> list[str]: ...
    @property
    def keeps_text(self) -> bool: ...
    def tokens(self) -> list[tuple[bytes, int]]: ...
    def merges(self) -> list[tuple[int, int, int, int]]: ...
    @property
    def whole_pretokens_first(self) -> bool: ...
    def pretokens(self, text: _Text) -> list[bytes]: ...
    def truncated_to(self, n_vocab: int) -> Tokenizer: ...
    def token_bytes(self, id: int) -> bytes: ...
    def token_id(self, token: _Text) -> int: ...
    def encode(
        self, text: _Text, allowed_special: _Special, disallowed_special: _Special
    ) -> list[int]: ...
    def encode_to_numpy(
        self, text: _Text, allowed_special: _Special, disallowed_special: _Special
    ) -> NDArray[np.uint32]: ...
    def count_tokens(
        self, text: _Text, allowed_special: _Special, disallowed_special: _Special
    ) -> int: ...
    def truncate(
        self,
        text: _Text,
        max_tokens: int,
        left: bool,
        allowed_special: _Special,
        disallowed_special: _Special,
    ) -> str | bytes: ...
    def spans(
        self, text: _Text, ids: _Ids, characters: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def encode_batch(
        self,
        documents: Iterable[_Text],
        allowed_special: _Special,
        disallowed_special: _Special,
        threads: int | None,
        on_progress: _Progress,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def encode_documents(
        self,
        text: _Text,
        separator: str,
        allowed_special: _Special,
        disallowed_special: _Special,
        threads: int | None,
        on_progress: _Progress,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def decode_bytes(self, ids: _Ids, skip_special: bool) -> bytes: ...
    def decode_batch(
        self,
        ids: NDArray[np.uint32],
        offsets: NDArray[np.uint64],
        skip_special: bool,
        threads: int | None,
    ) -> list[bytes]: ...
    def spelling(self, id: int) -> str: ...
    def id_of_spelling(self, spelling: str) -> int | None: ...
    def spellings(self) -> list[tuple[str, int]]: ...

@final
class PretokenCounts:
    @staticmethod
    def count(
        sources: Sources,
        pretokenizer: str | None,
        special_tokens: Iterable[str],
        min_count: int,
        memory_budget: int | None,
        temporary_folder: _Path | None,
        threads: int | None,
        on_progress: _Progress,
    ) -> PretokenCounts: ...
    @staticmethod
    def load(
        files: Sequence[_Path], min_count: int, temporary_folder: _Path | None
    ) -> PretokenCounts: ...
    def __len__(self) -> int: ...
    @property
    def text_bytes(self) -> int: ...
    @property
    def occurrences(self) -> int: ...
    @property
    def dropped(self) -> tuple[int, int, int]: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def special_tokens(self) -> list[str]: ...
    def items(self) -> list[tuple[bytes, int]]: ...
    def save(self, path: _Path) -> None: ...
    def train(
        self,
        vocab_size: int,
        tie_break: str,
        min_frequency: int,
        max_token_bytes: int | None,
        allow_fewer: bool,
        start: Tokenizer | None,
        memory_budget: int | None,
        temporary_folder: _Path | None,
        threads: int | None,
        on_progress: _Progress,
    ) -> tuple[Tokenizer, tuple[list[int], list[int], list[int]], int]: ...

def for_each_text(
    files: Sequence[_Path],
    first: Tokenizer,
    others: Sequence[Tokenizer],
    on_texts: Callable[[list[tuple[str, bool]]], object],
) -> None: ...
def flatten_ids(lists: Iterable[_Ids]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
def character_class(class_: str) -> list[tuple[int, int]]: ...
def pretokenizer_names() -> list[str]: ...

@final
class Sources:
    def __new__(
        cls,
        inputs: Sequence[tuple[_Path | None, Iterator[object] | None]],
        text_field: str,
        on_error: str,
    ) -> Sources: ...
    @property
    def skipped(self) -> tuple[list[tuple[str, int]], str | None]: ...

def expand_sources(paths: Sequence[_Path]) -> list[PathLike[str]]: ...
def write_shards(
    tokenizer: Tokenizer,
    sources: Sources,
    folder: _Path,
    held_out: _Path | None,
    held_out_one_in: int | None,
    separator: str,
    max_document_bytes: int | None,
    shard_tokens: int,
    threads: int | None,
    on_progress: _Progress,
) -> tuple[tuple[int, int, int], tuple[int, int, int] | None]: ...
