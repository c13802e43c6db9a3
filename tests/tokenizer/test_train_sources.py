"""Where text for training comes from, and what of it is used."""

import gzip
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, random_words

import lmfast
from lmfast.errors import CorpusError, VocabularyError

PARTS = [MULTILINGUAL, random_words(2, "abcde", words=400), "a\r\nb\0c", "", " end"]


def train(sources: object, **options: object) -> lmfast.Tokenizer:
    settings = {"vocab_size": 500, **options}
    return lmfast.train_bpe(sources, **settings)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deeper").mkdir(parents=True)
    for number, part in enumerate(PARTS):
        place = folder / "deeper" if number % 2 else folder
        (place / f"part-{number}.txt").write_bytes(part.encode())
    return folder


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_files_folders_and_iterators_give_one_vocabulary(folder: Path, threads: int) -> None:
    expected = train(iter(PARTS), threads=1)
    assert train(folder, threads=threads) == expected
    assert train(str(folder), threads=threads) == expected
    assert train([str(path) for path in reversed(files_of(folder))], threads=threads) == expected
    assert train(iter(PARTS), threads=threads) == expected
    one = folder.parent / "one.txt"
    one.write_bytes(END_OF_TEXT.join(PARTS).encode())
    assert train(one, threads=threads) == expected
    assert train([folder, one]) == train(iter([*PARTS, *PARTS]))


def test_hidden_files_are_not_read(folder: Path) -> None:
    expected = train(folder)
    (folder / ".hidden").write_bytes(b"\xff")
    (folder / ".git").mkdir()
    (folder / ".git" / "object").write_bytes(b"\xff")
    assert train(folder) == expected


def test_a_link_to_the_folder_itself_does_no_harm(folder: Path) -> None:
    expected = train(folder)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    assert train(folder) == expected


def test_gzip_is_read_as_what_it_holds(folder: Path) -> None:
    expected = train(folder)
    for path in files_of(folder):
        # Two members, as `cat a.gz b.gz` makes them.
        data = path.read_bytes()
        middle = len(data) // 2
        packed = gzip.compress(data[:middle]) + gzip.compress(data[middle:])
        path.with_suffix(".txt.gz").write_bytes(packed)
        path.unlink()
    assert train(folder) == expected


@pytest.mark.skipif(shutil.which("zstd") is None, reason="nothing here can write zstd")
def test_zstandard_is_read_as_what_it_holds(folder: Path) -> None:
    expected = train(folder)
    for path in files_of(folder):
        subprocess.run(["zstd", "-q", "--rm", str(path)], check=True)
    assert train(folder) == expected


# `printf abcabcabc | zstd`, so that the format is tested where the program is not there.
ZSTANDARD = bytes.fromhex("28b52ffd0009490000616263616263616263")


def test_a_zstandard_frame_is_read(tmp_path: Path) -> None:
    file = tmp_path / "text.zst"
    file.write_bytes(ZSTANDARD)
    options = {"vocab_size": 258, "special_tokens": []}
    assert train(file, **options) == train(iter(["abcabcabc"]), **options)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_broken_archive_is_named(tmp_path: Path, suffix: str) -> None:
    for number, data in enumerate(
        [b"no archive at all", gzip.compress(b"text" * 99)[:20], ZSTANDARD[:12]]
    ):
        file = tmp_path / f"broken-{number}{suffix}"
        file.write_bytes(data)
        with pytest.raises(lmfast.errors.LmfastError, match=f"broken-{number}") as refused:
            train(file)
        assert isinstance(refused.value, OSError)


def test_special_tokens_are_cut_out_and_never_learnt(tmp_path: Path) -> None:
    special = ["<|endoftext|>", "<|end", "Ω"]
    text = "ab<|endoftext|>ab<|endoftext|>cd<|endΩab<|end" * 30
    file = tmp_path / "text"
    file.write_text(text, encoding="utf-8")
    for source in (file, iter([text])):
        trained = train(source, special_tokens=special, vocab_size=256 + 3 + 2)
        assert trained.merges == [(b"a", b"b"), (b"c", b"d")]
        assert trained.special_tokens == {"<|endoftext|>": 258, "<|end": 259, "Ω": 260}
        with pytest.raises(VocabularyError, match="after 2 merges"):
            train(iter([text]), special_tokens=special, vocab_size=256 + 3 + 3)


def test_nothing_merges_across_a_special_token_or_the_end_of_a_document() -> None:
    options = {"pretokenizer": None, "special_tokens": ["||"], "allow_fewer": True}
    for texts in (["ab||ab||ba"], ["ab", "ab", "ba"], ["||ab||||ab||", "ba"]):
        assert train(iter(texts), **options).merges == [(b"a", b"b"), (b"b", b"a")]


def test_an_iterator_is_read_as_it_goes() -> None:
    """Many texts, more characters than one batch holds; the generator is used up, not kept."""
    text = random_words(3, "abcdefgh", words=20_000)
    times = 1 + (1 << 23) // len(text)
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for _ in range(times):
            read += 1
            yield text

    trained = train(texts())
    assert read == times
    assert trained == train(iter([text]))


def test_counts_of_progress(folder: Path) -> None:
    counted: list[int] = []
    merged: list[int] = []
    train(folder, on_bytes=counted.append, on_merges=merged.append)
    assert counted[-1] == sum(path.stat().st_size for path in files_of(folder))
    assert merged[-1] == 500 - 257
    assert counted == sorted(counted)
    assert merged == sorted(merged)


def test_limits_are_inclusive() -> None:
    text = "abcdefgh " * 9
    for limit in (1, 2, 4, 5, 8, 9):
        trained = train(iter([text]), max_token_bytes=limit, allow_fewer=True)
        assert max(map(len, trained.mergeable_ranks)) == limit
    text = "ab ab ab cd cd"
    for min_frequency, merges in [(0, 2), (1, 2), (2, 2), (3, 1), (4, 0)]:
        trained = train(
            iter([text]), pretokenizer=r"\w+", min_frequency=min_frequency, allow_fewer=True
        )
        assert len(trained.merges) == merges


def test_a_corpus_that_cannot_fill_the_vocabulary() -> None:
    with pytest.raises(VocabularyError, match=r"after 2 merges .* 259 tokens"):
        train(iter(["abc"]), vocab_size=300)
    trained = train(iter(["abc"]), vocab_size=300, allow_fewer=True)
    assert trained.n_vocab == 259
    assert trained.special_tokens == {END_OF_TEXT: 258}
    assert train(iter(["abc"]), vocab_size=259) == trained


@pytest.mark.parametrize("texts", [[], [""], [END_OF_TEXT], ["", END_OF_TEXT * 3]])
def test_an_empty_corpus_is_refused(texts: list[str], tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="empty"):
        train(iter(texts), allow_fewer=True)
    files = [tmp_path / str(number) for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    with pytest.raises(CorpusError, match="empty"):
        train(files)
