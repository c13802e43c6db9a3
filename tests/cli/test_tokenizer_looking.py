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
