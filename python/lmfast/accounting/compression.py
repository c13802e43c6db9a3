"""How well a tokenizer compresses, and a loss that does not depend on it."""

import math

from lmfast.accounting.quantity import Quantity


def bytes_per_token(byte_count: int, token_count: int) -> Quantity:
    """Bytes of UTF-8 text per token; more is better compression. Unknown without tokens."""
    return Quantity(
        name="bytes_per_token",
        value=byte_count / token_count if token_count else None,
        unit="byte/token",
        formula=f"{byte_count:,} bytes / {token_count:,} tokens",
        convention="bytes of the text itself; tokens as the model sees them",
    )


def bits_per_byte(loss: float, compression: float | Quantity) -> Quantity:
    """The loss in bits per byte of text, comparable across tokenizers.

    Args:
        loss: Mean nats per token.
        compression: Bytes per token of the scored text.
    """
    known = compression.known() if isinstance(compression, Quantity) else compression
    return Quantity(
        name="bits_per_byte",
        value=loss / (math.log(2) * known),
        unit="bit/byte",
        formula=f"{loss:.4g} nats / (ln 2 · {known:.4g} bytes per token)",
        convention="mean over scored tokens, bytes of the text they stand for",
    )


def first_loss(vocab_size: int) -> Quantity:
    """The loss before the first update, in nats per token.

    Logits of a normal distribution with variance v make the mean of -ln softmax ln V + v/2; the
    initial weights of ``lmfast.model`` make v = 1.
    """
    return Quantity(
        name="first_loss",
        value=math.log(vocab_size) + 0.5,
        unit="nat/token",
        formula=f"ln {vocab_size:,} + 1/2",
        convention="independent normal logits of unit variance",
    )
