"""A training run from settings to a finished model, the same from a notebook as from a shell.

summary = Trainer(config).fit()
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from lmfast.accounting import count_flops
from lmfast.accounting.hardware import device_of_torch
from lmfast.config import RunConfig, to_dict
from lmfast.corpus import Loader, TokenShards
from lmfast.errors import DivergenceError, MismatchError
from lmfast.tokenizer import Tokenizer
from lmfast.training.checkpoint import RunState, require_same
from lmfast.training.device import resolve_precision
from lmfast.training.distributed import World
from lmfast.training.engine import Engine, Ids
from lmfast.training.evaluate import Evaluator
from lmfast.training.memory import peak_memory_bytes
from lmfast.training.metrics import EvaluationRecord, MetricsLog, StepRecord
from lmfast.training.run_folder import RunFolder
from lmfast.training.schedule import learning_rate

OnStep = Callable[[StepRecord], None]
OnEvaluation = Callable[[EvaluationRecord], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a run came to. Times and rates cover this call of ``fit`` only."""

    out: str
    step: int
    tokens: int
    """Tokens trained on, since step 1."""
    parameters: int
    device: str
    precision: str
    loss: float | None
    """Of the last step; None if this call had none to make."""
    first_evaluation: EvaluationRecord | None
    """Before the first step of the run."""
    last_evaluation: EvaluationRecord | None
    seconds: float
    """Spent in steps."""
    wall_seconds: float
    """Spent in all, evaluation and saving included."""
    data_wait_seconds: float
    tokens_per_second: float | None
    """Over ``seconds``."""
    flops_per_token: float
    """Model FLOPs forward and backward, PaLM's convention (see ``lmfast.accounting``)."""
    mfu: float | None
    """None where no ceiling is known."""
    peak_memory_bytes: int | None


class Trainer:
    """Trains one model on one corpus; under ``torchrun``, together with the other processes."""

    def __init__(self, config: RunConfig, *, peak_flops_per_second: float | None = None) -> None:
        """Open the data and build the model; nothing is written yet.

        ``peak_flops_per_second`` is the ceiling of one device that MFU is measured against;
        by default the vendor's dense peak of a GPU that ``lmfast.accounting`` knows, else unknown.

        Raises:
            MismatchError: Model, tokenizer and shards do not belong together.
            CorpusError, FileError: The shards cannot be used.
            HardwareError: The device is not there.
        """
        self.config = config
        self.world = World.from_environment()
        self.shards = TokenShards.open(config.data.train)
        self.loader = Loader(self.shards, config.model.context_length, config.seed)
        tokenizer = Tokenizer.load(self.shards.tokenizer_path)
        held_out = TokenShards.open(config.data.held_out) if config.data.held_out else None
        _check_belonging(config, tokenizer.identity, self.shards, held_out)
        device = self.world.device(config.device)
        self.engine = Engine(config, device, resolve_precision(config.precision, device))
        self.evaluator = None
        if held_out is not None:
            self.evaluator = Evaluator(held_out, tokenizer.token_byte_lengths(), self.engine)
        self.folder = RunFolder(config)
        self.flops_per_token = float(count_flops(config.model).per_token().known())
        self.peak_flops_per_second = peak_flops_per_second or _known_peak(self.engine)
        self.stopping = False

    def stop(self) -> None:
        """End the run after the step in progress, with its evaluation and checkpoint.

        For callbacks of ``fit``; with several processes every one must call it at the same step.
        """
        self.stopping = True

    def fit(
        self,
        *,
        resume: bool = False,
        on_step: OnStep | None = None,
        on_evaluation: OnEvaluation | None = None,
    ) -> RunSummary:
        """Train to the last step of the schedule and put the model in the run folder.

        With ``resume`` the run continues from its newest checkpoint, or starts if it has none, and
        ends up as if it had never stopped. The callbacks receive every record.

        Raises:
            ConfigError: ``out`` holds a run that this would overwrite.
            MismatchError: The checkpoint belongs to another model, tokenizer or corpus.
            CheckpointError: The checkpoint is damaged.
            DivergenceError: A loss or a gradient is not finite; the message has step and samples.
            FileError: Another run uses the folder, or it cannot be written.
        """
        begin = time.perf_counter()
        world, self.stopping = self.world, False
        with world.joined(self.engine.device), contextlib.ExitStack() as until_done:

            def open_folder() -> int:
                until_done.enter_context(self.folder.owned())
                return self.folder.begin(self.shards, resume)

            start = world.on_main(open_folder)
            self.engine.share(world)
            state = self._restore(start) if start else None
            run = _Run(self, start, state.samples if state else 0, on_step, on_evaluation)
            run.to_the_end()
            world.on_main(lambda: self.folder.finish(self.engine.model))
            return run.summary(time.perf_counter() - begin)

    def _restore(self, step: int) -> RunState:
        checkpoints, engine = self.folder.checkpoints, self.engine
        state, path = checkpoints.state(step), checkpoints.path(step)
        config = to_dict(self.config)
        require_same("tokenizer", state.tokenizer_identity, self.shards.identity, path)
        require_same("model", state.config.get("model"), config["model"], path)
        require_same("seed", state.config.get("seed"), config["seed"], path)
        require_same("training shards", state.corpus_fingerprint, self.shards.fingerprint, path)
        if self.config.precision == "auto" and state.device == engine.device.type:
            engine.precision = state.precision
        checkpoints.load(step, engine)
        return state


class _Run:
    """One call of ``fit``: where it stands, and what it has come to."""

    def __init__(
        self,
        trainer: Trainer,
        step: int,
        samples: int,
        on_step: OnStep | None,
        on_evaluation: OnEvaluation | None,
    ) -> None:
        self.trainer = trainer
        self.config = trainer.config
        self.world = trainer.world
        self.start = step
        self.step = step
        self.samples = samples
        self.on_step = on_step
        self.on_evaluation = on_evaluation
        self.log = MetricsLog(trainer.folder.metrics, step or None) if self.world.is_main else None
        self.last: StepRecord | None = None
        self.seconds = 0.0
        self.data_wait_seconds = 0.0

    @property
    def tokens(self) -> int:
        """Tokens trained on since step 1."""
        return self.samples * self.config.model.context_length

    def to_the_end(self) -> None:
        """Make the steps that are left."""
        config = self.config
        if self.step == 0:
            self._evaluate()
        while self.step < config.schedule.steps and not self.trainer.stopping:
            record = self._make_step()
            if self.on_step:
                self.on_step(record)
            last = self.step == config.schedule.steps or self.trainer.stopping
            if self.log and (last or self.step == 1 or self.step % config.log_every == 0):
                self.log.write(record)
            if last or self.step % config.eval_every == 0:
                self._evaluate()
            if last or self.step % config.save_every == 0:
                self._save()

    def _make_step(self) -> StepRecord:
        config, trainer, world = self.config, self.trainer, self.world
        begin, waited = time.perf_counter(), self.data_wait_seconds
        first, count = self.samples, config.sequences_per_step * world.size
        self.step += 1
        lr = learning_rate(self.step, config.schedule, config.optimizer.peak_lr)
        try:
            result = trainer.engine.step(self._batches(first), lr)
        except DivergenceError as error:
            msg = (
                f"stopped at step {self.step}: {error}; samples {first}..{first + count - 1} "
                f"in the order of seed {config.seed}; the weights of step {self.step - 1} are sound"
            )
            raise DivergenceError(msg) from error
        self.samples += count
        seconds = time.perf_counter() - begin
        self.seconds += seconds
        self.last = StepRecord(
            step=self.step,
            tokens=self.tokens,
            loss=result.loss,
            lr=lr,
            grad_norm=result.grad_norm,
            seconds=seconds,
            tokens_per_second=count * config.model.context_length / seconds,
            data_wait_seconds=self.data_wait_seconds - waited,
            mfu=self._mfu(count * config.model.context_length / seconds),
            peak_memory_bytes=peak_memory_bytes(trainer.engine.device),
        )
        return self.last

    def _batches(self, first: int) -> Iterator[Ids]:
        """This process's micro-batches of the step whose samples begin at ``first``."""
        size, world = self.config.micro_batch_size, self.world
        for micro_step in range(self.config.grad_accum_steps):
            begin = time.perf_counter()
            offset = (micro_step * world.size + world.rank) * size
            ids = self.trainer.loader.batch(first + offset, size)
            self.data_wait_seconds += time.perf_counter() - begin
            yield ids

    def _mfu(self, tokens_per_second: float) -> float | None:
        peak = self.trainer.peak_flops_per_second
        if peak is None:
            return None
        return tokens_per_second * self.trainer.flops_per_token / (peak * self.world.size)

    def _evaluate(self) -> None:
        if self.trainer.evaluator is None:
            return
        record = self.trainer.evaluator.run(self.step, self.tokens)
        if self.log:
            self.log.write(record)
        if self.on_evaluation:
            self.on_evaluation(record)

    def _save(self) -> None:
        trainer = self.trainer
        state = RunState(
            step=self.step,
            samples=self.samples,
            device=trainer.engine.device.type,
            precision=trainer.engine.precision,
            tokenizer_identity=trainer.shards.identity,
            corpus_fingerprint=trainer.shards.fingerprint,
            config=to_dict(self.config),
        )

        def save() -> None:
            if self.log:
                self.log.sync()
            trainer.folder.checkpoints.save(trainer.engine, state)

        self.world.on_main(save)

    def summary(self, wall_seconds: float) -> RunSummary:
        """What the run came to."""
        trainer, engine = self.trainer, self.trainer.engine
        trained = (self.step - self.start) * self.config.tokens_per_step * self.world.size
        rate = trained / self.seconds if trained else None
        evaluations = self.log.evaluations if self.log else []
        return RunSummary(
            out=self.config.out,
            step=self.step,
            tokens=self.tokens,
            parameters=sum(parameter.numel() for parameter in engine.model.parameters()),
            device=_describe(engine.device),
            precision=engine.precision,
            loss=self.last.loss if self.last else None,
            first_evaluation=evaluations[0] if evaluations else None,
            last_evaluation=evaluations[-1] if evaluations else None,
            seconds=self.seconds,
            wall_seconds=wall_seconds,
            data_wait_seconds=self.data_wait_seconds,
            tokens_per_second=rate,
            flops_per_token=trainer.flops_per_token,
            mfu=self._mfu(rate) if rate else None,
            peak_memory_bytes=peak_memory_bytes(engine.device),
        )


def _known_peak(engine: Engine) -> float | None:
    if engine.device.type != "cuda":
        return None
    known = device_of_torch(torch.cuda.get_device_name(engine.device))
    return known.dense.of(engine.precision) if known else None


def _describe(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _check_belonging(
    config: RunConfig, identity: str, train: TokenShards, held_out: TokenShards | None
) -> None:
    """Refuse shards of another tokenizer and a model too small for them.

    Raises:
        MismatchError: They do not belong together.
    """
    for shards in filter(None, (train, held_out)):
        if shards.identity != identity:
            msg = (
                f"cannot use the shards {shards.path}: they were written by tokenizer "
                f"{shards.identity[:12]}, not by {identity[:12]} of {train.tokenizer_path}"
            )
            raise MismatchError(msg)
    if config.model.vocab_size < train.vocab_size:
        msg = (
            f"cannot train on {train.path}: its tokenizer has {train.vocab_size} ids, "
            f"model.vocab_size is {config.model.vocab_size}"
        )
        raise MismatchError(msg)
