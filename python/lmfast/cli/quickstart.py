"""``lmfast quickstart``: from text to a trained model in one command."""

import json
import sys
from pathlib import Path
from typing import Annotated

import rich
import typer

from lmfast.cli.extras import needs_extra
from lmfast.cli.options import JsonOption


def quickstart(
    corpus: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Text files (also .gz, .zst) or folders; default: Python's own sources."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder to fill; an earlier quickstart there is replaced. Default: "
            "runs/quickstart, and for a corpus of yours runs/quickstart-NAME.",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="How long to train the model, about.", min=1)
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Go from text to a trained model in about two minutes, its costs predicted and measured.

    lmfast quickstart

    lmfast quickstart books.txt --out runs/books

    Trains a vocabulary, encodes the corpus to shards, measures the machine, trains the largest
    model that --seconds train well, and reports predicted against measured. The folder is a run
    like any other: 'lmfast generate runs/quickstart' writes more text.
    """
    with needs_extra("train"):
        from lmfast.quickstart import quickstart as run
    report = run(corpus or (), out or _default_out(corpus), seconds=seconds)
    if as_json:
        print(json.dumps(report.to_dict(), indent=1))
    else:
        rich.print(report.render())
        print(
            f"report, tokenizer, model, loss curve and sample are in {report.out}; "
            "report.txt says where each prediction comes from",
            file=sys.stderr,
        )


def _default_out(corpus: list[Path] | None) -> Path:
    """A folder per corpus, so that one does not replace the quickstart of another."""
    name = corpus[0].resolve().name.partition(".")[0] if corpus else ""
    return Path("runs") / (f"quickstart-{name}" if name else "quickstart")
