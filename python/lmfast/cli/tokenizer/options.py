"""The options that the subcommands of ``tokenizer`` share, and the tokenizer they name."""

from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import PretokenCounts
from lmfast.cli.streams import say
from lmfast.errors import ConfigError
from lmfast.sources import OnError, Skipped
from lmfast.tokenizer import Tokenizer

ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Worker threads; default: one per core.", min=1)
]
PretokenizerOption = Annotated[
    str,
    typer.Option(
        "--pretokenizer", help="gpt2, cl100k, o200k, llama3, none, or a regular expression."
    ),
]
TrainPretokenizerOption = Annotated[
    str | None,
    typer.Option(
        "--pretokenizer",
        help="gpt2 (default), cl100k, o200k, llama3, none, or a regular expression.",
        show_default=False,
    ),
]
SpecialOption = Annotated[
    list[str] | None,
    typer.Option("--special", metavar="TEXT", help="A special token; may be repeated."),
]
TraceOption = Annotated[
    Path | None,
    typer.Option("--trace", help="Also write every merge, to a .jsonl, .arrow or .parquet."),
]
CorpusArgument = Annotated[
    list[Path],
    typer.Argument(help="Files, folders or patterns: text, .jsonl, .parquet; also .gz, .zst."),
]
MinCountOption = Annotated[
    int,
    typer.Option(
        "--min-count", help="Drop pretokens that occur less often in all; says what is lost.", min=1
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory-budget",
        metavar="MIB",
        help="MiB that may be taken; the rest goes to temporary files, with the same result.",
        min=1,
    ),
]
TemporaryOption = Annotated[
    Path | None,
    typer.Option("--temporary-folder", help="Where they go; default: the system's folder."),
]
TextFieldOption = Annotated[
    str,
    typer.Option(
        "--text-field",
        metavar="NAME",
        help="The field of JSON lines, or column of Parquet files, that holds the text.",
    ),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="'skip' leaves out and counts what cannot be used."),
]
TokenizerArgument = Annotated[
    Path, typer.Argument(help="A tokenizer.json, a .tiktoken file, or a folder.")
]
FilePretokenizerOption = Annotated[
    str | None,
    typer.Option("--pretokenizer", help="For .tiktoken and GPT-2 files, which do not say."),
]
FileSpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special", metavar="TEXT[=ID]", help="For the same: a special token, with its id."
    ),
]


def budget_bytes(mib: int | None) -> int | None:
    """The bytes of --memory-budget."""
    return None if mib is None else mib << 20


def describe_counts(counts: PretokenCounts) -> dict[str, object]:
    """What --json tells of counts."""
    return {
        "pretokens": len(counts),
        "occurrences": counts.occurrences,
        "text_bytes": counts.text_bytes,
        **describe_dropped(counts),
    }


def describe_dropped(counts: PretokenCounts) -> dict[str, int]:
    """What --json tells of pretokens that were left out."""
    dropped = counts.dropped
    return {
        "dropped_pretokens": dropped.pretokens,
        "dropped_occurrences": dropped.occurrences,
        "dropped_bytes": dropped.bytes,
    }


def say_dropped(counts: PretokenCounts) -> None:
    """Say what was lost, if anything was."""
    dropped = counts.dropped
    if dropped.pretokens:
        say(
            f"dropped {dropped.pretokens:,} pretokens that occur {dropped.occurrences:,} times in "
            f"all and make up {dropped.bytes:,} bytes; the count of any pair is too low by "
            f"{dropped.bytes - dropped.occurrences:,} at most"
        )


def load_tokenizer(
    path: Path, pretokenizer: str | None = None, special: list[str] | None = None
) -> Tokenizer:
    """The tokenizer that a command names.

    Raises:
        ConfigError: An id of a special token is not a number.
    """
    if special is None:
        return Tokenizer.load(path, pretokenizer)
    if path.suffix != ".tiktoken":
        return Tokenizer.load(path, pretokenizer, special)
    ids: dict[str, int] = {}
    for text in special:
        name, equals, token_id = text.rpartition("=")
        if not equals or not token_id.isdecimal():
            msg = f"cannot read --special {text!r}: for {path} it must be TEXT=ID"
            raise ConfigError(msg)
        ids[name] = int(token_id)
    return Tokenizer.load(path, pretokenizer, ids)


def skipped_result(skipped: Skipped) -> dict[str, int | str | dict[str, int] | None]:
    """What was left out of a corpus, for ``--json``; a line on stderr says the same."""
    if skipped.documents:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.by_reason.items())
        say(f"left out {skipped.documents:,} documents ({reasons}); the first: {skipped.first}")
    return {
        "documents": skipped.documents,
        "by_reason": skipped.by_reason,
        "first": skipped.first,
    }
