import itertools
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformer_reference import logits as reference_logits

from lmfast.config import ModelConfig
from lmfast.errors import ConfigError
from lmfast.model import KVCache, Transformer, initialise
from tiny_models import CONFIG, random_ids, random_model


@settings(max_examples=12, deadline=None)
@given(
    layout=st.sampled_from(["interleaved", "half"]),
    n_kv_head=st.sampled_from([1, 2, 4]),
    qk_norm=st.booleans(),
    tied=st.booleans(),
    length=st.integers(1, 6),
)
def test_equals_the_explicit_reference(layout, n_kv_head, qk_norm, tied, length):
    config = replace(
        CONFIG,
        rope_layout=layout,
        n_kv_head=n_kv_head,
        qk_norm=qk_norm,
        tied_embeddings=tied,
        d_head=8,
    )
    model, ids = random_model(config), random_ids(1, length)
    expected = reference_logits(model.state_dict(), config, ids[0].tolist())
    torch.testing.assert_close(model(ids)[0].double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tied", [False, True])
def test_equals_llama_of_transformers_with_the_same_weights(tied):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = replace(CONFIG, tied_embeddings=tied)
    model, ids = random_model(config), random_ids(2, 16)
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.n_layer,
            num_attention_heads=config.n_head,
            num_key_value_heads=config.n_kv_head,
            head_dim=config.d_head,
            max_position_embeddings=config.context_length,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
            tie_word_embeddings=tied,
        )
    )
    names = {
        "embedding.": "model.embed_tokens.",
        "blocks.": "model.layers.",
        "attention_norm.": "input_layernorm.",
        "feed_forward_norm.": "post_attention_layernorm.",
        "attention.query.": "self_attn.q_proj.",
        "attention.key.": "self_attn.k_proj.",
        "attention.value.": "self_attn.v_proj.",
        "attention.output.": "self_attn.o_proj.",
        "feed_forward.": "mlp.",
        "gate.": "gate_proj.",
        "up.": "up_proj.",
        "down.": "down_proj.",
        "head.": "lm_head.",
    }
    state = {}
    for name, tensor in model.state_dict().items():
        for ours, theirs in names.items():
            name = name.replace(ours, theirs)
        state["model.norm.weight" if name == "norm.weight" else name] = tensor
    if tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    llama.load_state_dict(state)
    with torch.no_grad():
        torch.testing.assert_close(model(ids), llama(ids).logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("qk_norm", [False, True])
def test_the_two_rope_layouts_are_one_model_with_its_features_permuted(qk_norm):
    interleaved = random_model(replace(CONFIG, rope_layout="interleaved", qk_norm=qk_norm))
    half = Transformer(replace(CONFIG, rope_layout="half", qk_norm=qk_norm))
    size = CONFIG.d_head
    order = torch.cat((torch.arange(0, size, 2), torch.arange(1, size, 2)))
    state = interleaved.state_dict()
    for name, tensor in state.items():
        if ".query." in name or ".key." in name:
            heads = tensor.unflatten(0, (-1, size))
            state[name] = heads[:, order].flatten(0, 1)
        elif "query_norm" in name or "key_norm" in name:
            state[name] = tensor[order]
    half.load_state_dict(state)
    ids = random_ids(2, 16)
    torch.testing.assert_close(half(ids), interleaved(ids), rtol=1e-4, atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(
    cuts=st.sets(st.integers(1, 15), max_size=6), layout=st.sampled_from(["interleaved", "half"])
)
def test_the_cache_gives_what_the_whole_sequence_gives(cuts, layout):
    config = replace(CONFIG, rope_layout=layout, qk_norm=True)
    model, ids = random_model(config), random_ids(2, 16)
    cache = KVCache(config, 2, torch.device("cpu"), torch.float32)
    bounds = [0, *sorted(cuts), 16]
    with torch.no_grad():
        pieces = [model(ids[:, a:b], cache) for a, b in itertools.pairwise(bounds)]
        torch.testing.assert_close(torch.cat(pieces, 1), model(ids), rtol=1e-4, atol=1e-4)
    assert cache.length == 16


def test_the_future_does_not_change_the_past():
    model, ids = random_model(CONFIG), random_ids(1, 16)
    changed = ids.clone()
    changed[0, 9:] = (changed[0, 9:] + 1) % 50
    before, after = model(ids)[0], model(changed)[0]
    assert torch.equal(before[:9], after[:9])
    assert not torch.isclose(before[9:], after[9:]).all(-1).any()


def test_recomputing_activations_changes_no_gradient():
    ids = random_ids(2, 16)
    gradients = []
    for checkpointing in ("none", "full"):
        model = random_model(CONFIG, checkpointing=checkpointing)
        model(ids).square().mean().backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for plain, recomputed in zip(*gradients, strict=True):
        assert torch.equal(plain, recomputed)


@pytest.mark.parametrize("tied", [False, True])
def test_parameter_count(tied):
    model = Transformer(replace(CONFIG, tied_embeddings=tied, qk_norm=True))
    attention = 2 * 24 * (4 * 6) + 2 * 24 * (2 * 6) + 2 * 6
    block = attention + 3 * 24 * 40 + 2 * 24
    expected = (1 if tied else 2) * 50 * 24 + 2 * block + 24
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_too_many_positions_are_refused():
    with pytest.raises(ConfigError, match="17 positions: its context_length is 16"):
        Transformer(CONFIG)(random_ids(1, 17))


def test_initial_weights_follow_the_seed_and_their_stated_sizes():
    config = ModelConfig(vocab_size=800, d_model=256, n_layer=8, n_head=4, context_length=8)
    model, twin, other = (Transformer(config) for _ in range(3))
    for instance, seed in ((model, 1), (twin, 1), (other, 2)):
        initialise(instance, seed)
    assert all(map(torch.equal, model.state_dict().values(), twin.state_dict().values()))
    assert not torch.equal(model.embedding.weight, other.embedding.weight)
    block = model.blocks[3]
    stds = {
        model.embedding.weight: 1.0,
        model.head.weight: 1 / 16,
        block.attention.query.weight: 1 / 16,
        block.attention.output.weight: 1 / 16 / 4,
        block.feed_forward.up.weight: 1 / 16,
        block.feed_forward.down.weight: 1 / math.sqrt(config.d_ff) / 4,
    }
    for weight, std in stds.items():
        assert weight.std().item() == pytest.approx(std, rel=0.02)
    assert (block.attention_norm.weight == 1).all()
    # Logits of variance 1: the first loss is half a nat above that of a uniform guess.
    for instance in (model, tied_model(config)):
        ids, targets = random_ids(32, 8), random_ids(256, seed=1)
        loss = torch.nn.functional.cross_entropy(instance(ids).flatten(0, 1), targets)
        assert loss.item() == pytest.approx(math.log(800) + 0.5, abs=0.2)


def tied_model(config: ModelConfig) -> Transformer:
    model = Transformer(replace(config, tied_embeddings=True))
    initialise(model, 0)
    return model
