"""``lmfast account memory``."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from lmfast.accounting import (
    MemoryEstimate,
    bytes_per_parameter,
    estimate_activations,
    estimate_memory,
    load_model_shape,
)
from lmfast.accounting.fit import FrontierPoint, checkpointing_frontier, largest_micro_batch
from lmfast.accounting.hardware import find_device
from lmfast.accounting.kv_cache import kv_cache
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.pictures import memory_picture, save_picture
from lmfast.accounting.quantity import show
from lmfast.accounting.saved import Attention
from lmfast.cli.account.options import (
    BatchOption,
    CheckpointingOption,
    ContextOption,
    DevicesOption,
    MaybeHardwareOption,
    ModelOption,
    PictureOption,
    RecipeOption,
    TensorOption,
    ZeroOption,
)
from lmfast.cli.account.show import emit, saved_table
from lmfast.cli.options import JsonOption, SetOption

AttentionOption = Annotated[
    str, typer.Option("--attention", help="sdpa (a fused kernel) or explicit (scores are held).")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="List every tensor that one block saves.")
]

FrontierOption = Annotated[
    bool, typer.Option("--frontier", help="Memory against compute for every checkpointing policy.")
]


def memory(
    model: ModelOption = None,
    batch: BatchOption = 1,
    context_length: ContextOption = None,
    recipe: RecipeOption = "fp32",
    checkpointing: CheckpointingOption = "none",
    attention: AttentionOption = "sdpa",
    devices: DevicesOption = 1,
    zero: ZeroOption = 0,
    tensor: TensorOption = 1,
    hardware: MaybeHardwareOption = None,
    frontier: FrontierOption = False,
    explain: ExplainOption = False,
    picture: PictureOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where the memory of one training device goes.

    Weights, gradients and optimizer state depend on the model; activations and logits also on the
    micro-batch and on what is kept for the backward pass.

    Example: lmfast account memory --model gpt2-xl --recipe bf16 --batch 4 --checkpointing full
    """
    shape = load_model_shape(model, set_ or ())
    kernel: Attention = attention  # type: ignore[assignment]  # the library checks it
    spread = Parallelism.over(devices, zero=zero, tensor=tensor)

    def estimate(size: int) -> MemoryEstimate:
        return estimate_memory(
            shape,
            size,
            context_length,
            recipe,
            checkpointing,
            attention=kernel,
            parallelism=spread,
        )

    arguments = (shape, batch, context_length, recipe)
    activations = estimate_activations(
        *arguments, checkpointing, attention=kernel, parallelism=spread
    )
    at_batch, per_parameter = estimate(batch), bytes_per_parameter(recipe)
    cache = kv_cache(shape, context_length, batch)
    data = at_batch.to_dict() | {
        "bytes_per_parameter": per_parameter.value,
        "activations": activations.to_dict(),
        "kv_cache_bytes": cache.value,
    }
    pages: list[RenderableType] = [at_batch.buckets, at_batch.peak, per_parameter, cache]
    limit = find_device(hardware).memory if hardware is not None else None
    if hardware is not None:
        largest = largest_micro_batch(limit, estimate)
        data["largest_micro_batch"] = largest.value
        pages.append(largest)
    if frontier:
        points = checkpointing_frontier(*arguments, attention=kernel)
        data["frontier"] = [point.to_dict() for point in points]
        pages.append(_frontier_table(points))
    if explain:
        pages.append(saved_table(activations.block))
    if picture is not None:
        sizes = [batch * factor for factor in (1, 2, 4, 8)]
        save_picture(memory_picture(estimate, sizes, limit=limit), picture)
    emit(as_json, data, *pages)


def _frontier_table(points: tuple[FrontierPoint, ...]) -> Table:
    title = "frontier: no other policy has less of both"
    table = Table("checkpointing", "activations", "computed again", title=title)
    for point in points:
        if point.best:
            again = f"{point.recompute_share:.1%} of a step"
            table.add_row(point.policy, show(point.activation_bytes, "byte"), again)
    return table
