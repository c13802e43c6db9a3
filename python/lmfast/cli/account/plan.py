"""``lmfast account plan``."""

from typing import Annotated

import typer

from lmfast.accounting import load_model_shape
from lmfast.accounting.hardware import find_device
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.plan import Job, Plan, make_plan
from lmfast.accounting.quantity import show
from lmfast.cli.account.options import (
    BatchOption,
    CheckpointingOption,
    DevicesOption,
    HardwareOption,
    MfuOption,
    RecipeOption,
    TensorOption,
    ZeroOption,
)
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption


def plan(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A TOML file or a published model's name.")
    ],
    hardware: HardwareOption,
    tokens: Annotated[float, typer.Option("--tokens", help="Tokens to train on.")],
    devices: DevicesOption = 1,
    batch: BatchOption = 1,
    recipe: RecipeOption = "amp-bf16",
    checkpointing: CheckpointingOption = "none",
    mfu: MfuOption = 0.4,
    zero: ZeroOption = 0,
    tensor: TensorOption = 1,
    price: Annotated[
        float | None, typer.Option("--price", help="Money per device and hour.")
    ] = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put everything about a training on one page: FLOPs, memory, time, energy, money.

    Example: lmfast account plan llama3-8b --hardware h100-sxm --devices 64 --tokens 2e11 --zero 3
    --recipe bf16-master --checkpointing full
    """
    made = make_plan(
        Job(
            model=load_model_shape(config, set_ or ()),
            device=find_device(hardware),
            tokens=tokens,
            micro_batch_size=batch,
            recipe=recipe,
            checkpointing=checkpointing,
            mfu=mfu,
            parallelism=Parallelism.over(devices, zero=zero, tensor=tensor),
            price_per_device_hour=price,
        )
    )
    emit(as_json, made.to_dict(), *made.quantities(), _verdict(made))


def _verdict(made: Plan) -> str:
    ceiling = "unknown" if made.roofline_mfu is None else f"{100 * made.roofline_mfu:.3g} %"
    memory = show(made.device_memory, "byte")
    fits = {True: "it fits", False: "it does not fit", None: "whether it fits is not known"}
    return f"{fits[made.fits]} in {memory}; the roofline admits an MFU of {ceiling} at most"
