"""Number formats: what they can hold, and what becomes of a given number in each."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lmfast.config.checks import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A binary floating-point format: sign, exponent with a bias, and mantissa bits."""

    name: str
    exponent_bits: int
    mantissa_bits: int
    storage_bits: int
    """As it lies in memory; tf32 is held in 32 bits, of which 19 count."""
    infinity: bool = True
    """Whether the largest exponent is kept for infinity and NaN, as IEEE 754 does."""
    nan_codes: int = 0
    """Without infinity: codes at the top that are NaN."""
    block: int | None = None
    """Elements that share a scale."""
    scale_bytes: int = 0
    """Bytes of one scale."""
    meaning: str = ""

    @property
    def bias(self) -> int:
        """What is taken off the stored exponent."""
        return (1 << self.exponent_bits - 1) - 1

    @property
    def bytes_per_element(self) -> float:
        """Bytes per element, its part of a block's scale counted."""
        share = self.scale_bytes / self.block if self.block else 0
        return self.storage_bits / 8 + share

    @property
    def largest(self) -> float:
        """The largest finite number."""
        top = 2**self.exponent_bits - 1 - self.infinity
        mantissa = 2**self.mantissa_bits - 1 - (0 if self.infinity else self.nan_codes)
        return float((1 + Fraction(mantissa, 2**self.mantissa_bits)) * _power(top - self.bias))

    @property
    def smallest_normal(self) -> float:
        """The smallest number of full precision."""
        return float(_power(1 - self.bias))

    @property
    def smallest_subnormal(self) -> float:
        """The smallest number above zero."""
        return float(_power(1 - self.bias - self.mantissa_bits))

    @property
    def epsilon(self) -> float:
        """From 1 to the next number."""
        return float(_power(-self.mantissa_bits))

    def round(self, value: float) -> float:
        """``value`` as the format holds it: to nearest, ties to even.

        Above the largest number lies infinity; a format without infinity saturates, as accelerators
        and torch from 2.15 on cast (the OCP specification also allows NaN).
        """
        if value == 0 or math.isnan(value):
            return value
        if math.isinf(value):
            return self._beyond(value)
        exponent = max(math.frexp(value)[1] - 1, 1 - self.bias)
        step = _power(exponent - self.mantissa_bits)
        # round() of a Fraction takes ties to even.
        rounded = round(Fraction(abs(value)) / step) * step
        if rounded > Fraction(self.largest):
            return self._beyond(value)
        return math.copysign(float(rounded), value)

    def _beyond(self, value: float) -> float:
        return math.copysign(math.inf if self.infinity else self.largest, value)

    def to_dict(self) -> dict[str, Any]:
        """The format for JSON."""
        return {
            "bits": self.storage_bits,
            "bytes": self.bytes_per_element,
            "exponent_bits": self.exponent_bits,
            "mantissa_bits": self.mantissa_bits,
            "largest": self.largest,
            "smallest_normal": self.smallest_normal,
            "smallest_subnormal": self.smallest_subnormal,
            "epsilon": self.epsilon,
        }


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format(
            name="fp32",
            exponent_bits=8,
            mantissa_bits=23,
            storage_bits=32,
            meaning="IEEE 754 single; weights, moments, losses",
        ),
        Format(
            name="tf32",
            exponent_bits=8,
            mantissa_bits=10,
            storage_bits=32,
            meaning="fp32 rounded on its way into a tensor core",
        ),
        Format(
            name="fp16",
            exponent_bits=5,
            mantissa_bits=10,
            storage_bits=16,
            meaning="IEEE 754 half; fine steps, short range, gradients need scaling",
        ),
        Format(
            name="bf16",
            exponent_bits=8,
            mantissa_bits=7,
            storage_bits=16,
            meaning="the range of fp32 in coarse steps; needs no scaling",
        ),
        Format(
            name="fp8-e4m3",
            exponent_bits=4,
            mantissa_bits=3,
            storage_bits=8,
            infinity=False,
            nan_codes=1,
            meaning="weights and activations; no infinity",
        ),
        Format(
            name="fp8-e5m2",
            exponent_bits=5,
            mantissa_bits=2,
            storage_bits=8,
            meaning="gradients; the range of fp16",
        ),
        Format(
            name="fp4-e2m1",
            exponent_bits=2,
            mantissa_bits=1,
            storage_bits=4,
            infinity=False,
            meaning="eight magnitudes: 0, 0.5, 1, 1.5, 2, 3, 4, 6",
        ),
        Format(
            name="mxfp4",
            exponent_bits=2,
            mantissa_bits=1,
            storage_bits=4,
            infinity=False,
            block=32,
            scale_bytes=1,
            meaning="fp4-e2m1, one power-of-two scale (E8M0) per 32 elements",
        ),
        Format(
            name="nvfp4",
            exponent_bits=2,
            mantissa_bits=1,
            storage_bits=4,
            infinity=False,
            block=16,
            scale_bytes=1,
            meaning="fp4-e2m1, one fp8-e4m3 scale per 16 elements",
        ),
    )
}


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        ConfigError: There is none.
    """
    require(name in FORMATS, "dtype", name, f"one of {', '.join(FORMATS)}")
    return FORMATS[name]


def cast(value: float, dtype: str) -> float:
    """``value`` as the format called ``dtype`` holds it; 1e-8 is 0 in fp16.

    Block scales are taken as 1: an element by itself.

    Raises:
        ConfigError: There is no such format.
    """
    return find_format(dtype).round(value)


def cast_block(values: list[float], dtype: str) -> list[float]:
    """A block of numbers as a block-scaled format holds it, scale and all.

    The scale brings the largest magnitude into range: for ``mxfp4`` the power of two of the OCP
    specification (2^(exponent of the largest - 2)), for ``nvfp4`` the largest over 6 as fp8-e4m3.

    Raises:
        ConfigError: The format has no blocks, or the block is longer than it holds.
    """
    form = find_format(dtype)
    require(form.block is not None, "dtype", dtype, "one with blocks: mxfp4 or nvfp4")
    size = form.block or 0
    require(0 < len(values) <= size, "block", len(values), f"1 to {size} numbers")
    largest = max(abs(value) for value in values)
    if largest == 0:
        return [0.0] * len(values)
    if dtype == "mxfp4":
        scale = float(_power(math.frexp(largest)[1] - 1 - 2))
    else:
        scale = FORMATS["fp8-e4m3"].round(largest / form.largest)
    return [form.round(value / scale) * scale if scale else 0.0 for value in values]


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent
