"""Token shards, and the batches that training reads from them."""

from lmfast.corpus.loader import Loader
from lmfast.corpus.shards import TokenShards

__all__ = ["Loader", "TokenShards"]
