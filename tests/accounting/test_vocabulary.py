import json

import pytest
from account_shapes import model_configs
from hypothesis import given
from hypothesis import strategies as st

from lmfast.accounting import count_parameters, named_model
from lmfast.accounting.vocabulary import check_compression, read_sweep, vocabulary_plan
from lmfast.errors import ConfigError, MissingFileError

SWEEP = [(4_096, 3.2), (8_192, 3.6), (16_384, 3.95), (32_768, 4.25), (65_536, 4.45)]


@given(model_configs(), st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.5, 20)), min_size=1))
def test_cost_per_byte_by_the_formula(config, sweep):
    plan = vocabulary_plan(config, sweep)
    heads, length = config.n_head * config.d_head, config.context_length
    for row in plan.rows:
        blocks = count_parameters(config, "non_embedding")
        matrices = blocks["attention"].value + blocks["feed_forward"].value
        if config.qk_norm:
            matrices -= blocks["attention"]["qk_norm"].value
        per_token = 6 * (matrices + config.d_model * row.vocab_size)
        per_token += 12 * config.n_layer * heads * length
        assert row.flops_per_byte == pytest.approx(per_token / row.bytes_per_token)
        tables = 1 if config.tied_embeddings else 2
        assert row.embedding_parameters == tables * config.d_model * row.vocab_size
    assert plan.cheapest.flops_per_byte == min(row.flops_per_byte for row in plan.rows)


def test_break_even_is_where_costs_are_equal():
    plan = vocabulary_plan(named_model("gpt2-small"), SWEEP)
    for step, small, large in zip(plan.break_even(), plan.rows, plan.rows[1:], strict=False):
        at_break_even = [
            (small.vocab_size, small.bytes_per_token),
            (large.vocab_size, small.bytes_per_token * (1 + step.value)),
        ]
        even = vocabulary_plan(named_model("gpt2-small"), at_break_even).rows
        assert even[0].flops_per_byte == pytest.approx(even[1].flops_per_byte)
        pays = large.flops_per_byte < small.flops_per_byte
        assert ("does not pay" in step.formula) != pays


def test_a_larger_model_wants_a_larger_vocabulary():
    cheapest = [
        vocabulary_plan(named_model(name), SWEEP).cheapest.vocab_size
        for name in ("gpt2-small", "llama3-8b")
    ]
    assert cheapest[0] < cheapest[1]


def test_a_context_in_bytes_gives_better_tokenizers_shorter_sequences():
    shape = named_model("gpt2-small")
    tokens = vocabulary_plan(shape, SWEEP).rows[-1]
    text = vocabulary_plan(shape, SWEEP, context_bytes=1_000).rows[-1]
    assert text.flops_per_byte < tokens.flops_per_byte


@pytest.mark.parametrize(
    "rows",
    [
        [[100, 3.5], [200, 4]],
        [{"vocab_size": 100, "bytes_per_token": 3.5}, {"vocab_size": 200, "bytes_per_token": 4}],
        {"rows": [[100, 3.5], [200, 4]]},
    ],
)
def test_sweeps_are_read(tmp_path, rows):
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps(rows))
    assert read_sweep(path) == [(100, 3.5), (200, 4.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "must be a list"),
        ("[[1]]", "row 1"),
        ("[[100, 3.5], [3.5, 100]]", "row 2"),
        ("[", "cannot read"),
    ],
)
def test_broken_sweeps_are_refused(tmp_path, text, said):
    path = tmp_path / "sweep.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_sweep(path)


def test_what_is_missing_or_empty(tmp_path):
    with pytest.raises(MissingFileError):
        read_sweep(tmp_path / "none.json")
    with pytest.raises(ConfigError, match="one point"):
        vocabulary_plan(named_model("xl"), [])
    with pytest.raises(ConfigError, match="bytes_per_token"):
        vocabulary_plan(named_model("xl"), [(10, 0.0)])


def test_poor_compression_fails_loudly():
    assert check_compression(4.2).value == 0
    assert check_compression(3.6).value == pytest.approx(0.1)
    assert check_compression(2.0, 2.0).value == 0
    with pytest.raises(ConfigError, match="far too little"):
        check_compression(2.5)
    with pytest.raises(ConfigError, match="english, code"):
        check_compression(3.0, "poetry")
