"""Training side by side with the peers: seconds and peak memory, the same corpus, the same machine.

    python benches/training.py books.txt code.txt --vocab-size 32000 --rounds 3 --json out.json

Each run is a process of its own, so that its peak memory is its own; engines take turns, and the
median of the rounds counts. Only training is timed, from files on disk to merges in memory. Peers
that are not installed are left out, and said so.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SPECIAL = "<|endoftext|>"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
READ_CHARACTERS = 1 << 20


def lmfast(path: str, vocab_size: int) -> int:
    import lmfast

    return len(lmfast.train_bpe(path, vocab_size=vocab_size, tie_break="huggingface").merges)


def gigabpe(path: str, vocab_size: int) -> int:
    import gigabpe

    _, merges = gigabpe.train_bpe(
        [path], vocab_size, pretokenizer="bytelevel", special_tokens=[SPECIAL]
    )
    return len(merges)


def gigatoken(path: str, vocab_size: int) -> int:
    import gigatoken

    trained = gigatoken.train_bpe([path], vocab_size=vocab_size, special_tokens=[SPECIAL])
    return vocab_size if trained is None else vocab_size - 257


def rustbpe(path: str, vocab_size: int) -> int:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(_pieces(path), vocab_size - 1, pattern=GPT2)
    return len(tokenizer.get_mergeable_ranks()) - 256


def hugging_face(path: str, vocab_size: int) -> int:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([path], trainer)
    return tokenizer.get_vocab_size() - 257


ENGINES: dict[str, tuple[str, Callable[[str, int], int]]] = {
    "lmfast": ("lmfast", lmfast),
    "gigabpe": ("gigabpe", gigabpe),
    "gigatoken": ("gigatoken", gigatoken),
    "rustbpe": ("rustbpe", rustbpe),
    "tokenizers": ("tokenizers", hugging_face),
}


def _pieces(path: str):
    """The documents of a file, as an iterator-based trainer takes them."""
    rest = ""
    with Path(path).open(encoding="utf-8", newline="") as file:
        while block := file.read(READ_CHARACTERS):
            *documents, rest = (rest + block).split(SPECIAL)
            yield from documents
    yield rest


def _worker(engine: str, path: str, vocab_size: int) -> None:
    """One run, reported as JSON: seconds, peak bytes, merges."""
    _, train = ENGINES[engine]
    begin = time.perf_counter()
    merges = train(path, vocab_size)
    seconds = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "merges": merges}))


def _run(engine: str, path: str, vocab_size: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", engine, path, "--vocab-size", str(vocab_size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _installed() -> dict[str, str]:
    """Each engine that is here, with its version."""
    versions = {}
    for engine, (package, _) in ENGINES.items():
        try:
            versions[engine] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"{engine} is not installed: left out", file=sys.stderr)
    return versions


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def compare(paths: list[str], vocab_size: int, rounds: int) -> dict[str, object]:
    """The medians of every engine on every corpus, and the ratio of the fastest peer to lmfast."""
    versions = _installed()
    rows = []
    for path in paths:
        runs: dict[str, list[dict[str, float]]] = {engine: [] for engine in versions}
        for _ in range(rounds):
            for engine, found in runs.items():
                found.append(_run(engine, path, vocab_size))
        row = {
            engine: {
                key: statistics.median(run[key] for run in found)
                for key in ("seconds", "peak_bytes", "merges")
            }
            for engine, found in runs.items()
        }
        rows.append({"corpus": Path(path).name, "bytes": Path(path).stat().st_size, **row})
        _print(rows[-1], list(versions))
    return {
        "what": "BPE training, GPT-2 pattern",
        "vocab_size": vocab_size,
        "rounds": rounds,
        "cpu": _cpu(),
        "threads": os.cpu_count(),
        "versions": versions,
        "rows": rows,
    }


def _print(row: dict, engines: list[str]) -> None:
    ours = row["lmfast"]
    print(f"{row['corpus']}, {row['bytes'] / 1e6:.0f} MB")
    for engine in engines:
        found = row[engine]
        print(
            f"  {engine:<12} {found['seconds']:8.2f} s  {found['peak_bytes'] / 1e6:8.0f} MB  "
            f"{found['merges']:.0f} merges  x {found['seconds'] / ours['seconds']:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", help="text files")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to write the record")
    parser.add_argument("--worker", nargs=2, metavar=("ENGINE", "CORPUS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _worker(*arguments.worker, arguments.vocab_size)
        return
    record = compare(arguments.corpora, arguments.vocab_size, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
