"""Loss and bits per byte on held-out shards."""

import math
import time

import numpy as np
import torch
from numpy.typing import NDArray

from lmfast.corpus import Loader, TokenShards
from lmfast.errors import DivergenceError
from lmfast.training.engine import Engine
from lmfast.training.metrics import EvaluationRecord


class Evaluator:
    """Scores a fixed sample of the held-out windows, the same one each time."""

    def __init__(
        self, shards: TokenShards, byte_lengths: NDArray[np.int64], engine: Engine
    ) -> None:
        """Prepare to score ``shards``; ``byte_lengths`` [V] holds 0 for special tokens."""
        config = engine.config
        # Shuffled, so that a part of the corpus stands for the whole of it. The seed is fixed:
        # runs that differ in their own seed are still measured on the same text.
        self.loader = Loader(shards, config.model.context_length, seed=0)
        self.windows = min(config.eval_batches * config.micro_batch_size, self.loader.windows)
        self.byte_lengths = byte_lengths
        self.engine = engine

    def run(self, step: int, tokens: int) -> EvaluationRecord:
        """Score the model as it is.

        ``held_out_loss`` is the mean over all tokens, to compare with the training loss.
        ``bits_per_byte`` = nats / (ln 2 * bytes) compares tokenizers: special tokens stand for no
        bytes of text, so both their nats and their bytes are left out.

        Raises:
            DivergenceError: The loss is not finite.
        """
        begin = time.perf_counter()
        engine, world = self.engine, self.engine.world
        size = engine.config.micro_batch_size
        sums = np.zeros(4)
        engine.model.eval()
        for first in range(world.rank * size, self.windows, world.size * size):
            ids = self.loader.batch(first, min(size, self.windows - first))
            with torch.inference_mode():
                nats = engine.nats(engine.to_device(ids)).cpu().numpy().astype(np.float64)
            lengths = self.byte_lengths[ids[:, 1:].ravel()]
            sums += (nats.sum(), nats.size, nats[lengths > 0].sum(), lengths.sum())
        nats_all, scored, text_nats, text_bytes = world.sum(sums.tolist(), engine.device)
        if not math.isfinite(nats_all):
            msg = f"stopped after step {step}: the held-out loss is {nats_all}"
            raise DivergenceError(msg)
        return EvaluationRecord(
            step=step,
            tokens=tokens,
            held_out_loss=nats_all / scored,
            bits_per_byte=text_nats / (math.log(2) * text_bytes) if text_bytes else None,
            scored_tokens=int(scored),
            scored_bytes=int(text_bytes),
            seconds=time.perf_counter() - begin,
        )
