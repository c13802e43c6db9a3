"""The learning rate of every step."""

import math

from lmfast.config import ScheduleConfig


def learning_rate(step: int, schedule: ScheduleConfig, peak_lr: float) -> float:
    """The learning rate of update ``step``, counted from 1 to ``schedule.steps``.

    It rises linearly, reaching ``peak_lr`` at ``warmup_steps``, then follows half a cosine and
    reaches ``min_lr_ratio`` of the peak at the last step (Loshchilov and Hutter, 2017, eq. 5,
    without restarts). Update 1 of a warm-up is not zero: a step that changes nothing is wasted.
    """
    if step < schedule.warmup_steps:
        return peak_lr * step / schedule.warmup_steps
    decay_steps = schedule.steps - schedule.warmup_steps
    progress = (step - schedule.warmup_steps) / decay_steps if decay_steps else 0.0
    cosine = (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    return peak_lr * (schedule.min_lr_ratio + (1 - schedule.min_lr_ratio) * cosine)
