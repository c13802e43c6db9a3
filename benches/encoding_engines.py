"""One job by one engine, several times over, in a process of its own: ``encoding.py`` runs this.

Loading the tokenizer and the text is not timed, reading files is where files are the job.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from worker import SPECIAL, answer, documents, have_memory_ready, peak_bytes

Ids = NDArray[np.unsignedinteger]
DIGEST_IDS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A loaded tokenizer; ``ids`` makes one array of what its fastest call returns."""

    encode: Callable[[str], Any]
    decode: Callable[[list[int]], Any]
    batch: Callable[[list[str]], Any]
    ids: Callable[[Any], Ids]
    """The ids of all documents, end to end."""
    whole: Callable[[bytes], Any] | None = None
    """From one text with a separator; None where an engine takes no bytes."""
    files: Callable[[Path], Any] | None = None
    """From a file; None where an engine reads none."""
    shards: Callable[[Path, Path], None] | None = None
    """From a file to a folder of token files; None where an engine writes none."""


def lmfast(vocabulary: str, threads: int | None) -> Engine:
    import lmfast
    from lmfast.corpus import prepare

    tokenizer = lmfast.Tokenizer.load(vocabulary)
    return Engine(
        encode=tokenizer.encode,
        decode=tokenizer.decode,
        batch=lambda documents: tokenizer.encode_batch(documents, threads),
        ids=lambda batch: batch.ids,
        whole=lambda text: tokenizer.encode_documents(text, SPECIAL, threads),
        shards=lambda path, out: prepare(path, tokenizer, out, threads=threads) and None,
    )


def gigatoken(vocabulary: str, threads: int | None) -> Engine:
    import awkward
    import gigatoken

    tokenizer = gigatoken.Tokenizer(vocabulary)
    parallel = threads is None

    def whole(text: bytes) -> Any:
        source = gigatoken.BytesSource(text, separator=SPECIAL)
        return tokenizer.encode_batch(source, parallel=parallel)

    def files(path: Path) -> Any:
        source = gigatoken.TextFileSource([path], separator=SPECIAL)
        return tokenizer.encode_files(source, parallel=parallel)

    return Engine(
        encode=tokenizer.encode,
        decode=tokenizer.decode,
        batch=lambda documents: tokenizer.encode_batch(documents, parallel=parallel),
        ids=lambda rows: awkward.to_numpy(awkward.flatten(rows)),
        whole=whole,
        files=files,
    )


def fastokens(vocabulary: str, threads: int | None) -> Engine:
    import fastokens

    tokenizer = fastokens.Tokenizer.from_file(vocabulary)
    return Engine(
        encode=tokenizer.encode,
        decode=tokenizer.decode,
        batch=tokenizer.encode_batch_flat,
        ids=lambda flat: np.frombuffer(flat[0], np.uint32),
    )


def tiktoken(vocabulary: str, threads: int | None) -> Engine:
    import tiktoken

    import lmfast

    loaded = lmfast.Tokenizer.load(vocabulary)
    encoding = tiktoken.Encoding(
        "bench",
        pat_str=loaded.pattern,
        mergeable_ranks=loaded.mergeable_ranks,
        special_tokens=loaded.special_tokens,
    )
    workers = threads or os.cpu_count() or 1
    return Engine(
        encode=encoding.encode,
        decode=encoding.decode,
        batch=lambda documents: encoding.encode_ordinary_batch(documents, num_threads=workers),
        ids=_end_to_end,
    )


def hugging_face(vocabulary: str, threads: int | None) -> Engine:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(vocabulary)
    return Engine(
        encode=tokenizer.encode,
        decode=tokenizer.decode,
        batch=lambda documents: tokenizer.encode_batch_fast(documents, add_special_tokens=False),
        ids=lambda encodings: _end_to_end([encoding.ids for encoding in encodings]),
    )


ENGINES: dict[str, Callable[[str, int | None], Engine]] = {
    "lmfast": lmfast,
    "gigatoken": gigatoken,
    "fastokens": fastokens,
    "tiktoken": tiktoken,
    "tokenizers": hugging_face,
}
SLOW = ("tiktoken", "tokenizers")
"""Those that are given the beginning of a long text only."""


def _end_to_end(lists: Sequence[Sequence[int]]) -> Ids:
    return np.concatenate([np.array(ids, dtype=np.uint32) for ids in lists])


def _one_core() -> None:
    """No engine then works on more, whatever it takes for the number of its threads."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _job(engine: Engine, job: str, path: Path, dtype: str) -> Callable[[Path], Any] | None:
    """One pass of a job, which may use a folder; None where the engine cannot do it."""
    if job == "batch":
        texts = list(documents(path))
        return lambda _: engine.batch(texts)
    if job == "bytes":
        text, whole = path.read_bytes(), engine.whole
        return None if whole is None else lambda _: whole(text)
    if engine.shards is not None:
        shards = engine.shards
        return lambda folder: shards(path, folder)
    read = engine.files or (lambda file: engine.batch(list(documents(file))))

    def with_numpy(folder: Path) -> None:
        ids = engine.ids(read(path))
        folder.mkdir()
        ids.astype(dtype).tofile(folder / "tokens-00000.bin")

    return with_numpy


def _written(folder: Path, dtype: str, separator: int) -> Iterator[Ids]:
    """What a pass left in its folder, without the ids that end documents."""
    for file in sorted(folder.glob("tokens-*.bin")):
        ids = np.fromfile(file, dtype)
        yield ids[ids != separator]


def _digest(parts: Iterator[Ids]) -> dict[str, object]:
    """How many ids there are, and a hash that is the same however they were cut into parts."""
    digest, count = hashlib.sha256(), 0
    for part in parts:
        for start in range(0, len(part), DIGEST_IDS):
            digest.update(part[start : start + DIGEST_IDS].astype("<u4").tobytes())
        count += len(part)
    return {"tokens": count, "ids_sha256": digest.hexdigest()}


def main(task: dict[str, Any]) -> None:
    """Make the passes, and tell their seconds, the peak of memory and a digest of the ids."""
    if task["threads"] == 1:
        _one_core()
    path, folder = Path(task["path"]), Path(task["folder"]) / "shards"
    engine = ENGINES[task["engine"]](task["vocabulary"], task["threads"])
    work = _job(engine, task["job"], path, task["dtype"])
    if work is None:
        return answer({"seconds": None})
    have_memory_ready()
    before, seconds, result = peak_bytes(), [], None
    for _ in range(task["passes"]):
        # An engine must not pay for the results of the pass before.
        result = None
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.perf_counter()
        result = work(folder)
        seconds.append(time.perf_counter() - begin)
    peak = peak_bytes()
    if task["job"] == "files":
        digest = _digest(_written(folder, task["dtype"], task["separator"]))
    else:
        digest = _digest(iter([engine.ids(result)]))
    answer({"seconds": seconds, "peak_bytes": peak, "before_bytes": before, **digest})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
