"""``lmfast tokenizer``: train, encode, decode, look inside; one module per subcommand."""

import typer

from lmfast.cli.tokenizer import (
    convert,
    count,
    decode,
    encode,
    extend,
    inspect,
    merge_counts,
    report,
    steps,
    sweep,
    train,
)

tokenizer_app = typer.Typer(
    name="tokenizer",
    no_args_is_help=True,
    help="Train byte-level BPE, count for it apart, extend it, sweep its sizes; encode text to ids "
    "and corpora to shards, decode; convert to other formats; look inside, and report "
    "how it fits a text.",
)
tokenizer_app.command("train")(train.train)
tokenizer_app.command("extend")(extend.extend)
tokenizer_app.command("count")(count.count)
tokenizer_app.command("merge-counts")(merge_counts.merge_counts)
tokenizer_app.command("encode")(encode.encode)
tokenizer_app.command("decode")(decode.decode)
tokenizer_app.command("convert")(convert.convert)
tokenizer_app.command("inspect")(inspect.inspect)
tokenizer_app.command("report")(report.report)
tokenizer_app.command("steps")(steps.steps)
tokenizer_app.command("sweep")(sweep.sweep)
