"""Text in, text out: a trained model and its tokenizer together."""

import codecs
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from lmfast.errors import MismatchError
from lmfast.model.generate import generate
from lmfast.model.transformer import Transformer
from lmfast.model.weights import load_model
from lmfast.tokenizer import END_OF_TEXT, TOKENIZER_FILE, Tokenizer


def load_run(
    folder: str | Path, device: str | torch.device = "cpu"
) -> tuple[Transformer, Tokenizer]:
    """The trained model and the tokenizer in the folder of a finished run.

    Raises:
        MissingFileError: The folder holds no finished model.
        CheckpointError: One of its files is damaged.
        MismatchError: The tokenizer has more ids than the model knows.
    """
    model = load_model(folder, device)
    tokenizer = Tokenizer.load(Path(folder) / TOKENIZER_FILE)
    if tokenizer.n_vocab > model.config.vocab_size:
        msg = (
            f"cannot use {folder}: its tokenizer has {tokenizer.n_vocab} ids, "
            f"its model knows {model.config.vocab_size}"
        )
        raise MismatchError(msg)
    return model, tokenizer


def generate_text(
    model: Transformer,
    tokenizer: Tokenizer,
    prompt: str = "",
    *,
    max_tokens: int,
    temperature: float = 1.0,
    top_p: float = 1.0,
    seed: int = 0,
) -> Iterator[str]:
    """Yield the text that follows ``prompt``, piece by piece, to the end of its document.

    The prompt begins a document: it follows the separator ``<|endoftext|>`` where the tokenizer
    has one. Special tokens in the prompt are plain text. A piece may be empty: a character of
    several tokens comes when it is complete. Bytes that are not UTF-8 come as U+FFFD.

    Raises:
        ConfigError: A setting is out of range, or there is neither a prompt nor a separator.
    """
    specials = tokenizer.special_tokens
    start = [specials[END_OF_TEXT]] if END_OF_TEXT in specials else []
    lengths = tokenizer.token_byte_lengths()
    tokens = generate(
        model,
        [*start, *tokenizer.encode_ordinary(prompt)],
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        # Special tokens, gaps between ids, and the padding of a vocabulary stand for no text.
        stop={
            *np.flatnonzero(lengths == 0).tolist(),
            *range(len(lengths), model.config.vocab_size),
        },
    )
    return _decode(tokens, tokenizer)


def _decode(tokens: Iterator[int], tokenizer: Tokenizer) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for token in tokens:
        yield decoder.decode(tokenizer.decode_bytes([token]))
    yield decoder.decode(b"", final=True)
