"""From raw text to a trained language model, every cost known before and checked after.

This package is light: the trainer (``lmfast.training``) needs the extra ``lmfast[train]``.
"""

from lmfast._lmfast import __version__
from lmfast.bpe import PretokenCounts, count_pretokens, train_bpe, train_from_counts
from lmfast.encodings import encoding_for_model, get_encoding
from lmfast.errors import LmfastError
from lmfast.extension import extend
from lmfast.tokenizer import Batch, Tokenizer

__all__ = [
    "Batch",
    "LmfastError",
    "PretokenCounts",
    "Tokenizer",
    "__version__",
    "count_pretokens",
    "encoding_for_model",
    "extend",
    "get_encoding",
    "train_bpe",
    "train_from_counts",
]
