"""Shows a run in progress: a moving line on a terminal, plain lines elsewhere; on stderr."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lmfast.config import RunConfig
from lmfast.training.metrics import EvaluationRecord, StepRecord


class ConsoleProgress:
    """The callbacks that ``Trainer.fit`` takes, to be used in a ``with``."""

    def __init__(self, config: RunConfig, console: Console | None = None) -> None:
        self.config = config
        self.console = console or Console(stderr=True)
        self.bar = Progress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", total=config.schedule.steps)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def on_step(self, record: StepRecord) -> None:
        """Show where the run stands."""
        text = f"loss {record.loss:.3f}  {record.tokens_per_second:,.0f} tokens/s"
        if record.mfu is not None:
            text += f"  MFU {record.mfu:.1%}"
        self.bar.update(self.task, completed=record.step, description=text)
        last = record.step == self.config.schedule.steps
        if not self.console.is_terminal and (last or record.step % self.config.log_every == 0):
            self._print(f"step {record.step}/{self.config.schedule.steps}  {text}")

    def on_evaluation(self, record: EvaluationRecord) -> None:
        """Say how the model does on held-out text."""
        text = f"step {record.step}: held-out loss {record.held_out_loss:.3f}"
        if record.bits_per_byte is not None:
            text += f", {record.bits_per_byte:.3f} bits per byte"
        self._print(text)

    def _print(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)
