"""``lmfast tokenizer report``."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lmfast.cli.options import JsonOption
from lmfast.cli.tokenizer.options import (
    FilePretokenizerOption,
    FileSpecialOption,
    TextCorpusArgument,
    ThreadsOption,
    TokenizerArgument,
    load_tokenizer,
)
from lmfast.progress import bytes_bar
from lmfast.report import LengthUse, Report, TokenizerUse, TokenUse, compression_report
from lmfast.token_text import escaped
from lmfast.tokenizer import Tokenizer

_MOST_SOURCES = 20
# In bytes, first and last.
_LENGTHS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 8), (9, 12), (13, 16), (17, None))


def report(
    tokenizer: TokenizerArgument,
    corpus: TextCorpusArgument,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="PATH[=PRETOKENIZER]",
            help="Another tokenizer for the same text; may be repeated.",
        ),
    ] = None,
    threads: ThreadsOption = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell how a tokenizer compresses a text, and why; beside others.

    lmfast tokenizer report books.json held-out.txt --against cl100k.tiktoken=cl100k

    Words are runs of characters between whitespace. Documents end at the special tokens of the
    first tokenizer, whose own text is left out. A token is of the kind of its first character
    that is no whitespace.
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    others = dict(_other(option) for option in against or ())
    with bytes_bar("encoding", None) as on_bytes:
        made = compression_report(
            loaded,
            corpus,
            name=str(tokenizer),
            against=others,
            threads=threads,
            on_bytes=on_bytes,
        )
    if as_json:
        print(json.dumps(made.to_dict(), indent=1))
        return
    console = Console(markup=False, highlight=False)
    text = made.text
    console.print(
        f"{text.bytes:,} bytes, {text.characters:,} characters, {text.words:,} words, "
        f"{text.documents:,} documents"
    )
    for table in (_figures(made), _kinds(made), _lengths(made), _sources(made)):
        console.print(table)
    for use in made.tokenizers:
        console.print(f"{use.name}", style="bold", soft_wrap=True)
        console.print(f"  most frequent: {_tokens(use.most_frequent)}", soft_wrap=True)
        console.print(f"  longest: {_tokens(use.longest)}", soft_wrap=True)
        console.print(f"  never used: {_tokens(use.unused_examples)}", soft_wrap=True)
    for sentence in made.verdict:
        console.print(sentence, soft_wrap=True)


def _other(option: str) -> tuple[str, Tokenizer]:
    path, equals, pretokenizer = option.partition("=")
    if not equals or Path(option).exists():
        return option, load_tokenizer(Path(option), cut_by=f"--against {option}=")
    return path, load_tokenizer(Path(path), pretokenizer)


def _tokens(uses: tuple[TokenUse, ...]) -> str:
    return "  ".join(f"[{escaped(use.token)}] {use.count:,}" for use in uses) or "none"


def _table(made: Report, first: str, title: str) -> Table:
    table = Table(first, title=title)
    for use in made.tokenizers:
        table.add_column(use.name, justify="right", overflow="fold")
    return table


def _figures(made: Report) -> Table:
    table = _table(made, "", "the whole text")

    def row(name: str, *cells: str) -> None:
        table.add_row(name, *cells)

    uses = made.tokenizers
    row("vocabulary", *(f"{use.n_vocab:,}" for use in uses))
    row("tokens", *(f"{use.tokens:,}" for use in uses))
    row("bytes per token", *(f"{use.bytes_per_token:.3f}" for use in uses))
    row("characters per token", *(f"{use.characters_per_token:.3f}" for use in uses))
    row("tokens per word", *(_or_dash(use.tokens_per_word) for use in uses))
    row("single-byte tokens", *(f"{use.single_byte_share:.2%}" for use in uses))
    row("parts of characters", *(f"{use.part_share:.2%}" for use in uses))
    row("ids never used", *(f"{use.unused:,} ({use.unused_share:.1%})" for use in uses))
    for share in uses[0].ids_for_share:
        row(f"ids that make {float(share):.0%}", *(_ids(use, share) for use in uses))
    return table


def _ids(use: TokenizerUse, share: str) -> str:
    ids = use.ids_for_share[share]
    return f"{ids:,} ({ids / use.n_vocab:.1%})"


def _or_dash(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"


def _kinds(made: Report) -> Table:
    table = _table(made, "kind", "tokens of each kind: their part of all, bytes each")
    by_name = [{kind.kind: kind for kind in use.by_kind} for use in made.tokenizers]
    names = dict.fromkeys(name for kinds in by_name for name in kinds)
    for name in names:
        found = [kinds.get(name) for kinds in by_name]
        cells = (
            "-" if kind is None else f"{kind.token_share:.1%} at {kind.bytes_per_token:.2f}"
            for kind in found
        )
        table.add_row(name, *cells)
    return table


def _lengths(made: Report) -> Table:
    table = _table(made, "bytes", "part of the text by length of token")
    for least, most in _LENGTHS:
        shares = (
            sum(row.text_share for row in use.by_length if _is_in(row, least, most))
            for use in made.tokenizers
        )
        name = f"{least} and more" if most is None else f"{least} to {most}"
        table.add_row(str(least) if least == most else name, *(f"{x:.1%}" for x in shares))
    return table


def _is_in(row: LengthUse, least: int, most: int | None) -> bool:
    return least <= row.token_bytes and (most is None or row.token_bytes <= most)


def _sources(made: Report) -> Table:
    table = _table(made, "source", "bytes per token by source")
    rows = list(zip(*(use.by_source for use in made.tokenizers), strict=True))
    rows.sort(key=lambda row: -row[0].bytes)
    for row in rows[:_MOST_SOURCES]:
        table.add_row(row[0].source, *(_or_dash(use.bytes_per_token) for use in row))
    if len(rows) > _MOST_SOURCES:
        table.add_row(f"... and {len(rows) - _MOST_SOURCES:,} smaller ones")
    return table
