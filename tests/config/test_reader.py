import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.config import (
    DataConfig,
    ModelConfig,
    OptimizerConfig,
    RunConfig,
    ScheduleConfig,
    apply_overrides,
    from_dict,
    load_toml,
    to_toml,
)
from lmfast.errors import ConfigError, MissingFileError

SMALLEST = {
    "model": {"vocab_size": 300},
    "data": {"train": "shards"},
    "schedule": {"steps": 10},
}


def runs():
    """Settings of every kind, hostile text among them."""
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
    models = st.builds(
        ModelConfig,
        vocab_size=st.integers(1, 10**6),
        n_head=st.sampled_from([1, 2, 4]),
        d_model=st.sampled_from([8, 64]),
        rope_theta=st.floats(1, 1e9),
        rope_layout=st.sampled_from(["interleaved", "half"]),
        qk_norm=st.booleans(),
    )
    optimizers = st.builds(
        OptimizerConfig,
        peak_lr=st.floats(1e-9, 1),
        betas=st.tuples(st.floats(0, 0.99), st.floats(0, 0.99)),
        grad_clip=st.floats(0.1, math.inf),
    )
    return st.builds(
        RunConfig,
        model=models,
        data=st.builds(DataConfig, train=text, held_out=st.none() | text),
        schedule=st.builds(ScheduleConfig, steps=st.integers(1, 10**9)),
        optimizer=optimizers,
        out=text,
        precision=st.sampled_from(["auto", "fp32", "bf16"]),
    )


@given(runs())
def test_what_is_written_is_read(config):
    assert from_dict(RunConfig, tomllib.loads(to_toml(config))) == config


def test_overrides_reach_into_tables_that_are_not_there():
    overrides = ["model.n_layer=3", "optimizer.betas=[0.8, 0.9]", "out=runs/a b", "compile=true"]
    config = from_dict(RunConfig, apply_overrides(SMALLEST, overrides))
    assert (config.model.n_layer, config.out, config.compile) == (3, "runs/a b", True)
    assert config.optimizer.betas == (0.8, 0.9)
    assert "n_layer" not in SMALLEST["model"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.n_layr=3", "did you mean n_layer?"),
        ("nonsense=1", "unknown setting nonsense; known settings: model"),
        ("model.n_layer=three", "model.n_layer = 'three' is not usable: it must be a whole number"),
        ("model.n_layer=true", "must be a whole number"),
        ("model.qk_norm=1", "must be true or false"),
        ("model.rope_layout=zigzag", "one of 'interleaved', 'half'"),
        ("optimizer.betas=[0.9]", "a list of 2 numbers"),
        ("optimizer.peak_lr=nan", "optimizer.peak_lr"),
        ("model=3", "must be a table"),
        ("model.vocab_size.x=3", "is a value, not a table"),
        ("schedule.warmup_steps=11", "0..steps = 10"),
        ("model.n_kv_head=5", "it must divide n_head"),
        ("model.d_model=100", "multiple of n_head"),
        ("model.d_head=7", "must be even"),
        ("model.vocab_size=0", "greater than 0"),
        ("n_layer", "must be key=value"),
        ("=3", "must be key=value"),
    ],
)
def test_what_cannot_be_used_is_named(override, message):
    with pytest.raises(ConfigError) as error:
        from_dict(RunConfig, apply_overrides(SMALLEST, [override]))
    assert message in str(error.value)
    assert isinstance(error.value, ValueError)


def test_a_missing_setting_is_named():
    with pytest.raises(ConfigError, match=r"missing setting model\.vocab_size"):
        from_dict(RunConfig, {**SMALLEST, "model": {}})


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        load_toml(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("out = 1\nout = 2\n")
    with pytest.raises(ConfigError, match=r"broken\.toml: .*line 2"):
        load_toml(broken)


def test_derived_settings_are_concrete():
    model = ModelConfig(vocab_size=300, d_model=96, n_head=4)
    assert (model.n_kv_head, model.d_head, model.d_ff) == (4, 24, 256)


@pytest.mark.parametrize(
    "override",
    [
        "seed=1\nout = 'b'",  # of two lines none is dropped
        "optimizer.peak_lr=1" + "0" * 400,
        "optimizer.peak_lr=1" + "0" * 5_000,
        "seed=" + "[" * 5_000,
        "out=",
        'out="\\u0000"',
        "out=\udcff",
        "data.train=\udcff",
    ],
)
def test_a_value_that_no_setting_can_have(override):
    with pytest.raises(ConfigError) as error:
        from_dict(RunConfig, apply_overrides(SMALLEST, [override]))
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "content", ["a = " + "[" * 5_000, "a = 1" + "0" * 5_000, "[" + ".".join("a" * 5_000) + "]"]
)
def test_a_file_without_measure(tmp_path, content):
    path = tmp_path / "wild.toml"
    path.write_text(content)
    with pytest.raises(ConfigError):
        from_dict(RunConfig, apply_overrides(load_toml(path), []))
