"""How long training takes, and what it costs in energy and money."""

import math

from lmfast.accounting.quantity import Quantity
from lmfast.config.checks import require, require_positive

SECONDS_PER_HOUR = 3_600
SECONDS_PER_DAY = 86_400


def six_nd(parameters: float, tokens: float) -> Quantity:
    """FLOPs to train ``parameters`` on ``tokens`` (Kaplan et al., 2020): 2 forward, 4 backward."""
    return Quantity(
        name="training_flops",
        value=6 * parameters * tokens,
        unit="FLOP",
        formula=f"6 · {parameters:.4g} parameters · {tokens:.4g} tokens",
        convention="6nd",
    )


def training_time(
    flops: float | Quantity, peak_flops: float | None, mfu: float, devices: int = 1
) -> Quantity:
    """Seconds to do ``flops`` on ``devices``.

    Args:
        flops: Of the whole training, forward and backward.
        peak_flops: Dense FLOP/s of one device at the dtype computed in; ``None`` (unknown) gives
            an unknown time.
        mfu: The part of the peak that is reached, an assumption; well-kept trainers reach 0.3 to
            0.55 on large devices.
        devices: How many of them.

    Raises:
        ConfigError: No devices, no FLOP/s, or an MFU outside (0, 1].
    """
    require(0 < mfu <= 1, "mfu", mfu, "it must be above 0 and at most 1")
    require_positive("time", devices=devices)
    if peak_flops is not None:
        require_positive("time", peak_flops=peak_flops)
    known = flops.known() if isinstance(flops, Quantity) else flops
    peak = "unknown peak" if peak_flops is None else f"{peak_flops:.4g} FLOP/s"
    return Quantity(
        name="training_time",
        value=None if peak_flops is None else known / (devices * peak_flops * mfu),
        unit="s",
        formula=f"{known:.4g} FLOP / ({devices} · {peak} · MFU {mfu:g})",
        convention="MFU is an assumption"
        + (f"; FLOPs by {flops.convention}" if isinstance(flops, Quantity) else ""),
    )


def energy(seconds: float | Quantity, watts: float | None, devices: int = 1) -> Quantity:
    """Energy in joules of ``devices`` that draw ``watts`` each; unknown where either is."""
    known = _value(seconds)
    return Quantity(
        name="energy",
        value=None if known is None or watts is None else known * watts * devices,
        unit="J",
        formula=f"{_shown(known)} s · {devices} · {_shown(watts)} W",
        convention="devices at the power given; hosts and cooling not counted",
    )


def price(seconds: float | Quantity, per_device_hour: float, devices: int = 1) -> Quantity:
    """Money for ``devices`` at a price per device and hour, in the currency of the price.

    Raises:
        ConfigError: The price is negative or not finite.
    """
    accepted = "it must be finite and at least 0"
    require(0 <= per_device_hour < math.inf, "price", per_device_hour, accepted)
    known = _value(seconds)
    hours = None if known is None else known / SECONDS_PER_HOUR
    return Quantity(
        name="price",
        value=None if hours is None else hours * devices * per_device_hour,
        unit="",
        formula=f"{_shown(hours)} h · {devices} · {per_device_hour:g} per device-hour",
        convention="devices only, idle time not counted",
    )


def _value(number: float | Quantity) -> float | None:
    return number.value if isinstance(number, Quantity) else number


def _shown(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.4g}"
