"""Documents are converted while others are encoded: more of them than are handed on at once."""

import gc
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizer_texts import MULTILINGUAL

import lmfast
from lmfast import errors

SPECIAL = "<|endoftext|>"
MANY = 30_000
"""Documents of 60 and more bytes: more than a megabyte."""


def documents(count: int = MANY) -> Iterator[str | bytes]:
    for number in range(count):
        text = f"{number} {MULTILINGUAL[number % 50 :][:60]}"
        yield text.encode() if number % 7 == 0 else text


@pytest.fixture
def expected(gpt2: lmfast.Tokenizer) -> list[list[int]]:
    return [gpt2.encode(document) for document in documents()]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_lists_and_iterators_give_the_same(
    gpt2: lmfast.Tokenizer, expected: list[list[int]], threads: int
) -> None:
    assert gpt2.encode_batch(list(documents()), threads) == expected
    assert gpt2.encode_batch(documents(), threads) == expected


def test_documents_may_be_far_longer_than_the_first_ones(gpt2: lmfast.Tokenizer) -> None:
    texts = ["a"] * 300_000 + [MULTILINGUAL * 20] * 40
    batch = gpt2.encode_batch(texts)
    assert batch[:3] == [gpt2.encode("a")] * 3
    assert batch[-1].tolist() == gpt2.encode(texts[-1])
    assert len(batch.ids) == 300_000 + 40 * len(gpt2.encode(texts[-1]))


def test_an_iterator_may_encode_too(gpt2: lmfast.Tokenizer, expected: list[list[int]]) -> None:
    def encoding() -> Iterator[str | bytes]:
        for number, document in enumerate(documents()):
            if number % 5000 == 0:
                assert gpt2.encode_batch([document] * 3) == [expected[number]] * 3
            yield document

    assert gpt2.encode_batch(encoding()) == expected


def test_a_list_may_change_meanwhile(gpt2: lmfast.Tokenizer, expected: list[list[int]]) -> None:
    """What was taken is kept until it is encoded, whatever becomes of the list."""
    texts = list(documents())

    class Emptied:
        def __iter__(self) -> Iterator[str | bytes]:
            for number in range(len(texts)):
                text, texts[number] = texts[number], ""
                yield text

    assert gpt2.encode_batch(Emptied()) == expected


@pytest.mark.parametrize("number", [0, 1, 20_000, MANY - 1])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_bad_document_is_named(gpt2: lmfast.Tokenizer, number: int, threads: int) -> None:
    texts: list[object] = list(documents())
    bad: list[tuple[object, type[Exception]]] = [
        (7, errors.InputTypeError),
        ("\ud800", errors.TextError),
        (f"a{SPECIAL}", errors.SpecialTokenError),
        (MULTILINGUAL * 500 + SPECIAL, errors.SpecialTokenError),
    ]
    for first, error in bad:
        for last, _ in bad:
            texts[number:] = [first, *["a"] * (MANY - number), last]
            with pytest.raises(error, match=f"^document {number}: "):
                gpt2.encode_batch(texts, threads)


@pytest.mark.parametrize("number", [0, 1, 20_000])
def test_what_an_iterator_raises_comes_through(gpt2: lmfast.Tokenizer, number: int) -> None:
    def failing(*, special: bool) -> Iterator[str | bytes]:
        yield from documents(number)
        if special:
            yield SPECIAL
        raise ZeroDivisionError("in the iterator")

    with pytest.raises(ZeroDivisionError, match="in the iterator"):
        gpt2.encode_batch(failing(special=False))
    with pytest.raises(errors.SpecialTokenError, match=f"^document {number}: "):
        gpt2.encode_batch(failing(special=True))


def test_what_ends_programs_ends_it_at_once(gpt2: lmfast.Tokenizer) -> None:
    def interrupted() -> Iterator[str | bytes]:
        yield from documents(20_000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpt2.encode_batch(interrupted())


def test_documents_are_let_go(gpt2: lmfast.Tokenizer) -> None:
    class Text(str):
        pass

    texts = [Text(f"{number}" * 20) for number in range(MANY)]
    watched = [weakref.ref(texts[number]) for number in (0, MANY - 1)]
    counts = [sys.getrefcount(text) for text in (texts[0], texts[-1])]
    gpt2.encode_batch(texts)
    with pytest.raises(errors.InputTypeError):
        gpt2.encode_batch([*texts, 7])  # type: ignore[list-item]
    assert [sys.getrefcount(text) for text in (texts[0], texts[-1])] == counts
    del texts
    gc.collect()
    assert [text() for text in watched] == [None, None]


def test_one_good_document_before_a_bad_one_has_a_number(gpt2: lmfast.Tokenizer) -> None:
    for bad in (7, "\ud800", f"a{SPECIAL}"):
        with pytest.raises(errors.SpecialTokenError, match=r"^document 0: "):
            gpt2.encode_batch([SPECIAL, bad])  # type: ignore[list-item]
        with pytest.raises(errors.LmfastError, match=r"^document 1: "):
            gpt2.encode_batch(["fine", bad])  # type: ignore[list-item]
        with pytest.raises(errors.LmfastError, match=r"^(?!document)"):
            gpt2.encode_batch([bad])  # type: ignore[list-item]


def test_many_empty_documents_can_be_interrupted(gpt2: lmfast.Tokenizer) -> None:
    def empty() -> Iterator[str]:
        for number in range(1_000_000):
            if number == 900_000:
                signal.raise_signal(signal.SIGINT)
            yield ""
        pytest.fail("nothing was interrupted")

    # Where tests run in the background, the signal is ignored by default.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            gpt2.encode_batch(empty())
    finally:
        signal.signal(signal.SIGINT, before)


class Indexed:
    """A sequence by the old protocol, such as many data sets are."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> str:
        return ["a", "\ud800", "b"][index]


def test_a_sequence_needs_no_more_than_items(gpt2: lmfast.Tokenizer) -> None:
    replaced = gpt2.encode_batch(Indexed(), errors="replace")  # type: ignore[arg-type]
    assert replaced == [gpt2.encode(text) for text in "a\ufffdb"]


def test_slow_documents_are_not_held_back(gpt2: lmfast.Tokenizer) -> None:
    """What is known to be wrong is said before the rest has come."""
    given = 0

    def slow() -> Iterator[str]:
        nonlocal given
        yield SPECIAL
        for _ in range(10_000):
            given += 1
            time.sleep(0.01)
            yield "a"

    with pytest.raises(errors.SpecialTokenError, match=r"^document 0: "):
        gpt2.encode_batch(slow())
    assert given < 1000


def test_what_an_iterable_itself_raises_comes_through(gpt2: lmfast.Tokenizer) -> None:
    class Failing:
        def __init__(self, error: BaseException, *, in_len: bool) -> None:
            self.error, self.in_len = error, in_len

        def __len__(self) -> int:
            if self.in_len:
                raise self.error
            return 1

        def __iter__(self) -> Iterator[str]:
            if self.in_len:
                return iter(["a"])
            raise self.error

    for errors_ in ("strict", "replace"):
        for error in (KeyboardInterrupt(), ZeroDivisionError()):
            with pytest.raises(type(error)):
                gpt2.encode_batch(Failing(error, in_len=False), errors=errors_)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        gpt2.encode_batch(Failing(KeyboardInterrupt(), in_len=True))
    assert gpt2.encode_batch(Failing(ZeroDivisionError(), in_len=True)) == [gpt2.encode("a")]


def test_a_subclass_of_str_is_its_characters(gpt2: lmfast.Tokenizer) -> None:
    class Text(str):
        def encode(self, *_: object) -> bytes:
            return b"zz"

    for texts in ([Text("hello")], iter([Text("hello")])):
        assert gpt2.encode_batch(texts, errors="replace") == [gpt2.encode("hello")]


CALLS = {
    "encode_batch": "tokenizer.encode_batch(['a'])",
    "encode_documents": "tokenizer.encode_documents('a')",
    "encode_to_numpy": "tokenizer.encode_to_numpy('a')",
    "encode_with_offsets": "tokenizer.encode_with_offsets('a')",
    "decode": "tokenizer.decode([97])",
    "decode_batch": "tokenizer.decode_batch([])",
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_while_numpy_is_imported(gpt2: lmfast.Tokenizer, tmp_path: Path, name: str) -> None:
    """The first call of a process imports it."""
    gpt2.save(tmp_path / "tokenizer.json")
    code = f"""
import sys, lmfast

tokenizer = lmfast.Tokenizer.load({str(tmp_path / "tokenizer.json")!r})
assert "numpy" not in sys.modules

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
try:
    {CALLS[name]}
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("interrupted", "", 0)
