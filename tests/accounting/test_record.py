"""The committed record of predicted against measured, against what is predicted today."""

import json
from pathlib import Path

import pytest

from lmfast.accounting import count_flops, count_parameters, estimate_activations
from lmfast.config import ModelConfig

RECORD = json.loads(
    (Path(__file__).parents[2] / "benches" / "record" / "accounting-memory.json").read_text()
)


def test_the_record_is_broad_and_within_its_tolerance():
    rows = RECORD["rows"]
    assert len(rows) >= 12
    assert {row["checkpointing"] for row in rows} == {"none", "full"}
    assert {row["recipe"] for row in rows} == {"fp32", "amp-bf16", "bf16"}
    assert RECORD["tolerance"] == 0.02
    for row in rows:
        assert row["parameters"]["error"] == 0
        assert abs(row["activation_bytes"]["error"]) <= RECORD["tolerance"]
        assert row.get("flops", {"error": 0})["error"] == 0


@pytest.mark.parametrize("row", RECORD["rows"], ids=lambda row: row["name"])
def test_predictions_have_not_moved_since(row):
    model = ModelConfig(**row["model"])
    policy = row["checkpointing"]
    saved = estimate_activations(
        model, row["batch"], None, row["recipe"], policy, compiled=row["compiled"]
    ).saved
    assert saved.value == row["activation_bytes"]["predicted"]
    assert count_parameters(model).value == row["parameters"]["predicted"]
    if "flops" in row:
        counted = count_flops(model, convention="hardware", checkpointing=policy)
        assert counted.training.value * row["batch"] == row["flops"]["predicted"]
