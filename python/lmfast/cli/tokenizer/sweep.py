"""``lmfast tokenizer sweep``."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lmfast.accounting.pictures import save_picture, sweep_picture
from lmfast.bpe import train_bpe
from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.facts import say_skipped
from lmfast.cli.tokenizer.options import (
    CorpusArgument,
    OnErrorOption,
    PretokenizerOption,
    SpecialOption,
    ThreadsOption,
    TieBreakOption,
    check_tokenizer_out,
    special_tokens,
)
from lmfast.errors import ConfigError
from lmfast.progress import bytes_bar, count_bar
from lmfast.sources import bytes_on_disk
from lmfast.sweep import Sweep, sweep_sizes

_SIZES = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)


def sweep(
    corpus: CorpusArgument,
    vocab_sizes: Annotated[
        str | None,
        typer.Option(
            "--vocab-sizes",
            metavar="N,N,...",
            help="Special tokens included; the corpus must fill them. Default: "
            f"{', '.join(map(str, _SIZES))}, or up to what it fills.",
        ),
    ] = None,
    evaluate: Annotated[
        list[str] | None,
        typer.Option(
            "--eval",
            metavar="NAME=PATH",
            help="Another corpus to encode, of text or JSON lines (field 'text'); may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write the largest as a tokenizer.json.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Also draw it, to a .png, .svg or .pdf."),
    ] = None,
    pretokenizer: PretokenizerOption = "gpt2",
    special: SpecialOption = None,
    tie_break: TieBreakOption = "lexicographic",
    allow_fewer: Annotated[
        bool,
        typer.Option(
            "--allow-fewer", help="Where the corpus cannot fill a size, tell the largest it fills."
        ),
    ] = False,
    on_error: OnErrorOption = "raise",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell bytes per token at many vocabulary sizes, from one training at the largest.

    lmfast tokenizer sweep books.txt.zst --vocab-sizes 4000,16000,64000 --eval code=sources

    Each size is exactly what a training at that size would give, since its merges are the first
    ones. Keep the table for 'lmfast account vocab', which weighs it against the cost of a model:

    lmfast tokenizer sweep books.txt.zst --json > sweep.json; lmfast account vocab sweep.json
    """
    check_tokenizer_out(out, corpus, picture)
    sizes = list(_SIZES) if vocab_sizes is None else _sizes(vocab_sizes)
    corpora = dict(_named(option) for option in evaluate or ())
    specials = special_tokens(special)
    with (
        bytes_bar("counting", bytes_on_disk(corpus)) as on_bytes,
        count_bar("merging", max(0, max(sizes) - 256 - len(specials))) as on_merges,
    ):
        tokenizer = train_bpe(
            corpus,
            vocab_size=max(sizes),
            pretokenizer=pretokenizer,
            special_tokens=specials,
            tie_break=tie_break,
            on_error=on_error,
            allow_fewer=allow_fewer or vocab_sizes is None,
            threads=threads,
            on_bytes=on_bytes,
            on_merges=on_merges,
        )
    if tokenizer.training is not None:
        say_skipped(tokenizer.training.skipped)
    reached = _reached(sizes, tokenizer.n_vocab)
    with bytes_bar("evaluating", None) as on_bytes:
        table = sweep_sizes(
            tokenizer,
            reached,
            evaluate=corpora,
            threads=threads,
            on_bytes=on_bytes,
        )
    if out is not None:
        tokenizer.save(out)
    if picture is not None:
        save_picture(sweep_picture(table), picture)
    if as_json:
        print(json.dumps(table.to_dict(), indent=1))
    else:
        Console(markup=False).print(_table(table))


def _sizes(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        msg = f"cannot read --vocab-sizes {text!r}: it must be whole numbers with commas between"
        raise ConfigError(msg) from error


def _reached(sizes: list[int], n_vocab: int) -> list[int]:
    """The sizes that the corpus fills, and in the place of greater ones what it comes to."""
    reached = [size for size in sizes if size <= n_vocab]
    if len(reached) < len(sizes):
        say(f"the corpus fills a vocabulary of {n_vocab:,} and none that is larger")
        reached.append(n_vocab)
    return reached


def _named(option: str) -> tuple[str, Path]:
    name, equals, path = option.partition("=")
    if not (name and equals and path):
        msg = f"cannot read --eval {option!r}: it must be NAME=PATH"
        raise ConfigError(msg)
    return name, Path(path)


def _table(sweep: Sweep) -> Table:
    table = Table("vocabulary", "training corpus", *sweep.evaluated_bytes, title="bytes per token")
    for row in sweep.rows:
        ratios = [row.bytes_per_token, *row.evaluated.values()]
        table.add_row(f"{row.vocab_size:,}", *(f"{ratio:.3f}" for ratio in ratios))
    return table
