import io
from dataclasses import replace

import pytest
from rich.console import Console
from test_metrics import evaluation, step_record

from lmfast.training.progress import ConsoleProgress


@pytest.mark.parametrize("terminal", [False, True])
def test_shows_losses_and_speed(make_run, terminal):
    config = make_run(log_every=2)
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=120)
    with ConsoleProgress(config, console) as progress:
        progress.on_evaluation(evaluation(0))
        for step in range(1, 7):
            progress.on_step(step_record(step))
    shown = text.getvalue()
    assert "step 0: held-out loss 2.000\n" in shown
    if terminal:
        assert "6/6" in shown
        assert "loss 1.000  20 tokens/s" in shown
    else:
        lines = shown.splitlines()[1:]
        assert lines == [f"step {n}/6  loss 1.000  20 tokens/s" for n in (2, 4, 6)]


def test_a_known_ceiling_shows_as_mfu(make_run):
    text = io.StringIO()
    progress = ConsoleProgress(make_run(), Console(file=text))
    progress.on_step(replace(step_record(6), mfu=0.4567))
    assert "MFU 45.7%" in text.getvalue()
