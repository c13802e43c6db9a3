"""``lmfast tokenizer train``."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lmfast.bpe import PretokenCounts, count_pretokens, train_from_counts
from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.facts import (
    describe_dropped,
    describe_skipped,
    say_dropped,
    say_skipped,
)
from lmfast.cli.tokenizer.options import (
    CORPUS_HELP,
    AllowFewerOption,
    MaxTokenBytesOption,
    MemoryOption,
    MinCountOption,
    MinFrequencyOption,
    OnErrorOption,
    PretokenizerOption,
    SpecialOption,
    TemporaryOption,
    TextFieldOption,
    ThreadsOption,
    TieBreakOption,
    TraceOption,
    budget_bytes,
    check_tokenizer_out,
    special_tokens,
    standard_input,
)
from lmfast.errors import ConfigError
from lmfast.progress import bytes_bar, count_bar
from lmfast.sources import bytes_on_disk
from lmfast.tokenizer import Tokenizer
from lmfast.trace import TrainingRecord

_LONG_TOKEN = 512
"""A longest token of more bytes is told of: four times GPT-2's longest."""

# What was decided when the text was counted.
_OF_COUNTING = ("pretokenizer", "special", "text_field", "on_error")


def train(
    context: typer.Context,
    corpus: Annotated[
        list[Path],
        typer.Argument(
            help=f"{CORPUS_HELP} Or count files.",
            callback=standard_input,
        ),
    ],
    from_counts: Annotated[
        bool,
        typer.Option("--from-counts", help="The files are of 'count' or 'merge-counts'."),
    ] = False,
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", help="Tokens to end with, special tokens included.")
    ] = 32_000,
    out: Annotated[Path, typer.Option("--out", help="The tokenizer.json to write.")] = Path(
        "tokenizer.json"
    ),
    pretokenizer: PretokenizerOption = "gpt2",
    special: SpecialOption = None,
    min_count: MinCountOption = 1,
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
    as_json: JsonOption = False,
) -> None:
    """Train a byte-level BPE vocabulary and write it as a tokenizer.json.

    lmfast tokenizer train books.txt.zst --vocab-size 32000 --out books.json

    lmfast tokenizer train books.txt.zst --out books.json --trace merges.jsonl

    The file loads in lmfast, in Hugging Face tokenizers and in transformers. Documents end at the
    text of a special token (--special, by default <|endoftext|>) and at the end of a file. Each
    line of a .jsonl file and each row of a .parquet file is one:

    lmfast tokenizer train 'web/**/*.jsonl.zst' --text-field content --on-error skip

    lmfast tokenizer train --from-counts part-*.counts --out books.json

    With --from-counts the corpus was counted before, by 'lmfast tokenizer count' with its own
    pretokenizer and special tokens; the vocabulary is that of the whole corpus.

    With --json the rows tell the compression of every smaller vocabulary, since its merges are the
    first ones of this: keep them in a file for 'lmfast account vocab'.
    """
    check_tokenizer_out(out, corpus, trace)
    begin = time.perf_counter()
    if from_counts:
        _refuse_with_counts(context)
        counts = PretokenCounts.load(corpus, min_count=min_count, temporary_folder=temporary_folder)
    else:
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
    merges = max(0, vocab_size - 256 - len(counts.special_tokens))
    with count_bar("merging", merges) as on_merges:
        tokenizer = train_from_counts(
            counts,
            vocab_size=vocab_size,
            tie_break=tie_break,
            min_frequency=min_frequency,
            max_token_bytes=max_token_bytes,
            allow_fewer=allow_fewer,
            memory_budget=budget_bytes(memory_budget),
            temporary_folder=temporary_folder,
            threads=threads,
            on_merges=on_merges,
        )
    seconds = time.perf_counter() - begin
    tokenizer.save(out)
    record = tokenizer.training
    assert record is not None
    if trace is not None:
        record.write_trace(trace)
    say_skipped(record.skipped)
    _say_longest(tokenizer)
    if as_json:
        facts = {"dropped": describe_dropped(counts), **_facts(tokenizer, record)}
        print(json.dumps({"out": str(out), "seconds": seconds, **facts}, indent=1))
        return
    say(
        f"{out}: {tokenizer.n_vocab:,} tokens from {record.text_bytes:,} bytes in {seconds:.1f} s; "
        f"{record.text_bytes / record.tokens:.2f} bytes per token on the corpus"
    )
    say_dropped(counts)


def _say_longest(tokenizer: Tokenizer) -> None:
    """Text that nothing cuts can give tokens of any length, which hardly occur in other text."""
    longest = max(map(len, tokenizer.mergeable_ranks))
    if longest > _LONG_TOKEN:
        say(f"the longest token has {longest:,} bytes; --max-token-bytes sets a limit")


def _refuse_with_counts(context: typer.Context) -> None:
    """Refuse what was decided when the text was counted."""
    for name in _OF_COUNTING:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            msg = f"--{name.replace('_', '-')} cannot go with --from-counts: the text is read, cut"
            msg += " and counted already"
            raise ConfigError(msg)


def _facts(tokenizer: Tokenizer, record: TrainingRecord) -> dict[str, Any]:
    """The vocabulary for ``--json``, and the compression of smaller ones and of this."""
    rest = tokenizer.n_vocab - len(record.applied)
    return {
        "vocab_size": tokenizer.n_vocab,
        "identity": tokenizer.identity,
        "text_bytes": record.text_bytes,
        "tokens": record.tokens,
        "bytes_per_token": record.text_bytes / record.tokens,
        "skipped": describe_skipped(record.skipped),
        "rows": [
            {"vocab_size": size, "bytes_per_token": record.bytes_per_token(size - rest)}
            for size in _sizes(tokenizer.n_vocab)
        ],
    }


def _sizes(n_vocab: int) -> list[int]:
    """The powers of two from 512 on that are smaller than ``n_vocab``, then ``n_vocab``."""
    powers = [1 << power for power in range(9, n_vocab.bit_length())]
    return [*(size for size in powers if size < n_vocab), n_vocab]
