"""Encoding side by side with the peers: speed cold and warm, peak memory, and whether ids agree.

    python benches/encoding.py en=books.txt zh=chinese.txt --vocabulary gpt2.json --json out.json

Each engine does each job in a process of its own; engines take turns, first one way, then the
other, and medians count. The memory that they need has been in use just before. Cold is
the first pass of the process, warm the best of three later ones. The documents of a text end with
<|endoftext|>. Peers that are not installed are left out, and said so.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from encoding_engines import ENGINES, SLOW
from encoding_rows import measures, print_rows
from side_by_side import (
    add_json_option,
    corpus_facts,
    engine_names,
    installed,
    machine,
    run_worker,
    write_record,
)
from worker import SPECIAL, documents

import lmfast

JOBS = {
    "batch": "encode_batch of str documents",
    "bytes": "one bytes with separators, where an engine takes it",
    "files": "a file to token ids on disk; peers' ids written with numpy",
}
THREADS = {"1": 1, "all": None}
WARM_PASSES = 3
TRAINED_VOCAB_SIZE = 32_000
Vocabulary = dict[str, object]


def vocabulary(file: Path | None, corpora: dict[str, Path], folder: Path) -> Vocabulary:
    """The tokenizer that all engines load; trained on the corpora if there is no file."""
    if file is None:
        file = folder / "tokenizer.json"
        # In another process, since those that this one starts inherit its peak of memory.
        train = [
            sys.executable,
            "-m",
            "lmfast.cli",
            "tokenizer",
            "train",
            *map(str, corpora.values()),
        ]
        more = ["--vocab-size", str(TRAINED_VOCAB_SIZE), "--out", str(file)]
        subprocess.run([*train, *more], stdout=subprocess.DEVNULL, check=True)
    loaded = lmfast.Tokenizer.load(file)
    return {
        "path": str(file),
        "name": file.name if file.parent != folder else "trained on the corpora",
        "pretokenizer": loaded.pretokenizer,
        "n_vocab": loaded.n_vocab,
        "identity": loaded.identity,
        "separator": loaded.token_id(SPECIAL),
        "dtype": "uint16" if loaded.n_vocab <= 1 << 16 else "uint32",
    }


def mix(corpora: dict[str, Path], most_bytes: int, file: Path) -> Path:
    """A document of each corpus in turn, until there are so many bytes."""
    written = 0
    with file.open("wb") as out:
        for document in itertools.chain(*zip(*map(documents, corpora.values()), strict=False)):
            written += out.write((document + SPECIAL).encode())
            if written >= most_bytes:
                break
    return file


def beginning(corpus: Path, most_bytes: int, folder: Path) -> Path:
    """The corpus, or as many whole documents of it as fit; of a long first one a part."""
    if corpus.stat().st_size <= most_bytes:
        return corpus
    with corpus.open("rb") as text:
        head = text.read(most_bytes)
    end = head.rfind(SPECIAL.encode())
    file = folder / f"{corpus.stem}.beginning.txt"
    file.write_bytes(head[:end] if end > 0 else head.decode(errors="ignore").encode())
    return file


def compare(arguments: argparse.Namespace, folder: Path) -> dict[str, object]:
    """The medians of every engine at every job on every corpus, with lmfast's ratios."""
    versions = installed(engine_names(ENGINES, arguments.engines))
    corpora = dict(arguments.corpora)
    tokens = vocabulary(arguments.vocabulary, corpora, folder)
    if arguments.mixed_bytes:
        corpora["mixed"] = mix(corpora, arguments.mixed_bytes, folder / "mixed.txt")
    rows = []
    for name, corpus in corpora.items():
        short = beginning(corpus, arguments.slow_bytes, folder)
        texts = {engine: short if engine in SLOW else corpus for engine in versions}
        for job, threads in itertools.product(arguments.jobs, arguments.threads):
            runner = Runner(tokens=tokens, folder=folder, job=job, threads=threads)
            engines = runner.engines(texts, arguments.repeats)
            row = {"corpus": name, **corpus_facts(corpus), "job": job, "threads": threads}
            rows.append({**row, "engines": engines})
            rows[-1]["lmfast"] = measures(engines)
            print_rows(rows[-1])
    return {
        "what": "encoding: cold is the first pass of a process, warm the best of three later ones",
        **machine(),
        "vocabulary": {key: value for key, value in tokens.items() if key != "path"},
        "jobs": {job: JOBS[job] for job in arguments.jobs},
        "repeats": arguments.repeats,
        "versions": versions,
        "rows": rows,
    }


class Runner:
    """One job with one number of threads."""

    def __init__(self, *, tokens: Vocabulary, folder: Path, job: str, threads: str) -> None:
        self._task = {
            "vocabulary": tokens["path"],
            "dtype": tokens["dtype"],
            "separator": tokens["separator"],
            "folder": str(folder),
            "job": job,
            "threads": THREADS[threads],
        }

    def engines(self, texts: dict[str, Path], repeats: int) -> dict[str, dict]:
        """What each engine needed for its text."""
        runs: dict[str, list[dict]] = {engine: [] for engine in texts}
        for repeat in range(repeats):
            for engine, found in list(runs.items())[:: -1 if repeat % 2 else 1]:
                found.append(self._run(engine, texts[engine], 1 + WARM_PASSES))
        # Peers that are given the beginning of a text are compared with the ids of that alone.
        expected = {texts["lmfast"]: runs["lmfast"][0]["ids_sha256"]}
        for text in set(texts.values()) - expected.keys():
            expected[text] = self._run("lmfast", text, 1)["ids_sha256"]
        return {
            engine: self._summary(found, texts[engine].stat().st_size, expected[texts[engine]])
            for engine, found in runs.items()
            if found[0]["seconds"] is not None
        }

    def _run(self, engine: str, text: Path, passes: int) -> dict:
        task = {**self._task, "engine": engine, "path": str(text), "passes": passes}
        return run_worker("encoding_engines.py", json.dumps(task))

    @staticmethod
    def _summary(runs: list[dict], text_bytes: int, expected: str) -> dict[str, object]:
        cold = statistics.median(run["seconds"][0] for run in runs)
        warm = statistics.median(min(run["seconds"][1:]) for run in runs)
        return {
            "bytes": text_bytes,
            "cold_mb_per_s": text_bytes / 1e6 / cold,
            "warm_mb_per_s": text_bytes / 1e6 / warm,
            "peak_bytes": statistics.median(run["peak_bytes"] for run in runs),
            "loaded_bytes": statistics.median(run["before_bytes"] for run in runs),
            "tokens": runs[0]["tokens"],
            "ids_sha256": runs[0]["ids_sha256"],
            "same_ids": {run["ids_sha256"] for run in runs} == {expected},
        }


def _named_path(text: str) -> tuple[str, Path]:
    name, _, path = text.rpartition("=")
    return name or Path(path).stem, Path(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", type=_named_path, help="text files: name=path")
    parser.add_argument("--vocabulary", type=Path, help="a tokenizer.json; else one is trained")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--threads", nargs="+", choices=THREADS, default=list(THREADS))
    parser.add_argument("--repeats", type=int, default=3)
    slow = f"how much of a text {' and '.join(SLOW)} are given"
    parser.add_argument("--slow-bytes", type=int, default=10_000_000, help=slow)
    mixed = "add a corpus of about this size in which all others take turns"
    parser.add_argument("--mixed-bytes", type=int, default=0, help=mixed)
    add_json_option(parser)
    arguments = parser.parse_args()
    # On disk like the corpora: the folder for temporary files may be memory.
    base = os.environ.get("TMPDIR", Path.cwd())
    with tempfile.TemporaryDirectory(prefix="lmfast-bench-", dir=base) as folder:
        record = compare(arguments, Path(folder))
    write_record(arguments.json, record)


if __name__ == "__main__":
    main()
