"""``lmfast account memory``."""

from typing import Annotated

import typer
from rich.console import RenderableType

from lmfast.accounting import (
    bytes_per_parameter,
    estimate_activations,
    estimate_memory,
    load_model_shape,
)
from lmfast.accounting.saved import Attention
from lmfast.cli.account.options import (
    BatchOption,
    CheckpointingOption,
    ContextOption,
    JsonOption,
    ModelOption,
    RecipeOption,
    SetOption,
)
from lmfast.cli.account.show import emit, saved_table

AttentionOption = Annotated[
    str, typer.Option("--attention", help="sdpa (a fused kernel) or explicit (scores are held).")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="List every tensor that one block saves.")
]


def memory(
    model: ModelOption = None,
    batch: BatchOption = 1,
    context_length: ContextOption = None,
    recipe: RecipeOption = "fp32",
    checkpointing: CheckpointingOption = "none",
    attention: AttentionOption = "sdpa",
    explain: ExplainOption = False,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where the memory of one training device goes.

    Weights, gradients and optimizer state depend on the model; activations and logits on the
    micro-batch, too, and on what is kept for the backward pass.

    Example: lmfast account memory --model gpt2-xl --recipe bf16 --batch 4 --checkpointing full
    """
    shape = load_model_shape(model, set_ or ())
    kernel: Attention = attention  # type: ignore[assignment]  # the library checks it
    arguments = (shape, batch, context_length, recipe, checkpointing)
    estimate = estimate_memory(*arguments, attention=kernel)
    activations = estimate_activations(*arguments, attention=kernel)
    per_parameter = bytes_per_parameter(recipe)
    data = estimate.to_dict() | {
        "bytes_per_parameter": per_parameter.value,
        "activations": activations.to_dict(),
    }
    pages: list[RenderableType] = [estimate.buckets, estimate.peak, per_parameter]
    if explain:
        pages.append(saved_table(activations.block))
    emit(as_json, data, *pages)
