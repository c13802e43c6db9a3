"""The cases of ``tests/vectors``, which the Rust core's own tests read, too."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer
from tokenizers.pre_tokenizers import Split

from lmfast import Tokenizer as Ours
from lmfast import count_pretokens

VECTORS = Path(__file__).parent.parent / "vectors"
PRETOKENS = json.loads((VECTORS / "pretokens.json").read_text(encoding="utf-8"))
IDS = json.loads((VECTORS / "ids.json").read_text(encoding="utf-8"))
BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.mark.parametrize("case", PRETOKENS["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize("scheme", ["gpt2", "cl100k", "o200k", "llama3"])
def test_pretokens(scheme: str, case: dict[str, Any]) -> None:
    text, cuts = case["text"], case["cuts"][scheme]
    pattern = Ours.from_ranks(BYTES, scheme).pattern
    assert pattern is not None
    if text:
        theirs = Split(Regex(pattern), "isolated").pre_tokenize_str(text)
        assert [pretoken for pretoken, _ in theirs] == cuts
    # As many different pretokens as there should be; and with each a token of its own, those.
    counts = count_pretokens(iter([text]), pretokenizer=scheme, special_tokens=())
    assert len(counts) == len(set(cuts))
    tokens = dict.fromkeys(cut.encode() for cut in cuts if len(cut.encode()) > 1)
    whole = Ours.from_ranks({**BYTES, **{t: 256 + n for n, t in enumerate(tokens)}}, scheme)
    assert [whole.decode([token]) for token in whole.encode_ordinary(text)] == cuts


@pytest.mark.parametrize("case", IDS["cases"], ids=lambda case: repr(case["text"]))
def test_ids(case: dict[str, Any]) -> None:
    tokens = {token.encode(): 256 + n for n, token in enumerate(IDS["tokens_from_256"])}
    ours = Ours.from_ranks({**BYTES, **tokens}, case["pretokenizer"], IDS["special_tokens"])
    policy = {"allowed_special": case["allowed_special"], "disallowed_special": ()}
    assert ours.encode(case["text"], **policy) == case["ids"]
    assert ours.encode(case["text"].encode(), **policy) == case["ids"]
    assert ours.decode(case["ids"]) == case["text"]
    if set(case["allowed_special"]) == set(IDS["special_tokens"]):
        assert Tokenizer.from_str(ours._core.to_json()).encode(case["text"]).ids == case["ids"]
