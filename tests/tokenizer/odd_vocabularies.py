"""Vocabularies that no training of lmfast gives, but that files hold."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

import lmfast

BYTES = {bytes([byte]): byte for byte in range(256)}
"""The ranks of the single bytes."""

SMALL = lmfast.Tokenizer.from_ranks({**BYTES, b"ab": 256}, "gpt2", {"<|end|>": 300})
"""One merge, one special token, and ids between them that nothing has."""


def from_file(
    folder: Path,
    tokens: Sequence[bytes],
    merges: Sequence[tuple[bytes, bytes]],
    *,
    ignore_merges: bool = False,
) -> lmfast.Tokenizer:
    """The tokenizer of a ``tokenizer.json`` with these tokens after the bytes, and these merges."""
    bytes_alone = lmfast.Tokenizer.from_ranks(BYTES, "gpt2")
    path = folder / "odd.json"
    bytes_alone.save(path)
    file = json.loads(path.read_text(encoding="utf-8"))
    spelled = {b: text for text, b in file["model"]["vocab"].items()}

    def spell(token: bytes) -> str:
        return "".join(spelled[byte] for byte in token)

    file["model"]["vocab"].update({spell(token): 256 + i for i, token in enumerate(tokens)})
    file["model"]["merges"] = [[spell(left), spell(right)] for left, right in merges]
    file["model"]["ignore_merges"] = ignore_merges
    path.write_text(json.dumps(file), encoding="utf-8")
    return lmfast.Tokenizer.load(path)


@st.composite
def odd_tokenizers(draw: st.DrawFn) -> lmfast.Tokenizer:
    """Tokens over a small alphabet, and merges in any order, several for some tokens, or none."""
    texts = st.text("abc", min_size=2, max_size=5).map(str.encode)
    tokens = draw(st.lists(texts, max_size=12, unique=True))
    if draw(st.booleans()):
        ranks = {token: i for i, token in enumerate([*(bytes([b]) for b in range(256)), *tokens])}
        return lmfast.Tokenizer.from_ranks(ranks, "gpt2", {"<|end|>": 400})
    known = {*tokens, b"a", b"b", b"c"}
    splits = [
        (token[:at], token[at:])
        for token in tokens
        for at in range(1, len(token))
        if token[:at] in known and token[at:] in known
    ]
    merges = draw(st.lists(st.sampled_from(splits), unique=True)) if splits else []
    with tempfile.TemporaryDirectory() as folder:
        return from_file(Path(folder), tokens, merges, ignore_merges=draw(st.booleans()))
