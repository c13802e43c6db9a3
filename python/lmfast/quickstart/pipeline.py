"""Text to a trained model in about two minutes, stage by stage."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from lmfast._lmfast import __version__
from lmfast.accounting import measure_matmul_ceiling
from lmfast.bpe import train_bpe
from lmfast.config import RunConfig
from lmfast.config.checks import require, require_text
from lmfast.corpus import PreparedCorpus, prepare
from lmfast.files import write_whole
from lmfast.model import generate_text
from lmfast.progress import bytes_bar, count_bar
from lmfast.quickstart import folder
from lmfast.quickstart.comparisons import Measured, compare_corpus, compare_run
from lmfast.quickstart.measure import count_step_flops
from lmfast.quickstart.picture import draw_loss
from lmfast.quickstart.plan import VOCAB_SIZE, Budget, choose_model, plan_run, with_steps
from lmfast.quickstart.report import Report
from lmfast.quickstart.sources import Sources, from_paths, standard_library
from lmfast.tokenizer import END_OF_TEXT, Tokenizer
from lmfast.trace import TrainingRecord
from lmfast.training import StepRecord, Trainer, measure_memory, measure_step_seconds, read_metrics
from lmfast.training.device import resolve_device, resolve_precision
from lmfast.training.progress import ConsoleProgress

PRETOKENIZER = "cl100k"
HELD_OUT_ONE_IN = 20
STAGES = 6
SAMPLE_TOKENS = 120
LONGEST = 366 * 86_400
PATIENCE = 1.5
"""A run that takes this many times its budget, as on a busy machine, is ended early."""


def quickstart(
    corpus: Sequence[str | Path] = (),
    out: str | Path = "runs/quickstart",
    *,
    seconds: float = 60.0,
    console: Console | None = None,
) -> Report:
    """Train a tokenizer and a small model on a corpus, and compare predictions with measurements.

    ``out`` becomes a run folder (``lmfast generate`` works on it) with the shards, the report as
    ``report.json`` and ``report.txt``, the loss curve and a sample. Each call starts over.

    Args:
        corpus: Text files or folders; without any, the sources of Python's standard library.
        out: The folder to fill. An earlier quickstart there is cleared.
        seconds: How long to train the model, about; everything else takes less than a minute.
        console: Where progress goes; default: stderr.

    Raises:
        ConfigError: ``out`` holds something that no quickstart made, or ``seconds`` is no time.
        MissingFileError, CorpusError: The corpus cannot be used.
        FileError: ``out`` cannot be written, or another quickstart is at work there.
    """
    accepted = "it must be above 0 and at most a year"
    require(0 < seconds <= LONGEST, "seconds", seconds, accepted)
    require_text("out", str(out))
    path = Path(out)
    # Before the folder is cleared: a name mistyped must not cost the last quickstart.
    sources = from_paths(corpus) if corpus else standard_library()
    with folder.owned(path):
        report = _Pipeline(path, seconds, console or Console(stderr=True)).run(sources)
        write_whole(path / folder.SAMPLE, report.sample.encode())
        write_whole(path / folder.REPORT_TEXT, report.to_text().encode(errors="backslashreplace"))
        write_whole(path / folder.REPORT, json.dumps(report.to_dict(), indent=1).encode() + b"\n")
    return report


@dataclass
class _Pipeline:
    """One quickstart: where it writes, how long it may take, and how far it has come."""

    out: Path
    seconds: float
    console: Console
    stage: int = 0

    def run(self, sources: Sources) -> Report:
        begin = time.perf_counter()
        self._begin("find the corpus")
        self._say(f"{sources.description}, {sources.bytes / 1e6:.1f} MB")
        tokenizer, record = self._train_vocabulary(sources)
        prepared = self._encode(sources, tokenizer)
        config, budget, trial = self._plan(tokenizer)
        trainer, measured = self._train(config, budget, trial)
        self._begin("write a sample and the report")
        draw_loss(read_metrics(self.out / "metrics.jsonl"), self.out / folder.PICTURE)
        sample = "".join(
            generate_text(
                trainer.engine.model,
                tokenizer,
                max_tokens=SAMPLE_TOKENS,
                temperature=0.8,
                top_p=0.95,
            )
        )
        return Report(
            out=str(self.out),
            facts=self._facts(sources, tokenizer, config, measured, begin),
            comparisons=(
                *compare_corpus(record, prepared),
                *compare_run(config, measured),
            ),
            sample=sample,
            notes=_notes(sources, tokenizer, record, config, measured),
        )

    def _train_vocabulary(self, sources: Sources) -> tuple[Tokenizer, TrainingRecord]:
        self._begin(f"train a vocabulary of {VOCAB_SIZE:,}")
        begin = time.perf_counter()
        with (
            bytes_bar("counting", sources.bytes) as on_bytes,
            count_bar("merging", VOCAB_SIZE - 257) as on_merges,
        ):
            tokenizer = train_bpe(
                sources.paths,
                vocab_size=VOCAB_SIZE,
                pretokenizer=PRETOKENIZER,
                allow_fewer=True,
                on_bytes=on_bytes,
                on_merges=on_merges,
            )
        seconds = time.perf_counter() - begin
        record = tokenizer.training
        assert record is not None
        self._say(f"{len(record.applied):,} merges in {seconds:.1f} s")
        return tokenizer, record

    def _encode(self, sources: Sources, tokenizer: Tokenizer) -> PreparedCorpus:
        self._begin("encode the corpus to shards")
        begin = time.perf_counter()
        with bytes_bar("encoding", sources.bytes) as on_bytes:
            prepared = prepare(
                sources.paths,
                tokenizer,
                self.out / folder.DATA,
                held_out_one_in=HELD_OUT_ONE_IN,
                max_document_bytes=sources.max_document_bytes,
                on_bytes=on_bytes,
            )
        seconds = time.perf_counter() - begin
        assert prepared.held_out is not None
        kept, total = prepared.held_out.documents, prepared.train.documents
        self._say(
            f"{prepared.train.tokens:,} tokens in {seconds:.1f} s; "
            f"{kept:,} of {kept + total:,} documents held out"
        )
        return prepared

    def _plan(self, tokenizer: Tokenizer) -> tuple[RunConfig, Budget, float]:
        """The run, the budget it was chosen for, and the seconds of a trial step."""
        self._begin("measure this machine and choose a model")
        device = resolve_device("auto")
        precision = resolve_precision("auto", device)
        ceiling = measure_matmul_ceiling(device.type, precision)
        budget = Budget(seconds=self.seconds, peak_flops=ceiling.known())
        model = choose_model(tokenizer.n_vocab, budget)
        config = plan_run(model, self.out / folder.DATA, self.out, device.type == "cuda")
        trial = measure_step_seconds(config)
        config = with_steps(config, round(self.seconds / trial))
        self._say(
            f"{device.type}, {precision}: matmul ceiling {ceiling.known() / 1e9:,.0f} GFLOP/s; "
            f"d_model {model.d_model}, {model.n_layer} layers, {config.schedule.steps} steps"
        )
        return config, budget, trial

    def _train(self, config: RunConfig, budget: Budget, trial: float) -> tuple[Trainer, Measured]:
        self._begin(f"train the model for about {self.seconds:.0f} s")
        trainer = Trainer(config, peak_flops_per_second=budget.peak_flops)
        spent = 0.0
        with ConsoleProgress(config, self.console) as progress:

            def on_step(record: StepRecord) -> None:
                nonlocal spent
                progress.on_step(record)
                spent += record.seconds
                if spent > PATIENCE * self.seconds:
                    trainer.stop()

            summary = trainer.fit(on_step=on_step, on_evaluation=progress.on_evaluation)
        return trainer, Measured(
            summary=summary,
            memory=measure_memory(trainer.engine),
            step_flops=count_step_flops(trainer.engine),
            step_seconds_before=trial,
            peak_flops=budget.peak_flops,
        )

    def _facts(
        self,
        sources: Sources,
        tokenizer: Tokenizer,
        config: RunConfig,
        measured: Measured,
        begin: float,
    ) -> dict[str, object]:
        model = config.model
        return {
            "corpus": sources.description,
            "corpus_bytes": sources.bytes,
            "files_left_out": len(sources.left_out),
            "vocab_size": tokenizer.n_vocab,
            "pretokenizer": PRETOKENIZER,
            "tokenizer_identity": tokenizer.identity,
            "d_model": model.d_model,
            "n_layer": model.n_layer,
            "n_head": model.n_head,
            "context_length": model.context_length,
            "steps": measured.summary.step,
            "tokens_per_step": config.tokens_per_step,
            "device": measured.summary.device,
            "precision": measured.summary.precision,
            "threads": torch.get_num_threads(),
            "training_seconds": round(measured.summary.seconds, 3),
            "total_seconds": round(time.perf_counter() - begin, 3),
            "lmfast": __version__,
            "torch": torch.__version__,
        }

    def _begin(self, what: str) -> None:
        self.stage += 1
        self.console.print(f"[bold][{self.stage}/{STAGES}][/] {what}", highlight=False)

    def _say(self, text: str) -> None:
        self.console.print(f"      {text}", highlight=False, markup=False, soft_wrap=True)


def _notes(
    sources: Sources,
    tokenizer: Tokenizer,
    record: TrainingRecord,
    config: RunConfig,
    measured: Measured,
) -> tuple[str, ...]:
    notes = [
        f"documents end at {END_OF_TEXT}, at the end of a file, "
        f"and at the line end that keeps them below {sources.max_document_bytes:,} bytes"
    ]
    if sources.left_out:
        notes.append(f"{len(sources.left_out)} files are not UTF-8 and were left out")
    if tokenizer.n_vocab < VOCAB_SIZE:
        found = len(record.applied)
        notes.append(f"the corpus is too small for {VOCAB_SIZE:,} tokens: {found:,} merges found")
    if measured.summary.step < config.schedule.steps:
        notes.append(
            "training was slower than its trial steps, so it ended after step "
            f"{measured.summary.step} of {config.schedule.steps}"
        )
    return tuple(notes)
