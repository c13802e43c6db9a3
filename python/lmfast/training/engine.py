"""One optimizer step: forward, loss, backward, clip, update; no files and no schedule."""

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lmfast.config import OptimizerConfig, RunConfig
from lmfast.errors import DivergenceError
from lmfast.model import Transformer, initialise
from lmfast.training.device import ResolvedPrecision, require_room
from lmfast.training.distributed import World

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What one update did, over all processes."""

    loss: float
    """Mean nats per token over every token of the step."""
    grad_norm: float
    """Global L2 norm of the gradient before clipping."""


class Engine:
    """A model and its optimizer on one device; with several processes each holds a copy."""

    def __init__(
        self, config: RunConfig, device: torch.device, precision: ResolvedPrecision
    ) -> None:
        self.config = config
        self.device = device
        self.precision = precision
        self.world = World()
        require_room(config, device)
        self.model = Transformer(config.model, config.checkpointing)
        initialise(self.model, config.seed)
        self.model.to(device)
        if config.compile:
            self.model.compile()
        self.optimizer = make_optimizer(self.model, config.optimizer)
        self._forward: nn.Module = self.model

    def share(self, world: World) -> None:
        """Work with the other processes of ``world`` from now on; they are connected already."""
        self.world = world
        self.precision = world.from_main(self.precision)
        if world.size > 1:
            devices = [self.device] if self.device.type == "cuda" else None
            self._forward = DistributedDataParallel(self.model, device_ids=devices)

    def to_device(self, ids: Ids) -> Tensor:
        """``ids`` [B, T + 1] where the model is."""
        return torch.from_numpy(ids).to(self.device, non_blocking=True)

    def autocast(self) -> contextlib.AbstractContextManager[object]:
        """The number format of the forward pass; weights stay in fp32."""
        if self.precision == "fp32":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16)

    def nats(self, ids: Tensor, model: nn.Module | None = None) -> Tensor:
        """-ln p of each target, fp32 [B * T]: id t + 1 given the ids up to t."""
        with self.autocast():
            logits: Tensor = (model or self.model)(ids[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten(), reduction="none")

    def step(self, batches: Iterable[Ids], lr: float) -> StepResult:
        """Make one update from this process's micro-batches, each [B, T + 1].

        Every token of the step weighs the same, whichever micro-batch and process it is in.

        Raises:
            DivergenceError: The loss or the gradient is not finite; the weights are as before.
        """
        config, world = self.config, self.world
        step_tokens = config.tokens_per_step * world.size
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for index, ids in enumerate(batches):
            with self._synchronised(index == config.grad_accum_steps - 1):
                nats = self.nats(self.to_device(ids), self._forward).sum()
                # DistributedDataParallel takes the mean over processes; the sum is wanted.
                (nats * (world.size / step_tokens)).backward()  # type: ignore[no-untyped-call]
            total += nats.detach()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.optimizer.grad_clip)
        loss = world.sum([total.item()], self.device)[0] / step_tokens
        result = StepResult(loss=loss, grad_norm=norm.item())
        if not (math.isfinite(result.loss) and math.isfinite(result.grad_norm)):
            msg = f"the loss is {result.loss}, the gradient norm {result.grad_norm}"
            raise DivergenceError(msg)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        return result

    def _synchronised(self, last: bool) -> contextlib.AbstractContextManager[object]:
        """Add gradients up over processes in the last micro-step only."""
        if isinstance(self._forward, DistributedDataParallel) and not last:
            return self._forward.no_sync()
        return contextlib.nullcontext()


def make_optimizer(model: nn.Module, config: OptimizerConfig) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019) over all parameters of ``model``.

    Matrices decay, the embedding among them, as in GPT-3 and Llama; the gains of norms do not:
    pulling them to zero would shrink the stream instead of regularising a map.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    fused = parameters[0].device.type in ("cpu", "cuda")
    return torch.optim.AdamW(
        groups, lr=config.peak_lr, betas=config.betas, eps=config.eps, fused=fused
    )
