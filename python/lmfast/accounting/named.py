"""Models by name, in their published form, and models read from TOML and ``key=value`` settings."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lmfast.accounting.architecture import Architecture
from lmfast.config import apply_overrides, from_dict, load_toml
from lmfast.config.checks import require
from lmfast.errors import ConfigError

Settings = dict[str, Any]

GPT2: Settings = {
    "vocab_size": 50_257,
    "context_length": 1_024,
    "positions": "learned",
    "feed_forward": "gelu",
    "norm": "layernorm",
    "bias": True,
    "tied_embeddings": True,
}
LLAMA2: Settings = {"vocab_size": 32_000, "context_length": 4_096}
LLAMA3: Settings = {"vocab_size": 128_256, "context_length": 8_192, "n_kv_head": 8}


def _sizes(layers: int, width: int, heads: int, d_ff: int, **more: Any) -> Settings:  # noqa: ANN401
    return {"n_layer": layers, "d_model": width, "n_head": heads, "d_ff": d_ff, **more}


MODELS: dict[str, Settings] = {
    # Radford et al. (2019), table 2, with the head counts of the released checkpoints.
    "gpt2-small": GPT2 | _sizes(12, 768, 12, 3_072),
    "gpt2-medium": GPT2 | _sizes(24, 1_024, 16, 4_096),
    "gpt2-large": GPT2 | _sizes(36, 1_280, 20, 5_120),
    "gpt2-xl": GPT2 | _sizes(48, 1_600, 25, 6_400),
    # GPT-2 XL's sizes in lmfast's own form: rotary, RMSNorm, SwiGLU, no biases, untied.
    "xl": {"vocab_size": 50_257, "context_length": 1_024} | _sizes(48, 1_600, 25, 6_400),
    # Brown et al. (2020), table 2.1, "GPT-3 175B"; every layer counted as dense attention.
    "gpt3": GPT2 | _sizes(96, 12_288, 96, 49_152, context_length=2_048),
    # Touvron et al. (2023b), and the released configurations.
    "llama2-7b": LLAMA2 | _sizes(32, 4_096, 32, 11_008),
    "llama2-13b": LLAMA2 | _sizes(40, 5_120, 40, 13_824),
    "llama2-70b": LLAMA2 | _sizes(80, 8_192, 64, 28_672, n_kv_head=8),
    # Grattafiori et al. (2024), table 3, and the released configurations of 3.2.
    "llama3-8b": LLAMA3 | _sizes(32, 4_096, 32, 14_336),
    "llama3-70b": LLAMA3 | _sizes(80, 8_192, 64, 28_672),
    "llama3-405b": LLAMA3 | _sizes(126, 16_384, 128, 53_248),
    "llama3.2-1b": LLAMA3
    | _sizes(16, 2_048, 32, 8_192, context_length=131_072, tied_embeddings=True),
    "llama3.2-3b": LLAMA3
    | _sizes(28, 3_072, 24, 8_192, context_length=131_072, tied_embeddings=True),
    # Jiang et al. (2023), table 1, and Jiang et al. (2024), table 1.
    "mistral-7b": {"vocab_size": 32_000, "context_length": 8_192}
    | _sizes(32, 4_096, 32, 14_336, n_kv_head=8, sliding_window=4_096),
    "mixtral-8x7b": {"vocab_size": 32_000, "context_length": 32_768}
    | _sizes(32, 4_096, 32, 14_336, n_kv_head=8, n_expert=8, n_active_expert=2),
}


def named_model(name: str, overrides: Iterable[str] = ()) -> Architecture:
    """The model of that name, with settings replaced by ``key=value`` overrides.

    Raises:
        ConfigError: There is no such model, or an override does not fit.
    """
    if name not in MODELS:
        msg = f"unknown model {name!r}: known models are {', '.join(MODELS)}"
        raise ConfigError(msg)
    return _build(MODELS[name], overrides)


def load_model_shape(source: str | Path | None, overrides: Iterable[str] = ()) -> Architecture:
    """The model that ``source`` names, with settings replaced by ``key=value`` overrides.

    Args:
        source: A name of ``MODELS``; or a TOML file with a ``[model]`` table, as ``lmfast train``
            reads it, or with the settings of a model alone; or ``None`` for overrides alone.
        overrides: Such as ``d_model=512``; ``model.d_model=512`` means the same.

    Raises:
        ConfigError: A name, a key or a value that does not exist or does not fit.
        MissingFileError: There is no such file.
    """
    if source is None:
        return _build({}, overrides)
    if str(source) in MODELS or Path(source).suffix != ".toml":
        return named_model(str(source), overrides)
    table = load_toml(source)
    settings = table.get("model", table)
    require(isinstance(settings, dict), f"{source}: model", settings, "it must be a table")
    return _build(settings, overrides)


def _build(table: Settings, overrides: Iterable[str]) -> Architecture:
    plain = [override.strip().removeprefix("model.") for override in overrides]
    return from_dict(Architecture, apply_overrides(table, plain), "model.")
