"""What autograd saves, counted by torch itself."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def saved_bytes(model: nn.Module, forward: Callable[[], Tensor]) -> int:
    """Bytes of the storages that ``forward`` saves, those of weights and buffers left out."""
    resident = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
    # Holding the tensors keeps the allocator from using an address twice.
    held: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        address = tensor.untyped_storage().data_ptr()
        if address not in resident:
            held[address] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()
    assert result.requires_grad
    return sum(tensor.untyped_storage().nbytes() for tensor in held.values())
