"""``lmfast account time``."""

from typing import Annotated

import typer

from lmfast.accounting import (
    count_flops,
    count_parameters,
    load_model_shape,
    six_nd,
    training_time,
)
from lmfast.accounting.duration import SECONDS_PER_DAY
from lmfast.cli.account.options import JsonOption, ModelOption, SetOption
from lmfast.cli.account.show import emit
from lmfast.errors import ConfigError


def time(
    tokens: Annotated[float, typer.Option("--tokens", help="Tokens to train on, such as 15e12.")],
    params: Annotated[
        float | None, typer.Option("--params", help="Parameters, instead of a model.")
    ] = None,
    model: ModelOption = None,
    set_: SetOption = None,
    devices: Annotated[int, typer.Option("--devices", help="How many devices.")] = 1,
    peak_flops: Annotated[
        float | None, typer.Option("--peak-flops", help="Dense FLOP/s of one device.")
    ] = None,
    mfu: Annotated[float, typer.Option("--mfu", help="Part of the peak that is reached.")] = 0.4,
    as_json: JsonOption = False,
) -> None:
    """Say how long a training takes: 6·N·D FLOPs over what the devices reach.

    With --model, the exact count is shown beside 6·N·D.

    Example: lmfast account time --params 70e9 --tokens 15e12 --devices 1024
    --peak-flops 989.4e12 --mfu 0.5
    """
    if (params is None) == (model is None):
        msg = "cannot reckon the time: give either --params or --model"
        raise ConfigError(msg)
    shape = load_model_shape(model, set_ or ()) if model is not None else None
    count = params if shape is None else count_parameters(shape, "active").known()
    flops = six_nd(count or 0, tokens)
    duration = training_time(flops, peak_flops, mfu, devices)
    data = {
        "flops": flops.value,
        "seconds": duration.value,
        "days": None if duration.value is None else duration.value / SECONDS_PER_DAY,
        "mfu": mfu,
        "devices": devices,
        "peak_flops": peak_flops,
        "formula": duration.formula,
    }
    pages = [flops, duration]
    if shape is not None:
        counted = count_flops(shape).per_token()
        exact = training_time(counted.known() * tokens, peak_flops, mfu, devices)
        data["exact_seconds"] = exact.value
        pages.append(exact)
    emit(as_json, data, *pages)
