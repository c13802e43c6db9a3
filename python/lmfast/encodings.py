"""tiktoken's encodings by their names, from the files that tiktoken keeps or would download."""

from collections.abc import Mapping
from dataclasses import dataclass

from lmfast._lmfast import Tokenizer as _Core
from lmfast.errors import ConfigError, InputTypeError
from lmfast.tokenizer import END_OF_TEXT, Tokenizer


@dataclass(frozen=True)
class _Encoding:
    file: str
    pretokenizer: str
    special_tokens: Mapping[str, int]


def _fim(first: int) -> dict[str, int]:
    return {f"<|fim_{part}|>": first + n for n, part in enumerate(("prefix", "middle", "suffix"))}


def _harmony() -> dict[str, int]:
    named = {
        "<|startoftext|>": 199998,
        "<|endoftext|>": 199999,
        "<|return|>": 200002,
        "<|constrain|>": 200003,
        "<|channel|>": 200005,
        "<|start|>": 200006,
        "<|end|>": 200007,
        "<|message|>": 200008,
        "<|call|>": 200012,
        "<|endofprompt|>": 200018,
    }
    # In tiktoken <|reserved_200018|> is 200018, too; here an id has one text.
    taken = named.values()
    reserved = {f"<|reserved_{n}|>": n for n in range(200000, 201088) if n not in taken}
    return named | reserved


_ENCODINGS: dict[str, _Encoding] = {
    "gpt2": _Encoding("vocab.bpe", "gpt2", {END_OF_TEXT: 50256}),
    "r50k_base": _Encoding("r50k_base", "gpt2", {END_OF_TEXT: 50256}),
    "p50k_base": _Encoding("p50k_base", "gpt2", {END_OF_TEXT: 50256}),
    "p50k_edit": _Encoding("p50k_base", "gpt2", {END_OF_TEXT: 50256, **_fim(50281)}),
    "cl100k_base": _Encoding(
        "cl100k_base",
        "cl100k",
        {END_OF_TEXT: 100257, **_fim(100258), "<|endofprompt|>": 100276},
    ),
    "o200k_base": _Encoding(
        "o200k_base", "o200k", {END_OF_TEXT: 199999, "<|endofprompt|>": 200018}
    ),
    "o200k_harmony": _Encoding("o200k_base", "o200k", _harmony()),
}

ENCODING_NAMES = tuple(_ENCODINGS)
"""The names that ``get_encoding`` takes."""

# A name that ends in * stands for all that begin so. The first that fits counts.
_MODELS: dict[str, str] = {
    "gpt2": "gpt2 gpt-2",
    "o200k_harmony": "gpt-oss-*",
    "o200k_base": "o1 o1-* o3 o3-* o4-mini o4-mini-* gpt-5* gpt-4.5-* gpt-4.1 gpt-4.1-* gpt-4o "
    "gpt-4o-* chatgpt-4o-* ft:gpt-4o*",
    "cl100k_base": "gpt-4 gpt-4-* gpt-3.5 gpt-3.5-turbo gpt-3.5-turbo-* gpt-35-turbo "
    "gpt-35-turbo-* ft:gpt-4* ft:gpt-3.5-turbo* davinci-002 babbage-002 ft:davinci-002* "
    "ft:babbage-002* text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "p50k_base": "text-davinci-002 text-davinci-003 code-davinci-001 code-davinci-002 "
    "code-cushman-001 code-cushman-002 davinci-codex cushman-codex",
    "r50k_base": "davinci curie babbage ada text-davinci-001 text-curie-001 text-babbage-001 "
    "text-ada-001 text-similarity-davinci-001 text-similarity-curie-001 "
    "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
    "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
    "code-search-babbage-code-001 code-search-ada-code-001",
}


def get_encoding(name: str) -> Tokenizer:
    """The tokenizer that tiktoken has by that name.

    Its file is looked for where tiktoken keeps it: in the folder ``TIKTOKEN_CACHE_DIR`` or
    ``DATA_GYM_CACHE_DIR``, else in ``data-gym-cache`` among temporary files. What is not there is
    downloaded and kept; what is there must have the right checksum.

    Raises:
        ConfigError: There is no such encoding.
        MissingFileError: Its file is not there, and cannot be downloaded.
        FileError: It cannot be kept, or what was downloaded is damaged.
    """
    _check_is_str(name, "an encoding")
    if name not in _ENCODINGS:
        msg = f"there is no encoding {name!r}; known are {', '.join(ENCODING_NAMES)}"
        raise ConfigError(msg)
    wanted = _ENCODINGS[name]
    special, cut = wanted.special_tokens, wanted.pretokenizer
    # It loads OpenSSL, which importing lmfast does not wait for.
    from lmfast.published import published_files

    if name == "gpt2":
        with published_files(wanted.file, "encoder.json") as (merges, vocab):
            return Tokenizer(_Core.load_gpt2(vocab, merges, cut, (), special))
    with published_files(wanted.file) as (ranks,):
        return Tokenizer(_Core.load_tiktoken(ranks, cut, special))


def encoding_for_model(model: str) -> Tokenizer:
    """The tokenizer of a model of OpenAI's, by the model's name.

    Raises:
        ConfigError: The model is not known.
        MissingFileError: The file of its encoding is not there, and cannot be downloaded.
    """
    return get_encoding(encoding_name_for_model(model))


def encoding_name_for_model(model: str) -> str:
    """The name of the encoding of a model of OpenAI's.

    Raises:
        ConfigError: The model is not known.
    """
    _check_is_str(model, "a model")
    for encoding, models in _MODELS.items():
        for known in models.split():
            if model == known or (known.endswith("*") and model.startswith(known[:-1])):
                return encoding
    msg = (
        f"there is no encoding on record for the model {model!r}; get_encoding takes one of "
        f"{', '.join(ENCODING_NAMES)}"
    )
    raise ConfigError(msg)


def _check_is_str(name: object, of: str) -> None:
    if not isinstance(name, str):
        msg = f"the name of {of} must be str, not {type(name).__name__}"
        raise InputTypeError(msg)
