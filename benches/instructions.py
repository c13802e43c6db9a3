"""Instructions per byte of the encoder's hot loops, counted by callgrind: no clock, no noise.

    python benches/instructions.py --json benches/record/instructions.json

``examples/passes.rs`` makes passes over made texts. What more passes take is the cost of a pass:
the first one of ``encode`` is cold, those after it are warm. Valgrind offers programs no AVX-512,
so the counts are those of AVX2 at most.
"""

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import HERE, add_json_option, machine, write_record

EXAMPLE = HERE.parent / "target" / "release" / "examples" / "passes"
TEXTS = ("words", "code", "ideographs")
# Of several passes each counts for less of what differs from run to run, as loading does.
COSTS = {"scan": ("scan", 1, 8), "cold encode": ("encode", 0, 1), "warm encode": ("encode", 1, 8)}
"""What is run, after how many passes the ones that count begin, and how many those are."""


def build() -> None:
    package = ["-p", "lmfast-core", "--example", "passes"]
    command = ["cargo", "build", "--locked", "--release", "--quiet", *package]
    subprocess.run(command, cwd=HERE.parent, check=True)


def version(program: str) -> str:
    """What the program says of itself."""
    command = [program, "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def count(*arguments: str) -> int:
    """The instructions of one run of the example."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(
        [*command, str(EXAMPLE), *arguments], capture_output=True, text=True, check=False
    )
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or found is None:
        sys.exit(f"valgrind could not count {' '.join(arguments)}:\n{ran.stderr}")
    return int(found[1])


def instructions(folder: Path) -> list[dict[str, object]]:
    """A row for each text, printed as it is known."""
    rows = []
    for text in TEXTS:
        text_bytes = (folder / text).stat().st_size
        row: dict[str, object] = {"text": text, "bytes": text_bytes}
        for cost, (what, before, counted) in COSTS.items():
            less, more = (
                count(what, str(folder), text, str(passes)) for passes in (before, before + counted)
            )
            row[cost] = round((more - less) / counted / text_bytes, 2)
        costs = "  ".join(f"{cost} {row[cost]:6.2f}" for cost in COSTS)
        print(f"{text:<11} {costs}  instructions per byte", flush=True)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_json_option(parser)
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed, so that instructions cannot be counted: nothing done")
    build()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(EXAMPLE), "make", folder], check=True)
        rows = instructions(Path(folder))
    record = {
        "what": "instructions per byte of one pass on one thread, by callgrind",
        **machine(),
        "architecture": platform.machine(),
        "versions": [version("rustc"), version("valgrind")],
        "rows": rows,
    }
    write_record(arguments.json, record)


if __name__ == "__main__":
    main()
