import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.config import ScheduleConfig
from lmfast.training.schedule import learning_rate


def rates(**kwargs) -> list[float]:
    schedule = ScheduleConfig(**kwargs)
    return [learning_rate(step, schedule, 2.0) for step in range(1, schedule.steps + 1)]


def test_known_values():
    found = rates(steps=8, warmup_steps=4, min_lr_ratio=0.5)
    half_way = 0.5 + 0.5 * 0.5
    assert found[:4] == pytest.approx([0.5, 1.0, 1.5, 2.0])
    assert found[5] == pytest.approx(2 * half_way)
    assert found[7] == pytest.approx(1.0)


@given(
    steps=st.integers(1, 60),
    warmup=st.integers(0, 60),
    ratio=st.floats(0, 1),
)
def test_rises_then_falls_between_its_bounds(steps, warmup, ratio):
    warmup = min(warmup, steps)
    found = rates(steps=steps, warmup_steps=warmup, min_lr_ratio=ratio)
    assert all(0 <= rate <= 2.0 for rate in found)
    assert found[:warmup] == sorted(found[:warmup])
    assert found[warmup:] == sorted(found[warmup:], reverse=True)
    assert found[0] > 0 or ratio == 0
    if warmup:
        assert found[warmup - 1] == pytest.approx(2.0)
    if warmup < steps:
        assert found[-1] == pytest.approx(2.0 * ratio)
