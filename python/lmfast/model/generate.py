"""Text out of a trained model, one token at a time."""

from collections.abc import Collection, Iterator, Sequence

import torch
from torch import Tensor

from lmfast.config.checks import require
from lmfast.model.cache import KVCache
from lmfast.model.transformer import Transformer


def generate(
    model: Transformer,
    prompt: Sequence[int],
    *,
    max_tokens: int,
    temperature: float = 1.0,
    top_p: float = 1.0,
    seed: int = 0,
    stop: Collection[int] = (),
) -> Iterator[int]:
    """Yield up to ``max_tokens`` ids that follow ``prompt``, as they are drawn.

    Ends before an id in ``stop``. When ``context_length`` is full, the newer half of the
    ids is run through the model again from position 0, and generation continues from there.
    The same seed gives the same text for the same logits, on every device.

    Raises:
        ConfigError: An empty prompt, an id that the model does not know, or a setting out of range.
    """
    vocab_size, context = model.config.vocab_size, model.config.context_length
    require(len(prompt) > 0, "prompt", list(prompt), "at least one token is needed")
    known = all(0 <= id_ < vocab_size for id_ in prompt)
    require(known, "prompt", list(prompt), f"ids must be in 0..{vocab_size - 1}")
    require(max_tokens >= 0, "max_tokens", max_tokens, "it must be at least 0")
    check_sampling(temperature, top_p)
    require(0 <= seed < 2**63, "seed", seed, "it must be in 0..2^63 - 1")
    return _generate(model, list(prompt), context, max_tokens, temperature, top_p, seed, stop)


def check_sampling(temperature: float, top_p: float) -> None:
    """Refuse settings out of range.

    Raises:
        ConfigError: ``temperature`` is negative or not finite, or ``top_p`` is not in (0, 1].
    """
    accepted = "it must be finite and at least 0; 0 takes the likeliest token"
    require(0 <= temperature < float("inf"), "temperature", temperature, accepted)
    require(0 < top_p <= 1, "top_p", top_p, "it must be in (0, 1]")


def _generate(
    model: Transformer,
    ids: list[int],
    context: int,
    max_tokens: int,
    temperature: float,
    top_p: float,
    seed: int,
    stop: Collection[int],
) -> Iterator[int]:
    weight = model.embedding.weight
    generator = torch.Generator().manual_seed(seed)
    cache = KVCache(model.config, 1, weight.device, weight.dtype)
    was_training = model.training
    model.eval()
    try:
        new = ids[-context:]
        for _ in range(max_tokens):
            if cache.length + len(new) > context:
                cache.clear()
                new = ids[-max(context // 2, 1) :]
            with torch.inference_mode():
                logits_V = model(torch.tensor([new], device=weight.device), cache)[0, -1]
            chosen = sample(logits_V, temperature, top_p, generator)
            if chosen in stop:
                return
            yield chosen
            ids.append(chosen)
            new = [chosen]
    finally:
        model.train(was_training)


def sample(logits_V: Tensor, temperature: float, top_p: float, generator: torch.Generator) -> int:
    """An id drawn from softmax(logits / temperature), cut to its nucleus.

    The nucleus is the fewest likeliest tokens whose probabilities reach ``top_p`` together
    (Holtzman et al., 2020, eq. 2). The draw is made in fp64 on the CPU by inverting the
    cumulative distribution, so that it does not depend on the device.
    """
    logits_V = logits_V.cpu().double()  # in this order: MPS has no fp64
    if temperature == 0:
        return int(logits_V.argmax())
    # Below the greatest they are at most 0, so that no temperature takes them beyond all bounds.
    scaled_V = (logits_V - logits_V.max()) / temperature
    sorted_V, order_V = torch.sort(scaled_V.softmax(-1), descending=True, stable=True)
    cumulative_V = sorted_V.cumsum(-1)
    size = min(int((cumulative_V < top_p).sum()) + 1, len(sorted_V))
    point = torch.rand((), generator=generator, dtype=torch.float64) * cumulative_V[size - 1]
    return int(order_V[min(int((cumulative_V <= point).sum()), size - 1)])
