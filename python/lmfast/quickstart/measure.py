"""Measurements of a finished run that the report sets against the predictions."""

import numpy as np
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmfast.training.engine import Engine


def count_step_flops(engine: Engine) -> int:
    """FLOPs of one step, forward and backward, as torch counts the products that it runs.

    Attention runs as plain products for the count: in a fused kernel torch would count none on the
    CPU, and those that the backward pass repeats on a GPU. The weights stay as they are.
    """
    config = engine.config
    ids = np.zeros((config.micro_batch_size, config.model.context_length + 1), dtype=np.int64)
    engine.optimizer.zero_grad(set_to_none=True)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        engine.nats(engine.to_device(ids)).mean().backward()  # type: ignore[no-untyped-call]
    engine.optimizer.zero_grad(set_to_none=True)
    return int(counter.get_total_flops()) * config.grad_accum_steps
