import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.accounting.hardware import (
    Device,
    Peaks,
    built_in_devices,
    device_of_torch,
    find_device,
    known_devices,
    store_device,
)
from lmfast.accounting.measure import measure_copy_bandwidth, measure_device
from lmfast.errors import ConfigError, FileError, HardwareError

# SMs (CUs), matrix units in each, FMAs per clock in each, boost clock: arithmetic from the layout.
ARITHMETIC = {
    "a100-sxm-80gb": (108, 4, 256, 1.41e9),
    "h100-sxm": (132, 4, 512, 1.83e9),
    "h100-pcie": (114, 4, 512, 1.62e9),
    "mi300x": (304, 4, 256, 2.1e9),
    "rtx-4090": (128, 4, 64, 2.52e9),
    "v100-sxm": (80, 8, 64, 1.53e9),
}


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    path = tmp_path / "hardware.toml"
    monkeypatch.setenv("LMFAST_HARDWARE", str(path))
    return path


def test_the_h100_confusion():
    h100 = find_device("h100-sxm")
    assert h100.dense.bf16 == 989.4e12
    assert h100.sparse.bf16 == 1_978.9e12
    assert h100.sparse.tf32 == 989.4e12
    assert h100.ridge("bf16").value == pytest.approx(295, abs=0.5)


@pytest.mark.parametrize("key", built_in_devices())
def test_every_row_is_sound(key):
    device = built_in_devices()[key]
    assert device.source
    assert device.retrieved
    assert not device.measured
    dense, sparse = device.dense.to_dict(), device.sparse.to_dict()
    assert dense
    for dtype, peak in dense.items():
        # No peak is the sparse figure of its own dtype, and that is twice the dense one.
        assert peak != sparse.get(dtype)
        if dtype in sparse:
            assert sparse[dtype] == pytest.approx(2 * peak, rel=0.02)
    if device.dense.bf16 and device.dense.fp8 and key != "tpu-v6e":
        assert device.dense.fp8 == pytest.approx(2 * device.dense.bf16, rel=0.02)
    assert device.bandwidth is None or 5e10 < device.bandwidth < 1e13


@pytest.mark.parametrize(("key", "layout"), ARITHMETIC.items())
def test_vendors_figures_follow_from_the_layout(key, layout):
    units, cores, fmas, clock = layout
    device = find_device(key)
    assert (device.dense.fp16 or 0) == pytest.approx(units * cores * fmas * 2 * clock, rel=0.01)


def test_torch_names_are_compared_whole():
    assert device_of_torch("NVIDIA L40S").name == "NVIDIA L40S"
    assert device_of_torch("NVIDIA H100 80GB HBM3") == find_device("h100-sxm")
    assert device_of_torch("NVIDIA H100") is None
    assert device_of_torch("cpu") is None


@given(st.text(max_size=40))
def test_an_unknown_name_never_gets_another_devices_figures(name):
    device = device_of_torch(name)
    assert device is None or name in device.torch_names


def test_no_two_rows_claim_one_torch_name():
    names = [name for device in built_in_devices().values() for name in device.torch_names]
    assert len(names) == len(set(names))


def test_an_unknown_device_is_refused_with_near_ones():
    with pytest.raises(HardwareError, match="h100-sxm"):
        find_device("h100")
    with pytest.raises(HardwareError, match="unknown dtype"):
        find_device("h100-sxm").peak("fp64")
    assert find_device("t4").peak("bf16").value is None
    assert find_device("t4").ridge("bf16").value is None


def test_the_users_entries_add_and_take_precedence(own_file):
    own_file.write_text(
        '[mine]\nname = "Mine"\nsource = "me"\ndense = { fp16 = 1e12 }\n'
        'torch_names = ["My Device"]\n'
        '[t4]\nname = "A better T4"\nsource = "me"\ndense = { fp16 = 66e12 }\n'
    )
    assert device_of_torch("My Device") == find_device("mine")
    assert find_device("t4").name == "A better T4"
    assert len(known_devices()) == len(built_in_devices()) + 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mine]\nname = "a"\nsource = "b"\ndense = { fp61 = 1e12 }', "fp61"),
        ('[mine]\nname = "a"\nsource = "b"', "missing setting"),
        ("mine = 3", "must be a table"),
        ('[mine]\nname = "a"\nsource = "b"\ndense = {}\ntorch_names = "x"', "list of names"),
        ("[mine", "hardware.toml"),
    ],
)
def test_a_broken_file_is_refused(own_file, text, said):
    own_file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        known_devices()


def test_measured_entries_are_stored_and_replaced():
    measured = Device(name="here", dense=Peaks(fp32=1.5e11), source="timed", measured=True)
    store_device("here-cpu", measured)
    store_device("here-gpu", dataclasses.replace(measured, name='with "quotes"'))
    better = dataclasses.replace(measured, bandwidth=2e10, dense=Peaks(fp32=1.6e11, bf16=3e11))
    store_device("here-cpu", better)
    assert find_device("here-cpu") == better
    assert find_device("here-gpu").name == 'with "quotes"'
    with pytest.raises(HardwareError, match="letters"):
        store_device("not a key", measured)


def test_a_file_that_cannot_be_written(own_file):
    own_file.with_name("measured.tmp").mkdir()
    with pytest.raises(FileError, match="cannot write"):
        store_device("here", Device(name="here", dense=Peaks(), source="timed"))


def test_this_machine_is_measured(monkeypatch):
    monkeypatch.setattr("lmfast.accounting.measure.COPY_BYTES", 2**20)
    monkeypatch.setattr("lmfast.accounting.measure.SIZES", (64, 128))
    device = measure_device("cpu", ("fp32",))
    assert device.measured
    assert device.ridge("fp32").value > 0
    assert device.peak("bf16").value is None
    with pytest.raises(HardwareError, match="cuda:77"):
        measure_copy_bandwidth("cuda:77")
