"""``lmfast account vocab``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lmfast.accounting import load_model_shape
from lmfast.accounting.flops import Convention
from lmfast.accounting.pictures import save_picture, vocabulary_picture
from lmfast.accounting.quantity import show
from lmfast.accounting.vocabulary import (
    VocabularyPlan,
    check_compression,
    read_sweep,
    vocabulary_plan,
)
from lmfast.cli.account.options import ConventionOption, ModelOption, PictureOption
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption


def vocab(
    sweep: Annotated[
        Path,
        typer.Argument(
            help="JSON: a list of pairs, vocab_size and bytes per token on your corpus; "
            "or what 'tokenizer train --json' prints."
        ),
    ],
    model: ModelOption = None,
    set_: SetOption = None,
    context_bytes: Annotated[
        int | None, typer.Option("--context-bytes", help="Text that a context must hold.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="FLOPs to spend on the training.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="english or code: fail where compression is poor.")
    ] = None,
    convention: ConventionOption = "palm",
    picture: PictureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Weigh vocabulary sizes: shorter texts against a larger embedding and head.

    Small models pay much for a large vocabulary, large ones little; the cheapest row is the
    break-even for this model and corpus.

    Example: lmfast account vocab sweep.json --model gpt2-small
    """
    named: Convention = convention  # type: ignore[assignment]  # the library checks it
    points = read_sweep(sweep)
    shape = load_model_shape(model, [*(set_ or ()), *(["vocab_size=1"] if model is None else [])])
    plan = vocabulary_plan(shape, points, context_bytes=context_bytes, convention=named)
    data = plan.to_dict()
    pages = [f"{step} {step.formula}" for step in plan.break_even()]
    pages.append(f"cheapest per byte: {plan.cheapest.vocab_size:,} tokens")
    if budget is not None:
        text_bytes = budget / plan.cheapest.flops_per_byte
        data["bytes_within_budget"] = {
            str(row.vocab_size): budget / row.flops_per_byte for row in plan.rows
        }
        pages.append(f"{budget:.4g} FLOPs train on {text_bytes:.4g} bytes of text with it")
    if text is not None:
        pages.append(str(check_compression(plan.rows[-1].bytes_per_token, text)))
    if picture is not None:
        save_picture(vocabulary_picture(plan), picture)
    emit(as_json, data, _table(plan), *pages)


def _table(plan: VocabularyPlan) -> Table:
    table = Table(
        "vocabulary", "bytes/token", "emb + head", "FLOPs/byte", "head", "logits/token", "KV/byte"
    )
    for row in plan.rows:
        table.add_row(
            f"{row.vocab_size:,}",
            f"{row.bytes_per_token:.3f}",
            f"{row.embedding_parameters:,}",
            show(row.flops_per_byte, "FLOP"),
            f"{row.head_share:.1%}",
            show(row.logits_bytes_per_token, "byte"),
            show(row.kv_cache_per_byte, "byte"),
        )
    return table
