import io
import json

import pytest
from account_shapes import architectures
from hypothesis import given
from rich.console import Console

from lmfast.accounting import (
    Job,
    Quantity,
    compute_optimal,
    count_flops,
    count_parameters,
    estimate_memory,
    find_device,
    make_plan,
    named_model,
)
from lmfast.accounting.quantity import show, total


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (4_513_336_524_800, "FLOP", "4.513 TFLOP"),
        (989.4e12, "FLOP/s", "989.4 TFLOP/s"),
        (3_828_667_392, "byte", "3.566 GiB"),
        (12, "byte", "12 B"),
        (3.35e12, "byte/s", "3.35 TB/s"),
        (12_436_800, "s", "143.9 days"),
        (0.0005, "s", "500 µs"),
        (0.525, "ratio", "52.5 %"),
        (124_337_664, "parameter", "124,337,664 parameter"),
        (4.0213, "byte/token", "4.021 byte/token"),
        (None, "ratio", "unknown"),
        (float("inf"), "s", "inf s"),
        (0, "byte", "0 B"),
    ],
)
def test_values_read_well(value, unit, shown):
    assert show(value, unit) == shown


@given(architectures())
def test_json_holds_the_whole_tree_in_plain_numbers(shape):
    quantity = count_flops(shape).training
    data = json.loads(json.dumps(quantity.to_dict()))
    assert data["value"] == quantity.value
    assert data["value"] == sum(part["value"] for part in data["parts"])


def test_terminal_and_notebook_show_every_row():
    quantity = count_parameters(named_model("gpt2-small"))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(quantity)
    page, html = console.export_text(), quantity._repr_html_()
    for _, row in quantity.rows():
        assert f"{row.value:,}" in page
        assert f"{row.value:,}" in html


def test_pages_show_all_their_quantities():
    model = named_model("gpt2-small")
    plan = make_plan(Job(model=model, device=find_device("h100-sxm"), tokens=1e9))
    for page in (count_flops(model), estimate_memory(model), plan, compute_optimal(1e20)):
        console = Console(width=200, record=True, file=io.StringIO())
        console.print(page)
        text = console.export_text()
        for quantity in page.quantities():
            assert show(quantity.value, quantity.unit) in text
            assert quantity._repr_html_() in page._repr_html_()


def test_html_is_escaped():
    quantity = Quantity(name="a<b", value=1, unit="", formula="<script>")
    assert "<script>" not in quantity._repr_html_()


def test_unknown_stays_unknown():
    unknown = Quantity(name="peak_rate", value=None, unit="FLOP/s", formula="not in the table")
    one = Quantity(name="one", value=1, unit="FLOP/s", formula="1")
    assert total("sum", [one, unknown], unit="FLOP/s").value is None
    with pytest.raises(ValueError, match="peak rate is not known"):
        unknown.known()
    with pytest.raises(KeyError):
        one["nothing"]
