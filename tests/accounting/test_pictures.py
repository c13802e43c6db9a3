import sys

import pytest

from lmfast.accounting import estimate_memory, named_model
from lmfast.accounting.fit import checkpointing_frontier
from lmfast.accounting.hardware import find_device
from lmfast.accounting.pictures import (
    frontier_picture,
    memory_picture,
    roofline_picture,
    save_picture,
    scaling_picture,
    sweep_picture,
    time_picture,
    vocabulary_picture,
)
from lmfast.accounting.vocabulary import vocabulary_plan
from lmfast.accounting.workload import model_workload
from lmfast.bpe import train_bpe
from lmfast.errors import FileError, HardwareError, MissingDependencyError
from lmfast.extension import extend
from lmfast.sweep import sweep_sizes

SMALL = named_model("gpt2-small")


def workload(device="h100-sxm"):
    return model_workload(SMALL, find_device(device), batch=4)


def test_a_roofline_has_every_operation():
    axes = roofline_picture(workload()).axes[0]
    names = {text.get_text() for text in axes.texts}
    assert names == {placed.operation.name for placed in workload().operations}


def test_times_add_up_to_the_step():
    bars = time_picture(workload()).axes[0].patches
    assert sum(bar.get_width() for bar in bars) == pytest.approx(
        1e3 * workload().seconds.value, rel=1e-6
    )


def test_rates_over_the_batch():
    def load(batch, device="h100-sxm"):
        return model_workload(SMALL, find_device(device), "decode", batch=batch)

    line = scaling_picture(load, [1, 8, 64]).axes[0].lines[0]
    assert list(line.get_ydata()) == [load(b).tokens_per_second.value for b in (1, 8, 64)]
    with pytest.raises(HardwareError, match="cannot draw"):
        scaling_picture(lambda batch: load(batch, "t4"), [1])


def test_memory_bars_are_the_buckets():
    figure = memory_picture(lambda b: estimate_memory(SMALL, b), [1, 2, 4], limit=8e9)
    bars = figure.axes[0].patches
    expected = sum(estimate_memory(SMALL, b).buckets.value for b in (1, 2, 4))
    assert sum(bar.get_height() for bar in bars) * 2**30 == pytest.approx(expected)


def test_frontier_and_vocabulary():
    points = checkpointing_frontier(SMALL, 4)
    joined = frontier_picture(points).axes[0].lines[1]
    assert len(joined.get_xdata()) == sum(point.best for point in points)
    plan = vocabulary_plan(SMALL, [(1_000, 3.0), (2_000, 3.3)])
    assert len(vocabulary_picture(plan).axes) == 2


def test_a_sweep_has_a_line_per_corpus(tmp_path):
    (tmp_path / "text").write_text("the mats")
    tokenizer = train_bpe(iter(["the cat sat on the mat"]), vocab_size=262)
    sweep = sweep_sizes(tokenizer, [258, 262], evaluate={"mats": tmp_path / "text"})
    lines = sweep_picture(sweep).axes[0].lines
    assert [list(line.get_ydata()) for line in lines] == [
        [row.bytes_per_token for row in sweep.rows],
        [row.evaluated["mats"] for row in sweep.rows],
    ]
    assert [line.get_label() for line in lines] == ["training corpus", "mats"]


def test_sizes_below_an_extended_vocabulary_have_no_place_on_the_line(tmp_path):
    (tmp_path / "text").write_text("the mats")
    options = {"special_tokens": []}
    small = train_bpe(iter(["the cat sat"]), vocab_size=258, **options)
    large = extend(small, iter(["the cat sat on the mat"]), vocab_size=261)
    sweep = sweep_sizes(large, [257, 259, 261], evaluate={"mats": tmp_path / "text"})
    trained, mats = sweep_picture(sweep).axes[0].lines
    assert list(trained.get_xdata()) == [259, 261]
    assert list(trained.get_ydata()) == [row.bytes_per_token for row in sweep.rows[1:]]
    assert list(mats.get_xdata()) == [257, 259, 261]


def test_pictures_are_written(tmp_path):
    figure = time_picture(workload())
    save_picture(figure, tmp_path / "time.png")
    assert (tmp_path / "time.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match="cannot write"):
        save_picture(figure, tmp_path / "nowhere" / "time.png")
    with pytest.raises(FileError, match="cannot write"):
        save_picture(figure, tmp_path / "time.abc")


def test_an_unknown_device_is_not_drawn():
    for draw in (roofline_picture, time_picture):
        with pytest.raises(HardwareError, match="cannot draw"):
            draw(workload("t4"))


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"lmfast\[train\]"):
        time_picture(workload())
