"""Texts so short that the call counts more than the speed: beside the peers, by pytest-benchmark.

    make bench-short

Not part of the tests: ``pytest`` looks into ``tests`` only.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import lmfast

TWEET = "Reading a 100 MB file in Python? Don't build a list of it first 🙃 https://example.org/t #til"
MESSAGE = (
    "Could you check why the second test fails? It passes on my machine (Linux, Python 3.12), "
    "but not in CI:\n\n    assert count_tokens('naïve café') == 5\n\nI'd guess it's the é, since "
    "NFC and NFD look the same on screen."
)
KILOBYTE = ("The north wind and the sun disputed which was the stronger, in 1912 or so. " * 14)[:1_000]
TEXTS = {"tweet": TWEET, "message": MESSAGE, "1 kB": KILOBYTE}
BATCH = [f"{number}: {text}" for number in range(334) for text in (TWEET, MESSAGE, TWEET)][:1_000]


class Engine:
    """The calls that are compared, as one engine has them."""

    def __init__(
        self,
        encode: Callable[[str], object],
        encode_batch: Callable[[list[str]], object],
        decode: Callable[[list[int]], object],
    ) -> None:
        self.encode, self.encode_batch, self.decode = encode, encode_batch, decode


def _lmfast(vocabulary: Path) -> Engine:
    tokenizer = lmfast.Tokenizer.load(vocabulary)
    return Engine(tokenizer.encode, tokenizer.encode_batch, tokenizer.decode)


def _gigatoken(vocabulary: Path) -> Engine:
    gigatoken = pytest.importorskip("gigatoken")
    tokenizer = gigatoken.Tokenizer(str(vocabulary))
    return Engine(tokenizer.encode, tokenizer.encode_batch, tokenizer.decode)


def _fastokens(vocabulary: Path) -> Engine:
    fastokens = pytest.importorskip("fastokens")
    tokenizer = fastokens.Tokenizer.from_file(str(vocabulary))
    return Engine(tokenizer.encode, tokenizer.encode_batch_flat, tokenizer.decode)


def _tiktoken(vocabulary: Path) -> Engine:
    tiktoken = pytest.importorskip("tiktoken")
    loaded = lmfast.Tokenizer.load(vocabulary)
    encoding = tiktoken.Encoding(
        "bench",
        pat_str=loaded.pattern,
        mergeable_ranks=loaded.mergeable_ranks,
        special_tokens=loaded.special_tokens,
    )
    return Engine(encoding.encode, encoding.encode_batch, encoding.decode)


def _tokenizers(vocabulary: Path) -> Engine:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
    return Engine(tokenizer.encode, tokenizer.encode_batch_fast, tokenizer.decode)


ENGINES = {
    "lmfast": _lmfast,
    "gigatoken": _gigatoken,
    "fastokens": _fastokens,
    "tiktoken": _tiktoken,
    "tokenizers": _tokenizers,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, vocabulary: Path) -> Engine:
    return ENGINES[request.param](vocabulary)


@pytest.mark.parametrize("name", TEXTS)
def test_encode(benchmark: BenchmarkFixture, engine: Engine, name: str) -> None:
    benchmark.group = f"encode, {name}"
    benchmark(engine.encode, TEXTS[name])


def test_encode_batch(benchmark: BenchmarkFixture, engine: Engine) -> None:
    benchmark.group = "encode_batch, 1,000 short texts"
    benchmark(engine.encode_batch, BATCH)


def test_decode(benchmark: BenchmarkFixture, engine: Engine, vocabulary: Path) -> None:
    benchmark.group = "decode, message"
    ids = lmfast.Tokenizer.load(vocabulary).encode(MESSAGE)
    benchmark(engine.decode, ids)
