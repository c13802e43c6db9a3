"""What benches that set engines side by side share: workers, versions, the machine, the record."""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent


def run_worker(script: str, *arguments: str) -> dict:
    """What a process of its own printed last, as JSON: its peak of memory is its own, too."""
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def engine_names(known: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Those wanted, lmfast first: all others are compared with it."""
    return ["lmfast", *(engine for engine in known if engine in wanted and engine != "lmfast")]


def installed(wanted: Iterable[str]) -> dict[str, str]:
    """Each engine that is wanted and here, with its version."""
    versions = {}
    for engine in wanted:
        try:
            versions[engine] = importlib.metadata.version(engine)
        except importlib.metadata.PackageNotFoundError:
            print(f"{engine} is not installed: left out", file=sys.stderr)
    return versions


def machine() -> dict[str, object]:
    """The commit of the code, and what it ran on."""
    return {
        "commit": _commit(),
        "cpu": _cpu(),
        "threads": os.cpu_count(),
        "python": platform.python_version(),
    }


def corpus_facts(path: Path) -> dict[str, object]:
    """What tells one text from another."""
    # Read in pieces: a process inherits the peak of the one that starts it.
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, help="where to write the record")


def write_record(path: Path | None, record: dict[str, object]) -> None:
    if path is not None:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _cpu() -> str:
    """The name, and what tells processors of that name apart, which virtual machines leave out."""
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        facts = dict(line.replace("\t", "").split(": ", 1) for line in lines if ": " in line)
        level = next(n for n in ("avx512_vbmi2", "avx2", "sse2") if n in facts["flags"].split())
        return f"{facts['model name']}, family {facts['cpu family']}, {level}"
    except (OSError, KeyError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str | None:
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
