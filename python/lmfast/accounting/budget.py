"""The inverse questions: what a compute budget buys, and how best to split it."""

import math
from dataclasses import dataclass
from typing import Any

from lmfast.accounting.quantity import Page, Quantity
from lmfast.config.checks import require, require_positive

TOKENS_PER_PARAMETER = 20
"""Hoffmann et al. (2022), table 3: about 20 at every budget by their first two approaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """loss(N, D) = irreducible + a / N^alpha + b / D^beta (Hoffmann et al., 2022, equation 2)."""

    irreducible: float
    a: float
    b: float
    alpha: float
    beta: float
    source: str

    def loss(self, parameters: float, tokens: float) -> Quantity:
        """Nats per token that the law expects."""
        value = self.irreducible + self.a / parameters**self.alpha + self.b / tokens**self.beta
        return Quantity(
            name="expected_loss",
            value=value,
            unit="nat/token",
            formula=f"{self.irreducible} + {self.a}/N^{self.alpha} + {self.b}/D^{self.beta}",
            convention=self.source,
        )

    def best_parameters(self, flops: float) -> float:
        """N of least loss where 6·N·D = ``flops`` (equation 4)."""
        ratio = (self.alpha * self.a / (self.beta * self.b)) ** (1 / (self.alpha + self.beta))
        return float(ratio * (flops / 6) ** (self.beta / (self.alpha + self.beta)))


CHINCHILLA = ScalingLaw(
    irreducible=1.69,
    a=406.4,
    b=410.7,
    alpha=0.34,
    beta=0.28,
    source="Hoffmann et al. (2022), approach 3",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeSplit(Page):
    """Parameters and tokens that spend a budget."""

    flops: float
    parameters: Quantity
    tokens: Quantity

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        return self.parameters, self.tokens

    @property
    def tokens_per_parameter(self) -> float:
        """How many tokens each parameter sees."""
        return self.tokens.known() / self.parameters.known()

    def to_dict(self) -> dict[str, Any]:
        """The split for JSON."""
        return {
            "flops": self.flops,
            "parameters": self.parameters.value,
            "tokens": self.tokens.value,
            "tokens_per_parameter": self.tokens_per_parameter,
        }


def compute_budget(
    seconds: float, peak_flops: float | None, mfu: float, devices: int = 1
) -> Quantity:
    """FLOPs that ``devices`` do in ``seconds``; unknown where the peak is.

    Raises:
        ConfigError: No time, no devices, or an MFU outside (0, 1].
    """
    require(0 < mfu <= 1, "mfu", mfu, "it must be above 0 and at most 1")
    require_positive("budget", seconds=seconds, devices=devices)
    peak = "unknown peak" if peak_flops is None else f"{peak_flops:.4g} FLOP/s"
    return Quantity(
        name="compute_budget",
        value=None if peak_flops is None else seconds * devices * peak_flops * mfu,
        unit="FLOP",
        formula=f"{seconds:.4g} s · {devices} · {peak} · MFU {mfu:g}",
        convention="MFU is an assumption",
    )


def largest_model(flops: float, tokens: float) -> Quantity:
    """The most parameters that ``flops`` train on ``tokens``: C / (6·D)."""
    require_positive("budget", flops=flops, tokens=tokens)
    return Quantity(
        name="largest_model",
        value=flops / (6 * tokens),
        unit="parameter",
        formula=f"{flops:.4g} FLOP / (6 · {tokens:.4g} tokens)",
        convention="6nd",
    )


def most_tokens(flops: float, parameters: float) -> Quantity:
    """The most tokens that ``flops`` train ``parameters`` on: C / (6·N)."""
    require_positive("budget", flops=flops, parameters=parameters)
    return Quantity(
        name="most_tokens",
        value=flops / (6 * parameters),
        unit="token",
        formula=f"{flops:.4g} FLOP / (6 · {parameters:.4g} parameters)",
        convention="6nd",
    )


def compute_optimal(
    flops: float,
    tokens_per_parameter: float = TOKENS_PER_PARAMETER,
    law: ScalingLaw | None = None,
) -> ComputeSplit:
    """The parameters and tokens of least loss for a training of ``flops``.

    Args:
        flops: Of the whole training.
        tokens_per_parameter: The rule of thumb: D = 20·N, so N = √(C / 120). A model that will be
            used much is better trained smaller and longer.
        law: A scaling law to minimise instead, such as ``CHINCHILLA``.

    Raises:
        ConfigError: Nothing to spend.
    """
    require_positive("budget", flops=flops, tokens_per_parameter=tokens_per_parameter)
    if law is None:
        parameters = math.sqrt(flops / (6 * tokens_per_parameter))
        said = f"6·N·D = C, D = {tokens_per_parameter:g}·N"
    else:
        parameters = law.best_parameters(flops)
        said = f"least loss by {law.source}"
    return ComputeSplit(
        flops=flops,
        parameters=Quantity(
            name="parameters", value=parameters, unit="parameter", formula=said, convention="6nd"
        ),
        tokens=Quantity(
            name="tokens",
            value=flops / (6 * parameters),
            unit="token",
            formula="C / (6·N)",
            convention="6nd",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLaw:
    """y = factor · x^exponent."""

    factor: float
    exponent: float

    def at(self, x: float) -> float:
        """The law's y at ``x``."""
        return float(self.factor * x**self.exponent)


def fit_power_law(points: list[tuple[float, float]]) -> PowerLaw:
    """The power law through (x, y) points: least squares of log y over log x.

    For IsoFLOP curves the points are (budget, N of the run of least loss).

    Raises:
        ConfigError: Fewer than two different x, or a value that is not positive.
    """
    require(len({x for x, _ in points}) >= 2, "points", points, "two different x are needed")
    for x, y in points:
        require_positive("points", x=x, y=y)
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum(
        (x - mean_x) ** 2 for x, _ in logs
    )
    return PowerLaw(factor=math.exp(mean_y - slope * mean_x), exponent=slope)
