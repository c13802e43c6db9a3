"""Published tokenizers from the Hugging Face hub, or from its cache."""

from pathlib import Path

from lmfast.errors import FileError, MissingFileError, needed_by

_FILES = [
    "tokenizer.json",
    "tekken.json",
    "vocab.json",
    "merges.txt",
    "*.tiktoken",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
]


def fetch(
    name: str,
    revision: str | None,
    token: str | bool | None,
    cache_dir: Path | None,
    local_files_only: bool,
) -> Path:
    """The folder with the tokenizer files of ``name``, downloaded where the cache lacks them.

    Raises:
        MissingDependencyError: huggingface_hub is not installed.
        MissingFileError: There is no such repository, or it cannot be had.
        FileError: The cache cannot be written.
    """
    with needed_by(f"{name!r} is no folder, and to fetch it", "install lmfast[hub]"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            token=token,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            allow_patterns=_FILES,
        )
    except HFValidationError as error:
        msg = f"{name!r} is neither a folder nor a name such as 'org/model': {error}"
        raise MissingFileError(msg) from error
    except (OSError, ValueError) as error:
        # The hub's errors are both, by the reason: not found, not allowed, not connected.
        if isinstance(error, PermissionError):
            msg = f"cannot write the tokenizer of {name!r} into the cache: {error}"
            raise FileError(msg) from error
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        msg = (
            f"cannot fetch the tokenizer of {name!r}: {reason} (without a network, put its "
            "tokenizer.json into a folder, and pass that)"
        )
        raise MissingFileError(msg) from error
    return Path(folder)
