"""``lmfast account time``."""

from typing import Annotated, Any

import typer
from rich.console import RenderableType

from lmfast.accounting import (
    count_flops,
    count_parameters,
    load_model_shape,
    six_nd,
    training_time,
)
from lmfast.accounting.budget import CHINCHILLA, compute_optimal
from lmfast.accounting.duration import SECONDS_PER_DAY, energy, price
from lmfast.accounting.hardware import find_device
from lmfast.cli.account.options import (
    DevicesOption,
    DtypeOption,
    MaybeHardwareOption,
    MfuOption,
    ModelOption,
)
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption
from lmfast.errors import ConfigError


def time(
    tokens: Annotated[float, typer.Option("--tokens", help="Tokens to train on, such as 15e12.")],
    params: Annotated[
        float | None, typer.Option("--params", help="Parameters, instead of a model.")
    ] = None,
    model: ModelOption = None,
    set_: SetOption = None,
    hardware: MaybeHardwareOption = None,
    dtype: DtypeOption = "bf16",
    peak_flops: Annotated[
        float | None, typer.Option("--peak-flops", help="Dense FLOP/s, instead of --hardware.")
    ] = None,
    devices: DevicesOption = 1,
    mfu: MfuOption = 0.4,
    rate: Annotated[
        float | None, typer.Option("--price", help="Money per device and hour.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how long a training takes: 6·N·D FLOPs over what the devices reach.

    With --model, the exact count is shown beside 6·N·D. The MFU is an assumption: published
    trainings reach 0.3 to 0.55.

    Example: lmfast account time --params 70e9 --tokens 15e12 --devices 1024 --hardware h100-sxm
    --mfu 0.5
    """
    if (params is None) == (model is None):
        msg = "cannot compute the time: give either --params or --model"
        raise ConfigError(msg)
    if (hardware is None) == (peak_flops is None):
        msg = "cannot compute the time: give either --hardware or --peak-flops"
        raise ConfigError(msg)
    device = find_device(hardware) if hardware is not None else None
    peak = peak_flops if device is None else device.peak(dtype).value
    shape = load_model_shape(model, set_ or ()) if model is not None else None
    count = params if shape is None else count_parameters(shape, "active").known()
    flops = six_nd(count or 0, tokens)
    duration = training_time(flops, peak, mfu, devices)
    pages: list[RenderableType] = [flops, duration]
    seconds = duration.value
    data: dict[str, Any] = {
        "flops": flops.value,
        "seconds": seconds,
        "days": None if seconds is None else seconds / SECONDS_PER_DAY,
        "mfu": mfu,
        "devices": devices,
        "peak_flops": peak,
        "formula": duration.formula,
    }
    if shape is not None:
        exact = training_time(count_flops(shape).per_token().known() * tokens, peak, mfu, devices)
        data["exact_seconds"] = exact.value
        pages.append(exact)
    if seconds is not None and device is not None and device.watts is not None:
        joules = energy(duration, device.watts, devices)
        data["energy_joules"] = joules.value
        pages.append(f"{joules} = {joules.known() / 3.6e6:,.4g} kWh ({joules.convention})")
    if rate is not None:
        cost = price(duration, rate, devices)
        data["price"] = cost.value
        pages.append(cost)
    best, law = compute_optimal(flops.known()), compute_optimal(flops.known(), law=CHINCHILLA)
    data["compute_optimal"] = {"rule_of_20": best.to_dict(), "approach_3": law.to_dict()}
    pages.append(
        f"the same FLOPs spent by the rule of 20 tokens per parameter: "
        f"{best.parameters.known():.3g} parameters, {best.tokens.known():.3g} tokens"
    )
    emit(as_json, data, *pages)
