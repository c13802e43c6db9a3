"""How fast the texts are encoded that are worst for an encoder, beside prose.

    python benches/odd_texts.py books.txt --vocabulary gpt2.json --json out.json

Each text is one document of 5 MB, encoded on one core in a process of its own. Cold is the first
time, warm the best of three later ones.
"""

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy  # noqa: F401 - not to be counted as a part of the first encoding
from side_by_side import add_json_option, machine, run_worker, write_record
from worker import answer

import lmfast

BYTES = 5_000_000
WARM_PASSES = 3
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _of(characters: str) -> Callable[[random.Random], bytes]:
    size = len(characters.encode()) // len(characters)
    return lambda rng: "".join(rng.choices(characters, k=BYTES // size)).encode()


def _repeated(text: str) -> Callable[[random.Random], bytes]:
    part = text.encode()
    return lambda _: part * (BYTES // len(part))


TEXTS: dict[str, Callable[[random.Random], bytes]] = {
    "one letter": _repeated("a"),
    "spaces, a letter": lambda _: b" " * BYTES + b"x",
    "newlines": _repeated("\n"),
    "CRLF": _repeated("\r\n"),
    "one digit": _repeated("7"),
    "circumflexes": _repeated("^"),
    "NUL": _repeated("\0"),
    "dashes": _repeated("-"),
    "emoji families": _repeated("👨\u200d👩\u200d👧\u200d👦"),
    "combining marks": _repeated("e\u0301"),
    "random digits": _of("0123456789"),
    "random letters": _of(LETTERS),
    "random capitals": _of(LETTERS.upper()),
    "random ideographs": _of("".join(map(chr, range(0x4E00, 0x9FA5)))),
    "one invalid byte": lambda _: b"\xff" * BYTES,
    "letters and invalid bytes": lambda _: b"a\x80" * (BYTES // 2),
    "random bytes": lambda rng: rng.randbytes(BYTES),
}
PROSE = "prose"


def _work(vocabulary: str, name: str, prose: str) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if name == PROSE:
        with Path(prose).open("rb") as file:
            text = file.read(BYTES)
    else:
        text = TEXTS[name](random.Random(1))
    tokenizer = lmfast.Tokenizer.load(vocabulary)
    seconds = []
    for _ in range(1 + WARM_PASSES):
        start = time.perf_counter()
        ids = tokenizer.encode_to_numpy(text, disallowed_special=())
        seconds.append(time.perf_counter() - start)
    rates = [len(text) / 1e6 / second for second in seconds]
    found = {"bytes": len(text), "tokens": len(ids), "cold_mb_per_s": rates[0]}
    answer({**found, "warm_mb_per_s": max(rates[1:])})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("prose", help="a text file")
    parser.add_argument("--vocabulary", required=True, help="a tokenizer file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    add_json_option(parser)
    arguments = parser.parse_args()
    if arguments.work:
        _work(arguments.vocabulary, arguments.work, arguments.prose)
        return
    rows = {}
    for name in (PROSE, *TEXTS):
        options = ["--vocabulary", arguments.vocabulary, "--work", name]
        row = rows[name] = run_worker("odd_texts.py", arguments.prose, *options)
        of_prose = {kind: rows[PROSE][kind] / row[kind] for kind in row if kind.endswith("per_s")}
        print(
            f"{name:26} {row['bytes'] / row['tokens']:5.2f} bytes a token | "
            f"cold {row['cold_mb_per_s']:6.1f} MB/s, prose x {of_prose['cold_mb_per_s']:5.2f} | "
            f"warm {row['warm_mb_per_s']:6.1f} MB/s, prose x {of_prose['warm_mb_per_s']:5.2f}"
        )
    loaded = lmfast.Tokenizer.load(arguments.vocabulary)
    what = {"what": "one document of 5 MB on one core", "vocabulary": loaded.identity}
    write_record(arguments.json, {**what, **machine(), "texts": rows})


if __name__ == "__main__":
    main()
