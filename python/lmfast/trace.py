"""What training counted, merge by merge."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmfast._lmfast import Tokenizer as _Core
from lmfast.arrow import arrow_file, require_pyarrow
from lmfast.checks import as_path
from lmfast.errors import ConfigError
from lmfast.files import write_whole
from lmfast.sources import Skipped, StrPath
from lmfast.token_text import escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedMerge:
    """One merge of a training, and the corpus after it."""

    rank: int
    id: int
    """The new token."""
    left: int
    right: int
    left_bytes: bytes
    right_bytes: bytes
    token: bytes
    count: int
    """How often the pair occurred when it merged, overlaps included."""
    applied: int
    """How often it merged: less than ``count`` where places overlap (``aaa``)."""
    ties: int
    """How many pairs had this count, itself included: 1 where the tie-break had no say."""
    vocab_size: int
    """Tokens after this merge, special tokens included."""
    tokens: int
    """Tokens that the corpus comes to after this merge."""
    bytes_per_token: float
    """Bytes of the corpus for each of them."""

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON, bytes as ``lmfast.token_text.escaped`` writes them."""
        row = {name: getattr(self, name) for name in TracedMerge.__slots__}
        return {name: escaped(x) if isinstance(x, bytes) else x for name, x in row.items()}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrainingRecord:
    """What training counted."""

    text_bytes: int
    """Bytes of the corpus, the text of special tokens left out."""
    counts: list[int]
    """How often the pair of each merge occurred, overlaps included, in rank order."""
    applied: list[int]
    """How often each merge then applied: less than its count where places overlap (``aaa``)."""
    ties: list[int]
    """How many pairs had the count of each merge when it merged, itself included."""
    start_tokens: int
    """Tokens of the corpus before the first of these merges: its bytes, or what the vocabulary
    that was extended made of it."""
    skipped: Skipped | None
    """What of the corpus could not be used, with ``on_error="skip"``; None where it was counted
    into files, which do not say."""
    core: _Core = field(compare=False)
    """The vocabulary that came of it."""

    @classmethod
    def of(
        cls,
        core: _Core,
        text_bytes: int,
        start_tokens: int,
        merges: tuple[list[int], list[int], list[int]],
        skipped: Skipped | None,
    ) -> "TrainingRecord":
        """The record of counts, applied and ties."""
        counts, applied, ties = merges
        return cls(
            text_bytes=text_bytes,
            counts=counts,
            applied=applied,
            ties=ties,
            start_tokens=start_tokens,
            core=core,
            skipped=skipped,
        )

    @property
    def tokens(self) -> int:
        """Tokens that the corpus comes to: a merge that applies puts one in the place of two."""
        return self.start_tokens - sum(self.applied)

    @property
    def first_rank(self) -> int:
        """The rank of the first of these merges: 0, or how many the extended vocabulary had."""
        return len(self.core.merges()) - len(self.counts)

    def bytes_per_token(self, merges: int) -> float:
        """Bytes per token on the corpus with the first ``merges`` of these merges alone.

        The merges of a smaller vocabulary are the first ones of a larger, so one training tells of
        every size.
        """
        return self.text_bytes / (self.start_tokens - sum(self.applied[:merges]))

    def truncated_to(self, core: _Core) -> "TrainingRecord | None":
        """The record of a training that had stopped at ``core``, which has fewer merges.

        None where ``core`` ends before the first of these merges.
        """
        merges = len(core.merges()) - self.first_rank
        if merges < 0:
            return None
        return dataclasses.replace(
            self,
            counts=self.counts[:merges],
            applied=self.applied[:merges],
            ties=self.ties[:merges],
            core=core,
        )

    def __repr__(self) -> str:
        # The lists have a number for each merge.
        return (
            f"TrainingRecord({len(self.counts)} merges, {self.text_bytes} bytes, "
            f"{self.tokens} tokens)"
        )

    def trace(self) -> Iterator[TracedMerge]:
        """The merges in the order in which they were found, made one by one."""
        merges = self.core.merges()[self.first_rank :]
        bytes_of = {token_id: token for token, token_id in self.core.tokens()}
        vocab_size = len(bytes_of) + len(self.core.special_tokens) - len(merges)
        tokens = self.start_tokens
        rows = zip(merges, self.counts, self.applied, self.ties, strict=True)
        for (left, right, merged, rank), count, applied, ties in rows:
            vocab_size += 1
            tokens -= applied
            yield TracedMerge(
                rank=rank,
                id=merged,
                left=left,
                right=right,
                left_bytes=bytes_of[left],
                right_bytes=bytes_of[right],
                token=bytes_of[merged],
                count=count,
                applied=applied,
                ties=ties,
                vocab_size=vocab_size,
                tokens=tokens,
                bytes_per_token=self.text_bytes / tokens,
            )

    def write_trace(self, path: StrPath) -> None:
        r"""Write the trace, a merge a row, whole or not at all.

        The suffix says how. ``.jsonl``: a JSON object a line, the bytes of tokens as text in which
        printable characters stand for themselves, a backslash for two and any other byte is
        ``\xNN``; ``lmfast.token_text.unescaped`` reads it back. ``.arrow`` (an Arrow IPC file) and
        ``.parquet``: the same columns, the bytes of tokens as binary.

        Raises:
            ConfigError: The suffix is none of these.
            FileError: The file cannot be written.
            InputTypeError: ``path`` is no path.
            MissingDependencyError: pyarrow is not installed, for the last two.
        """
        path = as_path(path)
        check_trace_path(path)
        suffix = path.suffix.lower()
        if suffix == ".jsonl":
            lines = (json.dumps(row.to_dict(), ensure_ascii=False) for row in self.trace())
            content = "".join(f"{line}\n" for line in lines).encode()
        else:
            content = arrow_file(suffix, TracedMerge, list(self.trace()))
        write_whole(path, content)


def check_trace_path(path: Path) -> None:
    """Refuse what ``write_trace`` would refuse, before there is anything to write.

    Raises:
        ConfigError: The suffix says no format.
        MissingDependencyError: The format needs pyarrow, which is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in (".jsonl", ".arrow", ".parquet"):
        msg = f"cannot write the trace {path}: its name must end in .jsonl, .arrow or .parquet"
        raise ConfigError(msg)
    if suffix != ".jsonl":
        require_pyarrow(f"write the trace {path}")
