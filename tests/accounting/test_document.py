"""The examples of docs/accounting.md, run."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lmfast.cli import app

DOCUMENT = Path(__file__).parents[2] / "docs" / "accounting.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def commands():
    """Each command of the console blocks with the lines shown below it."""
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield pytest.param(command, shown, id=command)


def test_python_examples():
    test = doctest.DocTestParser().get_doctest(TEXT, {}, DOCUMENT.name, str(DOCUMENT), 0)
    assert len(test.examples) > 40
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize(("command", "shown"), list(commands()))
def test_console_examples(command, shown, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    program, *arguments = shlex.split(command)
    assert program == "lmfast"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for line in shown:
        assert line in result.stdout


def test_every_command_is_taught():
    (account,) = [
        group for group in app.registered_groups if group.typer_instance.info.name == "account"
    ]
    for command in account.typer_instance.registered_commands:
        assert f"lmfast account {command.name}" in TEXT
