"""The examples of the README, run as a reader would."""

import re
import tomllib
from pathlib import Path

import pytest

from lmfast.config import RunConfig, from_dict

README = Path(__file__).parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
def test_the_python_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sentences = (f"The quick brown fox {n} jumps over lazy dog {n * n}.\n" for n in range(3000))
    separated = ("<|endoftext|>".join(sentences)).encode()
    Path("corpus.txt").write_bytes(separated)
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec"), namespace)
    assert capsys.readouterr().out.count("\n") > 5


def test_the_run_file_is_one():
    (text,) = blocks("toml")
    config = from_dict(RunConfig, tomllib.loads(text))
    assert config.out == "runs/first"
