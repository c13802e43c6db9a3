"""The commands that look into a tokenizer and its training."""

import json

import pytest

import lmfast as library

TEXT = "".join(f"the cat {n} sat on the mat with {n * n} cats\n<|endoftext|>" for n in range(80))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def trained(corpus, tmp_path):
    path = tmp_path / "tokenizer.json"
    library.train_bpe(corpus, vocab_size=300).save(path)
    return str(path)


def test_steps_are_drawn_and_told(lmfast, trained):
    arguments = ("tokenizer", "steps", trained, "the [cat]")
    code, stdout, _ = lmfast(*arguments)
    assert code == 0
    assert stdout.startswith("t|h|e   bytes\n")
    assert "·|[" in stdout
    code, stdout, _ = lmfast(*arguments, "--json")
    told = json.loads(stdout)
    tokenizer = library.Tokenizer.load(trained)
    assert told["ids"] == tokenizer.encode_ordinary("the [cat]")
    assert told == tokenizer.steps("the [cat]").to_dict()


def test_a_training_leaves_its_trace(lmfast, corpus, tmp_path):
    trace = tmp_path / "merges.jsonl"
    out = str(tmp_path / "tokenizer.json")
    arguments = ("tokenizer", "train", str(corpus), "--vocab-size", "300", "--out", out)
    code, _, stderr = lmfast(*arguments, "--trace", str(trace))
    assert code == 0, stderr
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    assert len(rows) == 300 - 257
    assert rows[-1]["vocab_size"] == 300
    assert f"{rows[-1]['bytes_per_token']:.2f} bytes per token" in stderr
    code, _, stderr = lmfast(*arguments, "--trace", str(tmp_path / "merges.txt"))
    assert code == 2
    assert "must end in .jsonl" in stderr


def test_a_sweep_feeds_the_account(lmfast, corpus, tmp_path):
    other, sweep = tmp_path / "other.txt", tmp_path / "sweep.json"
    other.write_text("a cat with a mat")
    arguments = ("tokenizer", "sweep", str(corpus), "--eval", f"other={other}")
    arguments = (*arguments, "--vocab-sizes", "300,260,280")
    code, stdout, stderr = lmfast(*arguments, "--json", "--out", str(tmp_path / "largest.json"))
    assert code == 0, stderr
    sweep.write_text(stdout)
    rows = json.loads(stdout)["rows"]
    assert [row["vocab_size"] for row in rows] == [260, 280, 300]
    largest = library.Tokenizer.load(tmp_path / "largest.json")
    for row in rows:
        ids = largest.truncated_to(row["vocab_size"]).encode("a cat with a mat")
        assert row["evaluated"] == {"other": 16 / len(ids)}
    code, stdout, _ = lmfast("account", "vocab", str(sweep), "--model", "gpt2-small", "--json")
    assert code == 0
    told = [row["bytes_per_token"] for row in json.loads(stdout)["rows"]]
    assert told == [row["bytes_per_token"] for row in rows]
    code, stdout, _ = lmfast(*arguments)
    assert code == 0
    assert "other" in stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vocab-sizes", "300,many"], "with commas between"),
        (["--vocab-sizes", "200,300"], "257 to 300"),
        (["--vocab-sizes", "300", "--eval", "other"], "must be NAME=PATH"),
        (["--vocab-sizes", "300", "--eval", "other=none"], "no such file"),
        (["--vocab-sizes", "300,90000"], "cannot fill"),
    ],
)
def test_what_cannot_be_swept_is_one_line(lmfast, corpus, arguments, message):
    code, stdout, stderr = lmfast("tokenizer", "sweep", str(corpus), *arguments)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert message in stderr


def test_sizes_beyond_the_corpus_may_be_left_out(lmfast, corpus, tmp_path):
    picture = tmp_path / "sweep.svg"
    pytest.importorskip("matplotlib")
    arguments = ("tokenizer", "sweep", str(corpus), "--vocab-sizes", "300,90000", "--json")
    code, stdout, _ = lmfast(*arguments, "--allow-fewer", "--picture", str(picture))
    assert code == 0
    sizes = [row["vocab_size"] for row in json.loads(stdout)["rows"]]
    assert sizes[0] == 300
    assert sizes[1] < 90000
    assert "svg" in picture.read_text()


def test_a_report_is_told_in_tables_and_json(lmfast, trained, corpus, tmp_path):
    other = tmp_path / "other.tiktoken"
    library.Tokenizer.from_ranks({bytes([b]): b for b in range(256)}, "gpt2").save(
        other, "tiktoken"
    )
    arguments = ("tokenizer", "report", trained, str(corpus), "--against", f"{other}=gpt2")
    code, stdout, stderr = lmfast(*arguments, "--json")
    assert code == 0, stderr
    made = json.loads(stdout)
    ours, bytes_alone = made["tokenizers"]
    assert (ours["name"], bytes_alone["name"]) == (trained, str(other))
    assert bytes_alone["bytes_per_token"] == 1
    assert made["text"]["documents"] == 80
    code, stdout, _ = lmfast(*arguments)
    assert code == 0
    assert f"{ours['tokens']:,}" in stdout
    assert made["verdict"][-1] in stdout
    code, _, stderr = lmfast("tokenizer", "report", trained, str(corpus), "--against", str(other))
    assert code == 2
    assert f"--against {other}=NAME" in stderr


def test_a_vocabulary_goes_on_with_other_text(lmfast, trained, tmp_path):
    other, out, trace = tmp_path / "dogs.txt", tmp_path / "new.json", tmp_path / "merges.jsonl"
    other.write_text("a dog digs, another dog dug; dogs do " * 20)
    arguments = ("tokenizer", "extend", trained, str(other), "--out", str(out))
    code, stdout, stderr = lmfast(
        *arguments, "--vocab-size", "310", "--trace", str(trace), "--json"
    )
    assert code == 0, stderr
    told = json.loads(stdout)
    old, new = library.Tokenizer.load(trained), library.Tokenizer.load(out)
    text = other.read_text()
    assert new.special_tokens == old.special_tokens
    assert (told["vocab_size"], told["new_tokens"], new.n_vocab) == (310, 10, 310)
    assert told["bytes_per_token_before"] == len(text) / len(old.encode(text))
    assert told["bytes_per_token"] == len(text) / len(new.encode(text))
    assert [json.loads(line)["id"] for line in trace.read_text().splitlines()] == list(
        range(300, 310)
    )
    code, _, stderr = lmfast(*arguments, "--vocab-size", "310")
    assert code == 0
    assert "300 tokens and 10 new ones" in stderr
    code, _, stderr = lmfast(*arguments, "--vocab-size", "299")
    assert code == 2
    assert "at least" in stderr


def test_a_sweep_by_default_ends_where_the_corpus_does(lmfast, tmp_path):
    corpus = tmp_path / "numbers.txt"
    corpus.write_text(" ".join(str(n * n) for n in range(2000)))
    code, stdout, stderr = lmfast("tokenizer", "sweep", str(corpus), "--json")
    assert code == 0, stderr
    rows = json.loads(stdout)["rows"]
    most = library.train_bpe(corpus, vocab_size=9000, allow_fewer=True).n_vocab
    assert [row["vocab_size"] for row in rows] == [1000, 2000, most]
    assert stderr == f"the corpus fills a vocabulary of {most:,} and none that is larger\n"


def test_a_text_is_shown_by_tokens_a_line_each(lmfast, trained):
    text = "the [cat] é\n"
    code, stdout, _ = lmfast("tokenizer", "inspect", trained, "--text", text)
    assert code == 0
    shown = [line.split(maxsplit=2) for line in stdout[stdout.index("token\n") :].splitlines()[1:]]
    tokenizer = library.Tokenizer.load(trained)
    assert [int(token_id) for token_id, *_ in shown] == tokenizer.encode(text)
    places = [[int(place) for place in span.split("-")] for _, span, _ in shown]
    pieces = [text.encode()[start:end] for start, end in places]
    assert pieces == [tokenizer.token_bytes(token_id) for token_id in tokenizer.encode(text)]
    assert (shown[2][2], shown[-1][2]) == ("[", "\\x0a")
    assert shown[1][2] == "·"
