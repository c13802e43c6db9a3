import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lmfast.errors import ConfigError
from lmfast.model import generate
from lmfast.model.generate import sample
from tiny_models import CONFIG, random_model

MODEL = random_model(CONFIG)


def test_greedy_takes_the_likeliest_token_of_the_full_forward():
    ids = [1, 2, 3]
    for token in generate(MODEL, [1, 2, 3], max_tokens=8, temperature=0):
        with torch.no_grad():
            assert token == MODEL(torch.tensor([ids]))[0, -1].argmax()
        ids.append(token)
    assert len(ids) == 11


def test_the_seed_fixes_the_text():
    def draw(seed):
        return list(generate(MODEL, [1], max_tokens=12, seed=seed))

    assert draw(3) == draw(3)
    assert draw(3) != draw(4)


def test_generation_goes_on_beyond_the_context():
    prompt = list(range(40))
    tokens = list(generate(MODEL, prompt, max_tokens=50, temperature=0))
    assert len(tokens) == 50
    # The first comes from the newest 16 positions; the second restarts on the newest 8.
    with torch.no_grad():
        assert tokens[0] == MODEL(torch.tensor([prompt[-16:]]))[0, -1].argmax()
        newest = [*prompt, tokens[0]][-8:]
        assert tokens[1] == MODEL(torch.tensor([newest]))[0, -1].argmax()


def test_generation_streams_and_stops_before_a_stop_token():
    tokens = list(generate(MODEL, [5], max_tokens=12, seed=1))
    stop = tokens[4]
    expected = list(itertools.takewhile(lambda token: token != stop, tokens))
    assert list(generate(MODEL, [5], max_tokens=12, seed=1, stop={stop})) == expected
    assert next(generate(MODEL, [5], max_tokens=10**9, seed=1)) == tokens[0]
    assert list(generate(MODEL, [5], max_tokens=0)) == []


def test_the_model_is_left_in_its_mode():
    MODEL.train()
    list(generate(MODEL, [1], max_tokens=1))
    assert MODEL.training


@settings(max_examples=60)
@given(
    st.lists(st.floats(-8, 8), min_size=1, max_size=12),
    st.floats(0.05, 1),
    st.floats(0.1, 3),
    st.integers(0, 2**32),
)
def test_samples_stay_in_the_nucleus(logits, top_p, temperature, seed):
    logits = torch.tensor(logits, dtype=torch.float64)
    chosen = sample(logits, temperature, top_p, torch.Generator().manual_seed(seed))
    probabilities = (logits / temperature).softmax(-1)
    likelier = probabilities[probabilities > probabilities[chosen]].sum()
    assert likelier < top_p + 1e-12


def test_samples_follow_the_tempered_probabilities():
    logits = torch.tensor([2.0, 1.0, 0.0, -9.0])
    generator = torch.Generator().manual_seed(0)
    drawn = torch.tensor([sample(logits, 2.0, 1.0, generator) for _ in range(4000)])
    found = drawn.bincount(minlength=4) / len(drawn)
    torch.testing.assert_close(found, (logits / 2).softmax(-1), rtol=0, atol=0.03)
    greedy = {sample(logits, 1.0, 0.01, generator) for _ in range(50)}
    assert greedy == {0}


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"prompt": []}, "at least one token"),
        ({"prompt": [50]}, r"0\.\.49"),
        ({"prompt": [-1]}, r"0\.\.49"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
    ],
)
def test_settings_out_of_range_are_refused_at_once(kwargs, match):
    with pytest.raises(ConfigError, match=match):
        generate(MODEL, **{"prompt": [1], "max_tokens": 1, **kwargs})


def test_a_temperature_next_to_nothing_takes_the_likeliest_token():
    logits = torch.tensor([1.0, 3.0, -2.0])
    assert sample(logits, 1e-320, 0.9, torch.Generator().manual_seed(0)) == 1
