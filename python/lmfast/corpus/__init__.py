"""Token shards: made from text, and read as the batches that training takes."""

from lmfast.corpus.loader import Loader
from lmfast.corpus.prepare import PreparedCorpus, prepare
from lmfast.corpus.shards import TokenShards

__all__ = ["Loader", "PreparedCorpus", "TokenShards", "prepare"]
