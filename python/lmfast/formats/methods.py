"""The methods by which a tokenizer is had from somewhere and handed on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from lmfast._lmfast import Tokenizer as _Core
from lmfast.checks import as_path
from lmfast.errors import ConfigError, FileError
from lmfast.files import write_whole
from lmfast.formats import hub, live
from lmfast.formats.loading import TOKENIZER_FILE, SpecialArgument, load_core
from lmfast.formats.pretokenizers import pretokenizer_argument
from lmfast.formats.roles import CONFIG_FILE, Roles, read_json_object
from lmfast.sources import StrPath

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    import transformers

FileFormat = Literal["huggingface", "tiktoken", "gpt2"]


class FileMethods:
    """What ``Tokenizer`` can do with files, caches and other libraries."""

    __slots__ = ()

    _core: _Core
    roles: Roles

    if TYPE_CHECKING:

        def __init__(self, core: _Core, *, roles: Roles | None = None) -> None: ...

    @classmethod
    def load(
        cls,
        path: StrPath,
        pretokenizer: str | None = None,
        special_tokens: SpecialArgument = None,
    ) -> Self:
        """The tokenizer in a file or folder; what kind of file it is, its content says.

        Args:
            path: A ``tokenizer.json``; Mistral's ``tekken.json``; a file of ranks (``.tiktoken``,
                or Llama 3's ``tokenizer.model``); or a folder that holds one of them, or GPT-2's
                ``vocab.json`` and ``merges.txt``. From the files of transformers beside it come the
                roles of special tokens and, for GPT-2's files, the special tokens.
            pretokenizer: For ranks and GPT-2's files, which do not say how text is cut: a name in
                ``PRETOKENIZERS``, a regular expression, or ``"none"``.
            special_tokens: For the same formats. With ids for ranks; for GPT-2's files their
                names, which ``vocab.json`` lists with their ids.

        Raises:
            MissingFileError: There is no such file.
            VocabularyError: The file is not a byte-level BPE vocabulary, or the arguments do not
                fit its format.
        """
        core, roles = load_core(as_path(path), pretokenizer, special_tokens)
        return cls(core, roles=roles)

    @classmethod
    def from_pretrained(
        cls,
        name_or_folder: StrPath,
        revision: str | None = None,
        token: str | bool | None = None,
        cache_dir: StrPath | None = None,
        local_files_only: bool = False,
        *,
        pretokenizer: str | None = None,
    ) -> Self:
        """The tokenizer of a model on the Hugging Face hub, or in a folder.

        The extra ``lmfast[hub]`` fetches it. Its cache, its settings (``HF_HOME``,
        ``HF_HUB_OFFLINE``) and its tokens are those of huggingface_hub.

        Args:
            name_or_folder: ``"org/model"``, or a folder.
            revision: A branch, a tag or a commit; None is the main branch.
            token: For models that are not open to all; None is the one that is logged in.
            cache_dir: Where files are kept; None is huggingface_hub's own place.
            local_files_only: Look into the cache alone.
            pretokenizer: As in ``load``, for the formats that do not say.

        Raises:
            MissingFileError: There is no such model, or it cannot be had.
            MissingDependencyError: It is no folder, and huggingface_hub is not installed.
            VocabularyError: Its tokenizer is not byte-level BPE.
        """
        folder = as_path(name_or_folder)
        if not folder.exists():
            cache = None if cache_dir is None else as_path(cache_dir)
            name = os.fspath(name_or_folder)
            folder = hub.fetch(name, revision, token, cache, local_files_only)
        return cls.load(folder, pretokenizer)

    @classmethod
    def from_ranks(
        cls,
        mergeable_ranks: Mapping[bytes, int],
        pretokenizer: str | None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Self:
        """The tokenizer of tiktoken's arguments: ``mergeable_ranks`` maps bytes to ids.

        Raises:
            VocabularyError: Ids or bytes clash, or a single byte is missing.
        """
        specials = {} if special_tokens is None else special_tokens
        cut = pretokenizer_argument(pretokenizer)
        return cls(_Core.from_ranks(mergeable_ranks, cut, specials))

    @classmethod
    def from_tiktoken(cls, encoding: tiktoken.Encoding) -> Self:
        """The tokenizer that gives the ids of ``encoding``.

        Text that its pattern does not match is kept, where tiktoken drops it.

        Raises:
            InputTypeError: It is not a ``tiktoken.Encoding``.
        """
        return cls(live.core_of_tiktoken(encoding))

    @classmethod
    def from_huggingface(
        cls, tokenizer: tokenizers.Tokenizer | transformers.PreTrainedTokenizerFast
    ) -> Self:
        """The tokenizer that gives the ids of ``tokenizer``.

        Raises:
            InputTypeError: It is neither of ``tokenizers`` nor a fast one of transformers.
            VocabularyError: It is not byte-level BPE, or does what lmfast does not.
        """
        core, roles = live.core_of_hugging_face(tokenizer)
        return cls(core, roles=roles)

    def to_tiktoken(self, name: str = "lmfast") -> tiktoken.Encoding:
        """The same tokenizer as a ``tiktoken.Encoding``, called ``name``.

        Raises:
            VocabularyError: tiktoken has no exact counterpart: merges that do not follow from the
                order of the ids, a normal form, added tokens that are not special, no pattern.
            MissingDependencyError: tiktoken is not installed.
        """
        return live.to_tiktoken(self._core, name)

    def to_huggingface(self) -> tokenizers.Tokenizer:
        """The same tokenizer as a ``tokenizers.Tokenizer``, which always finds special tokens.

        Raises:
            VocabularyError: Hugging Face has no exact counterpart.
            MissingDependencyError: tokenizers is not installed.
        """
        return live.to_hugging_face(self._core)

    def to_transformers(self) -> transformers.PreTrainedTokenizerFast:
        """The same tokenizer as transformers wraps it, with the roles of its special tokens.

        Raises:
            VocabularyError: Hugging Face has no exact counterpart.
            MissingDependencyError: transformers is not installed.
        """
        return live.to_transformers(self._core, self.roles)

    def save(self, path: StrPath, format: FileFormat = "huggingface") -> None:
        """Write the tokenizer, whole or not at all.

        Args:
            path: The file; for ``gpt2`` the folder.
            format: ``huggingface`` is a ``tokenizer.json`` and holds everything. ``tiktoken`` holds
                ranks alone, ``gpt2`` (``vocab.json`` and ``merges.txt``) no pretokenizer: what is
                missing must be given to ``load``.

        Raises:
            ConfigError: There is no such format, or a ``tokenizer.json`` would be called
                ``.tiktoken``.
            FileError: The file cannot be written.
            VocabularyError: The format cannot hold this tokenizer.
        """
        save = {
            "huggingface": self._core.save_json,
            "tiktoken": self._core.save_tiktoken,
            "gpt2": self._core.save_gpt2,
        }
        if format not in save:
            msg = f"there is no tokenizer format {format!r}; known are {', '.join(save)}"
            raise ConfigError(msg)
        if format == "huggingface":
            check_name(as_path(path))
        save[format](path)

    def save_pretrained(self, folder: StrPath) -> None:
        """Write what transformers' ``AutoTokenizer`` and ``from_pretrained`` load into ``folder``.

        That is a ``tokenizer.json`` and a ``tokenizer_config.json``; settings in one that is there,
        such as a chat template, stay.

        Raises:
            FileError: The folder cannot be written.
            VocabularyError: The ``tokenizer_config.json`` that is there cannot be read.
        """
        target = as_path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"cannot make the folder {target}: {error.strerror}"
            raise FileError(msg) from error
        config: dict[str, Any] = {
            "clean_up_tokenization_spaces": False,
            **read_json_object(target / CONFIG_FILE),
            "tokenizer_class": "PreTrainedTokenizerFast",
            **self.roles,
        }
        self._core.save_json(target / TOKENIZER_FILE)
        text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        write_whole(target / CONFIG_FILE, text.encode())

    @property
    def bos_token(self) -> str | None:
        """The token that begins a text, if the files said which one does."""
        return self.roles.get("bos_token")

    @property
    def eos_token(self) -> str | None:
        """The token that ends a text, if the files said which one does."""
        return self.roles.get("eos_token")

    @property
    def pad_token(self) -> str | None:
        """The token that fills up short texts, if the files said which one does."""
        return self.roles.get("pad_token")


def check_name(path: Path) -> None:
    """Refuse to give a ``tokenizer.json`` the name of a file of ranks.

    Raises:
        ConfigError: ``path`` ends in ``.tiktoken``.
    """
    if path.suffix.lower() == ".tiktoken":
        msg = (
            f"cannot write a tokenizer.json to {path}: its name says tiktoken's ranks, which "
            "save(path, 'tiktoken') and 'lmfast tokenizer convert --to tiktoken' write"
        )
        raise ConfigError(msg)
