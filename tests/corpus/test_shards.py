import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmfast.corpus import TokenShards
from lmfast.errors import CorpusError, MissingFileError
from shard_writer import write_shards

DOCUMENTS = [[1, 2, 3], [4], [], [5, 6, 7, 8, 9]]


@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=8).filter(any),
    shard_tokens=st.integers(1, 9),
    dtype=st.sampled_from(["uint16", "uint32"]),
    data=st.data(),
)
def test_reads_what_was_written_across_shard_boundaries(
    tmp_path_factory, lengths, shard_tokens, dtype, data
):
    flat = np.arange(sum(lengths)) % 300
    ends = np.cumsum(lengths)
    documents = [list(flat[e - n : e]) for e, n in zip(ends, lengths, strict=True)]
    folder = tmp_path_factory.mktemp("s") / "shards"
    write_shards(folder, documents, dtype=dtype, shard_tokens=shard_tokens)
    shards = TokenShards.open(folder, verify=True)
    assert (shards.tokens, shards.documents, shards.bytes) == (
        len(flat),
        len(documents),
        2 * len(flat),
    )
    assert list(shards.document_starts) == [0, *ends]
    start = data.draw(st.integers(0, len(flat)))
    length = data.draw(st.integers(0, len(flat) - start))
    read = shards.read(start, length)
    assert read.dtype == dtype
    assert list(read) == list(flat[start : start + length])


def test_names_its_tokenizer(make_shards):
    folder = make_shards(DOCUMENTS, identity="0f" * 32, vocab_size=777)
    shards = TokenShards.open(folder)
    assert (shards.identity, shards.vocab_size) == ("0f" * 32, 777)
    assert shards.tokenizer_path == folder / "tokenizer.json"


@pytest.mark.parametrize(("start", "length"), [(-1, 2), (0, 10), (9, 1), (3, -1)])
def test_refuses_ranges_outside_the_corpus(make_shards, start, length):
    with pytest.raises(CorpusError, match="it holds 9"):
        TokenShards.open(make_shards(DOCUMENTS)).read(start, length)


def test_missing_and_unfinished_folders(make_shards, tmp_path):
    with pytest.raises(MissingFileError, match="no such folder"):
        TokenShards.open(tmp_path / "nowhere")
    folder = make_shards(DOCUMENTS)
    (folder / "manifest.json").unlink()
    with pytest.raises(MissingFileError, match="not finished"):
        TokenShards.open(folder)


@pytest.mark.parametrize("name", ["tokens-00001.bin", "documents.bin"])
def test_files_of_the_wrong_size_are_refused_without_verify(make_shards, name):
    path = make_shards(DOCUMENTS, shard_tokens=5) / name
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(CorpusError, match="cut short"):
        TokenShards.open(path.parent)
    path.write_bytes(content + b"\0\0")
    with pytest.raises(CorpusError, match="too long"):
        TokenShards.open(path.parent)
    path.unlink()
    with pytest.raises(MissingFileError, match="no such file"):
        TokenShards.open(path.parent)


@pytest.mark.parametrize("name", ["tokens-00001.bin", "documents.bin"])
def test_verify_finds_a_changed_byte(make_shards, name):
    path = make_shards(DOCUMENTS, shard_tokens=5) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2 - 1] ^= 1
    path.write_bytes(content)
    TokenShards.open(path.parent)
    with pytest.raises(CorpusError, match="SHA-256"):
        TokenShards.open(path.parent, verify=True)


def test_verify_finds_ids_beyond_the_vocabulary_and_unordered_documents(make_shards):
    with pytest.raises(CorpusError, match="holds id 9, the vocabulary has 9"):
        TokenShards.open(make_shards(DOCUMENTS, vocab_size=9), verify=True)
    folder = make_shards([[1] * 4, [2] * 4], name="unordered")
    starts = np.array([0, 9, 8], dtype="<u8")
    rewrite(folder, "document_starts.sha256", sha256_of(folder / "documents.bin", starts))
    with pytest.raises(CorpusError, match="does not ascend"):
        TokenShards.open(folder, verify=True)


def test_document_starts_must_span_the_tokens(make_shards):
    folder = make_shards([[1] * 4, [2] * 4])
    np.array([0, 4, 7], dtype="<u8").tofile(folder / "documents.bin")
    with pytest.raises(CorpusError, match="runs from 0 to 7"):
        TokenShards.open(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "other"),
        ("version", 2),
        ("version", True),
        ("dtype", "float32"),
        ("dtype", ["uint16"]),
        ("documents", -1),
        ("documents", 3),
        ("tokens", 9.0),
        ("tokens", 10),
        ("bytes", "18"),
        ("shards", {}),
        ("shards", [7]),
        ("shards.0.tokens", -9),
        ("shards.0.file", "../tokens-00000.bin"),
        ("shards.0.file", "/etc/passwd"),
        ("shards.0.file", "a\\b"),
        ("shards.0.file", ".."),
        ("shards.0.file", ""),
        ("shards.0.sha256", "AB" * 32),
        ("tokenizer", None),
        ("tokenizer.identity", "short"),
        ("tokenizer.vocab_size", 70000),
        ("document_starts.file", "x/documents.bin"),
    ],
)
def test_hostile_manifests_are_refused_by_key(make_shards, key, value):
    folder = make_shards(DOCUMENTS)
    rewrite(folder, key, value)
    with pytest.raises(CorpusError, match="manifest.json: " + key.split(".")[0]):
        TokenShards.open(folder)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "\udcff"])
def test_a_manifest_that_is_no_json_object(make_shards, text):
    path = make_shards(DOCUMENTS) / "manifest.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CorpusError, match=r"manifest\.json"):
        TokenShards.open(path.parent)


def rewrite(folder: Path, key: str, value: object) -> None:
    """Set one key (``a.0.b``) of the manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    *parents, name = key.split(".")
    target = manifest
    for parent in parents:
        target = target[int(parent)] if parent.isdigit() else target[parent]
    target[name] = value
    (folder / "manifest.json").write_text(json.dumps(manifest))


def sha256_of(path: Path, array: np.ndarray) -> str:
    path.write_bytes(array.tobytes())
    return hashlib.sha256(array.tobytes()).hexdigest()
