import sys

import pytest

from lmfast.cli import main


@pytest.fixture
def lmfast(monkeypatch, capfd):
    """Run a command line in this process: exit code, stdout, stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdout", sys.stdout)  # which main may replace by a safer one
        monkeypatch.setattr(sys, "argv", ["lmfast", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        return exit_.value.code, *capfd.readouterr()

    return run
