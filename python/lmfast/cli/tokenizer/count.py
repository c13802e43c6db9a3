"""``lmfast tokenizer count``."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import count_pretokens
from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.facts import (
    describe_counts,
    describe_skipped,
    say_dropped,
    say_skipped,
)
from lmfast.cli.tokenizer.options import (
    CorpusArgument,
    MemoryOption,
    MinCountOption,
    OnErrorOption,
    PretokenizerOption,
    SpecialOption,
    TemporaryOption,
    TextFieldOption,
    ThreadsOption,
    budget_bytes,
    check_out,
    special_tokens,
)
from lmfast.progress import bytes_bar
from lmfast.sources import bytes_on_disk, require_files


def count(
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option("--out", help="The count file to write.")],
    pretokenizer: PretokenizerOption = "gpt2",
    special: SpecialOption = None,
    min_count: MinCountOption = 1,
    memory_budget: MemoryOption = None,
    temporary_folder: TemporaryOption = None,
    text_field: TextFieldOption = "text",
    on_error: OnErrorOption = "raise",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the pretokens of a corpus, or of a part of it: the first step of training.

    lmfast tokenizer count part-0.txt.zst --out part-0.counts

    Parts may be counted on many machines; 'merge-counts' adds them up, and 'train --from-counts'
    gives the vocabulary that the whole corpus would have given.
    """
    check_out(out, corpus)
    require_files(corpus)
    begin = time.perf_counter()
    with bytes_bar("counting", bytes_on_disk(corpus)) as on_bytes:
        counts = count_pretokens(
            corpus,
            pretokenizer=pretokenizer,
            special_tokens=special_tokens(special),
            min_count=min_count,
            memory_budget=budget_bytes(memory_budget),
            temporary_folder=temporary_folder,
            text_field=text_field,
            on_error=on_error,
            threads=threads,
            on_bytes=on_bytes,
        )
    counts.save(out)
    seconds = time.perf_counter() - begin
    say_skipped(counts.skipped)
    if as_json:
        result = {
            "out": str(out),
            **describe_counts(counts),
            "skipped": describe_skipped(counts.skipped),
            "seconds": seconds,
        }
        print(json.dumps(result, indent=1))
        return
    say(
        f"{out}: {len(counts):,} different pretokens in {counts.text_bytes:,} bytes, "
        f"{seconds:.1f} s"
    )
    say_dropped(counts)
