"""Memory in use, by bucket: what ``accounting`` predicts, counted from the tensors themselves."""

import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lmfast.training.engine import Engine, Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMeasurement:
    """Bytes held at the end of a forward pass, on one device."""

    parameters: int
    gradients: int
    optimizer_state: int | None
    """None before the first update: AdamW allocates it then."""
    activations: int
    """What the forward pass of one micro-batch keeps for the backward pass."""
    cast_weights: int
    """Parameters in the autocast format, which the backward pass also needs; 0 in fp32."""


def measure_memory(engine: Engine, ids: Ids | None = None) -> MemoryMeasurement:
    """The bytes of each bucket, from a probe micro-step that changes no weight.

    ``ids`` [B, T + 1] is the micro-batch; by default one of the size that the run uses. Every
    storage counts once, however many tensors view it; parameters and buffers are not activations.
    """
    config = engine.config
    if ids is None:
        ids = np.zeros((config.micro_batch_size, config.model.context_length + 1), dtype=np.int64)
    model, optimizer = engine.model, engine.optimizer
    saved = _Saved([*model.parameters(), *model.buffers()])
    was_training = model.training
    model.train()
    optimizer.zero_grad(set_to_none=True)
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, saved.unpack):
        loss = engine.nats(engine.to_device(ids)).mean()
    activations, copies = saved.bytes()
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = sum(_bytes(p.grad) for p in model.parameters() if p.grad is not None)
    optimizer.zero_grad(set_to_none=True)
    model.train(was_training)
    states = [v for state in optimizer.state.values() for v in state.values()]
    return MemoryMeasurement(
        parameters=sum(_bytes(parameter) for parameter in model.parameters()),
        gradients=gradients,
        optimizer_state=sum(_bytes(value) for value in states) if states else None,
        activations=activations,
        cast_weights=copies,
    )


def peak_memory_bytes(device: torch.device) -> int | None:
    """The most memory used so far: of the device on CUDA, of the process on the CPU.

    The figure of the process includes the interpreter and libraries. None where the system does
    not say.
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if device.type != "cpu" or sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in KiB


class _Saved:
    """Every storage that autograd keeps, alive until counted so that no address repeats."""

    def __init__(self, resident: list[Tensor]) -> None:
        self.resident = {tensor.untyped_storage().data_ptr() for tensor in resident}
        self.activations: dict[int, Tensor] = {}
        self.copies: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> Tensor:
        address = tensor.untyped_storage().data_ptr()
        if address not in self.resident:
            kept = self.copies if _is_weight_copy(tensor) else self.activations
            kept[address] = tensor
        return tensor

    @staticmethod
    def unpack(tensor: Tensor) -> Tensor:
        return tensor

    def bytes(self) -> tuple[int, int]:
        """Bytes of activations and of weight copies; lets go of both."""
        sizes = [
            sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
            for kept in (self.activations, self.copies)
        ]
        self.activations.clear()
        self.copies.clear()
        return sizes[0], sizes[1]


def _is_weight_copy(tensor: Tensor) -> bool:
    """Whether ``tensor`` is a leaf that was only converted or viewed otherwise."""
    node = tensor.grad_fn
    converted = False
    while node is not None and len(node.next_functions) == 1:
        converted = converted or node.name().startswith("ToCopyBackward")
        node = node.next_functions[0][0]
    return converted and node is not None and node.name().endswith("AccumulateGrad")


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
