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
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

SPECIAL = "<|endoftext|>"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
READ_CHARACTERS = 1 << 20

# The pairs in rank order, as bytes or in GPT-2's printable characters; None where an engine tells
# no merges.
Merges: TypeAlias = list[tuple[bytes, bytes]] | list[tuple[str, str]] | None


def lmfast(path: str, vocab_size: int) -> Callable[[], Merges]:
    import lmfast

    trained = lmfast.train_bpe(path, vocab_size=vocab_size, tie_break="huggingface")
    return lambda: trained.merges


def gigabpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import gigabpe

    _, merges = gigabpe.train_bpe(
        [path], vocab_size, pretokenizer="bytelevel", special_tokens=[SPECIAL]
    )
    return lambda: merges


def gigatoken(path: str, vocab_size: int) -> Callable[[], Merges]:
    import gigatoken

    source = gigatoken.TextFileSource([path], separator=SPECIAL)
    _, merges = gigatoken.train_bpe(source, vocab_size, [SPECIAL], tie_breaking="huggingface")
    return lambda: merges


def ffbpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import ffbpe

    ffbpe.train_bpe(_documents(path), vocab_size=vocab_size, special_tokens=[SPECIAL])
    return lambda: None


def rustbpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import rustbpe

    rustbpe.Tokenizer().train_from_iterator(_documents(path), vocab_size - 1, pattern=GPT2)
    return lambda: None


def bpeasy(path: str, vocab_size: int) -> Callable[[], Merges]:
    import bpeasy

    bpeasy.train_bpe(_documents(path), GPT2, 1 << 20, vocab_size - 1)
    return lambda: None


def hugging_face(path: str, vocab_size: int) -> Callable[[], Merges]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_documents(path), trainer)

    def merges() -> Merges:
        return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]

    return merges


ENGINES: dict[str, tuple[str, Callable[[str, int], Callable[[], Merges]]]] = {
    "lmfast": ("lmfast", lmfast),
    "gigabpe": ("gigabpe", gigabpe),
    "gigatoken": ("gigatoken", gigatoken),
    "ffbpe": ("ffbpe", ffbpe),
    "rustbpe": ("rustbpe", rustbpe),
    "bpeasy": ("bpeasy", bpeasy),
    "tokenizers": ("tokenizers", hugging_face),
}


def _documents(path: str) -> Iterator[str]:
    """The documents of a file, as an iterator-based trainer takes them."""
    rest = ""
    with Path(path).open(encoding="utf-8", newline="") as file:
        while block := file.read(READ_CHARACTERS):
            *documents, rest = (rest + block).split(SPECIAL)
            yield from documents
    yield rest


def _printable() -> dict[int, str]:
    """GPT-2's character for each byte."""
    prints = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in prints]
    return {byte: chr(byte) for byte in prints} | {
        byte: chr(0x100 + place) for place, byte in enumerate(others)
    }


def _digest(merges: Merges) -> str | None:
    if merges is None:
        return None
    printable = _printable()
    spelled = (
        [part if isinstance(part, str) else "".join(map(printable.__getitem__, part)) for part in p]
        for p in merges
    )
    lines = "".join(f"{left} {right}\n" for left, right in spelled)
    return hashlib.sha256(lines.encode()).hexdigest()


def _worker(engine: str, path: str, vocab_size: int) -> None:
    """One run, reported as JSON: seconds, peak bytes, a digest of the merges."""
    _, train = ENGINES[engine]
    begin = time.perf_counter()
    merges = train(path, vocab_size)
    seconds = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "merges": _digest(merges())}))


def _run(engine: str, path: str, vocab_size: int) -> dict[str, float | str | None]:
    command = [sys.executable, __file__, "--worker", engine, path, "--vocab-size", str(vocab_size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _installed(wanted: list[str]) -> dict[str, str]:
    """Each engine that is wanted and here, with its version."""
    versions = {}
    for engine in wanted:
        package, _ = ENGINES[engine]
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
        row = {
            engine: {
                "seconds": statistics.median(run["seconds"] for run in found),
                "peak_bytes": statistics.median(run["peak_bytes"] for run in found),
                "merges_sha256": found[0]["merges"],
            }
            for engine, found in runs.items()
        }
        rows.append({"corpus": Path(path).name, "bytes": Path(path).stat().st_size, **row})
        _print(rows[-1], list(versions))
    return {
        "what": "BPE training, GPT-2 pattern, ties as Hugging Face's trainer breaks them",
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
    verdicts = {None: "", ours["merges_sha256"]: "same merges"}
    for engine in engines:
        found = row[engine]
        seconds, peak = found["seconds"], found["peak_bytes"]
        print(
            f"  {engine:<11} {seconds:7.2f} s  x {seconds / ours['seconds']:5.2f}"
            f"  {peak / 1e6:6.0f} MB  x {peak / ours['peak_bytes']:5.2f}"
            f"  {verdicts.get(found['merges_sha256'], 'other merges')}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", help="text files")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--json", type=Path, help="where to write the record")
    parser.add_argument("--worker", nargs=2, metavar=("ENGINE", "CORPUS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _worker(*arguments.worker, arguments.vocab_size)
        return
    engines = ["lmfast", *(engine for engine in arguments.engines if engine != "lmfast")]
    record = compare(arguments.corpora, arguments.vocab_size, arguments.rounds, engines)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
