"""``lmfast tokenizer convert``."""

import json
from pathlib import Path

import lmfast as library


def test_a_tokenizer_in_other_formats(lmfast, tmp_path: Path) -> None:
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256}
    tokenizer = library.Tokenizer.from_ranks(ranks, "gpt2", {"<|end|>": 257})
    tokenizer.save(tmp_path / "in.json")
    source = str(tmp_path / "in.json")
    code, stdout, _ = lmfast(
        "tokenizer", "convert", source, str(tmp_path / "x.tiktoken"), "--to", "tiktoken", "--json"
    )
    assert (code, json.loads(stdout)["identity"]) == (0, tokenizer.identity)
    code, _, stderr = lmfast(
        "tokenizer",
        "convert",
        str(tmp_path / "x.tiktoken"),
        str(tmp_path / "folder"),
        *("--to", "pretrained", "--pretokenizer", "gpt2", "--special", "<|end|>=257"),
    )
    assert (code, "folder" in stderr) == (0, True)
    assert library.Tokenizer.load(tmp_path / "folder") == tokenizer
