"""The examples of docs/tokenizer-files.md, run."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "tokenizer-files.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), {})
