"""How long a step takes, measured before a schedule is chosen."""

import statistics
import time

import numpy as np
import torch

from lmfast.config import RunConfig
from lmfast.training.device import resolve_device, resolve_precision
from lmfast.training.engine import Engine

WARMUP_STEPS = 2  # the first step allocates, the second still finds cold caches


def measure_step_seconds(config: RunConfig, steps: int = 3) -> float:
    """The median wall time of a training step under ``config``, in seconds, on one device.

    Builds a model of its own and feeds it random ids, so nothing of the run is touched and no
    corpus is needed. ``schedule.steps`` plays no part: choose it from the result, so that the
    cosine ends when the time is up.

    Raises:
        HardwareError: The device is not there, or has no bf16 where that was asked for.
    """
    device = resolve_device(config.device)
    engine = Engine(config, device, resolve_precision(config.precision, device))
    shape = (config.micro_batch_size, config.model.context_length + 1)
    generator = np.random.default_rng(0)
    batches = [
        generator.integers(config.model.vocab_size, size=shape)
        for _ in range(config.grad_accum_steps)
    ]
    seconds = []
    for _ in range(WARMUP_STEPS + steps):
        begin = time.perf_counter()
        engine.step(batches, lr=0.0)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[WARMUP_STEPS:])
