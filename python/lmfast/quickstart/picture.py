"""The loss curve of a run as a picture."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def draw_loss(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write a picture of the loss over the tokens seen: every step, and the held-out text."""
    records = list(records)
    steps = [record for record in records if record["event"] == "step"]
    evaluations = [record for record in records if record["event"] == "evaluation"]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([r["tokens"] for r in steps], [r["loss"] for r in steps], label="training", lw=1)
    axes.plot(
        [r["tokens"] for r in evaluations],
        [r["held_out_loss"] for r in evaluations],
        "o",
        label="held out",
    )
    for record in evaluations:
        if record["bits_per_byte"] is not None:
            axes.annotate(
                f"{record['bits_per_byte']:.2f} bits/byte",
                (record["tokens"], record["held_out_loss"]),
                xytext=(6, 8),
                textcoords="offset points",
                ha="left" if record["step"] == 0 else "right",
            )
    axes.set_xlabel("tokens trained on")
    axes.set_ylabel("loss (nats per token)")
    axes.margins(y=0.15)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
