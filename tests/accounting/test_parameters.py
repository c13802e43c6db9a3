import pytest
from account_shapes import architectures, model_configs
from hypothesis import given, settings
from reference_model import ReferenceModel

from lmfast.accounting import (
    Architecture,
    as_architecture,
    count_matmul_parameters,
    count_parameters,
    named_model,
)
from lmfast.config import ModelConfig
from lmfast.errors import ConfigError

# The counts of the published checkpoints; GPT-3's is the paper's rounded figure.
PUBLISHED = {
    "gpt2-small": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "xl": 2_127_057_600,
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "llama3.2-1b": 1_235_814_400,
    "llama3.2-3b": 3_212_749_824,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
}


@settings(max_examples=25, deadline=None)
@given(architectures())
def test_count_equals_a_real_module(shape):
    model = ReferenceModel(shape)
    assert count_parameters(shape).value == sum(p.numel() for p in model.parameters())


@given(model_configs())
def test_a_model_config_becomes_an_architecture_without_loss(config):
    shape = as_architecture(config)
    assert all(
        getattr(shape, name) == getattr(config, name) for name in ModelConfig.__dataclass_fields__
    )
    assert count_parameters(config) == count_parameters(shape)


@given(architectures())
def test_parts_add_up_and_active_is_at_most_total(shape):
    for which in ("total", "active", "non_embedding"):
        counted = count_parameters(shape, which)
        assert counted.value == sum(part.value for part in counted.parts)
        assert all(
            part.value == sum(p.value for p in part.parts) for part in counted.parts if part.parts
        )
    assert count_parameters(shape, "active").value <= count_parameters(shape).value


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_published_models(name, count):
    assert count_parameters(named_model(name)).value == count


def test_gpt3_is_175_billion():
    assert count_parameters(named_model("gpt3")).value == pytest.approx(175e9, rel=0.003)


def test_gpt2_small_by_nanogpts_count():
    assert count_parameters(named_model("gpt2-small", ["bias=false"])).value == 124_337_664


def test_mixtral_meets_13_billion_parameters_per_token():
    active = count_parameters(named_model("mixtral-8x7b"), "active").value
    assert active == 12_879_925_248


def test_the_small_stories_model_of_three_counts():
    shape = ModelConfig(
        vocab_size=10_000, context_length=256, d_model=512, n_layer=4, n_head=16, d_ff=1_344
    )
    assert count_parameters(shape, "non_embedding").value == 12_456_448
    assert count_matmul_parameters(shape).value == 17_571_840
    assert count_parameters(shape).value == 22_696_448


def test_a_contradiction_is_refused():
    with pytest.raises(ConfigError, match="n_active_expert"):
        Architecture(vocab_size=10, n_active_expert=2)
    with pytest.raises(ConfigError, match="needs sliding_window"):
        Architecture(vocab_size=10, full_attention_every=2)
    with pytest.raises(ConfigError, match="n_shared_expert"):
        Architecture(vocab_size=10, n_shared_expert=1)
