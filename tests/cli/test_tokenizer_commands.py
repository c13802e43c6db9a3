import json

import pytest

from lmfast import Tokenizer
from lmfast.corpus import TokenShards

TEXT = "".join(f"the cat {n} sat on the mat\n<|endoftext|>" for n in range(40))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def trained(lmfast, corpus, tmp_path):
    out = str(tmp_path / "tokenizer.json")
    code, _, stderr = lmfast("tokenizer", "train", corpus, "--vocab-size", "280", "--out", out)
    assert code == 0, stderr
    assert "280 tokens from" in stderr
    return out


def test_a_corpus_goes_to_shards_and_back(lmfast, trained, corpus, tmp_path):
    out = str(tmp_path / "shards")
    code, stdout, stderr = lmfast(
        *("tokenizer", "encode", trained, corpus, "--out", out, "--held-out-one-in", "4", "--json")
    )
    assert code == 0, stderr
    folders = json.loads(stdout)["folders"]
    assert sum(folder["documents"] for folder in folders) == 40
    assert sum(folder["bytes"] for folder in folders) == len(TEXT) - 40 * len("<|endoftext|>")
    TokenShards.open(f"{out}/held_out", verify=True)

    code, stdout, _ = lmfast("tokenizer", "decode", trained, "--shards", f"{out}/train")
    assert (code, stdout) == (0, "the cat 0 sat on the mat\n<|endoftext|>")


def test_one_training_tells_of_every_smaller_vocabulary(lmfast, tmp_path):
    text = " ".join(str(n * n) for n in range(5000))
    corpus, sweep = tmp_path / "numbers.txt", tmp_path / "sweep.json"
    corpus.write_text(text)
    sizes = {}
    for size in (512, 1024):
        out = str(tmp_path / f"{size}.json")
        arguments = ("tokenizer", "train", str(corpus), "--vocab-size", str(size), "--out", out)
        code, stdout, stderr = lmfast(*arguments, "--json")
        assert code == 0, stderr
        sizes[size] = len(text) / len(Tokenizer.load(out).encode(text))
    sweep.write_text(stdout)
    rows = {row["vocab_size"]: row["bytes_per_token"] for row in json.loads(stdout)["rows"]}
    assert rows == pytest.approx(sizes)
    code, stdout, _ = lmfast("account", "vocab", str(sweep), "--model", "gpt2-small", "--json")
    assert code == 0
    assert [row["vocab_size"] for row in json.loads(stdout)["rows"]] == [512, 1024]


def test_giant_tokens_are_told(lmfast, tmp_path):
    corpus, out = tmp_path / "corpus.txt", str(tmp_path / "tokenizer.json")
    corpus.write_text("a" * 2048)
    arguments = ("tokenizer", "train", str(corpus), "--vocab-size", "267", "--out", out)
    code, _, stderr = lmfast(*arguments)
    assert (code, "longest token has 1,024 bytes; --max-token-bytes" in stderr) == (0, True)
    code, _, stderr = lmfast(*arguments, "--max-token-bytes", "512", "--allow-fewer")
    assert (code, "longest" in stderr) == (0, False)


def test_text_goes_to_ids_and_back(lmfast, trained):
    code, stdout, _ = lmfast("tokenizer", "encode", trained, "--text", "the mat <|end")
    assert code == 0
    ids = [int(word) for word in stdout.split()]
    assert ids == Tokenizer.load(trained).encode("the mat <|end")
    code, stdout, _ = lmfast("tokenizer", "decode", trained, *map(str, ids))
    assert (code, stdout) == (0, "the mat <|end")


def test_special_tokens_in_a_text_are_refused_unless_allowed(lmfast, trained):
    code, stdout, stderr = lmfast("tokenizer", "encode", trained, "--text", "a<|endoftext|>")
    assert (code, stdout) == (2, "")
    assert "at byte 1" in stderr
    assert "--allow-special" in stderr
    assert "allowed_special" not in stderr
    arguments = ("tokenizer", "encode", trained, "--text", "<|endoftext|>")
    code, stdout, _ = lmfast(*arguments, "--allow-special", "--json")
    assert json.loads(stdout) == {"ids": [279]}


def test_inspect_shows_what_is_inside(lmfast, trained):
    arguments = ("tokenizer", "inspect", trained, "--text", "[the] mat")
    code, stdout, _ = lmfast(*arguments, "--json")
    assert code == 0
    facts = json.loads(stdout)
    assert facts["n_vocab"] == 280
    assert facts["identity"] == Tokenizer.load(trained).identity
    assert "".join(token["token"] for token in facts["tokens"]) == "[the] mat"
    code, stdout, _ = lmfast(*arguments)
    assert code == 0
    assert facts["identity"] in stdout.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "missing.txt"], "there is no such file"),
        (["train", "CORPUS", "--vocab-size", "200"], "257 at least"),
        (["train", "CORPUS", "--vocab-size", "90000"], "cannot fill a vocabulary"),
        (["train", "CORPUS", "--pretokenizer", "(", "--vocab-size", "280"], "cannot compile"),
        (["encode", "TOKENIZER", "CORPUS"], "needs --out"),
        (["encode", "TOKENIZER", "--out", "x"], "--out makes shards from a corpus"),
        (["encode", "missing.json", "--text", "a"], "there is no such file"),
        (["encode", "CORPUS", "--text", "a"], "none of the tokenizer files"),
        (["decode", "TOKENIZER", "280"], "vocabulary ends at 279"),
        (["decode", "TOKENIZER", "--shards", "missing"], "missing"),
        (["inspect", "TOKENIZER", "--pretokenizer", "gpt2"], "holds its own pretokenizer"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    lmfast, trained, corpus, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    named = {"CORPUS": corpus, "TOKENIZER": trained}
    code, stdout, stderr = lmfast("tokenizer", *(named.get(word, word) for word in arguments))
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: ")
    assert stderr.count("\n") == 1
    assert message in stderr


def test_invalid_utf8_is_named_by_file_and_byte(lmfast, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"good\xff")
    code, _, stderr = lmfast("tokenizer", "train", str(path), "--vocab-size", "300")
    assert code == 2
    assert f"{path} is not UTF-8: invalid at byte 4" in stderr


def test_a_text_in_the_place_of_a_file(lmfast, trained, corpus):
    code, stdout, stderr = lmfast("tokenizer", "encode", trained, "Call me")
    assert (code, stdout) == (2, "")
    assert "Call me" in stderr
    assert "--text" in stderr
    assert "--out" not in stderr
    _, _, stderr = lmfast("tokenizer", "encode", trained, corpus)
    assert f"encoding {corpus} needs --out" in stderr


def test_errors_name_options(lmfast, trained, corpus, tmp_path):
    ranks = str(tmp_path / "ranks.tiktoken")
    Tokenizer.load(trained).save(ranks, "tiktoken")
    _, _, stderr = lmfast("tokenizer", "train", corpus, "--out", str(tmp_path / "x.json"))
    assert "(--allow-fewer)" in stderr
    assert "allow_fewer" not in stderr
    _, _, stderr = lmfast("tokenizer", "inspect", ranks)
    assert "pass --pretokenizer NAME, of gpt2, cl100k" in stderr
