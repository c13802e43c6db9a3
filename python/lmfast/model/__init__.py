"""The transformer, its initial weights, its files, and text generation. Needs ``lmfast[train]``."""

from lmfast.model.cache import KVCache
from lmfast.model.generate import generate
from lmfast.model.initialise import initialise
from lmfast.model.text import generate_text, load_run
from lmfast.model.transformer import Transformer
from lmfast.model.weights import load_model

__all__ = [
    "KVCache",
    "Transformer",
    "generate",
    "generate_text",
    "initialise",
    "load_model",
    "load_run",
]
