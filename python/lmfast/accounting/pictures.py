"""Pictures of an account: rooflines, where memory and time go, how both scale, vocabularies.

The only part of the accounting that draws; matplotlib is imported where a picture is made.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmfast.accounting.fit import FrontierPoint
from lmfast.accounting.memory import MemoryEstimate
from lmfast.accounting.quantity import label
from lmfast.accounting.vocabulary import VocabularyPlan
from lmfast.accounting.workload import Workload
from lmfast.errors import FileError, HardwareError, MissingDependencyError
from lmfast.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GIB = 2**30


def roofline_picture(workload: Workload) -> "Figure":
    """A device's roofline with every operation of a model on it.

    Raises:
        HardwareError: The device's peak or bandwidth is not known.
        MissingDependencyError: matplotlib is not installed.
    """
    device = workload.device
    peak, ridge = device.dense.of(workload.dtype), device.ridge(workload.dtype).value
    if peak is None or ridge is None:
        msg = f"cannot draw a roofline: {device.name} has no known ridge for {workload.dtype}"
        raise HardwareError(msg)
    figure, axes = _figure()
    intensities = [placed.operation.intensity.known() for placed in workload.operations]
    low, high = min(*intensities, ridge) / 2, max(*intensities, ridge) * 2
    axes.plot([low, ridge, high], [low / ridge * peak, peak, peak], color="black")
    for placed, intensity in zip(workload.operations, intensities, strict=True):
        rate = placed.flops_per_second or 0.0
        colour = "tab:blue" if placed.bound == "compute" else "tab:red"
        axes.plot(intensity, rate, "o", color=colour)
        axes.annotate(placed.operation.name, (intensity, rate), fontsize=7, rotation=-35, va="top")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="arithmetic intensity (FLOP/byte)",
        ylabel="attainable FLOP/s",
        title=f"{workload.phase} on {device.name}, {workload.dtype}; ridge {ridge:.3g}",
    )
    return figure


def time_picture(workload: Workload) -> "Figure":
    """The least time of each operation of a step, longest first.

    Raises:
        HardwareError: The device's peak or bandwidth is not known.
        MissingDependencyError: matplotlib is not installed.
    """
    timed = [
        (placed.operation.name, placed.seconds, placed.bound)
        for placed in workload.operations
        if placed.seconds is not None
    ]
    if not timed:
        msg = f"cannot draw times: the peaks of {workload.device.name} are not known"
        raise HardwareError(msg)
    timed.sort(key=lambda row: row[1])
    figure, axes = _figure()
    colours = ["tab:blue" if bound == "compute" else "tab:red" for _, _, bound in timed]
    axes.barh([row[0] for row in timed], [1e3 * row[1] for row in timed], color=colours)
    title = f"{workload.phase} on {workload.device.name}: bound by compute (blue), memory (red)"
    axes.set(xlabel="ms at the roofline", title=title)
    return figure


def scaling_picture(
    workload: Callable[[int], Workload], sizes: Sequence[int], *, axis: str = "batch"
) -> "Figure":
    """Tokens per second at the roofline as something grows: the batch, or the context.

    Raises:
        HardwareError: The device's peak or bandwidth is not known.
        MissingDependencyError: matplotlib is not installed.
    """
    loads = [workload(size) for size in sizes]
    rates = [load.tokens_per_second.value for load in loads]
    first = loads[0]
    if None in rates:
        msg = f"cannot draw rates: the peaks of {first.device.name} are not known"
        raise HardwareError(msg)
    figure, axes = _figure()
    axes.plot(sizes, [rate or 0.0 for rate in rates], "o-")
    title = f"{first.phase} on {first.device.name}, {first.dtype}"
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=axis,
        ylabel="tokens per second at the roofline",
        title=title,
    )
    return figure


def memory_picture(
    estimate: Callable[[int], MemoryEstimate],
    sizes: Sequence[int],
    *,
    axis: str = "micro-batch size",
    limit: float | None = None,
) -> "Figure":
    """Memory by bucket as something grows: the micro-batch, or the context.

    Args:
        estimate: The memory at a size.
        sizes: The sizes to draw.
        axis: What they are.
        limit: Bytes of the device, drawn as a line.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    figure, axes = _figure()
    estimates = [estimate(size) for size in sizes]
    labels = [str(size) for size in sizes]
    below = [0.0] * len(sizes)
    for bucket in estimates[0].buckets.parts:
        heights = [found.buckets[bucket.name].known() / GIB for found in estimates]
        if any(heights):
            axes.bar(labels, heights, bottom=below, label=label(bucket.name))
            below = [a + b for a, b in zip(below, heights, strict=True)]
    peaks = [found.peak.known() / GIB for found in estimates]
    axes.plot(labels, peaks, "k.-", label="peak at one moment")
    if limit is not None:
        axes.axhline(limit / GIB, color="black", linestyle="--", label="device")
    axes.set(xlabel=axis, ylabel="GiB", title="where memory goes")
    axes.legend(fontsize=7)
    return figure


def frontier_picture(points: Sequence[FrontierPoint]) -> "Figure":
    """Memory against compute for every checkpointing policy, the best ones joined.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    figure, axes = _figure()
    best = [point for point in points if point.best]
    axes.plot(
        [point.activation_bytes / GIB for point in points],
        [100 * point.recompute_share for point in points],
        ".",
        color="lightgray",
    )
    axes.plot(
        [point.activation_bytes / GIB for point in best],
        [100 * point.recompute_share for point in best],
        "o-",
    )
    for point in best:
        if point.policy in ("none", "selective", "full"):
            at = (point.activation_bytes / GIB, 100 * point.recompute_share)
            axes.annotate(point.policy, at)
    axes.set(
        xlabel="activations (GiB)",
        ylabel="computed again (% of a step)",
        title="checkpointing: memory against compute",
    )
    return figure


def vocabulary_picture(plan: VocabularyPlan) -> "Figure":
    """Compression and cost per byte over the vocabulary size: diminishing returns, and the best.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    figure, axes = _figure()
    sizes = [row.vocab_size for row in plan.rows]
    axes.plot(sizes, [row.flops_per_byte for row in plan.rows], "o-", color="tab:red")
    best = plan.cheapest
    axes.axvline(best.vocab_size, color="tab:red", linestyle=":")
    axes.set(
        xscale="log",
        xlabel="vocabulary size",
        ylabel="training FLOPs per byte (red)",
        title=f"cheapest per byte: {best.vocab_size:,}",
    )
    right = axes.twinx()
    right.plot(sizes, [row.bytes_per_token for row in plan.rows], "s-", color="tab:blue")
    right.set_ylabel("bytes per token (blue)")
    return figure


def sweep_picture(sweep: Sweep) -> "Figure":
    """Bytes per token over the vocabulary size, a line per corpus.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    figure, axes = _figure()
    sizes = [row.vocab_size for row in sweep.rows]
    trained = [
        (row.vocab_size, row.bytes_per_token)
        for row in sweep.rows
        if row.bytes_per_token is not None
    ]
    if trained:
        axes.plot(*zip(*trained, strict=True), "o-", color="black", label="training corpus")
    for name in sweep.evaluated_bytes:
        axes.plot(sizes, [row.evaluated[name] for row in sweep.rows], "s--", label=name)
    axes.set(
        xscale="log",
        xlabel="vocabulary size",
        ylabel="bytes per token",
        title="compression by vocabulary size",
    )
    axes.legend(fontsize=7)
    return figure


def save_picture(figure: "Figure", path: str | Path) -> None:
    """Write a picture; the suffix of ``path`` says in which format.

    Raises:
        FileError: It cannot be written, or the format is not known.
    """
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        msg = f"cannot write the picture {path}: {error.strerror}"
        raise FileError(msg) from error
    except ValueError as error:
        msg = f"cannot write the picture {path}: {error}"
        raise FileError(msg) from error


def _figure() -> "tuple[Figure, Axes]":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = "a picture needs matplotlib: pip install 'lmfast[train]'"
        raise MissingDependencyError(msg) from error
    figure = Figure(figsize=(8, 5), layout="constrained")
    return figure, figure.add_subplot()
