"""The examples of docs/encoding-api.md."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "encoding-api.md"


def test_the_examples_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), namespace)
    assert "naïve 😀\n" in capsys.readouterr().out
