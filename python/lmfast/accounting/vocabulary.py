"""What a vocabulary costs and saves: the link between a tokenizer and the model's bill.

A larger vocabulary makes texts shorter in tokens, so that every layer does less per byte; and it
makes embedding and head larger. Where one outweighs the other is arithmetic, once a sweep has
measured bytes per token on the user's own corpus.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmfast.accounting.architecture import as_architecture
from lmfast.accounting.flops import Convention, count_flops
from lmfast.accounting.kv_cache import kv_cache
from lmfast.accounting.parameters import count_parameters
from lmfast.accounting.quantity import Quantity
from lmfast.config import ModelConfig
from lmfast.config.checks import require, require_positive
from lmfast.errors import ConfigError, FileError, MissingFileError

SweepPoint = tuple[int, float]
"""Vocabulary size, and the bytes per token that it reached on a corpus."""

# Bytes per token of byte-level BPE of 32,000 and more ids on clean text of a kind, and how far
# below it a tokenizer is surely broken: wrong corpus, wrong pretokenizer, untrained merges.
EXPECTED_BYTES_PER_TOKEN: Mapping[str, float] = {"english": 4.0, "code": 3.0}
TOLERATED_SHORTFALL = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyCost:
    """One vocabulary size in one model, all costs per byte of text."""

    vocab_size: int
    bytes_per_token: float
    embedding_parameters: int
    """Embedding and head together."""
    parameters: int
    flops_per_byte: float
    """Training, forward and backward."""
    head_share: float
    """Part of the FLOPs that the logits take."""
    tokens_per_megabyte: float
    logits_bytes_per_token: int
    """The logits and their gradient in fp32; what one token of a micro-batch adds."""
    kv_cache_per_byte: float

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyPlan:
    """The rows of a sweep, by vocabulary size, and which of them costs least per byte."""

    rows: tuple[VocabularyCost, ...]
    convention: str

    @property
    def cheapest(self) -> VocabularyCost:
        """The vocabulary with the fewest training FLOPs per byte of text."""
        return min(self.rows, key=lambda row: row.flops_per_byte)

    def break_even(self) -> tuple[Quantity, ...]:
        """For each step up in vocabulary, the gain in compression at which it pays.

        The value is the part by which bytes per token must rise so that FLOPs per byte stay
        equal; the formula says how much it did rise.
        """
        steps = []
        for small, large in zip(self.rows, self.rows[1:], strict=False):
            per_token = large.flops_per_byte * large.bytes_per_token
            needed = per_token / (small.flops_per_byte * small.bytes_per_token) - 1
            gained = large.bytes_per_token / small.bytes_per_token - 1
            verdict = "pays" if gained > needed else "does not pay"
            steps.append(
                Quantity(
                    name=f"{small.vocab_size}_to_{large.vocab_size}",
                    value=needed,
                    unit="ratio",
                    formula=f"needed; compression rose by {100 * gained:.3g} %: {verdict}",
                    convention=self.convention,
                )
            )
        return tuple(steps)

    def to_dict(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "cheapest_vocab_size": self.cheapest.vocab_size,
            "break_even": {step.name: step.value for step in self.break_even()},
            "convention": self.convention,
        }


def vocabulary_plan(
    model: ModelConfig,
    sweep: Iterable[SweepPoint],
    *,
    context_bytes: int | None = None,
    convention: Convention = "palm",
) -> VocabularyPlan:
    """The costs of every vocabulary size of a sweep in a model.

    Args:
        model: The shape of the model; its vocab_size is replaced.
        sweep: Pairs of vocabulary size and bytes per token, measured on one corpus.
        context_bytes: Bytes of text that the context must hold, so that a better tokenizer has a
            shorter sequence; default: the model's context_length tokens for every vocabulary.
        convention: How FLOPs are counted.

    Raises:
        ConfigError: An empty sweep, or a value that is not positive.
    """
    points = sorted(sweep)
    require(len(points) > 0, "sweep", points, "it must have one point at least")
    rows = [_cost(model, point, context_bytes, convention) for point in points]
    return VocabularyPlan(rows=tuple(rows), convention=f"training FLOPs by {convention}")


def _cost(
    model: ModelConfig, point: SweepPoint, context_bytes: int | None, convention: Convention
) -> VocabularyCost:
    vocab_size, compression = point
    require_positive("sweep", vocab_size=vocab_size, bytes_per_token=compression)
    shape = dataclasses.replace(as_architecture(model), vocab_size=vocab_size)
    length = shape.context_length
    if context_bytes is not None:
        length = math.ceil(context_bytes / compression)
    counted = count_flops(shape, length, convention=convention)
    parameters = count_parameters(shape)
    tables = parameters["embedding"].known() + parameters["head"].known()
    return VocabularyCost(
        vocab_size=vocab_size,
        bytes_per_token=compression,
        embedding_parameters=int(tables),
        parameters=int(parameters.known()),
        flops_per_byte=counted.per_token().known() / compression,
        head_share=counted.shares().get("head", 0.0),
        tokens_per_megabyte=1e6 / compression,
        logits_bytes_per_token=2 * 4 * vocab_size,
        kv_cache_per_byte=kv_cache(shape, 1).known() / compression,
    )


def read_sweep(path: str | Path) -> list[SweepPoint]:
    """The points of a sweep from JSON: a list of ``[vocab_size, bytes_per_token]``, or of tables.

    Raises:
        MissingFileError: There is no such file.
        FileError: It cannot be read.
        ConfigError: It is not such a list.
    """
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = f"cannot read the sweep {path}: there is no such file"
        raise MissingFileError(msg) from error
    except OSError as error:
        msg = f"cannot read the sweep {path}: {error.strerror}"
        raise FileError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"cannot read the sweep {path}: {error}"
        raise ConfigError(msg) from error
    if isinstance(rows, dict):
        rows = rows.get("rows")
    if not isinstance(rows, list):
        msg = f"cannot read the sweep {path}: it must be a list of [vocab_size, bytes_per_token]"
        raise ConfigError(msg)
    return [_point(row, f"{path}, row {number}") for number, row in enumerate(rows, 1)]


def _point(row: Any, where: str) -> SweepPoint:  # noqa: ANN401 - of JSON
    if isinstance(row, Mapping):
        row = [row.get("vocab_size"), row.get("bytes_per_token")]
    sound = isinstance(row, Sequence) and len(row) == 2 and type(row[0]) is int
    if not sound or type(row[1]) not in (int, float):
        msg = f"{where}: {row!r} is not usable: it must be [vocab_size, bytes_per_token]"
        raise ConfigError(msg)
    return row[0], float(row[1])


def check_compression(bytes_per_token: float, text: str | float = "english") -> Quantity:
    """The shortfall of a tokenizer from what its corpus should give; loud when it is large.

    Args:
        bytes_per_token: What it reached.
        text: A kind of text with a known figure (``english`` about 4, ``code`` about 3), or the
            bytes per token expected.

    Raises:
        ConfigError: It is more than a quarter below, or the kind is not known.
    """
    if isinstance(text, str):
        accepted = f"one of {', '.join(EXPECTED_BYTES_PER_TOKEN)}, or a number"
        require(text in EXPECTED_BYTES_PER_TOKEN, "text", text, accepted)
        expected = EXPECTED_BYTES_PER_TOKEN[text]
    else:
        expected = text
    shortfall = 1 - bytes_per_token / expected
    if shortfall > TOLERATED_SHORTFALL:
        msg = (
            f"the tokenizer compresses far too little: {bytes_per_token:.3g} bytes per token where "
            f"about {expected:g} are expected; look at its corpus, pretokenizer and vocabulary size"
        )
        raise ConfigError(msg)
    return Quantity(
        name="compression_shortfall",
        value=max(0.0, shortfall),
        unit="ratio",
        formula=f"1 - {bytes_per_token:.4g} / {expected:g} bytes per token",
        convention="byte-level BPE of 32,000 ids and more on clean text",
    )
