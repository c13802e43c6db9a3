import json

import pytest

from lmfast.accounting import count_flops, estimate_memory, named_model, training_time
from lmfast.accounting.hardware import Device, Peaks, find_device
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.plan import Job, make_plan


def job(**changes):
    settings = {
        "model": named_model("llama3-8b"),
        "device": find_device("h100-sxm"),
        "tokens": 2e11,
        "recipe": "bf16-master",
        "checkpointing": "full",
        "parallelism": Parallelism(data=64, zero=3),
        "price_per_device_hour": 2.0,
    }
    return Job(**settings | changes)


def test_the_page_says_what_its_parts_say():
    asked = job()
    plan = make_plan(asked)
    flops = count_flops(asked.model).per_token().value * asked.tokens
    assert plan.training_flops.value == flops
    assert plan.time.value == training_time(flops, 989.4e12, 0.4, 64).value
    assert plan.memory == estimate_memory(
        asked.model, 1, None, "bf16-master", "full", parallelism=asked.parallelism
    )
    assert plan.price.value == pytest.approx(plan.time.value / 3_600 * 64 * 2)
    assert plan.energy.value == pytest.approx(plan.time.value * 64 * 700)
    assert plan.fits
    assert 0.5 < plan.roofline_mfu < 1
    assert json.loads(json.dumps(plan.to_dict()))["days"] == plan.time.value / 86_400


def test_a_model_that_does_not_fit():
    plan = make_plan(job(parallelism=Parallelism()))
    assert plan.fits is False
    assert plan.largest_micro_batch.value == 0


def test_an_unknown_device_leaves_everything_unknown_that_hangs_on_it():
    plan = make_plan(job(device=Device(name="new", dense=Peaks(), source="none")))
    unknown = (plan.time, plan.energy, plan.price, plan.largest_micro_batch, plan.peak_flops)
    assert all(quantity.value is None for quantity in unknown)
    assert (plan.fits, plan.roofline_mfu) == (None, None)
