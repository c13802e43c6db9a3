"""Training side by side with the peers: seconds, peak memory, and whether the merges are the same.

    python benches/training.py books.txt code.txt --vocab-size 32000 --rounds 3 --json out.json

Each run is a process of its own, so that its peak memory is its own; engines take turns, and the
median of the rounds counts. Only training is timed, from files on disk to merges in memory. Ties
break as in Hugging Face's trainer wherever an engine can. Peers that are not installed are left
out, and said so.
"""

import argparse
import statistics
from pathlib import Path

from side_by_side import (
    add_json_option,
    corpus_facts,
    engine_names,
    installed,
    machine,
    run_worker,
    write_record,
)
from training_engines import ENGINES


def compare(
    paths: list[str], vocab_size: int, rounds: int, engines: list[str]
) -> dict[str, object]:
    """The medians of every engine on every corpus, and the ratio of each to lmfast."""
    versions = installed(engines)
    rows = []
    for path in paths:
        runs: dict[str, list[dict]] = {engine: [] for engine in versions}
        for _ in range(rounds):
            for engine, found in runs.items():
                found.append(run_worker("training_engines.py", engine, path, str(vocab_size)))
        row = {
            "corpus": Path(path).name,
            **corpus_facts(Path(path)),
            "engines": {engine: _summary(engine, found) for engine, found in runs.items()},
        }
        rows.append(row)
        _print(rows[-1], list(versions))
    return {
        "what": "BPE training, GPT-2 pattern, ties as Hugging Face's where an engine can",
        **machine(),
        "vocab_size": vocab_size,
        "rounds": rounds,
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
    add_json_option(parser)
    arguments = parser.parse_args()
    engines = engine_names(ENGINES, arguments.engines)
    record = compare(arguments.corpora, arguments.vocab_size, arguments.rounds, engines)
    write_record(arguments.json, record)


if __name__ == "__main__":
    main()
