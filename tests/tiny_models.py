"""Models of a few thousand parameters, every one of them random."""

import torch

from lmfast.config import ModelConfig
from lmfast.model import Transformer

CONFIG = ModelConfig(
    vocab_size=50, context_length=16, d_model=24, n_layer=2, n_head=4, n_kv_head=2, d_ff=40
)


def random_model(config: ModelConfig, seed: int = 0, **kwargs) -> Transformer:
    """Every weight random, norms and head too, so that nothing cancels."""
    model = Transformer(config, **kwargs)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return model


def random_ids(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(50, shape, generator=torch.Generator().manual_seed(seed))
