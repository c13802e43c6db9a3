"""What cannot be done is one clear error, and the built-in one that a caller would expect, too."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from odd_vocabularies import BYTES
from odd_vocabularies import SMALL as TOKENIZER

import lmfast
from lmfast.errors import (
    ConfigError,
    CorpusError,
    FileError,
    InputTypeError,
    LmfastError,
    MissingFileError,
    TextError,
    UnknownTokenError,
    VocabularyError,
)


def train(sources: object = None, **options: object) -> lmfast.Tokenizer:
    settings = {"vocab_size": 258, "special_tokens": [], **options}
    texts = iter(["abc abc"]) if sources is None else sources
    return lmfast.train_bpe(texts, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [[-1], [257], [299], [301], [2**31], [2**32], [10**30], [97, -5]])
def test_an_id_that_no_token_has(ids: list[int]) -> None:
    for call in (TOKENIZER.decode, TOKENIZER.decode_bytes, lambda i: TOKENIZER.token_bytes(i[-1])):
        with pytest.raises(UnknownTokenError, match=str(ids[-1])) as refused:
            call(ids)
        assert isinstance(refused.value, KeyError)
        assert not str(refused.value).startswith(("'", '"'))
    if abs(ids[-1]) < 2**62:
        with pytest.raises(UnknownTokenError, match=str(ids[-1])):
            TOKENIZER.decode(np.array(ids))


def test_a_token_that_is_not_there() -> None:
    for token in ("zz", b"\xff\xfe", ""):
        with pytest.raises(UnknownTokenError):
            TOKENIZER.token_id(token)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d\ude00"])
def test_a_lone_surrogate(text: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: TOKENIZER.encode(text),
        lambda: TOKENIZER.encode_ordinary(text),
        lambda: TOKENIZER.encode_batch(["fine", text]),
        lambda: TOKENIZER.encode("fine", allowed_special={text}),
        lambda: TOKENIZER.token_id(text),
        lambda: train(iter([text])),
        lambda: train(special_tokens=[text]),
        lambda: train(pretokenizer=text),
        lambda: lmfast.Tokenizer.from_ranks(BYTES, "gpt2", {text: 256}),
    ]
    for call in calls:
        with pytest.raises(TextError, match="lone surrogate") as refused:
            call()
        assert isinstance(refused.value, ValueError)


WRONG_TYPES: dict[str, Callable[[], object]] = {
    "threads 1.5": lambda: TOKENIZER.encode_batch(["a"], 1.5),  # type: ignore[arg-type]
    "threads str": lambda: TOKENIZER.encode_batch(["a"], "2"),  # type: ignore[arg-type]
    "encode int": lambda: TOKENIZER.encode(5),
    "encode None": lambda: TOKENIZER.encode(None),
    "encode list": lambda: TOKENIZER.encode(["a"]),
    "encode int array": lambda: TOKENIZER.encode(np.array([97])),
    "encode matrix": lambda: TOKENIZER.encode(np.array([[97]], dtype=np.uint8)),
    "encode_ordinary int": lambda: TOKENIZER.encode_ordinary(5),
    "allowed_special str": lambda: TOKENIZER.encode("a", allowed_special="<|end|>"),
    "allowed_special int": lambda: TOKENIZER.encode("a", allowed_special=5),
    "allowed_special of int": lambda: TOKENIZER.encode("a", allowed_special={5}),
    "allowed_special of bytes": lambda: TOKENIZER.encode("a", allowed_special={b"<|end|>"}),
    "disallowed_special None": lambda: TOKENIZER.encode("a", disallowed_special=None),
    "batch of one str": lambda: TOKENIZER.encode_batch("abc"),
    "batch of one bytes": lambda: TOKENIZER.encode_batch(b"abc"),
    "batch int": lambda: TOKENIZER.encode_batch(5),
    "batch of int": lambda: TOKENIZER.encode_batch(["a", 5]),
    "decode int": lambda: TOKENIZER.decode(5),
    "decode str": lambda: TOKENIZER.decode("97"),
    "decode strings": lambda: TOKENIZER.decode(["97"]),
    "decode floats": lambda: TOKENIZER.decode([97.0]),
    "decode float array": lambda: TOKENIZER.decode(np.array([97.0])),
    "decode matrix": lambda: TOKENIZER.decode(np.array([[97, 98]])),
    "decode nested": lambda: TOKENIZER.decode([[97]]),
    "decode None": lambda: TOKENIZER.decode(None),
    "token_bytes str": lambda: TOKENIZER.token_bytes("a"),
    "token_bytes float": lambda: TOKENIZER.token_bytes(1.5),
    "token_id int": lambda: TOKENIZER.token_id(97),
    "load int": lambda: lmfast.Tokenizer.load(5),
    "save int": lambda: TOKENIZER.save(5),
    "ranks list": lambda: lmfast.Tokenizer.from_ranks([b"a"], "gpt2"),
    "ranks by str": lambda: lmfast.Tokenizer.from_ranks({"a": 1}, "gpt2"),
    "ranks to str": lambda: lmfast.Tokenizer.from_ranks({b"a": "1"}, "gpt2"),
    "ranks to float": lambda: lmfast.Tokenizer.from_ranks({b"a": 1.0}, "gpt2"),
    "ranks, special list": lambda: lmfast.Tokenizer.from_ranks(BYTES, "gpt2", ["a"]),
    "ranks, special by bytes": lambda: lmfast.Tokenizer.from_ranks(BYTES, "gpt2", {b"<>": 1}),
    "ranks, pretokenizer int": lambda: lmfast.Tokenizer.from_ranks(BYTES, 5),
    "train int": lambda: train(5),
    "train bytes": lambda: train(b"text"),
    "train list of int": lambda: train([1, 2]),
    "train iterator of int": lambda: train(iter([1, 2])),
    "train iterator of bytearray": lambda: train(iter([bytearray(b"text")])),
    "train iterator of None": lambda: train(iter(["a", None])),
    "train list of bytes": lambda: train([b"text"]),
    "train iterator, text_field int": lambda: train(text_field=5),
    "train iterator, on_error None": lambda: train(on_error=None),
    "train None": lambda: lmfast.train_bpe(None, vocab_size=300),
    "special_tokens str": lambda: train(special_tokens="<|end|>"),
    "special_tokens int": lambda: train(special_tokens=5),
    "special_tokens of int": lambda: train(special_tokens=[5]),
    "vocab_size str": lambda: train(vocab_size="258"),
    "vocab_size float": lambda: train(vocab_size=258.0),
    "vocab_size None": lambda: train(vocab_size=None),
    "min_frequency str": lambda: train(min_frequency="1"),
    "pretokenizer int": lambda: train(pretokenizer=5),
    "tie_break int": lambda: train(tie_break=5),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_a_wrong_type(name: str) -> None:
    with pytest.raises(InputTypeError, match=", not ") as refused:
        WRONG_TYPES[name]()
    assert isinstance(refused.value, TypeError)


def test_of_the_formats_that_need_special_tokens(tmp_path: Path) -> None:
    TOKENIZER.save(tmp_path / "x.tiktoken", "tiktoken")
    TOKENIZER.save(tmp_path / "folder", "gpt2")
    for special in ("<|end|>", 5, [5], {"<|end|>": "300"}):
        for path in (tmp_path / "x.tiktoken", tmp_path / "folder"):
            if path.name == "folder" and isinstance(special, dict):
                continue
            with pytest.raises(InputTypeError):
                lmfast.Tokenizer.load(path, "gpt2", special)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="ids"):
        lmfast.Tokenizer.load(tmp_path / "x.tiktoken", "gpt2", ["<|end|>"])


BAD_VALUES: dict[str, tuple[Callable[[], object], str]] = {
    "threads 0": (lambda: TOKENIZER.encode_batch(["a"], 0), "^threads must be None or .* not 0"),
    "threads -1": (
        lambda: TOKENIZER.encode_batch(["a"], -1),
        "^threads must .* from 1 on, not -1",
    ),
    "train threads 0": (lambda: train(threads=0), "^threads must .* not 0"),
    "max_token_bytes 0": (lambda: train(max_token_bytes=0), "^max_token_bytes must .* not 0"),
    "min_frequency -1": (lambda: train(min_frequency=-1), "^min_frequency must .* not -1"),
    "vocab_size -1": (lambda: train(vocab_size=-1), "^vocab_size must .* not -1"),
    "error handler": (lambda: TOKENIZER.decode([97], "bogus"), "bogus"),  # type: ignore[arg-type]
    "error handler int": (lambda: TOKENIZER.decode([97], 5), "5"),  # type: ignore[arg-type]
    "tie break": (lambda: train(tie_break="random"), "random"),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_a_value_that_is_not_accepted(name: str) -> None:
    call, found = BAD_VALUES[name]
    with pytest.raises(ConfigError, match=found):
        call()


VOCABULARIES: dict[str, tuple[Callable[[], object], str]] = {
    "too small": (lambda: train(vocab_size=255), "256 at least"),
    "too small for special tokens": (
        lambda: train(vocab_size=258, special_tokens=["<a>", "<b>", "<c>"]),
        "259 at least",
    ),
    "0": (lambda: train(vocab_size=0), "256 at least"),
    "larger than the corpus": (lambda: train(vocab_size=5000), "after 3 merges"),
    "huge": (lambda: train(vocab_size=10**12), "too large"),
    "beyond all numbers": (lambda: train(vocab_size=10**30), "too large"),
    "broken pattern": (lambda: train(pretokenizer="("), "regular expression"),
    "special token twice": (lambda: train(special_tokens=["a", "a"]), "twice"),
    "special token of a byte": (lambda: train(special_tokens=["|"]), "spelled like"),
    "special token empty": (lambda: train(special_tokens=[""]), "empty"),
    "no bytes": (lambda: lmfast.Tokenizer.from_ranks({}, "gpt2"), "0x00"),
    "rank -1": (lambda: lmfast.Tokenizer.from_ranks({b"a": -1}, "gpt2"), "-1"),
    "rank too large": (lambda: lmfast.Tokenizer.from_ranks({b"a": 2**40}, "gpt2"), str(2**40)),
    "rank twice": (
        lambda: lmfast.Tokenizer.from_ranks({**BYTES, b"ab": 97}, "gpt2"),
        '"a" and "ab" both have the id 97',
    ),
    "empty token": (lambda: lmfast.Tokenizer.from_ranks({**BYTES, b"": 300}, "gpt2"), "empty"),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_that_cannot_be(name: str) -> None:
    call, found = VOCABULARIES[name]
    with pytest.raises(VocabularyError, match=found) as refused:
        call()
    assert isinstance(refused.value, ValueError)


def test_a_missing_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.txt"
    calls: list[Callable[[], object]] = [
        lambda: lmfast.Tokenizer.load(missing),
        lambda: lmfast.Tokenizer.load(missing.with_suffix(".tiktoken"), "gpt2"),
        lambda: train(missing),
        lambda: train([missing, missing]),
    ]
    for call in calls:
        with pytest.raises(MissingFileError, match="missing") as refused:
            call()
        assert isinstance(refused.value, FileNotFoundError)
    with pytest.raises(FileError):
        lmfast.Tokenizer.load("a\0b")


@pytest.mark.parametrize("position", [0, 5, 3_000_000, 9_000_000])
def test_a_corpus_that_is_not_utf8(tmp_path: Path, position: int) -> None:
    """Also behind the first block that is read."""
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("good")
    bad.write_bytes(b"word " * (position // 5) + b"\xe4\xb8" + b" more words")
    with pytest.raises(CorpusError, match=f"bad.txt is not UTF-8: invalid at byte {position}"):
        train([good, bad])
    bad.write_bytes(b"ends within a character \xe4\xb8")
    with pytest.raises(CorpusError, match="byte 24"):
        train(bad)


def test_an_error_in_the_callers_code_comes_through() -> None:
    def broken(done: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(on_merges=broken)
    with pytest.raises(ZeroDivisionError):
        TOKENIZER.encode_batch(["text"], on_progress=broken)
    with pytest.raises(ZeroDivisionError):
        train(1 / 0 for _ in range(3))


def test_a_message_is_one_line() -> None:
    for call, _ in [*VOCABULARIES.values(), *BAD_VALUES.values()]:
        with pytest.raises(LmfastError) as refused:
            call()
        assert 10 < len(str(refused.value)) < 300
        if "regular expression" not in str(refused.value):
            assert "\n" not in str(refused.value)


def test_a_path_is_no_tokenizer_and_the_error_names_what_reads_it() -> None:
    with pytest.raises(InputTypeError, match=r"comes from Tokenizer\.load\(path\).* not from str"):
        lmfast.Tokenizer("tokenizer.json")  # type: ignore[arg-type]
