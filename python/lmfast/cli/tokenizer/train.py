"""``lmfast tokenizer train``."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import TieBreak, train_bpe
from lmfast.cli.options import JsonOption
from lmfast.cli.tokenizer.options import (
    OnErrorOption,
    PretokenizerOption,
    SpecialOption,
    TextFieldOption,
    ThreadsOption,
    skipped_result,
)
from lmfast.progress import bytes_bar, count_bar
from lmfast.sources import bytes_on_disk
from lmfast.tokenizer import END_OF_TEXT


def train(
    corpus: Annotated[
        list[Path],
        typer.Argument(help="Files, folders or patterns: text, .jsonl, .parquet; also .gz, .zst."),
    ],
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", help="Tokens to end with, special tokens included.")
    ] = 32_000,
    out: Annotated[Path, typer.Option("--out", help="The tokenizer.json to write.")] = Path(
        "tokenizer.json"
    ),
    pretokenizer: PretokenizerOption = "gpt2",
    special: SpecialOption = None,
    tie_break: Annotated[
        TieBreak, typer.Option("--tie-break", help="Which of equally frequent pairs merges first.")
    ] = "lexicographic",
    min_frequency: Annotated[
        int, typer.Option("--min-frequency", help="Rarer pairs do not merge.", min=1)
    ] = 1,
    max_token_bytes: Annotated[
        int | None, typer.Option("--max-token-bytes", help="The longest token, inclusive.")
    ] = None,
    allow_fewer: Annotated[
        bool, typer.Option("--allow-fewer", help="Take fewer tokens if the corpus gives no more.")
    ] = False,
    text_field: TextFieldOption = "text",
    on_error: OnErrorOption = "raise",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a byte-level BPE vocabulary and write it as a tokenizer.json.

    lmfast tokenizer train books.txt.zst --vocab-size 32000 --out books.json

    The file loads in lmfast, in Hugging Face tokenizers and in transformers. Documents end at the
    text of a special token (--special, by default <|endoftext|>) and at the end of a file. Each
    line of a .jsonl file and each row of a .parquet file is one:

    lmfast tokenizer train 'web/**/*.jsonl.zst' --text-field content --on-error skip

    With --json the rows tell the compression of every smaller vocabulary, since its merges are the
    first ones of this: keep them in a file for 'lmfast account vocab'.
    """
    specials = [END_OF_TEXT] if special is None else special
    begin = time.perf_counter()
    with (
        bytes_bar("counting", bytes_on_disk(corpus)) as on_bytes,
        count_bar("merging", max(0, vocab_size - 256 - len(specials))) as on_merges,
    ):
        tokenizer = train_bpe(
            corpus,
            vocab_size=vocab_size,
            pretokenizer=pretokenizer,
            special_tokens=specials,
            tie_break=tie_break,
            min_frequency=min_frequency,
            max_token_bytes=max_token_bytes,
            allow_fewer=allow_fewer,
            text_field=text_field,
            on_error=on_error,
            threads=threads,
            on_bytes=on_bytes,
            on_merges=on_merges,
        )
    seconds = time.perf_counter() - begin
    tokenizer.save(out)
    record = tokenizer.training
    assert record is not None
    ratio = record.text_bytes / record.tokens
    rest = tokenizer.n_vocab - len(record.applied)
    skipped = skipped_result(record.skipped)
    if as_json:
        result = {
            "out": str(out),
            "vocab_size": tokenizer.n_vocab,
            "identity": tokenizer.identity,
            "text_bytes": record.text_bytes,
            "tokens": record.tokens,
            "bytes_per_token": ratio,
            "seconds": seconds,
            "skipped": skipped,
            "rows": [
                {"vocab_size": size, "bytes_per_token": record.bytes_per_token(size - rest)}
                for size in _sizes(tokenizer.n_vocab)
            ],
        }
        print(json.dumps(result, indent=1))
        return
    print(
        f"{out}: {tokenizer.n_vocab:,} tokens from {record.text_bytes:,} bytes in {seconds:.1f} s; "
        f"{ratio:.2f} bytes per token on the corpus",
        file=sys.stderr,
    )


def _sizes(n_vocab: int) -> list[int]:
    """The powers of two from 512 on that are smaller than ``n_vocab``, then ``n_vocab``."""
    powers = [1 << power for power in range(9, n_vocab.bit_length())]
    return [*(size for size in powers if size < n_vocab), n_vocab]
