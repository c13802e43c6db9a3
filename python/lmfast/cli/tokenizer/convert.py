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
    check_out,
    load_tokenizer,
)
from lmfast.errors import ConfigError


class Target(StrEnum):
    """What to write."""

    HUGGINGFACE = "huggingface"
    TIKTOKEN = "tiktoken"
    GPT2 = "gpt2"
    PRETRAINED = "pretrained"


_BY_ENDING = {".json": Target.HUGGINGFACE, ".tiktoken": Target.TIKTOKEN}


def convert(
    tokenizer: TokenizerArgument,
    out: Annotated[Path, typer.Argument(help="The file to write; for gpt2, pretrained a folder.")],
    to: Annotated[
        Target | None,
        typer.Option(
            "--to",
            help="'pretrained' is a tokenizer.json with what transformers wants beside it. "
            "Default: what the ending of the file says, .json (huggingface) or .tiktoken.",
        ),
    ] = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a tokenizer in another format, or refuse where that could not hold it.

    lmfast tokenizer convert books.json books.tiktoken

    lmfast tokenizer convert qwen.tiktoken qwen --to pretrained --pretokenizer qwen2

    A tokenizer.json holds everything. A .tiktoken file holds ranks alone, GPT-2's two files no
    pretokenizer; what is missing must be given again to read them.
    """
    target = _named_by(out) if to is None else to
    if target in (Target.HUGGINGFACE, Target.TIKTOKEN):
        check_out(out, [tokenizer])
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    match target:
        case Target.PRETRAINED:
            loaded.save_pretrained(out)
        case Target.HUGGINGFACE:
            loaded.save(out)
        case Target.TIKTOKEN:
            loaded.save(out, "tiktoken")
        case Target.GPT2:
            loaded.save(out, "gpt2")
    if as_json:
        facts = {"out": str(out), "format": target.value, "identity": loaded.identity}
        print(json.dumps(facts | {"n_vocab": loaded.n_vocab}))
    else:
        say(f"wrote {out} ({loaded.n_vocab:,} tokens)")


def _named_by(out: Path) -> Target:
    """The format that the name of a file says.

    Raises:
        ConfigError: It says none.
    """
    target = _BY_ENDING.get(out.suffix.lower())
    if target is None or out.is_dir():
        msg = (
            f"cannot tell the format of {out}: give a file that ends in .json or .tiktoken, or "
            f"--to {', '.join(Target)}"
        )
        raise ConfigError(msg)
    return target
