"""Added tokens with flags, normal forms and templates, as Hugging Face has them."""

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import lmfast
from lmfast.errors import SpecialTokenError, VocabularyError

BYTES = lmfast.Tokenizer.from_ranks(
    {**{bytes([byte]): byte for byte in range(256)}, b"  ": 256, b"ab": 257}, "gpt2"
)
FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")
TEXTS = ["<|a|>", "<|a|>b", "  ", " ", "ab", "a", "é中", "e\u0301", "ﬁ", "\n", "x y", "a  "]
PIECES = [
    *TEXTS,
    "é",
    "<",
    "|",
    ">",
    "e",
    "\u0301",
    "fi",
    "_",
    "1",
    "Å",
    "Å",
    "\u3000",
    "\t",
    "中",
    "²",
]
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]


def file_of(
    tokens: list[dict[str, Any]], normalizer: object = None, processor: object = None
) -> str:
    file = json.loads(BYTES._core.to_json())
    file["added_tokens"] = tokens
    file["model"]["vocab"].update({token["content"]: token["id"] for token in tokens})
    file["normalizer"], file["post_processor"] = normalizer, processor
    return json.dumps(file)


def ours_of(text: str) -> lmfast.Tokenizer:
    return lmfast.Tokenizer(lmfast._lmfast.Tokenizer.from_json(text))


def ids_there(file: str, text: str, *, special_are_text: bool = False) -> list[int]:
    """The ids that Hugging Face gives; it panics where a token lies in space swallowed twice."""
    theirs = tokenizers.Tokenizer.from_str(file)
    theirs.encode_special_tokens = special_are_text
    try:
        return theirs.encode(text).ids
    except BaseException as panic:
        if type(panic).__name__ == "PanicException":
            reject()
        raise


@st.composite
def added_tokens(draw: st.DrawFn) -> list[dict[str, Any]]:
    texts = draw(st.lists(st.sampled_from(TEXTS), unique=True, max_size=5))
    ids = {"ab": 257, "a": 97}
    return [
        {"id": ids.get(text, 300 + n), "content": text}
        | {flag: draw(st.booleans()) for flag in FLAGS}
        for n, text in enumerate(texts)
    ]


normalizers = st.one_of(
    st.none(),
    st.sampled_from(FORMS).map(lambda form: {"type": form}),
    st.lists(st.sampled_from(FORMS), max_size=3).map(
        lambda forms: {"type": "Sequence", "normalizers": [{"type": form} for form in forms]}
    ),
)
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=600, deadline=None)
@given(tokens=added_tokens(), normalizer=normalizers, text=texts)
def test_tokens_are_found_where_hugging_face_finds_them(
    tokens: list[dict[str, Any]], normalizer: object, text: str
) -> None:
    file = file_of(tokens, normalizer)
    ours, expected = ours_of(file), ids_there(file, text)
    assert ours.encode(text, allowed_special="all") == expected
    assert ours.encode_batch([text], allowed_special="all").tolist() == [expected]
    if not any(token["special"] for token in tokens):
        assert ours.encode_ordinary(text) == expected
    again = ours_of(ours._core.to_json())
    assert again == ours
    assert ids_there(ours._core.to_json(), text) == expected
    if ours.keeps_text:
        assert ours.decode(expected, errors="strict") == text


@settings(max_examples=200, deadline=None)
@given(tokens=added_tokens(), normalizer=normalizers, text=texts)
def test_special_tokens_may_be_text(
    tokens: list[dict[str, Any]], normalizer: object, text: str
) -> None:
    """Hugging Face can be told that, too; but there they still hide others that overlap them."""
    specials = [token["content"] for token in tokens if token["special"]]
    if any(
        token["content"] in other
        or other in token["content"]
        or token["content"][-1] == other[0]
        or token["content"][0] == other[-1]
        for other in specials
        for token in tokens
        if token["content"] != other
    ):
        return
    file = file_of(tokens, normalizer)
    assert ours_of(file).encode_ordinary(text) == ids_there(file, text, special_are_text=True)


@settings(max_examples=100, deadline=None)
@given(form=st.sampled_from(FORMS), text=st.text(max_size=20))
def test_forms_are_those_of_python(form: str, text: str) -> None:
    """Where its tables are as new: of characters that it does not know it says nothing."""
    import unicodedata

    if any(unicodedata.category(c) in ("Cn", "Cs") for c in text):
        return
    ours = ours_of(file_of([], {"type": form}))
    assert ours.encode(text) == BYTES.encode(unicodedata.normalize(form, text))


def test_bytes_that_are_not_text_stay_in_a_normal_form() -> None:
    ours = ours_of(file_of([], {"type": "NFC"}))
    assert (
        ours.decode_bytes(ours.encode(b"e\xff\xcc\x81 e\xcc\x81\xc3"))
        == b"e\xff\xcc\x81 \xc3\xa9\xc3"
    )


def test_the_identity_covers_flags_forms_and_templates() -> None:
    token = {"id": 300, "content": "<|a|>", **dict.fromkeys(FLAGS, False), "special": True}
    cls = {"type": "RobertaProcessing", "cls": ["<|a|>", 300], "sep": ["<|a|>", 300]}
    files = [file_of([{**token, flag: not token[flag]}]) for flag in FLAGS]
    files += [file_of([token], {"type": form}) for form in FORMS]
    files += [file_of([token]), file_of([token], None, cls)]
    assert len({ours_of(file).identity for file in files}) == len(files)
    plain = lmfast.Tokenizer.from_ranks(BYTES.mergeable_ranks, "gpt2", {"<|a|>": 300})
    assert ours_of(file_of([token])).identity == plain.identity


@pytest.mark.parametrize(
    ("processor", "template"),
    [
        (None, ([], [])),
        ({"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}, ([], [])),
        (
            {
                "type": "RobertaProcessing",
                "cls": ["<|a|>", 300],
                "sep": ["b", 98],
                "trim_offsets": True,
                "add_prefix_space": False,
            },
            ([300], [98]),
        ),
        (
            {
                "type": "Sequence",
                "processors": [
                    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
                    {
                        "type": "TemplateProcessing",
                        "single": [
                            {"SpecialToken": {"id": "two", "type_id": 0}},
                            {"Sequence": {"id": "A", "type_id": 0}},
                        ],
                        "pair": [
                            {"Sequence": {"id": "A", "type_id": 0}},
                            {"Sequence": {"id": "B", "type_id": 1}},
                        ],
                        "special_tokens": {
                            "two": {"id": "two", "ids": [300, 98], "tokens": ["<|a|>", "b"]}
                        },
                    },
                ],
            },
            ([300, 98], []),
        ),
    ],
)
def test_templates(processor: object, template: tuple[list[int], list[int]]) -> None:
    token = {"id": 300, "content": "<|a|>", **dict.fromkeys(FLAGS, False), "special": True}
    file = file_of([token], None, processor)
    ours = ours_of(file)
    assert ours.template == template
    before, after = template
    theirs = tokenizers.Tokenizer.from_str(file).encode("ab c").ids
    assert theirs == [*before, *ours.encode("ab c"), *after]
    written = json.loads(ours._core.to_json())
    assert written.get("post_processor") == processor


@pytest.mark.parametrize(
    ("single", "why"),
    [
        ([], "post_processor"),
        ([{"Sequence": {"id": "A", "type_id": 0}}] * 2, "post_processor"),
        ([{"Sequence": {"id": "B", "type_id": 0}}], "post_processor"),
        ([{"SpecialToken": {"id": "?", "type_id": 0}}], "post_processor"),
        (5, "post_processor"),
    ],
)
def test_what_is_no_plain_template_is_refused(single: object, why: str) -> None:
    processor = {"type": "TemplateProcessing", "single": single, "special_tokens": {}}
    with pytest.raises(VocabularyError, match=why):
        ours_of(file_of([], None, processor))
    with pytest.raises(VocabularyError, match="unknown token"):
        ours_of(file_of([], None, {"type": "BertProcessing", "cls": ["x", 9999], "sep": ["b", 98]}))


def test_a_refused_token_is_found_in_its_normal_form_too() -> None:
    token = {"id": 300, "content": "fin", **dict.fromkeys(FLAGS, True), "single_word": False}
    ours = ours_of(file_of([token], {"type": "NFKC"}))
    for text in ("a fin b", "a ﬁn b"):
        with pytest.raises(SpecialTokenError, match="fin"):
            ours.encode(text)
        assert 300 in ours.encode(text, allowed_special="all")
        assert 300 not in ours.encode_ordinary(text)


def test_long_and_many_tokens_take_linear_time() -> None:
    """A minute, not milliseconds, where building or searching is quadratic."""
    ranks = BYTES.mergeable_ranks
    long = "ab" * 50_000
    special = {long: 300, "a" * 20_000 + "b": 301, "aa": 302}
    special |= {f"<|{n}|>": 1000 + n for n in range(20_000)}
    tokenizer = lmfast.Tokenizer.from_ranks(ranks, "gpt2", special)
    assert tokenizer.encode("x" + long + "a" * 200_000, allowed_special="all") == [
        120,
        300,
        *[302] * 100_000,
    ]


def test_other_formats_refuse_what_they_cannot_say(tmp_path: Path) -> None:
    token = {"id": 300, "content": "<|a|>", **dict.fromkeys(FLAGS, False)}
    stripping = {**token, "special": True, "rstrip": True}
    for file in (file_of([token]), file_of([stripping]), file_of([], {"type": "NFC"})):
        for form in ("tiktoken", "gpt2"):
            with pytest.raises(VocabularyError, match=r"only a tokenizer\.json can say"):
                ours_of(file).save(tmp_path / "out", form)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
