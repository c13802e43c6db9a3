"""Small vocabularies of each kind, trained once, beside the same in other libraries."""

from dataclasses import dataclass
from pathlib import Path

import tiktoken
import tokenizers
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, library_files

import lmfast

# A user's own pattern; it matches every character, as tiktoken drops what is not matched.
USER_PATTERN = r"\p{Lu}?\p{Ll}+|\p{N}+|[\s\S]"

SCHEMES = ["gpt2", "cl100k", "o200k", "llama3"]
KINDS = [*SCHEMES, USER_PATTERN, "none"]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A vocabulary in lmfast and in its peers."""

    ours: lmfast.Tokenizer
    file: Path
    hugging_face: tokenizers.Tokenizer
    tiktoken: tiktoken.Encoding | None
    """``None`` where nothing is cut: tiktoken cannot say that."""


def in_tiktoken(tokenizer: lmfast.Tokenizer) -> tiktoken.Encoding:
    """The same tokenizer, as a user of tiktoken would build it."""
    assert tokenizer.pattern is not None
    return tiktoken.Encoding(
        name="lmfast",
        pat_str=tokenizer.pattern,
        mergeable_ranks=tokenizer.mergeable_ranks,
        special_tokens=tokenizer.special_tokens,
    )


def train_kind(kind: str, folder: Path) -> Trained:
    multilingual = folder / "multilingual.txt"
    # Without cuts a corpus is a few huge pretokens, and what it repeats becomes huge tokens.
    repeats, megabytes = (2, 0.05) if kind == "none" else (20, 0.5)
    multilingual.write_text(MULTILINGUAL * repeats, encoding="utf-8", newline="")
    ours = lmfast.train_bpe(
        [multilingual, *library_files(megabytes)],
        vocab_size=1500,
        pretokenizer=None if kind == "none" else kind,
        special_tokens=[END_OF_TEXT],
    )
    file = folder / "tokenizer.json"
    ours.save(file)
    return Trained(
        ours=ours,
        file=file,
        hugging_face=tokenizers.Tokenizer.from_file(str(file)),
        tiktoken=None if kind == "none" else in_tiktoken(ours),
    )
