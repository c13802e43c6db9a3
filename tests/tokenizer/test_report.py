"""The compression report: against a count word for word, and its totals add up."""

from collections import Counter
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from test_train_rule import SPECIAL
from tokenizer_texts import AWKWARD, END_OF_TEXT, MULTILINGUAL, any_text
from trained_tokenizers import Trained

import lmfast
from lmfast.errors import ConfigError, CorpusError
from lmfast.report import Report, compression_report
from lmfast.report.characters import KINDS, TextCounter, kind_of_code_point
from lmfast.token_text import unescaped


@pytest.fixture(scope="module")
def tokenizer() -> lmfast.Tokenizer:
    return lmfast.train_bpe(iter([MULTILINGUAL * 2]), vocab_size=600, special_tokens=SPECIAL)


def report(tmp: Path, text: str, tokenizer: lmfast.Tokenizer, **others: lmfast.Tokenizer) -> Report:
    path = tmp / "text.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return compression_report(tokenizer, path, against=others)


@pytest.mark.parametrize("text", ["!\n" * 200_000, "123456" * 70_000, "a1 b\n" * 70_000])
@pytest.mark.parametrize(("first", "second"), [("gpt2", "cl100k"), ("o200k", "gpt2")])
def test_tokenizers_that_cut_in_other_ways(
    tmp_path: Path, first: str, second: str, text: str
) -> None:
    tokenizers = [
        lmfast.train_bpe(iter([text]), vocab_size=270, pretokenizer=name, allow_fewer=True)
        for name in (first, second)
    ]
    made = report(tmp_path, text, tokenizers[0], other=tokenizers[1])
    for use, one in zip(made.tokenizers, tokenizers, strict=True):
        assert use.tokens == len(one.encode_ordinary(text))


SEPARATOR = "|".join(map(regex.escape, sorted(SPECIAL, key=len, reverse=True)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(any_text(), st.sampled_from(SPECIAL)), min_size=1, max_size=6))
def test_totals_add_up(
    tmp_path_factory: pytest.TempPathFactory,
    all_trained: dict[str, Trained],
    tokenizer: lmfast.Tokenizer,
    pieces: list[str],
) -> None:
    documents = regex.split(SEPARATOR, "".join(pieces))
    others = {kind: trained.ours for kind, trained in all_trained.items()}
    folder = tmp_path_factory.mktemp("report")
    if not any(documents):
        with pytest.raises(CorpusError, match="empty"):
            report(folder, "".join(pieces), tokenizer)
        return
    made = report(folder, "".join(pieces), tokenizer, **others)
    text = made.text
    assert text.bytes == sum(len(document.encode()) for document in documents)
    assert text.characters == sum(map(len, documents))
    assert text.words == sum(len(regex.findall(r"[^\p{White_Space}]+", d)) for d in documents)
    assert sum(text.kinds.values()) == pytest.approx(1)
    for use, one in zip(made.tokenizers, [tokenizer, *others.values()], strict=True):
        ids = [i for document in documents for i in one.encode_ordinary(document)]
        counts, lengths = Counter(ids), one.token_byte_lengths()
        assert use.tokens == len(ids)
        assert use.bytes_per_token == text.bytes / len(ids)
        assert use.characters_per_token == text.characters / len(ids)
        assert sum(kind.tokens for kind in use.by_kind) == len(ids)
        assert sum(kind.bytes for kind in use.by_kind) == text.bytes
        assert sum(row.token_share for row in use.by_length) == pytest.approx(1)
        assert sum(row.text_share for row in use.by_length) == pytest.approx(1)
        assert use.single_byte_share == sum(lengths[i] == 1 for i in ids) / len(ids)
        assert use.unused == len(one.mergeable_ranks) - len(counts)
        most = sorted(counts.values(), reverse=True)[:10]
        assert [row.count for row in use.most_frequent] == most
        assert max(len(row.token) for row in use.longest) == max(lengths[i] for i in counts)
        for share, needed in use.ids_for_share.items():
            reached = [sum(n for _, n in counts.most_common(k)) for k in (needed - 1, needed)]
            assert reached[0] < float(share) * len(ids) <= reached[1]
        (source,) = use.by_source
        assert (source.tokens, source.bytes) == (len(ids), text.bytes)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*AWKWARD, MULTILINGUAL, ""]), st.booleans())))
def test_stretches_count_as_the_documents_they_make(stretches: list[tuple[str, bool]]) -> None:
    documents = [""]
    for text, ends in stretches:
        documents[-1] += text
        documents += [""] * ends
    one, many = TextCounter(), TextCounter()
    one.add((document, True) for document in documents)
    for stretch in stretches:
        many.add([stretch])
    assert many.counts() == one.counts()
    assert many.counts().documents == sum(map(bool, documents))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_those_of_unicode(kind: str) -> None:
    patterns = {
        "whitespace": r"\p{White_Space}",
        "digits": r"\p{N}",
        "punctuation and symbols": r"[^\p{White_Space}\p{N}\p{L}\p{M}]",
        "other letters": r"[\p{L}\p{M}]",
    }
    pattern = patterns.get(kind, rf"(?V1)[\p{{Script={kind}}}&&[\p{{L}}\p{{M}}]]")
    of = kind_of_code_point()
    for character in dict.fromkeys(MULTILINGUAL + "".join(AWKWARD)):
        if kind == "other letters" and KINDS[of[ord(character)]] != kind:
            continue  # letters of a script that is told apart
        matches = regex.fullmatch(pattern, character) is not None
        assert (KINDS[of[ord(character)]] == kind) == matches, repr(character)


def test_sources_are_told_apart(tokenizer: lmfast.Tokenizer, tmp_path: Path) -> None:
    texts = {"a.txt": "the kettle", "b.txt": "", "c.txt": "雨の日" + END_OF_TEXT + "ab"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sources = compression_report(tokenizer, [tmp_path], name="ours").tokenizers[0].by_source
    assert [Path(use.source).name for use in sources] == list(texts)
    assert [use.bytes for use in sources] == [10, 0, 11]
    assert [use.characters for use in sources] == [10, 0, 5]
    assert sources[1].bytes_per_token is None


def test_json_tells_every_token(tokenizer: lmfast.Tokenizer, tmp_path: Path) -> None:
    made = report(tmp_path, "雨 \\ \n the kettle", tokenizer)
    told = made.to_dict()["tokenizers"][0]
    for name in ("most_frequent", "longest", "unused_examples"):
        tokens = [unescaped(use["token"]) for use in told[name]]
        assert tokens == [tokenizer.token_bytes(use["id"]) for use in told[name]]


def test_one_name_for_one_tokenizer(tokenizer: lmfast.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two tokenizers are called one"):
        compression_report(tokenizer, tmp_path, name="one", against={"one": tokenizer})


def test_rows_are_refused(tokenizer: lmfast.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "rows.arrow").touch()
    with pytest.raises(CorpusError, match=r"rows\.arrow here: it must be text or JSON lines"):
        compression_report(tokenizer, tmp_path)


BYTES = lmfast.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, "gpt2")


def test_the_verdict_says_what_the_figures_say(tmp_path: Path) -> None:
    words = "when the kettle whistled we poured the tea "
    trained = lmfast.train_bpe(iter([words]), vocab_size=280, special_tokens=[])
    made = report(tmp_path, words * 50, trained, bytes=BYTES)
    mine = made.tokenizers[0]
    verdict = made.verdict
    assert f"makes {mine.bytes_per_token:.2f} bytes per token" in verdict[0]
    assert "100.0% ASCII: 81.4% Latin, 18.6% whitespace" in verdict[1]
    assert verdict[2] == f"That is {1 - mine.bytes_per_token / 4:.0%} below English."
    assert "smaller than that: 280 ids" in verdict[3]
    fewer = 1 - mine.tokens / (len(words) * 50)
    assert verdict[-1] == f"tokenizer needs {fewer:.1%} fewer tokens than bytes (1.00 bytes each)."


def test_the_verdict_on_a_script_that_was_not_trained_on(tmp_path: Path) -> None:
    made = report(tmp_path, "雨の日は図書館で本を読むのが好きです。" * 20, BYTES, same=BYTES)
    text = " ".join(made.verdict)
    assert "English is no measure here" in text
    assert "parts of characters" in text
    assert "tokenizer needs as many tokens as same" in text
    assert "below English" not in text


def test_the_verdict_where_the_mark_is_reached(tmp_path: Path) -> None:
    trained = lmfast.train_bpe(iter(["therein " * 9]), vocab_size=263, special_tokens=[])
    assert "It reaches what English does." in report(tmp_path, "therein " * 30, trained).verdict
