"""Keys and values of the positions already seen, so that generation computes each only once."""

import torch
from torch import Tensor

from lmfast.config import ModelConfig


class LayerCache:
    """Room for the keys and values of one attention layer: [B, n_kv_head, context, d_head] each."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys = keys
        self.values = values
        self.length = 0
        """Positions filled."""

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values up to and with the new ones, which are kept."""
        end = self.length + keys.shape[-2]
        self.keys[:, :, self.length : end] = keys
        self.values[:, :, self.length : end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


class KVCache:
    """One ``LayerCache`` per block, allocated once for ``context_length`` positions."""

    def __init__(
        self, config: ModelConfig, batch_size: int, device: torch.device, dtype: torch.dtype
    ) -> None:
        shape = (batch_size, config.n_kv_head, config.context_length, config.d_head)
        self.layers = [
            LayerCache(
                torch.empty(shape, device=device, dtype=dtype),
                torch.empty(shape, device=device, dtype=dtype),
            )
            for _ in range(config.n_layer)
        ]

    @property
    def length(self) -> int:
        """Positions filled, the same in every layer."""
        return self.layers[0].length

    def clear(self) -> None:
        """Forget every position; the memory stays."""
        for layer in self.layers:
            layer.length = 0
