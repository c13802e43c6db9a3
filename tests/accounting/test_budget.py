import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.accounting.budget import (
    CHINCHILLA,
    compute_budget,
    compute_optimal,
    fit_power_law,
    largest_model,
    most_tokens,
)
from lmfast.errors import ConfigError

budgets = st.floats(1e15, 1e27)

# IsoFLOP budgets and the size of the run of least loss at each: 72 runs of a public exercise.
ISOFLOP = [
    (6e18, 7.62e8),
    (1e19, 8.07e8),
    (3e19, 1.54e9),
    (6e19, 1.95e9),
    (1e20, 3.25e9),
    (3e20, 5.90e9),
    (6e20, 6.97e9),
    (1e21, 6.86e9),
    (3e21, 1.21e10),
]


@given(budgets)
def test_the_split_spends_the_budget(flops):
    for law in (None, CHINCHILLA):
        split = compute_optimal(flops, law=law)
        assert 6 * split.parameters.value * split.tokens.value == pytest.approx(flops)
    assert compute_optimal(flops).tokens_per_parameter == pytest.approx(20)


def test_chinchilla_itself():
    # 70 B parameters on 1.4 T tokens.
    split = compute_optimal(6 * 70e9 * 1.4e12)
    assert split.parameters.value == pytest.approx(70e9)
    assert split.tokens.value == pytest.approx(1.4e12)


@given(budgets, st.floats(0.3, 3))
def test_no_other_split_has_less_loss_by_the_law(flops, factor):
    best = compute_optimal(flops, law=CHINCHILLA).parameters.value
    other = best * factor

    def loss(parameters):
        return CHINCHILLA.loss(parameters, flops / (6 * parameters)).value

    assert loss(best) <= loss(other) + 1e-12


def test_the_inverse_questions():
    assert largest_model(6e20, 1e10).value == pytest.approx(1e10)
    assert most_tokens(6e20, 1e10).value == pytest.approx(1e10)
    assert compute_budget(3_600, 1e15, 0.5, devices=8).value == pytest.approx(3_600 * 4e15)
    assert compute_budget(3_600, None, 0.5).value is None


@given(st.floats(0.1, 10), st.floats(-2, 2))
def test_a_power_law_is_found_again(factor, exponent):
    points = [(x, factor * x**exponent) for x in (1.0, 2.0, 5.0, 7.0)]
    law = fit_power_law(points)
    assert law.factor == pytest.approx(factor)
    assert law.exponent == pytest.approx(exponent, abs=1e-9)
    assert law.at(3.0) == pytest.approx(factor * 3**exponent)


def test_the_published_isoflop_fit():
    law = fit_power_law(ISOFLOP)
    assert law.exponent == pytest.approx(0.4687, abs=2e-3)
    assert law.at(1e23) == pytest.approx(7.01e10, rel=0.01)
    assert law.at(1e24) == pytest.approx(2.06e11, rel=0.01)


def test_what_cannot_be_fitted_or_spent():
    with pytest.raises(ConfigError, match="two different x"):
        fit_power_law([(1.0, 2.0), (1.0, 3.0)])
    with pytest.raises(ConfigError, match=r"points\.y"):
        fit_power_law([(1.0, 2.0), (2.0, 0.0)])
    for wrong in (0, math.inf):
        with pytest.raises(ConfigError, match="flops"):
            compute_optimal(wrong)
