"""Memory of the keys and values that generation keeps."""

from lmfast.accounting.architecture import as_architecture
from lmfast.accounting.quantity import Quantity
from lmfast.accounting.roofline import element_bytes
from lmfast.config import ModelConfig
from lmfast.config.checks import require_positive


def kv_cache(
    model: ModelConfig, tokens: int | None = None, batch: int = 1, dtype: str = "bf16"
) -> Quantity:
    """Bytes of the cache for ``batch`` sequences of ``tokens`` tokens.

    A key and a value (the factor 2) per layer, per key/value head, not per query head. Windowed
    layers keep their window.

    Raises:
        ConfigError: An unknown dtype, or a size that is not positive.
    """
    shape = as_architecture(model)
    length = shape.context_length if tokens is None else tokens
    require_positive("kv_cache", tokens=length, batch=batch)
    width = element_bytes(dtype)
    positions = sum(layers * met for layers, met in shape.attended(length))
    return Quantity(
        name="kv_cache",
        value=int(2 * positions * shape.d_key * width * batch),
        unit="byte",
        formula=(
            f"2 · {positions:,} layer-positions · {shape.n_kv_head}·{shape.d_head} · "
            f"{width:g} B · {batch} sequences"
        ),
        convention=f"keys and values of kv heads, {dtype}",
    )
