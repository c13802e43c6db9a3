"""``lmfast tokenizer convert``."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.options import (
    FilePretokenizerOption,
    FileSpecialOption,
    TokenizerArgument,
    load_tokenizer,
)


class Target(StrEnum):
    """What to write."""

    HUGGINGFACE = "huggingface"
    TIKTOKEN = "tiktoken"
    GPT2 = "gpt2"
    PRETRAINED = "pretrained"


def convert(
    tokenizer: TokenizerArgument,
    out: Annotated[Path, typer.Argument(help="The file to write; for gpt2, pretrained a folder.")],
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            help="'pretrained' is a tokenizer.json with what transformers wants beside it.",
        ),
    ] = Target.HUGGINGFACE,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a tokenizer in another format, or refuse where that could not hold it.

    lmfast tokenizer convert qwen.tiktoken qwen --to pretrained --pretokenizer qwen2

    A tokenizer.json holds everything. A .tiktoken file holds ranks alone, GPT-2's two files no
    pretokenizer; what is missing must be given again to read them.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    match to:
        case Target.PRETRAINED:
            loaded.save_pretrained(out)
        case Target.HUGGINGFACE:
            loaded.save(out)
        case Target.TIKTOKEN:
            loaded.save(out, "tiktoken")
        case Target.GPT2:
            loaded.save(out, "gpt2")
    if as_json:
        facts = {"out": str(out), "format": to.value, "identity": loaded.identity}
        print(json.dumps(facts | {"n_vocab": loaded.n_vocab}))
    else:
        say(f"wrote {out} ({loaded.n_vocab:,} tokens)")
