from dataclasses import replace

import pytest
import torch

from lmfast.errors import HardwareError
from lmfast.training import device as device_module
from lmfast.training.device import resolve_device, resolve_precision
from lmfast.training.engine import Engine

CPU = torch.device("cpu")


def test_auto_finds_a_device_that_works():
    assert torch.ones(2, device=resolve_device("auto")).sum() == 2
    assert resolve_device("cpu") == CPU


@pytest.mark.parametrize("name", ["cuda:77", "abacus", "", "cpu:x", "meta"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(HardwareError, match="cannot use device"):
        resolve_device(name)


def test_precision_is_what_was_asked_for_or_the_faster(monkeypatch):
    assert resolve_precision("fp32", CPU) == "fp32"
    assert resolve_precision("bf16", CPU) == "bf16"
    assert resolve_precision("auto", CPU) in ("fp32", "bf16")
    for faster, name in ((torch.float32, "fp32"), (torch.bfloat16, "bf16")):
        monkeypatch.setattr(device_module, "_probe", lambda dtype, best=faster: dtype != best)
        assert resolve_precision("auto", CPU) == name


@pytest.mark.parametrize("change", [{"d_model": 2**40}, {"n_layer": 2**62}, {"vocab_size": 2**62}])
def test_a_model_that_no_memory_holds_is_refused_before_it_is_built(make_run, change):
    config = make_run()
    model = replace(config.model, **change)
    with pytest.raises(HardwareError, match="at least"):
        Engine(replace(config, model=model), CPU, "fp32")
    with pytest.raises(HardwareError, match="at least"):
        Engine(replace(config, micro_batch_size=2**62), CPU, "fp32")
