import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from lmfast.config import DataConfig, RunConfig, ScheduleConfig, from_dict, load_toml
from lmfast.corpus import Loader, TokenShards
from lmfast.errors import (
    ConfigError,
    CorpusError,
    DivergenceError,
    FileError,
    MismatchError,
    MissingFileError,
)
from lmfast.model import generate_text, load_run
from lmfast.training import Trainer, measure_step_seconds, read_metrics
from lmfast.training.evaluate import Evaluator
from tiny_runs import MODEL, SEPARATOR, write_corpus


def test_a_run_learns_and_leaves_everything_that_is_needed(make_run, byte_tokenizer):
    config = make_run(
        schedule=ScheduleConfig(steps=40, warmup_steps=4), log_every=10, save_every=15
    )
    steps, evaluations = [], []
    trainer = Trainer(config, peak_flops_per_second=1e9)
    summary = trainer.fit(on_step=steps.append, on_evaluation=evaluations.append)
    first, last = summary.first_evaluation, summary.last_evaluation
    assert first.held_out_loss == pytest.approx(math.log(257) + 0.5, abs=0.3)
    assert last.held_out_loss < first.held_out_loss - 1.5
    assert last.bits_per_byte < first.bits_per_byte - 2
    assert [record.step for record in steps] == list(range(1, 41))
    assert evaluations[0] == first
    assert evaluations[-1] == last
    assert (summary.step, summary.tokens) == (40, 40 * config.tokens_per_step)
    assert summary.loss == steps[-1].loss
    assert summary.seconds <= summary.wall_seconds
    expected = summary.tokens / summary.seconds * summary.flops_per_token / 1e9
    assert summary.mfu == pytest.approx(expected)

    out = trainer.folder.path
    assert from_dict(RunConfig, load_toml(out / "config.toml")) == config
    assert trainer.folder.checkpoints.steps() == [30, 40]
    logged = [line["step"] for line in read_metrics(out / "metrics.jsonl") if "lr" in line]
    assert logged == [1, 10, 20, 30, 40]
    model, loaded = load_run(out)
    assert loaded.identity == byte_tokenizer.identity
    assert "".join(generate_text(model, loaded, "the cat", max_tokens=20)).strip()


def test_the_first_loss_is_that_of_the_samples_it_names(make_run):
    config = make_run()
    records = []
    Trainer(config).fit(on_step=records.append)
    trainer = Trainer(config)
    loader = Loader(TokenShards.open(config.data.train), 16, config.seed)
    ids = torch.from_numpy(loader.batch(0, config.sequences_per_step))
    with torch.no_grad():
        logits = trainer.engine.model(ids[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    assert records[0].loss == pytest.approx(loss.item(), rel=1e-6)
    assert records[0].tokens == ids[:, 1:].numel()


def test_bits_per_byte_leaves_specials_out_of_nats_and_bytes(make_run, byte_tokenizer):
    config = make_run(eval_batches=100)
    trainer = Trainer(config)
    model = trainer.engine.model
    # A model that is sure of the separator: one bit for it, the rest shares the other half.
    with torch.no_grad():
        model.norm.weight.zero_()
        model.norm.weight[0] = 1
        model.embedding.weight.zero_()
        model.embedding.weight[:, 0] = 1
        for block in model.blocks:
            block.attention.output.weight.zero_()
            block.feed_forward.down.weight.zero_()
        stream = model.config.d_model**0.5  # the only feature, after the norm
        model.head.weight.zero_()
        model.head.weight[SEPARATOR, 0] = math.log(256) / stream
    found = trainer.evaluator.run(0, 0)
    assert found.bits_per_byte == pytest.approx(9.0, rel=1e-4)  # 1 / 512 for each byte
    shards = TokenShards.open(config.data.held_out)
    loader = Loader(shards, 16, seed=0)
    targets = loader.batch(0, loader.windows)[:, 1:]
    nats = np.where(targets == SEPARATOR, math.log(2), math.log(512)).mean()
    assert found.held_out_loss == pytest.approx(nats, rel=1e-4)
    assert found.scored_tokens == targets.size
    only_specials = Evaluator(shards, np.zeros(257, dtype=np.int64), trainer.engine)
    assert only_specials.run(0, 0).bits_per_byte is None


def test_a_callback_can_stop_the_run_and_resume_goes_on(make_run):
    config = make_run(save_every=100, eval_every=100)
    trainer = Trainer(config)
    summary = trainer.fit(on_step=lambda record: trainer.stop() if record.step == 3 else None)
    assert (summary.step, summary.last_evaluation.step) == (3, 3)
    assert trainer.folder.checkpoints.steps() == [3]
    load_run(config.out)
    assert Trainer(config).fit(resume=True).step == 6


def test_a_run_without_held_out_shards_does_not_evaluate(make_run):
    config = make_run()
    summary = Trainer(replace(config, data=DataConfig(train=config.data.train))).fit()
    assert summary.first_evaluation is None
    assert summary.last_evaluation is None


def test_a_folder_with_a_run_in_it_is_left_alone(make_run):
    config = make_run()
    Trainer(config).fit()
    before = read_metrics(f"{config.out}/metrics.jsonl")
    with pytest.raises(ConfigError, match="holds a checkpoint of step 6"):
        Trainer(config).fit()
    summary = Trainer(config).fit(resume=True)
    assert (summary.step, summary.loss, summary.tokens_per_second) == (6, None, None)
    assert read_metrics(f"{config.out}/metrics.jsonl") == before
    shutil.rmtree(f"{config.out}/checkpoints")
    for resume in (False, True):
        with pytest.raises(ConfigError, match="no checkpoint to resume from"):
            Trainer(config).fit(resume=resume)


def test_two_runs_in_one_folder_exclude_each_other(make_run):
    config = make_run()
    refused = []

    def start_another(record):
        with pytest.raises(FileError, match="another run is writing to it"):
            Trainer(config).fit(resume=True)
        refused.append(record.step)

    Trainer(config).fit(on_step=start_another)
    assert refused == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("eval_every", "match"),
    [(9, r"step 4: the loss is nan.* samples 24\.\.31"), (3, "step 3: the held-out loss is nan")],
)
def test_a_loss_that_is_no_number_names_step_and_samples(make_run, eval_every, match):
    config = make_run(eval_every=eval_every)
    trainer = Trainer(config)

    def spoil(record):
        if record.step == 3:
            with torch.no_grad():
                trainer.engine.model.head.weight[0, 0] = math.nan

    with pytest.raises(DivergenceError, match=match) as caught:
        trainer.fit(on_step=spoil)
    assert isinstance(caught.value, FloatingPointError)
    assert trainer.folder.checkpoints.steps() == [2]


def test_what_does_not_belong_together_is_refused(make_run, tmp_path, byte_tokenizer):
    config = make_run()
    with pytest.raises(MismatchError, match=r"257 ids, model\.vocab_size is 256"):
        Trainer(replace(config, model=replace(MODEL, vocab_size=256)))
    other = write_corpus(tmp_path / "other", byte_tokenizer, seed=3)
    manifest = other / "manifest.json"
    manifest.write_text(manifest.read_text().replace(byte_tokenizer.identity, "0" * 64))
    for data in (
        DataConfig(train=str(other)),
        DataConfig(train=config.data.train, held_out=str(other)),
    ):
        with pytest.raises(MismatchError, match="written by tokenizer 000000000000"):
            Trainer(replace(config, data=data))
    with pytest.raises(CorpusError, match="context_length"):
        Trainer(replace(config, model=replace(MODEL, context_length=10**6)))
    (other / "tokenizer.json").unlink()
    with pytest.raises(MissingFileError):
        Trainer(replace(config, data=DataConfig(train=str(other))))


def test_a_run_folder_that_cannot_be_made(make_run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot make the run folder"):
        Trainer(make_run(out=str(tmp_path / "file" / "run"))).fit()


def test_timing_a_step_needs_no_corpus_and_writes_nothing(make_run, tmp_path):
    config = make_run(data=DataConfig(train="nowhere"), out=str(tmp_path / "untouched"))
    assert 0 < measure_step_seconds(config) < 10
    assert not (tmp_path / "untouched").exists()
