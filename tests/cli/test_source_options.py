"""``--text-field`` and ``--on-error``: what was left out is reported, never silently."""

import json
import re

import pytest

LINES = '{"body": "the cat sat"}\n{"body": 5}\n{"text": "x"}\n{"body": "the mat"}\n{\n'


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(LINES)
    return str(tmp_path / "*.jsonl")


def test_what_is_left_out_is_reported(lmfast, corpus, tmp_path):
    out, shards = str(tmp_path / "t.json"), str(tmp_path / "shards")
    options = ("--text-field", "body", "--on-error", "skip", "--json")
    train = ("tokenizer", "train", corpus, "--vocab-size", "260", "--out", out)
    for command in (train, ("tokenizer", "encode", out, corpus, "--out", shards)):
        code, stdout, stderr = lmfast(*command, *options)
        assert code == 0, stderr
        skipped = json.loads(stdout)["skipped"]
        assert skipped["documents"] == 3
        assert skipped["by_reason"] == {"not_json": 1, "no_field": 1, "not_string": 1}
        assert skipped["first"].startswith("line 2 of ")
        assert "left out 3 documents (1 not_json, 1 no_field, 1 not_string); the first: " in stderr


def test_nothing_left_out_is_nothing_said(lmfast, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "the cat sat"}\n')
    out = str(tmp_path / "t.json")
    arguments = ("tokenizer", "train", str(tmp_path / "a.jsonl"), "--vocab-size", "260")
    code, stdout, stderr = lmfast(*arguments, "--out", out, "--json")
    assert (code, stderr) == (0, "")
    assert json.loads(stdout)["skipped"] == {"documents": 0, "by_reason": {}, "first": None}


def test_rows_without_a_value_are_no_documents(lmfast, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    array = pa.array([None, b"the cat sat", b"\xff", None]).view(pa.string())
    pq.write_table(pa.table({"text": array}), tmp_path / "a.parquet")
    arguments = ("tokenizer", "count", str(tmp_path), "--out", str(tmp_path / "counts"))
    code, stdout, stderr = lmfast(*arguments, "--on-error", "skip", "--json")
    assert code == 0, stderr
    skipped = json.loads(stdout)["skipped"]
    assert skipped["documents"] == 1
    assert skipped["by_reason"] == {"not_utf8": 1, "null": 2}
    expected = "left out 1 documents (1 not_utf8) and 2 rows without a value; the first: row 0 of "
    assert expected in stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], 'no field "text"; there is "body"'),
        (["--text-field", "body"], 'has no string in the field "body" but a number'),
        (["--on-error", "maybe"], "'maybe' is not one of"),
    ],
)
def test_a_bad_line_is_one_line(lmfast, corpus, options, message):
    code, stdout, stderr = lmfast("tokenizer", "train", corpus, "--vocab-size", "260", *options)
    assert (code, stdout) == (2, "")
    assert message in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["train", "count"])
def test_out_is_looked_at_first(lmfast, tmp_path, command):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("hello hello hello")
    for out, message in [
        (corpus, "it is one of the files that are read"),
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "out", "there is no folder"),
    ]:
        code, _, stderr = lmfast("tokenizer", command, str(corpus), "--out", str(out))
        assert code == 2
        assert message in stderr
    assert corpus.read_text() == "hello hello hello"


def test_nothing_that_is_read_is_written(lmfast, tmp_path):
    kept = {"corpus.svg": "hello " * 9, "corpus.jsonl": '{"text": "hello hello"}\n'}
    names = [str(tmp_path / name) for name in (*kept, "t.json", "a.counts", "free.json")]
    text, lines, tokenizer, counts, free = names
    for name, content in kept.items():
        (tmp_path / name).write_text(content)
    size = ("--vocab-size", "258")
    assert lmfast("tokenizer", "train", text, *size, "--out", tokenizer)[0] == 0
    assert lmfast("tokenizer", "count", text, "--out", counts)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for command, message in [
        (("train", lines, *size, "--out", free, "--trace", lines), "files that are read"),
        (("train", text, *size, "--out", f"{free}l", "--trace", f"{free}l"), "twice"),
        (("sweep", text, "--vocab-sizes", "258", "--picture", text), "files that are read"),
        (("extend", tokenizer, text, "--vocab-size", "260", "--out", tokenizer), "that are read"),
        (("merge-counts", counts, "--out", counts), "files that are read"),
        (("convert", tokenizer, tokenizer, "--to", "tiktoken"), "files that are read"),
        (("train", "-", "-", "--out", free), "can be read once only"),
    ]:
        code, _, stderr = lmfast("tokenizer", *command)
        assert code == 2, command
        assert re.search(message, stderr), (command, stderr)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before, command


@pytest.mark.parametrize("name", ["gpt-2", "GPT2", "cl100k_base", ""])
def test_a_name_that_is_none_is_no_pattern(lmfast, tmp_path, name):
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out"
    corpus.write_text("hello hello hello")
    arguments = ("count", str(corpus), "--out", str(out), "--pretokenizer", name)
    code, _, stderr = lmfast("tokenizer", *arguments)
    assert code == 2
    assert "there is no pretokenizer" in stderr
    assert not out.exists()


@pytest.mark.parametrize("command", ["train --vocab-size 258", "count", "sweep --vocab-sizes 258"])
def test_a_default_separator_that_is_replaced_is_said(lmfast, tmp_path, command):
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.json"
    corpus.write_text("the cat<|endoftext|>the mat<|end|>")
    arguments = ("tokenizer", *command.split(), str(corpus), "--out", str(out), "--json")
    code, stdout, stderr = lmfast(*arguments, "--special", "<|end|>")
    assert (code, stderr.count("\n")) == (0, 1)
    assert json.loads(stdout)
    assert "<|endoftext|> ends no document" in stderr
    assert "--special '<|endoftext|>'" in stderr
    both = ("--special", "<|end|>", "--special", "<|endoftext|>")
    assert lmfast(*arguments, *both)[2] == lmfast(*arguments)[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "CORPUS", "--out", "x", "p.png"], "'folder/*.txt', or leave out what is not"),
        (["sweep", "p.png"], "by --on-error skip, where a command takes it"),
        (["train", "p.counts"], "which 'train --from-counts' and 'merge-counts' take"),
        (["train", "CORPUS", "--min-count", "9"], "--min-count dropped all 4 pretokens"),
        (["train", "CORPUS", "--max-token-bytes", "1"], "a token of --max-token-bytes 1 or fewer"),
    ],
)
def test_reasons_are_given_as_options(lmfast, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.png").write_bytes(b"\x89PNG")
    (tmp_path / "corpus.txt").write_text("the cat sat\n")
    assert lmfast("tokenizer", "count", "corpus.txt", "--out", "p.counts")[0] == 0
    named = ("corpus.txt" if word == "CORPUS" else word for word in arguments)
    code, stdout, stderr = lmfast("tokenizer", *named)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert message in stderr
