"""JSON lines, patterns and iterators against Python's own readers, through training and shards."""

import gzip
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, random_words

import lmfast
from lmfast.corpus import TokenShards, prepare
from lmfast.errors import ConfigError, CorpusError, FileError, InputTypeError, TextError

TEXTS = [
    random_words(5, "abcé中", words=300),
    f"ab{END_OF_TEXT}ab cd",
    "",
    'q"\\\n\x00',
    "1234 " * 9,
]
SCHEMES = ["gpt2", "cl100k", "o200k", "llama3", None, r"\w+|\s"]


def train(sources: object, **options: object) -> lmfast.Tokenizer:
    settings = {"vocab_size": 300, "allow_fewer": True, **options}
    return lmfast.train_bpe(sources, **settings)  # type: ignore[arg-type]


def write_lines(path: Path, texts: list[str], key: str = "text") -> Path:
    lines = "".join(json.dumps({"id": 7, key: text}) + "\n" for text in texts)
    data = lines.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def ids_of(sources: object, tokenizer: lmfast.Tokenizer, out: Path, **options: object) -> list[int]:
    prepare(sources, tokenizer, out, **options)  # type: ignore[arg-type]
    shards = TokenShards.open(out, verify=True)
    return [int(token) for token in shards.read(0, shards.tokens)]


@pytest.mark.parametrize("pretokenizer", SCHEMES)
@pytest.mark.parametrize("name", ["data.jsonl", "data.NDJSON", "data.jsonl.gz"])
def test_lines_give_what_their_texts_give(tmp_path: Path, pretokenizer: object, name: str) -> None:
    file = write_lines(tmp_path / name, TEXTS)
    expected = train(iter(TEXTS), pretokenizer=pretokenizer)
    for threads in (1, 2, 5):
        assert train(file, pretokenizer=pretokenizer, threads=threads) == expected
    assert train((text.encode() for text in TEXTS), pretokenizer=pretokenizer) == expected
    ids = ids_of(file, expected, tmp_path / "lines")
    assert ids == ids_of(iter(TEXTS), expected, tmp_path / "items", threads=1)
    parts = [part for text in TEXTS for part in text.split(END_OF_TEXT) if part]
    end = expected.special_tokens[END_OF_TEXT]
    assert ids == [token for part in parts for token in [*expected.encode_ordinary(part), end]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
records = st.dictionaries(st.sampled_from(["text", "a", "b.c", ""]), json_values, max_size=4)
lines = st.one_of(
    st.builds(
        lambda r, ascii: json.dumps(r, ensure_ascii=ascii).encode("utf-8", "surrogatepass"),
        records,
        st.booleans(),
    ),
    st.builds(lambda v: json.dumps(v).encode(), json_values),
    st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"")),
    st.sampled_from(
        [
            b"",
            b" \t",
            b"{",
            b'{"text": "\\ud83d"}',
            b'{"text": "a", "text": "b"}',
            b'{"text":"\xff"}',
        ]
    ),
)


def text_in(line: bytes) -> str | None:
    """The text in a line as Python reads it; None if the line must be refused."""
    try:
        value = json.loads(line.decode(), parse_constant=lambda name: [].index(name))
        text = value["text"]
        text.encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return text if isinstance(text, str) else None


@given(lines=st.lists(lines, max_size=8), threads=st.integers(1, 3), crlf=st.booleans())
@settings(max_examples=60, deadline=None)
def test_lines_are_read_as_python_reads_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], threads: int, crlf: bool
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    (folder / "x.jsonl").write_bytes((b"\r\n" if crlf else b"\n").join(lines))
    texts = [text_in(line) for line in lines if line.strip(b" \t\r\n")]
    good = [text for text in texts if text is not None]
    options = {"threads": threads, "pretokenizer": None, "special_tokens": []}
    if not any(good):
        with pytest.raises(CorpusError, match="corpus is empty"):
            train(folder / "x.jsonl", on_error="skip", **options)
        return
    trained = train(folder / "x.jsonl", on_error="skip", **options)
    assert trained.training is not None
    assert trained.training.skipped.documents == texts.count(None)
    assert trained == train(iter(good), **options)
    if None in texts:
        bad = [
            n for n, line in enumerate(lines, 1) if line.strip(b" \t\r\n") and text_in(line) is None
        ]
        with pytest.raises(CorpusError, match=rf"^line {bad[0]} of .*x\.jsonl ") as refused:
            train(folder / "x.jsonl", **options)
        assert trained.training.skipped.first == str(refused.value)


def test_a_field_within_a_field(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"doc": {"body": {"text": "ab ab"}}}\n')
    assert train(file, text_field="doc.body.text").merges == [(b"a", b"b"), (b" ", b"ab")]
    with pytest.raises(
        CorpusError, match=r'no field "doc.text" \(no "text" in it\); there is "body"'
    ):
        train(file, text_field="doc.text")
    with pytest.raises(ConfigError, match='on_error is "maybe"'):
        train(file, on_error="maybe")


HOSTILE = {
    "empty": b"",
    "newlines": b"\n" * 1000,
    "crlf": b'{"text": "ab ab"}\r\n\r\n{"text": "ab"}\r\n',
    "mark": b'\xef\xbb\xbf{"text": "ab ab ab"}',
    "no final newline": b'{"text": "ab ab"}\n{"text": "ab"}',
    "one huge line": json.dumps({"text": "ab " * 1_500_000 + "ab"}).encode(),
    "deep": b'{"x": ' + b"[" * 50_000 + b"]" * 50_000 + b', "text": "ab ab ab"}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(HOSTILE[name])
    if name in ("empty", "newlines"):
        with pytest.raises(CorpusError, match="empty"):
            train(file)
    else:
        assert train(file).merges[0] == (b"a", b"b")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.txt.gz"])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"\x00plain text\xff")
    # Nothing is left of a line that is skipped; an archive that is none is never skipped.
    left = "the corpus is empty" if name == "a.jsonl" else f"cannot read .*{name}: "
    expected = {"raise": name, "skip": left}
    for on_error in ("raise", "skip"):
        with pytest.raises((CorpusError, FileError), match=expected[on_error]):
            train(file, on_error=on_error)


def test_a_cut_archive_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl.gz", TEXTS * 50)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"a\.jsonl\.gz"):
        train(file, on_error="skip")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", TEXTS)
    file.chmod(0)
    with pytest.raises(FileError, match=r"a\.jsonl"):
        train(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.txt"])
def test_a_pipe(tmp_path: Path, name: str) -> None:
    data = write_lines(tmp_path / "a.jsonl", TEXTS).read_bytes()
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=lambda: (tmp_path / name).write_bytes(data))
    writer.start()
    trained = train(tmp_path / name)
    writer.join()
    (tmp_path / "same").with_suffix(Path(name).suffix).write_bytes(data)
    assert trained == train((tmp_path / "same").with_suffix(Path(name).suffix))


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.txt", "b.txt", "deep/c.txt", "d.md"):
        (tmp_path / name).write_text(f"text of {name} ")
    texts = [(tmp_path / name).read_text() for name in ("a.txt", "b.txt", "deep/c.txt")]
    assert train(str(tmp_path / "*.txt")) == train(iter(texts[:2]))
    assert train(tmp_path / "**" / "*.txt") == train(iter(texts))
    monkeypatch.chdir(tmp_path)
    assert train(["**/*.txt", "?.md"]) == train(iter([*texts, "text of d.md "]))
    with pytest.raises(FileNotFoundError, match=r"\*\.parquet: as a pattern, it matches no file"):
        train("*.parquet")
    trained = train(iter(texts))
    expected = ids_of([tmp_path / "a.txt", tmp_path / "b.txt"], trained, tmp_path / "1")
    assert ids_of("?.txt", trained, tmp_path / "2") == expected


def test_text_that_is_not_utf8_is_left_out_by_documents(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    parts = [b"ab ab", b"cd\xffcd", b"ab", b"\xe4\xb8"]
    file.write_bytes(END_OF_TEXT.encode().join(parts))
    trained = train(file, on_error="skip")
    assert trained == train(iter(["ab ab", "ab"]))
    assert trained.training is not None
    assert trained.training.skipped.by_reason == {"not_utf8": 2}
    at = len(parts[0] + END_OF_TEXT.encode()) + 2
    assert trained.training.skipped.first == f"{file} is not UTF-8: invalid at byte {at}"
    assert ids_of(file, trained, tmp_path / "out", on_error="skip") == ids_of(
        iter([b"ab ab", b"ab"]), trained, tmp_path / "same"
    )


def test_items_that_are_not_unicode() -> None:
    items = ["ab", b"ab\xff", "\ud800", b"ab"]
    with pytest.raises(TextError, match=r"item 1 of the iterator .* not UTF-8: invalid at byte 2"):
        train(iter(items))
    with pytest.raises(TextError, match=r"item 1 of the iterator .* lone surrogate"):
        train(iter([items[0], items[2]]))
    trained = train(iter(items), on_error="skip")
    assert trained == train(iter(["ab", "ab"]))
    assert trained.training is not None
    assert trained.training.skipped.by_reason == {"not_utf8": 1, "lone_surrogate": 1}


def test_what_an_iterator_raises_comes_out_unchanged(tmp_path: Path) -> None:
    class OwnError(Exception):
        pass

    raised = OwnError("of the iterator")

    def texts(error: BaseException, after: int) -> Iterator[str]:
        yield from ["some text"] * after
        raise error

    for after in (0, 3, 300_000):
        with pytest.raises(OwnError) as caught:
            train(texts(raised, after))
        assert caught.value is raised
    for error in (KeyboardInterrupt(), SystemExit(3), CorpusError("own")):
        with pytest.raises(type(error)) as stopped:
            prepare(texts(error, 10), lmfast.train_bpe(iter(["a"]), vocab_size=257), tmp_path / "x")
        assert stopped.value is error
    assert list(tmp_path.iterdir()) == []


def test_an_iterator_is_left_when_the_work_ends(tmp_path: Path) -> None:
    closed = []

    def texts() -> Iterator[object]:
        try:
            yield "a"
            yield 5
            yield from iter(lambda: "more", None)
        finally:
            closed.append(True)

    with pytest.raises(
        InputTypeError, match="item 1 of the iterator must be str or bytes, not int"
    ):
        train(texts())
    assert closed == [True]


def test_many_tiny_items_and_a_long_one() -> None:
    def numbers() -> Iterator[str]:
        for number in range(300_000):
            yield str(number % 100)

    trained = train(numbers(), vocab_size=346, allow_fewer=False)
    assert trained.training is not None
    assert trained.training.text_bytes == 3000 * 190
    long = "中文 text, and more. " * 400_000
    counted: list[int] = []
    trained = train(iter([long, "x"]), on_bytes=counted.append)
    assert trained.training is not None
    assert trained.training.text_bytes == len(long.encode()) + 1 == counted[-1]
    assert trained == train(iter(["中文 text, and more. " * 400, "x"]))


def test_the_iterator_goes_on_while_texts_are_counted() -> None:
    """No more than a few batches wait, however fast the texts come.

    What is counted between two reports stands between, too; a pattern that takes its time keeps
    that little.
    """
    text, counted = "some words " * 100_000, [0]

    def texts() -> Iterator[str]:
        for number in range(60):
            assert number * len(text) - counted[-1] < 40 << 20
            yield text

    train(texts(), pretokenizer=r"(?:(?!  )\S)+|\s+", on_bytes=counted.append)
    assert counted[-1] == 60 * len(text)
    assert counted == sorted(counted)


def test_progress_is_in_bytes_of_the_files(tmp_path: Path) -> None:
    files = [write_lines(tmp_path / name, TEXTS * 100) for name in ("a.jsonl", "b.jsonl.gz")]
    (tmp_path / "c.txt").write_text("text " * 1000)
    from lmfast.sources import bytes_on_disk

    total = sum(file.stat().st_size for file in [*files, tmp_path / "c.txt"])
    assert bytes_on_disk([tmp_path]) == bytes_on_disk([str(tmp_path / "*")]) == total
    assert bytes_on_disk([tmp_path / "missing"]) is None
    counted: list[int] = []
    train(tmp_path, on_bytes=counted.append)
    assert counted[-1] == total


def test_shards_do_not_depend_on_threads_or_on_where_blocks_end(tmp_path: Path) -> None:
    """Documents cut at line ends too, longer than what is read at once."""
    text = "".join(f"line {number} " + "ab " * (number * 97 % 2500) + "\n" for number in range(500))
    plain, compressed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_text(text)
    compressed.write_bytes(gzip.compress(text.encode(), 1))
    lines = write_lines(tmp_path / "a.jsonl", [text])
    trained = train(iter([text[:10_000]]))
    for limit in (None, 3_000, 1_200_000):
        made = []
        for number, (source, threads) in enumerate(
            [(plain, 1), (plain, 3), (compressed, 2), (lines, 2), (iter([text]), 2)]
        ):
            out = tmp_path / f"{limit}-{number}"
            prepare(source, trained, out, max_document_bytes=limit, threads=threads)
            made.append({path.name: path.read_bytes() for path in out.iterdir()})
        assert all(other == made[0] for other in made)
        longest = max(
            TokenShards.open(out).document_starts[1:] - TokenShards.open(out).document_starts[:-1]
        )
        assert limit is None or longest <= limit + 1
