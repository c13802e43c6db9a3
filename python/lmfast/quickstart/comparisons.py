"""What was predicted for each stage, beside what was measured."""

import math
from dataclasses import dataclass

from lmfast.accounting import (
    bits_per_byte,
    count_flops,
    count_parameters,
    estimate_memory,
    first_loss,
    six_nd,
)
from lmfast.accounting.recipes import trainer_recipe
from lmfast.accounting.run_check import Comparison
from lmfast.config import RunConfig
from lmfast.corpus import PreparedCorpus
from lmfast.trace import TrainingRecord
from lmfast.training import MemoryMeasurement, RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the run came to."""

    summary: RunSummary
    memory: MemoryMeasurement
    step_flops: int
    step_seconds_before: float
    """Of a few trial steps, before the run."""
    peak_flops: float
    """The matmul ceiling of the device."""


def compare_corpus(record: TrainingRecord, prepared: PreparedCorpus) -> list[Comparison]:
    """Tokens and compression, from the counts of training and from the shards."""
    folders = [shards for shards in (prepared.train, prepared.held_out) if shards is not None]
    documents = sum(shards.documents for shards in folders)
    held_out = prepared.held_out or prepared.train
    return [
        Comparison(
            name="tokens",
            unit="token",
            predicted=record.tokens + documents,
            measured=sum(shards.tokens for shards in folders),
            why="bytes, less what each merge took when it was trained, plus one per document; "
            "where a long document was cut, a token may also have been cut",
        ),
        Comparison(
            name="bytes_per_token",
            unit="byte/token",
            predicted=record.text_bytes / record.tokens,
            measured=held_out.bytes / (held_out.tokens - held_out.documents),
            why="predicted: on the corpus that the vocabulary was trained on; "
            "measured: on its held-out documents",
        ),
    ]


def compare_run(config: RunConfig, measured: Measured) -> list[Comparison]:
    """Parameters, FLOPs, memory, speed and quality of the run."""
    model, summary = config.model, measured.summary
    parameters = count_parameters(model)
    exact = count_flops(model).per_token().known() * config.tokens_per_step
    return [
        Comparison(
            name="parameters",
            unit="",
            predicted=parameters.known(),
            measured=summary.parameters,
            why="every matrix and every gain of the shape",
        ),
        Comparison(
            name="flops_per_step_6nd",
            unit="FLOP",
            predicted=six_nd(parameters.known(), config.tokens_per_step).known(),
            measured=measured.step_flops,
            why="6·N·D, N all parameters: leaves out attention, counts a tied embedding once",
        ),
        Comparison(
            name="flops_per_step_exact",
            unit="FLOP",
            predicted=exact,
            measured=measured.step_flops,
            why="every matrix product, forward and twice for backward; measured: torch's counter",
        ),
        *_compare_memory(config, measured),
        *_compare_speed(config, measured, exact),
        *_compare_quality(model.vocab_size, summary),
    ]


def _compare_memory(config: RunConfig, measured: Measured) -> list[Comparison]:
    estimate = estimate_memory(
        config.model,
        config.micro_batch_size,
        recipe=trainer_recipe(measured.summary.precision),
        checkpointing=config.checkpointing,
        grad_accum_steps=config.grad_accum_steps,
    )
    buckets, found = estimate.buckets, measured.memory
    saved_logits = buckets["logits"]["log_probabilities"].known()
    rows = (
        ("parameters", buckets["parameters"].known(), found.parameters, "fp32"),
        ("gradients", buckets["gradients"].known(), found.gradients, "fp32"),
        (
            "optimizer_state",
            buckets["optimizer_state"].known(),
            found.optimizer_state,
            "two moments per parameter; measured: also a step counter per tensor",
        ),
        (
            "cast_weights",
            buckets["cast_weights"].known(),
            found.cast_weights,
            "bf16 under autocast",
        ),
        (
            "activations",
            buckets["activations"]["kept"].known() + saved_logits,
            found.activations,
            "what one micro-batch keeps for its backward pass, log-probabilities included",
        ),
    )
    return [
        Comparison(name=f"memory_{name}", unit="byte", predicted=p, measured=m, why=why)
        for name, p, m, why in rows
    ]


def _compare_speed(config: RunConfig, measured: Measured, step_flops: float) -> list[Comparison]:
    tokens = config.tokens_per_step
    trial = measured.step_seconds_before
    return [
        Comparison(
            name="tokens_per_second",
            unit="token/s",
            predicted=tokens / trial,
            measured=measured.summary.tokens_per_second,
            why="predicted from a few trial steps",
        ),
        Comparison(
            name="matmul_ceiling",
            unit="FLOP/s",
            predicted=None,
            measured=measured.peak_flops,
            why="what large matrix products reach on this machine: the 100 % of the next line",
        ),
        Comparison(
            name="mfu",
            unit="ratio",
            predicted=step_flops / (trial * measured.peak_flops),
            measured=measured.summary.mfu,
            why="exact FLOPs over the measured ceiling; predicted from the trial steps",
        ),
    ]


def _compare_quality(vocab_size: int, summary: RunSummary) -> list[Comparison]:
    before, after = summary.first_evaluation, summary.last_evaluation
    assert before is not None
    assert after is not None
    ratio = None
    if before.bits_per_byte:
        ratio = before.held_out_loss / (math.log(2) * before.bits_per_byte)
    return [
        Comparison(
            name="bits_per_byte_before",
            unit="bit/byte",
            predicted=bits_per_byte(first_loss(vocab_size).known(), ratio).value if ratio else None,
            measured=before.bits_per_byte,
            why="predicted: ln of the vocabulary size, and 1/2 for logits of unit variance",
        ),
        Comparison(
            name="bits_per_byte_after",
            unit="bit/byte",
            predicted=None,
            measured=after.bits_per_byte,
            why="held-out text; there is no prediction to compare it with",
        ),
    ]
