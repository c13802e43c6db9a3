"""How text is cut: by name, by steps of a ``tokenizer.json``, by any pattern."""

import doctest
import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizer_texts import AWKWARD, MULTILINGUAL
from trained_tokenizers import SCHEMES, in_tiktoken

import lmfast
from lmfast.errors import LmfastError
from lmfast.tokenizer import PRETOKENIZERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "pretokenizers.md"
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
RANKS = {bytes([byte]): byte for byte in range(256)}
# What Hugging Face's own classes tell apart; and what no pattern of DeepSeek's matches.
PIECES = [*AWKWARD, "x1", "中文テスト", "ー゛", "\0\0", "\u200d", "²Ⅷ", "l'a", "$+<", "ab", "_"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pretokenizers")


def texts() -> list[str]:
    """Each two pieces once, behind and before a letter, a digit, a space or a newline in turn."""
    between = cycle(["x ", "\nA", "1", "  ", "a"])
    pairs = ["".join(f"{left}{right}{next(between)}" for right in PIECES) for left in PIECES]
    return [*pairs, MULTILINGUAL]


def pretokens(tokenizer: lmfast.Tokenizer, text: str) -> list[str]:
    return [pretoken.pretoken.decode() for pretoken in tokenizer.steps(text)]


def with_steps(folder: Path, steps: list[Any]) -> Path:
    """A file of no merges that cuts in these steps."""
    file = folder / "steps.json"
    lmfast.Tokenizer.from_ranks(RANKS, pretokenizer=None).save(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def cut_by_hugging_face(file: Path, text: str) -> list[str]:
    pre_tokenizer = tokenizers.Tokenizer.from_file(str(file)).pre_tokenizer
    spans = [span for _, span in pre_tokenizer.pre_tokenize_str(text)]
    return [text[start:end] for start, end in spans if start < end]


@pytest.mark.parametrize("name", [name for name in PRETOKENIZERS if name not in SCHEMES])
def test_peers_cut_alike(name: str, folder: Path) -> None:
    """tiktoken by the one pattern, Hugging Face by the steps that its files have."""
    documents = iter([MULTILINGUAL, *PIECES] * 3)
    ours = lmfast.train_bpe(
        documents, vocab_size=400, pretokenizer=name, special_tokens=[], allow_fewer=True
    )
    ours.save(folder / f"{name}.json")
    hugging_face = tokenizers.Tokenizer.from_file(str(folder / f"{name}.json"))
    theirs = in_tiktoken(ours)
    assert lmfast.Tokenizer.load(folder / f"{name}.json").pretokenizer == ours.pretokenizer
    assert ours.pretokenizer_engine == "scanner"
    for text in texts():
        ids = ours.encode_ordinary(text)
        assert hugging_face.encode(text, add_special_tokens=False).ids == ids
        assert theirs.encode_ordinary(text) == ids
        assert pretokens(ours, text) == cut_by_hugging_face(folder / f"{name}.json", text)


def split(pattern: str, behavior: str, *, invert: bool = False, kind: str = "Regex") -> Any:
    pattern_of_kind = {kind: pattern}
    return {"type": "Split", "pattern": pattern_of_kind, "behavior": behavior, "invert": invert}


STEPS = {
    "digits": [{"type": "Digits", "individual_digits": True}],
    "runs of digits": [{"type": "Digits", "individual_digits": False}],
    "punctuation": [{"type": "Punctuation", "behavior": "Contiguous"}],
    "before": [split(r"\s", "MergedWithPrevious")],
    "after": [split(r"\s", "MergedWithNext")],
    "inverted": [split(r"\p{L}+", "MergedWithPrevious", invert=True)],
    "a string": [split("a", "MergedWithNext", kind="String"), split(r"\n", "Contiguous")],
    "bloom": [split(r" ?[^(\s|[.,!?…。，、।۔،])]+", "Isolated")],
    "removed": [split(r"\p{L}+|\P{L}", "Removed", invert=True)],
    "falcon": [
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "Digits", "individual_digits": False},
        split("[0-9][0-9][0-9]", "Isolated"),
        {**BYTE_LEVEL, "use_regex": True},
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_cut_as_in_hugging_face(name: str, folder: Path) -> None:
    steps = STEPS[name]
    file = with_steps(folder, steps if steps[-1]["type"] == "ByteLevel" else [*steps, BYTE_LEVEL])
    ours = lmfast.Tokenizer.load(file)
    ours.save(folder / "again.json")
    for text in texts():
        expected = cut_by_hugging_face(file, text)
        assert pretokens(ours, text) == expected
        assert cut_by_hugging_face(folder / "again.json", text) == expected
    assert lmfast.Tokenizer.load(folder / "again.json").identity == ours.identity


def test_removed_text_and_added_spaces_are_refused(folder: Path) -> None:
    for step, reason in [
        (split("a", "Removed"), "drop text"),
        ({**BYTE_LEVEL, "add_prefix_space": True}, "add_prefix_space"),
    ]:
        with pytest.raises(LmfastError, match=reason):
            lmfast.Tokenizer.load(with_steps(folder, [step]))


def test_a_pattern_that_looks_far_says_so() -> None:
    corpus = ["one 1234 two"] * 3
    by = {r"\d|\D": "automaton", r"\d(?=\d\d)|\d|\D+": "backtracking", None: "none"}
    for pattern, engine in by.items():
        tokenizer = lmfast.train_bpe(iter(corpus), vocab_size=257, pretokenizer=pattern)
        assert tokenizer.pretokenizer_engine == engine


def test_the_document() -> None:
    test = doctest.DocTestParser().get_doctest(
        DOCUMENT.read_text(encoding="utf-8"), {}, DOCUMENT.name, str(DOCUMENT), 0
    )
    assert len(test.examples) >= 5
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)
