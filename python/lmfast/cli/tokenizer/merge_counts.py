"""``lmfast tokenizer merge-counts``."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import PretokenCounts
from lmfast.cli.options import JsonOption
from lmfast.cli.streams import say
from lmfast.cli.tokenizer.facts import describe_counts, say_dropped
from lmfast.cli.tokenizer.options import MinCountOption, TemporaryOption, check_out


def merge_counts(
    files: Annotated[list[Path], typer.Argument(help="Count files, of text cut in the same way.")],
    out: Annotated[Path, typer.Option("--out", help="The count file to write.")],
    min_count: MinCountOption = 1,
    temporary_folder: TemporaryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add up count files: any number, of any size, in little memory.

    lmfast tokenizer merge-counts part-*.counts --out all.counts

    Each file is checked whole. Sums may be added up again; the order does not matter.
    """
    check_out(out, files)
    begin = time.perf_counter()
    counts = PretokenCounts.load(files, min_count=min_count, temporary_folder=temporary_folder)
    counts.save(out)
    seconds = time.perf_counter() - begin
    if as_json:
        result = {
            "out": str(out),
            "files": len(files),
            **describe_counts(counts),
            "seconds": seconds,
        }
        print(json.dumps(result, indent=1))
        return
    say(
        f"{out}: {len(counts):,} different pretokens in {counts.text_bytes:,} bytes, from "
        f"{len(files):,} files in {seconds:.1f} s"
    )
    say_dropped(counts)
