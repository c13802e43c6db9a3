"""Training side by side with the peers: seconds, peak memory, and whether the merges are the same.

    python benches/training.py books.txt code.txt --vocab-size 32000 --rounds 3 --json out.json

Each run is a process of its own, so that its peak memory is its own; engines take turns, and the
median of the rounds counts. Only training is timed, from files on disk to merges in memory. Ties
break as in Hugging Face's trainer wherever an engine can. Peers that are not installed are left
out, and said so.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from training_engines import ENGINES

WORKER = Path(__file__).with_name("training_engines.py")


def _run(engine: str, path: str, vocab_size: int) -> dict[str, float | str | None]:
    command = [sys.executable, str(WORKER), engine, path, str(vocab_size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _installed(wanted: list[str]) -> dict[str, str]:
    """Each engine that is wanted and here, with its version."""
    versions = {}
    for engine in wanted:
        try:
            versions[engine] = importlib.metadata.version(engine)
        except importlib.metadata.PackageNotFoundError:
            print(f"{engine} is not installed: left out", file=sys.stderr)
    return versions


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def compare(
    paths: list[str], vocab_size: int, rounds: int, engines: list[str]
) -> dict[str, object]:
    """The medians of every engine on every corpus, and the ratio of each to lmfast."""
    versions = _installed(engines)
    rows = []
    for path in paths:
        runs: dict[str, list[dict]] = {engine: [] for engine in versions}
        for _ in range(rounds):
            for engine, found in runs.items():
                found.append(_run(engine, path, vocab_size))
        # Read in pieces: a process inherits the peak of the one that starts it.
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        row = {
            "corpus": Path(path).name,
            "bytes": Path(path).stat().st_size,
            "sha256": digest.hexdigest(),
            "engines": {engine: _summary(engine, found) for engine, found in runs.items()},
        }
        rows.append(row)
        _print(rows[-1], list(versions))
    return {
        "what": "BPE training, GPT-2 pattern, ties as Hugging Face's where an engine can",
        "commit": _commit(),
        "vocab_size": vocab_size,
        "rounds": rounds,
        "cpu": _cpu(),
        "threads": os.cpu_count(),
        "versions": versions,
        "rows": rows,
    }


def _summary(engine: str, runs: list[dict]) -> dict[str, object]:
    merges = {run["merges"] for run in runs}
    if len(merges) > 1:
        msg = f"{engine} gave other merges from one run to the next"
        raise RuntimeError(msg)
    return {
        "seconds": statistics.median(run["seconds"] for run in runs),
        "peak_bytes": statistics.median(run["peak_bytes"] for run in runs),
        "merges_sha256": merges.pop(),
    }


def _commit() -> str | None:
    command = ["git", "-C", str(WORKER.parent), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _print(row: dict, engines: list[str]) -> None:
    ours = row["engines"]["lmfast"]
    print(f"{row['corpus']}, {row['bytes'] / 1e6:.0f} MB")
    verdicts = {None: "", ours["merges_sha256"]: "same merges"}
    for engine in engines:
        found = row["engines"][engine]
        seconds, peak = found["seconds"], found["peak_bytes"]
        print(
            f"  {engine:<11} {seconds:7.2f} s  x {seconds / ours['seconds']:5.2f}"
            f"  {peak / 1e6:6.0f} MB  x {peak / ours['peak_bytes']:5.2f}"
            f"  {verdicts.get(found['merges_sha256'], 'other merges')}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", help="text files")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--json", type=Path, help="where to write the record")
    arguments = parser.parse_args()
    engines = ["lmfast", *(engine for engine in arguments.engines if engine != "lmfast")]
    record = compare(arguments.corpora, arguments.vocab_size, arguments.rounds, engines)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
