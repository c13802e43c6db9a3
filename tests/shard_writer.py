"""The shard format written in a few plain lines of Python: the oracle for the reader."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def write_shards(
    folder: Path,
    documents: Sequence[Sequence[int]],
    *,
    vocab_size: int = 300,
    dtype: str = "uint16",
    shard_tokens: int = 1000,
    identity: str = "ab" * 32,
) -> Path:
    """Write ``documents`` (lists of ids) as shards of at most ``shard_tokens`` ids."""
    folder.mkdir(parents=True)
    lengths = [len(document) for document in documents]
    starts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    ids = np.array([id_ for document in documents for id_ in document], dtype=dtype)
    entries = []
    for index, first in enumerate(range(0, len(ids), shard_tokens)):
        piece = ids[first : first + shard_tokens]
        begun = (starts[:-1] >= first) & (starts[:-1] < first + len(piece))
        if first + len(piece) == len(ids):
            begun |= starts[:-1] == len(ids)  # empty documents at the end
        entry = put(folder, f"tokens-{index:05}.bin", piece.astype(f"<{dtype[0]}{piece.itemsize}"))
        counts = {"tokens": len(piece), "documents": int(begun.sum()), "bytes": 2 * len(piece)}
        entries.append({**entry, **counts})
    manifest = {
        "format": "lmfast.shards",
        "version": 1,
        "tokenizer": {"identity": identity, "vocab_size": vocab_size},
        "dtype": dtype,
        "documents": len(documents),
        "tokens": len(ids),
        "bytes": 2 * len(ids),
        "shards": entries,
        "document_starts": put(folder, "documents.bin", starts.astype("<u8")),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def put(folder: Path, name: str, array: np.ndarray) -> dict[str, object]:
    (folder / name).write_bytes(array.tobytes())
    return {"file": name, "sha256": hashlib.sha256(array.tobytes()).hexdigest()}
