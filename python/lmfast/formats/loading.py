"""A file or a folder to a tokenizer; what kind of file it is, its content says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from lmfast._lmfast import Tokenizer as _Core
from lmfast.errors import FileError, InputTypeError, MissingFileError, VocabularyError
from lmfast.formats.pretokenizers import named_for
from lmfast.formats.roles import listed_tokens, roles_beside

SpecialArgument: TypeAlias = Mapping[str, int] | Sequence[str] | None
Kind: TypeAlias = Literal["tokenizer.json", "tekken.json", "tiktoken", "gpt2"]

TOKENIZER_FILE = "tokenizer.json"
"""The name of a tokenizer in a folder of shards or of a run."""
_TEKKEN_FILE = "tekken.json"
_GPT2_FILES = ("vocab.json", "merges.txt")


def load_core(
    path: Path, pretokenizer: str | None, special_tokens: SpecialArgument
) -> tuple[_Core, dict[str, str]]:
    """The tokenizer at ``path``, and the roles of its special tokens.

    Raises:
        MissingFileError: There is no such file, or none in the folder.
        VocabularyError: It cannot be read, or the arguments do not fit it.
    """
    file, kind = file_at(path)
    if kind == "gpt2":
        core = _load_gpt2(file, pretokenizer, special_tokens)
    elif kind == "tiktoken":
        ids = _with_ids(special_tokens, file)
        core = _Core.load_tiktoken(file, named_for(file, pretokenizer), ids)
    else:
        if pretokenizer is not None or special_tokens is not None:
            msg = f"{file} holds its own pretokenizer and special tokens; load it without them"
            raise VocabularyError(msg)
        load = _Core.load_json if kind == "tokenizer.json" else _Core.load_tekken
        core = load(file)
    folder = path if path.is_dir() else path.parent
    return core, roles_beside(folder, core)


def file_at(path: Path) -> tuple[Path, Kind]:
    """The tokenizer file at ``path``, and its kind; for GPT-2's two files their folder.

    Raises:
        MissingFileError: There is none.
        FileError: The folder cannot be read.
        VocabularyError: It is none that can be read.
    """
    try:
        file = _file_in(path) if path.is_dir() else path
        if file.is_dir():
            return file, "gpt2"
    except MissingFileError:
        raise
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise FileError(msg) from error
    kind: Kind = _Core.kind_of_file(file)
    if kind == "gpt2":
        if file.name not in _GPT2_FILES:
            names = " and ".join(_GPT2_FILES)
            msg = (
                f"cannot load {file}: it is one of GPT-2's two files, which are read together: "
                f"name them {names}, and pass their folder"
            )
            raise VocabularyError(msg)
        file = file.parent
    return file, kind


def _file_in(folder: Path) -> Path:
    """The file to read; the folder itself where it holds GPT-2's."""
    for name in (TOKENIZER_FILE, _TEKKEN_FILE):
        if (folder / name).exists():
            return folder / name
    if any((folder / name).exists() for name in _GPT2_FILES):
        return folder
    ranks = sorted(folder.glob("*.tiktoken"))
    if len(ranks) > 1:
        names = ", ".join(file.name for file in ranks)
        msg = f"{folder} holds several vocabularies, {names}: pass one of the files"
        raise VocabularyError(msg)
    model = folder / "tokenizer.model"
    if not ranks and not model.exists():
        known = f"{TOKENIZER_FILE}, {_TEKKEN_FILE}, vocab.json with merges.txt, or *.tiktoken"
        msg = f"cannot find a tokenizer in {folder}: there is no {known}"
        raise MissingFileError(msg)
    return ranks[0] if ranks else model


def _load_gpt2(folder: Path, pretokenizer: str | None, special_tokens: SpecialArgument) -> _Core:
    cut = named_for(folder, pretokenizer)
    vocab, merges = (folder / name for name in _GPT2_FILES)
    if special_tokens is None:
        names, ids = listed_tokens(folder)
        return _Core.load_gpt2(vocab, merges, cut, names, ids)
    core = _Core.load_gpt2(vocab, merges, cut, special_tokens, {})
    found = dict(core.special_tokens)
    if isinstance(special_tokens, Mapping) and found != dict(special_tokens):
        msg = (
            f"{folder} gives special tokens other ids than those asked for: "
            f"{found}, not {dict(special_tokens)}"
        )
        raise VocabularyError(msg)
    return core


def _with_ids(special_tokens: SpecialArgument, path: Path) -> Mapping[str, int]:
    if special_tokens is None:
        return {}
    if not isinstance(special_tokens, Mapping):
        found = type(special_tokens).__name__
        msg = f"{path} holds no special tokens: special_tokens must be a dict of ids, not {found}"
        raise InputTypeError(msg)
    return special_tokens
