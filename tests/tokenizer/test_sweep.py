"""A sweep: one training tells what each size would have given, on any corpus."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_train_rule import SPECIAL, TIE_BREAKS, documents
from tokenizer_texts import MULTILINGUAL, any_text

import lmfast
from lmfast.errors import ConfigError, CorpusError, MissingFileError, VocabularyError
from lmfast.sweep import sweep_sizes
from lmfast.usage import count_usage, merges_applied

LEAST = 256 + len(SPECIAL)


@settings(max_examples=40, deadline=None)
@given(
    texts=documents,
    # A special token ends a document, and is no text.
    other=any_text().filter(lambda text: text and not any(token in text for token in SPECIAL)),
    pretokenizer=st.sampled_from(["gpt2", "cl100k", None]),
    tie_break=st.sampled_from(TIE_BREAKS),
)
def test_each_size_is_as_if_trained_and_encoded(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    other: str,
    pretokenizer: str | None,
    tie_break: str,
) -> None:
    try:
        tokenizer = lmfast.train_bpe(
            iter(texts),
            vocab_size=LEAST + 40,
            pretokenizer=pretokenizer,
            special_tokens=SPECIAL,
            tie_break=tie_break,  # type: ignore[arg-type]
            allow_fewer=True,
        )
    except CorpusError:
        return  # nothing but special tokens
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "same").mkdir()
    for number, text in enumerate(texts):
        (folder / "same" / f"{number}.txt").write_text(text, encoding="utf-8", newline="")
    (folder / "other.txt").write_text(other, encoding="utf-8", newline="")
    sizes = range(LEAST, tokenizer.n_vocab + 1)
    sweep = sweep_sizes(
        tokenizer, sizes, evaluate={"same": folder / "same", "other": [folder / "other.txt"]}
    )
    assert [row.vocab_size for row in sweep.rows] == list(sizes)
    for row in sweep.rows:
        smaller = tokenizer.truncated_to(row.vocab_size)
        assert row.bytes_per_token == row.evaluated["same"]
        tokens = len(smaller.encode_ordinary(other))
        assert row.evaluated["other"] == len(other.encode()) / tokens
    usage = count_usage(tokenizer, [folder / "same"])
    assert usage.text_bytes == tokenizer.training.text_bytes
    assert merges_applied(tokenizer, usage).tolist() == tokenizer.training.applied


def test_a_loaded_vocabulary_tells_of_other_corpora_alone(
    gpt2: lmfast.Tokenizer, tmp_path: Path
) -> None:
    path, text = tmp_path / "tokenizer.json", tmp_path / "text"
    gpt2.save(path)
    text.write_text(MULTILINGUAL, encoding="utf-8")
    loaded = lmfast.Tokenizer.load(path)
    sweep = sweep_sizes(loaded, [1500, 300, 300], evaluate={"text": text})
    assert [(row.vocab_size, row.bytes_per_token) for row in sweep.rows] == [
        (300, None),
        (1500, None),
    ]
    assert sweep.evaluated_bytes == {"text": len(MULTILINGUAL.encode())}


def test_what_cannot_be_swept(gpt2: lmfast.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("<|endoftext|>")
    with pytest.raises(ConfigError, match="one vocabulary size"):
        sweep_sizes(gpt2, [])
    with pytest.raises(VocabularyError, match="257 to 1500"):
        sweep_sizes(gpt2, [1000, 2000])
    with pytest.raises(CorpusError, match="the corpus dev is empty"):
        sweep_sizes(gpt2, [1000], evaluate={"dev": tmp_path / "empty"})
    with pytest.raises(MissingFileError):
        sweep_sizes(gpt2, [1000], evaluate={"dev": tmp_path / "none"})
    (tmp_path / "rows.PARQUET").touch()
    with pytest.raises(CorpusError, match=r"rows\.PARQUET here: it must be text or JSON lines"):
        sweep_sizes(gpt2, [1000], evaluate={"dev": tmp_path})
