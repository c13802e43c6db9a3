"""Parquet and Arrow files against what pyarrow itself reads from them."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmfast
from lmfast.columns import read_rows
from lmfast.corpus import TokenShards, prepare
from lmfast.errors import CorpusError, MissingFileError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = ["ab ab", "", None, "中文 text", "ab<|endoftext|>cd", "x" * 5000, None, "é"]
GOOD = [text for text in TEXTS if text is not None]
TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


def train(sources: object, **options: object) -> lmfast.Tokenizer:
    settings = {"vocab_size": 300, "allow_fewer": True, **options}
    return lmfast.train_bpe(sources, **settings)  # type: ignore[arg-type]


def table(texts: list[Any], kind: Any = None) -> Any:
    array = pa.array(texts, pa.string())
    return pa.table({"id": list(range(len(texts))), "text": array.cast(kind or pa.string())})


def write(path: Path, rows: Any, batch: int = 3) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(rows, path, row_group_size=batch)
    else:
        new = pa.ipc.new_stream if "stream" in path.name else pa.ipc.new_file
        with new(str(path), rows.schema) as writer:
            writer.write_table(rows, max_chunksize=batch)
    return path


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_a_column_of_any_kind_of_strings(tmp_path: Path, name: str, kind: str) -> None:
    if kind == "string_view" and name.endswith(".parquet"):
        pytest.skip("read back as another kind")
    file = write(tmp_path / name, table(TEXTS, TYPES[kind]))
    expected = train(iter(GOOD))
    for threads in (1, 3):
        counted: list[int] = []
        trained = train(file, threads=threads, on_bytes=counted.append)
        assert trained == expected
        assert counted[-1] == file.stat().st_size
        assert trained.training is not None
        assert trained.training.skipped.by_reason == {"null": 2}
        assert trained.training.skipped.documents == 0
        assert trained.training.skipped.null_rows == 2
        assert "row 2 of" in str(trained.training.skipped.first)


@pytest.mark.parametrize("pretokenizer", ["gpt2", "cl100k", "o200k", "llama3", None, r"\w+|\s"])
def test_any_pretokenizer_and_shards(tmp_path: Path, pretokenizer: str | None) -> None:
    file = write(tmp_path / "a.parquet", table(TEXTS))
    trained = train(file, pretokenizer=pretokenizer)
    assert trained == train(iter(GOOD), pretokenizer=pretokenizer)
    shards = []
    for number, (source, threads) in enumerate([(iter(GOOD), 1), (file, 1), (file, 3)]):
        prepared = prepare(source, trained, tmp_path / str(number), threads=threads)
        assert prepared.skipped.by_reason == ({"null": 2} if number else {})
        TokenShards.open(tmp_path / str(number), verify=True)
        folder = (tmp_path / str(number)).iterdir()
        shards.append({path.name: path.read_bytes() for path in folder})
    assert shards[0] == shards[1] == shards[2]


@given(
    texts=st.lists(st.none() | st.text(max_size=20), max_size=30),
    batch=st.integers(1, 9),
    name=st.sampled_from(["a.parquet", "file.arrow", "stream.arrow"]),
)
@settings(max_examples=60, deadline=None)
def test_rows_are_read_as_pyarrow_reads_them(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], batch: int, name: str
) -> None:
    file = write(tmp_path_factory.mktemp("rows") / name, table(texts), batch)
    found: list[str | None] = []
    bytes_read = 0
    for data, starts, has_value, progress in read_rows(file, "text"):
        rows = [bytes(data[a:b]).decode() for a, b in pairwise(starts)]
        mask = [True] * len(rows) if has_value is None else has_value
        found += [row if has else None for row, has in zip(rows, mask, strict=True)]
        bytes_read += progress
    assert found == texts
    assert bytes_read == file.stat().st_size or not texts


def test_sources_of_all_kinds_in_order(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("first<|endoftext|>second")
    write(tmp_path / "2.parquet", table(["third", "fourth"]))
    (tmp_path / "3.jsonl").write_text('{"text": "fifth"}\n')
    write(tmp_path / "4.arrow", table(["sixth"]))
    texts = ["first", "second", "third", "fourth", "fifth", "sixth"]
    trained = train(tmp_path)
    assert trained == train(iter(texts))
    for number, source in enumerate([tmp_path, str(tmp_path / "?.*"), iter(texts)]):
        out = tmp_path / ".out" / str(number)
        out.parent.mkdir(exist_ok=True)
        prepare(source, trained, out)
        shards = TokenShards.open(out)
        ids = [int(token) for token in shards.read(0, shards.tokens)]
        assert trained.decode(ids) == "<|endoftext|>".join([*texts, ""])


def test_of_errors_the_first_in_order_is_raised(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text('{"text": "a"}\n' * 200_000 + "{")
    write(tmp_path / "2.parquet", pa.table({"body": ["a"]}))
    for threads in (1, 3):
        with pytest.raises(CorpusError, match=r"^line 200001 of"):
            train(tmp_path, threads=threads)


def test_a_column_in_a_struct(tmp_path: Path) -> None:
    nested = pa.array([{"body": "ab ab", "n": 1}, None, {"body": None, "n": 2}])
    rows = pa.table({"doc": nested, "doc.body": ["exact"] * 3})
    for name in ("a.parquet", "a.arrow"):
        file = write(tmp_path / name, rows.drop_columns("doc.body"))
        trained = train(file, text_field="doc.body")
        assert trained == train(iter(["ab ab"]))
        assert trained.training is not None
        assert trained.training.skipped.by_reason == {"null": 2}
        with pytest.raises(CorpusError, match=r"no column 'doc.x'; the columns in doc are: body"):
            train(file, text_field="doc.x")
    for name in ("b.parquet", "b.arrow"):
        exact = train(write(tmp_path / name, rows), text_field="doc.body")
        assert exact == train(iter(["exact"] * 3))


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    rows = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(CorpusError, match="several columns 'text'"):
            train(write(tmp_path / name, rows))


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / name, table(["a"]))
    with pytest.raises(CorpusError, match=r"no column 'body'; the columns are: id \(int64\), text"):
        train(file, text_field="body")
    with pytest.raises(
        CorpusError, match=r"'id' of .* holds int64, not strings; the columns are: id"
    ):
        train(file, text_field="id")
    content = file.read_bytes()
    for damaged in (b"", b"plain text", content[: len(content) // 2]):
        file.write_bytes(damaged)
        with pytest.raises((CorpusError, OSError), match=name):
            train(file)
    with pytest.raises(MissingFileError):
        list(read_rows(tmp_path / "missing.parquet", "text"))


def test_a_row_that_is_not_utf8(tmp_path: Path) -> None:
    array = pa.array([b"ab ab", b"a\xff", b"ab"]).view(pa.string())
    file = write(tmp_path / "a.arrow", pa.table({"text": array}))
    with pytest.raises(CorpusError, match=r"row 1 of .*a\.arrow .* not UTF-8: invalid at byte 1"):
        train(file)
    trained = train(file, on_error="skip")
    assert trained == train(iter(["ab ab", "ab"]))


def test_no_rows(tmp_path: Path) -> None:
    for name in ("a.parquet", "file.arrow", "stream.arrow"):
        with pytest.raises(CorpusError, match="empty"):
            train(write(tmp_path / name, table([])))


def test_long_and_many_rows(tmp_path: Path) -> None:
    texts = ["some words " * 300_000, *["tiny"] * 200_000]
    file = write(tmp_path / "a.parquet", table(texts), 150_000)
    trained = train(file)
    assert trained.training is not None
    assert trained.training.text_bytes == sum(map(len, texts))


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", table(["a"]))
    program = f"""
import sys
sys.modules["pyarrow"] = None
import lmfast
try:
    lmfast.train_bpe({str(file)!r}, vocab_size=300)
except lmfast.errors.MissingDependencyError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == f"cannot read {file}: it needs pyarrow: pip install 'lmfast[arrow]'\n"


def test_pyarrow_is_not_imported_for_other_files() -> None:
    work = "lmfast.train_bpe(iter(['a']), vocab_size=257)"
    program = f"import lmfast, sys; {work}; print('pyarrow' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert output.stdout == b"False\n"
