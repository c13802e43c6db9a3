"""Random small architectures for the properties of the accounting."""

from hypothesis import strategies as st

from lmfast.accounting import Architecture
from lmfast.config import ModelConfig


@st.composite
def model_configs(draw: st.DrawFn) -> ModelConfig:
    n_kv_head = draw(st.integers(1, 3))
    return ModelConfig(
        vocab_size=draw(st.integers(3, 50)),
        context_length=draw(st.integers(2, 12)),
        d_model=draw(st.integers(1, 24)),
        n_layer=draw(st.integers(1, 3)),
        n_head=n_kv_head * draw(st.integers(1, 3)),
        n_kv_head=n_kv_head,
        d_head=2 * draw(st.integers(1, 4)),
        d_ff=draw(st.integers(1, 20)),
        qk_norm=draw(st.booleans()),
        tied_embeddings=draw(st.booleans()),
    )


@st.composite
def architectures(draw: st.DrawFn) -> Architecture:
    config = draw(model_configs())
    n_expert = draw(st.sampled_from([1, 1, 2, 4]))
    window = draw(st.none() | st.integers(1, 12))
    every = draw(st.none() | st.integers(1, 3)) if window else None
    return Architecture(
        **{name: getattr(config, name) for name in ModelConfig.__dataclass_fields__},
        positions=draw(st.sampled_from(["rotary", "learned"])),
        feed_forward=draw(st.sampled_from(["swiglu", "gelu"])),
        norm=draw(st.sampled_from(["rmsnorm", "layernorm"])),
        bias=draw(st.booleans()),
        sliding_window=window,
        full_attention_every=every,
        n_expert=n_expert,
        n_active_expert=draw(st.integers(1, n_expert)),
        n_shared_expert=draw(st.integers(0, 2)) if n_expert > 1 else 0,
    )
