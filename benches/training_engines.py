"""One training by one engine, in a process of its own: ``benches/training.py`` runs this.

Little is imported, so that the peak of memory is the engine's.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import TypeAlias

from worker import SPECIAL, answer, documents, peak_bytes

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# The pairs in rank order, as bytes or in GPT-2's printable characters; None where an engine tells
# no merges.
Merges: TypeAlias = list[tuple[bytes, bytes]] | list[tuple[str, str]] | None


def lmfast(path: str, vocab_size: int) -> Callable[[], Merges]:
    import lmfast

    trained = lmfast.train_bpe(path, vocab_size=vocab_size, tie_break="huggingface")
    return lambda: trained.merges


def gigabpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import gigabpe

    _, merges = gigabpe.train_bpe(
        [path], vocab_size, pretokenizer="bytelevel", special_tokens=[SPECIAL]
    )
    return lambda: merges


def gigatoken(path: str, vocab_size: int) -> Callable[[], Merges]:
    import gigatoken

    source = gigatoken.TextFileSource([path], separator=SPECIAL)
    _, merges = gigatoken.train_bpe(source, vocab_size, [SPECIAL], tie_breaking="huggingface")
    return lambda: merges


def ffbpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import ffbpe

    ffbpe.train_bpe(documents(path), vocab_size=vocab_size, special_tokens=[SPECIAL])
    return lambda: None


def rustbpe(path: str, vocab_size: int) -> Callable[[], Merges]:
    import rustbpe

    rustbpe.Tokenizer().train_from_iterator(documents(path), vocab_size - 1, pattern=GPT2)
    return lambda: None


def bpeasy(path: str, vocab_size: int) -> Callable[[], Merges]:
    import bpeasy

    bpeasy.train_bpe(documents(path), GPT2, 1 << 20, vocab_size - 1)
    return lambda: None


def hugging_face(path: str, vocab_size: int) -> Callable[[], Merges]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents(path), trainer)

    def merges() -> Merges:
        return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]

    return merges


ENGINES: dict[str, Callable[[str, int], Callable[[], Merges]]] = {
    "lmfast": lmfast,
    "gigabpe": gigabpe,
    "gigatoken": gigatoken,
    "ffbpe": ffbpe,
    "rustbpe": rustbpe,
    "bpeasy": bpeasy,
    "tokenizers": hugging_face,
}


def _printable() -> dict[int, str]:
    """GPT-2's character for each byte."""
    prints = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in prints]
    return {byte: chr(byte) for byte in prints} | {
        byte: chr(0x100 + place) for place, byte in enumerate(others)
    }


def _digest(merges: Merges, most: int) -> str | None:
    """Of the first merges: an engine that holds only bytes that occur has room for more."""
    if merges is None:
        return None
    printable = _printable()
    spelled = (
        [part if isinstance(part, str) else "".join(map(printable.__getitem__, part)) for part in p]
        for p in merges[:most]
    )
    import hashlib

    lines = "".join(f"{left} {right}\n" for left, right in spelled)
    return hashlib.sha256(lines.encode()).hexdigest()


def main(engine: str, path: str, vocab_size: str) -> None:
    """Train, and print seconds, peak bytes and a digest of the merges as JSON."""
    begin = time.perf_counter()
    merges = ENGINES[engine](path, int(vocab_size))
    seconds = time.perf_counter() - begin
    peak = peak_bytes()
    digest = _digest(merges(), int(vocab_size) - 257)
    answer({"seconds": seconds, "peak_bytes": peak, "merges": digest})


if __name__ == "__main__":
    main(*sys.argv[1:])
