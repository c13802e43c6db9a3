"""``lmfast tokenizer extend``."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import TieBreak
from lmfast.cli.options import JsonOption
from lmfast.cli.tokenizer.options import (
    CorpusArgument,
    FilePretokenizerOption,
    FileSpecialOption,
    MemoryOption,
    OnErrorOption,
    TemporaryOption,
    TextFieldOption,
    ThreadsOption,
    TokenizerArgument,
    TraceOption,
    budget_bytes,
    load_tokenizer,
    skipped_result,
)
from lmfast.extension import extend as extend_vocabulary
from lmfast.progress import bytes_bar, count_bar
from lmfast.sources import bytes_on_disk
from lmfast.trace import check_trace_path


def extend(
    tokenizer: TokenizerArgument,
    corpus: CorpusArgument,
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", help="Ids to end with, all that there are included.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The tokenizer.json to write.")],
    tie_break: Annotated[
        TieBreak, typer.Option("--tie-break", help="Which of equally frequent pairs merges first.")
    ] = "lexicographic",
    min_frequency: Annotated[
        int, typer.Option("--min-frequency", help="Rarer pairs do not merge.", min=1)
    ] = 1,
    max_token_bytes: Annotated[
        int | None, typer.Option("--max-token-bytes", help="The longest new token, inclusive.")
    ] = None,
    allow_fewer: Annotated[
        bool, typer.Option("--allow-fewer", help="Take fewer tokens if the corpus gives no more.")
    ] = False,
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
    if trace is not None:
        check_trace_path(trace)  # now, not after hours of training
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
    skipped = skipped_result(record.skipped)
    before, after = record.text_bytes / record.start_tokens, record.text_bytes / record.tokens
    if as_json:
        result = {
            "out": str(out),
            "vocab_size": extended.n_vocab,
            "new_tokens": len(record.counts),
            "identity": extended.identity,
            "text_bytes": record.text_bytes,
            "tokens": record.tokens,
            "bytes_per_token_before": before,
            "bytes_per_token": after,
            "skipped": skipped,
            "seconds": seconds,
        }
        print(json.dumps(result, indent=1))
        return
    print(
        f"{out}: {loaded.n_vocab:,} tokens and {len(record.counts):,} new ones from "
        f"{record.text_bytes:,} bytes in {seconds:.1f} s; {before:.2f} bytes per token on the "
        f"corpus before, {after:.2f} now",
        file=sys.stderr,
    )
