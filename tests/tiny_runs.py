"""A corpus with something to learn, and a run that takes a second."""

import random
from dataclasses import replace
from pathlib import Path

from lmfast.config import DataConfig, ModelConfig, OptimizerConfig, RunConfig, ScheduleConfig
from lmfast.tokenizer import END_OF_TEXT, Tokenizer
from shard_writer import write_shards

MODEL = ModelConfig(
    vocab_size=257, context_length=16, d_model=16, n_layer=2, n_head=2, n_kv_head=1, d_ff=32
)
SEPARATOR = 256


def make_byte_tokenizer() -> Tokenizer:
    """Bytes and one special token, nothing merged: what it says of a text is easy to see."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    return Tokenizer.from_ranks(ranks, "none", {END_OF_TEXT: SEPARATOR})


def write_corpus(folder: Path, tokenizer: Tokenizer, seed: int, documents: int = 40) -> Path:
    """Sentences of a few words, as ids of ``tokenizer``, with it beside them."""
    choose = random.Random(seed)
    words = ["the ", "cat ", "sat ", "on ", "a ", "mat. "]
    texts = ["".join(choose.choices(words, k=choose.randint(3, 20))) for _ in range(documents)]
    ids = [[*tokenizer.encode_ordinary(text), SEPARATOR] for text in texts]
    write_shards(folder, ids, vocab_size=257, identity=tokenizer.identity)
    tokenizer.save(folder / "tokenizer.json")
    return folder


def tiny_run(folder: Path, tokenizer: Tokenizer, **changes: object) -> RunConfig:
    """Settings of a run over a new corpus below ``folder``, if there is none yet."""
    for name, seed in (("train", 1), ("held-out", 2)):
        if not (folder / name).exists():
            write_corpus(folder / name, tokenizer, seed)
    config = RunConfig(
        model=MODEL,
        data=DataConfig(train=str(folder / "train"), held_out=str(folder / "held-out")),
        schedule=ScheduleConfig(steps=6, warmup_steps=2),
        optimizer=OptimizerConfig(peak_lr=1e-2),
        out=str(folder / "run"),
        micro_batch_size=4,
        grad_accum_steps=2,
        precision="fp32",
        device="cpu",
        log_every=2,
        eval_every=3,
        eval_batches=3,
        save_every=2,
    )
    return replace(config, **changes)
