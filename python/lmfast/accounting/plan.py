"""One page about a training: model, FLOPs, memory, time, energy and money."""

from dataclasses import dataclass, replace
from typing import Any

from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.budget import TOKENS_PER_PARAMETER
from lmfast.accounting.checkpointing import Checkpointing
from lmfast.accounting.duration import SECONDS_PER_DAY, energy, price, training_time
from lmfast.accounting.fit import largest_micro_batch
from lmfast.accounting.flops import check_6nd, count_flops
from lmfast.accounting.hardware import Device
from lmfast.accounting.memory import MemoryEstimate, estimate_memory
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.parameters import count_parameters
from lmfast.accounting.quantity import Page, Quantity
from lmfast.accounting.recipes import Recipe, find_recipe
from lmfast.accounting.workload import model_workload
from lmfast.config import ModelConfig
from lmfast.config.checks import require_positive

COMPUTE_DTYPES = {4: "fp32", 2: "bf16"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be trained, on what, and how."""

    model: ModelConfig
    device: Device
    tokens: float
    """Of the whole training."""
    micro_batch_size: int = 1
    recipe: str | Recipe = "amp-bf16"
    checkpointing: str | Checkpointing = "none"
    mfu: float = 0.4
    """The part of the peak that is reached: an assumption, 0.3 to 0.55 in published trainings."""
    parallelism: Parallelism = Parallelism()  # noqa: RUF009 - frozen, shared safely
    price_per_device_hour: float | None = None

    def __post_init__(self) -> None:
        require_positive("plan", tokens=self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Page):
    """All that can be said of a job before it starts."""

    parameters: Quantity
    training_flops: Quantity
    six_nd_over_exact: Quantity
    tokens_per_parameter: Quantity
    memory: MemoryEstimate
    device_memory: float | None
    largest_micro_batch: Quantity
    peak_flops: Quantity
    time: Quantity
    energy: Quantity
    price: Quantity | None
    roofline_mfu: float | None
    """The highest MFU that the roofline of one device admits for the model's operations."""

    @property
    def fits(self) -> bool | None:
        """Whether the peak of memory is within the device's; ``None`` where that is not known."""
        if self.device_memory is None:
            return None
        return self.memory.peak.known() <= self.device_memory

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        lines = (
            replace(self.parameters, parts=()),
            self.tokens_per_parameter,
            self.training_flops,
            self.six_nd_over_exact,
            self.peak_flops,
            self.time,
            self.energy,
            self.price,
            self.memory.buckets,
            self.memory.peak,
            self.largest_micro_batch,
        )
        return tuple(line for line in lines if line is not None)

    def to_dict(self) -> dict[str, Any]:
        """The plan for JSON."""
        seconds = self.time.value
        return {
            "parameters": self.parameters.value,
            "tokens_per_parameter": self.tokens_per_parameter.value,
            "training_flops": self.training_flops.value,
            "6nd_over_exact": self.six_nd_over_exact.value,
            "peak_flops": self.peak_flops.value,
            "seconds": seconds,
            "days": None if seconds is None else seconds / SECONDS_PER_DAY,
            "energy_joules": self.energy.value,
            "price": None if self.price is None else self.price.value,
            "memory": self.memory.to_dict(),
            "device_memory_bytes": self.device_memory,
            "fits": self.fits,
            "largest_micro_batch": self.largest_micro_batch.value,
            "roofline_mfu": self.roofline_mfu,
        }


def make_plan(job: Job) -> Plan:
    """Everything about the job: FLOPs, memory, time, energy and money.

    Raises:
        ConfigError: A setting does not exist or does not fit.
    """
    shape, recipe = as_architecture(job.model), find_recipe(job.recipe)
    dtype = COMPUTE_DTYPES[recipe.compute]
    per_token = count_flops(shape).per_token()
    flops = Quantity(
        name="training_flops",
        value=per_token.known() * job.tokens,
        unit="FLOP",
        formula=f"{per_token.known():.4g} FLOP per token · {job.tokens:.4g} tokens",
        convention=per_token.convention,
    )
    peak, count = job.device.peak(dtype), job.parallelism.devices

    def memory(batch: int) -> MemoryEstimate:
        return estimate_memory(
            shape,
            batch,
            recipe=recipe,
            checkpointing=job.checkpointing,
            parallelism=job.parallelism,
        )

    duration = training_time(flops, peak.value, job.mfu, count)
    workload = model_workload(shape, job.device, batch=job.micro_batch_size, dtype=dtype)
    rate = job.price_per_device_hour
    return Plan(
        parameters=count_parameters(shape),
        training_flops=flops,
        six_nd_over_exact=check_6nd(shape),
        tokens_per_parameter=_tokens_per_parameter(shape, job.tokens),
        memory=memory(job.micro_batch_size),
        device_memory=job.device.memory,
        largest_micro_batch=largest_micro_batch(job.device.memory, memory),
        peak_flops=peak,
        time=duration,
        energy=energy(duration, job.device.watts, count),
        price=price(duration, rate, count) if rate is not None else None,
        roofline_mfu=workload.highest_mfu,
    )


def _tokens_per_parameter(shape: Architecture, tokens: float) -> Quantity:
    count = count_parameters(shape, "active").known()
    return Quantity(
        name="tokens_per_parameter",
        value=tokens / count,
        unit="token",
        formula=f"{tokens:.4g} tokens / {count:,} parameters",
        convention=f"about {TOKENS_PER_PARAMETER} is compute-optimal (Chinchilla)",
    )
