"""The initial weights, all in one place, the same for a seed on every device."""

import math

import torch
from torch import Tensor, nn

from lmfast.model.layers import Attention, SwiGLU
from lmfast.model.transformer import Transformer


@torch.no_grad()
def initialise(model: Transformer, seed: int) -> None:
    """Fill every parameter of ``model``.

    - A matrix draws from a normal of standard deviation 1/sqrt(d_in), which keeps the variance of
      a normalised input at any width (LeCun et al., 1998); a fixed 0.02 fits d_model 2500 only.
    - The two matrices of a block that write into the residual stream draw 1/sqrt(2 n_layer) of
      that: the stream sums 2 n_layer of them (Radford et al., 2019, section 2.3).
    - The embedding draws 1/sqrt(d_model) too. Tied, it then yields logits of variance 1.
    - An output head of its own starts at zero: every token is equally likely, so the first loss is
      ln(vocab_size) exactly and no step is spent on unlearning a random guess.
    - Norms start at one.

    Numbers are drawn in fp32 on the CPU, so that a seed means the same weights everywhere.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(weight: Tensor, std: float) -> None:
        weight.copy_(torch.randn(weight.shape, generator=generator) * std)

    residual_scale = 1 / math.sqrt(2 * model.config.n_layer)
    writers = set()
    for module in model.modules():
        if isinstance(module, Attention):
            writers.add(module.output)
        elif isinstance(module, SwiGLU):
            writers.add(module.down)
    for module in model.modules():
        if module is model.head:
            nn.init.zeros_(model.head.weight)
        elif isinstance(module, nn.Linear):
            std = 1 / math.sqrt(module.in_features)
            draw(module.weight, std * residual_scale if module in writers else std)
        elif isinstance(module, nn.Embedding):
            draw(module.weight, 1 / math.sqrt(module.embedding_dim))
    for parameter in model.parameters():
        if parameter.ndim < 2:
            nn.init.ones_(parameter)
