"""What part of a device's peak a run makes use of."""

from typing import Literal

from lmfast.accounting.quantity import Quantity


def mfu(
    tokens_per_second: float,
    flops_per_token: float | Quantity,
    peak_flops: float | None,
    devices: int = 1,
) -> Quantity:
    """Model FLOPs utilisation (Chowdhery et al., 2022): needed FLOP/s over peak FLOP/s.

    Args:
        tokens_per_second: Of all devices together.
        flops_per_token: Forward and backward, recomputation left out.
        peak_flops: Dense FLOP/s of one device at the dtype computed in; ``None`` (unknown) gives
            an unknown MFU. A measured matmul ceiling gives the part of what can be reached.
        devices: How many of them.
    """
    convention = flops_per_token.convention if isinstance(flops_per_token, Quantity) else ""
    return _share_of_peak(
        "MFU", tokens_per_second, flops_per_token, peak_flops, devices, convention
    )


def hfu(
    tokens_per_second: float,
    flops_per_token: float | Quantity,
    peak_flops: float | None,
    devices: int = 1,
) -> Quantity:
    """Hardware FLOPs utilisation: as ``mfu``, of the FLOPs executed, recomputation included."""
    convention = flops_per_token.convention if isinstance(flops_per_token, Quantity) else ""
    return _share_of_peak(
        "HFU", tokens_per_second, flops_per_token, peak_flops, devices, convention
    )


def mbu(bytes_per_step: float, seconds_per_step: float, bandwidth: float | None) -> Quantity:
    """Memory bandwidth utilisation: bytes that had to move over what could have been moved.

    In decoding a step must read every active weight and the KV cache once.
    """
    known = bandwidth is not None
    return Quantity(
        name="MBU",
        value=bytes_per_step / seconds_per_step / bandwidth if bandwidth is not None else None,
        unit="ratio",
        formula=f"{bytes_per_step:.4g} B / {seconds_per_step:.4g} s / "
        + (f"{bandwidth:.4g} B/s" if known else "unknown bandwidth"),
        convention="bytes that must move at least",
    )


def _share_of_peak(
    name: Literal["MFU", "HFU"],
    tokens_per_second: float,
    flops_per_token: float | Quantity,
    peak_flops: float | None,
    devices: int,
    convention: str,
) -> Quantity:
    flops = flops_per_token.known() if isinstance(flops_per_token, Quantity) else flops_per_token
    known = peak_flops is not None
    peak = f"({devices} · {peak_flops:.4g} FLOP/s)" if known else "unknown peak"
    return Quantity(
        name=name,
        value=tokens_per_second * flops / (devices * peak_flops)
        if peak_flops is not None
        else None,
        unit="ratio",
        formula=f"{tokens_per_second:.4g} tokens/s · {flops:.4g} FLOP / {peak}",
        convention=convention or "FLOPs as given, dense peak",
    )
