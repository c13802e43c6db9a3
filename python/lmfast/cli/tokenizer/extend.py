"""``lmfast tokenizer extend``."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.facts import describe_skipped, say_skipped
from lmfast.cli.tokenizer.options import (
    AllowFewerOption,
    CorpusArgument,
    FilePretokenizerOption,
    FileSpecialOption,
    MaxTokenBytesOption,
    MemoryOption,
    MinFrequencyOption,
    OnErrorOption,
    TemporaryOption,
    TextFieldOption,
    ThreadsOption,
    TieBreakOption,
    TokenizerArgument,
    TraceOption,
    budget_bytes,
    check_tokenizer_out,
    load_tokenizer,
)
from lmfast.extension import extend as extend_vocabulary
from lmfast.progress import bytes_bar, count_bar
from lmfast.sources import bytes_on_disk
from lmfast.tokenizer import Tokenizer
from lmfast.trace import TrainingRecord


def extend(
    tokenizer: TokenizerArgument,
    corpus: CorpusArgument,
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", help="Ids to end with, all that there are included.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The tokenizer.json to write.")],
    tie_break: TieBreakOption = "lexicographic",
    min_frequency: MinFrequencyOption = 1,
    max_token_bytes: MaxTokenBytesOption = None,
    allow_fewer: AllowFewerOption = False,
    trace: TraceOption = None,
    memory_budget: MemoryOption = None,
    temporary_folder: TemporaryOption = None,
    text_field: TextFieldOption = "text",
    on_error: OnErrorOption = "raise",
    threads: ThreadsOption = None,
    pretokenizer: FilePretokenizerOption = None,
    special: FileSpecialOption = None,
    as_json: JsonOption = False,
) -> None:
    """Continue a vocabulary on more text, keeping every id.

    lmfast tokenizer extend books.json sources --vocab-size 48000 --out books-and-code.json

    New tokens follow the greatest id, special tokens stay where they are, and new merges rank
    after all others: text that has nothing new keeps its ids.
    """
    check_tokenizer_out(out, [tokenizer, *corpus], trace)
    loaded = load_tokenizer(tokenizer, pretokenizer, special)
    begin = time.perf_counter()
    with (
        bytes_bar("counting", bytes_on_disk(corpus)) as on_bytes,
        count_bar("merging", max(0, vocab_size - loaded.n_vocab)) as on_merges,
    ):
        extended = extend_vocabulary(
            loaded,
            corpus,
            vocab_size=vocab_size,
            tie_break=tie_break,
            min_frequency=min_frequency,
            max_token_bytes=max_token_bytes,
            allow_fewer=allow_fewer,
            memory_budget=budget_bytes(memory_budget),
            temporary_folder=temporary_folder,
            text_field=text_field,
            on_error=on_error,
            threads=threads,
            on_bytes=on_bytes,
            on_merges=on_merges,
        )
    seconds = time.perf_counter() - begin
    extended.save(out)
    record = extended.training
    assert record is not None
    if trace is not None:
        record.write_trace(trace)
    say_skipped(record.skipped)
    if as_json:
        result = {"out": str(out), "seconds": seconds, **_facts(extended, record)}
        print(json.dumps(result, indent=1))
        return
    say(
        f"{out}: {loaded.n_vocab:,} tokens and {len(record.counts):,} new ones from "
        f"{record.text_bytes:,} bytes in {seconds:.1f} s; "
        f"{record.text_bytes / record.start_tokens:.2f} bytes per token on the corpus before, "
        f"{record.text_bytes / record.tokens:.2f} now"
    )


def _facts(extended: Tokenizer, record: TrainingRecord) -> dict[str, Any]:
    """The vocabulary for ``--json``."""
    return {
        "vocab_size": extended.n_vocab,
        "new_tokens": len(record.counts),
        "identity": extended.identity,
        "text_bytes": record.text_bytes,
        "tokens": record.tokens,
        "bytes_per_token_before": record.text_bytes / record.start_tokens,
        "bytes_per_token": record.text_bytes / record.tokens,
        "skipped": describe_skipped(record.skipped),
    }
