"""Texts so short that the call counts more than the speed: beside the peers, by pytest-benchmark.

    python -m pytest benches

Not part of the tests: ``pytest`` looks into ``tests`` only.
"""

from pathlib import Path

import pytest
from encoding_engines import ENGINES, Engine
from pytest_benchmark.fixture import BenchmarkFixture

import lmfast

TWEET = (
    "Reading a 100 MB file in Python? Don't build a list of it first 🙃 https://example.org/t #til"
)
MESSAGE = (
    "Could you check why the second test fails? It passes on my machine (Linux, Python 3.12), "
    "but not in CI:\n\n    assert count_tokens('naïve café') == 5\n\nI'd guess it's the é, since "
    "NFC and NFD look the same on screen."
)
KILOBYTE = ("The north wind and the sun disputed which was the stronger, in 1912 or so. " * 14)[
    :1_000
]
TEXTS = {"tweet": TWEET, "message": MESSAGE, "1 kB": KILOBYTE}
BATCH = [f"{number}: {text}" for number in range(334) for text in (TWEET, MESSAGE, TWEET)][:1_000]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, vocabulary: Path) -> Engine:
    pytest.importorskip(request.param)
    return ENGINES[request.param](str(vocabulary), None)


@pytest.mark.parametrize("name", TEXTS)
def test_encode(benchmark: BenchmarkFixture, engine: Engine, name: str) -> None:
    benchmark.group = f"encode, {name}"
    benchmark(engine.encode, TEXTS[name])


def test_encode_batch(benchmark: BenchmarkFixture, engine: Engine) -> None:
    benchmark.group = "encode_batch, 1,000 short texts"
    benchmark(engine.batch, BATCH)


def test_decode(benchmark: BenchmarkFixture, engine: Engine, vocabulary: Path) -> None:
    benchmark.group = "decode, message"
    ids = lmfast.Tokenizer.load(vocabulary).encode(MESSAGE)
    benchmark(engine.decode, ids)
