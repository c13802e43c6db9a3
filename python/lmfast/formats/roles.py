"""What the special tokens of a published tokenizer are for, as the files beside it say."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lmfast._lmfast import Tokenizer as _Core
from lmfast.errors import VocabularyError

Roles: TypeAlias = Mapping[str, str]
"""The text of the token for each role that has one."""

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""The names by which transformers knows them."""
CONFIG_FILE = "tokenizer_config.json"
_MAP_FILE = "special_tokens_map.json"


def roles_beside(folder: Path, core: _Core) -> dict[str, str]:
    """The roles that the files in ``folder`` give to tokens that there are.

    Raises:
        VocabularyError: One of the files is not JSON.
    """
    said: dict[str, Any] = {}
    for name in (_MAP_FILE, CONFIG_FILE):
        said |= read_json_object(folder / name)
    return known_roles(said, core)


def known_roles(said: Mapping[str, Any], core: _Core) -> dict[str, str]:
    """The roles in ``said``, whose tokens may be plain text or hold it as ``content``."""
    added = {text for text, _, _ in core.added_tokens}
    texts = {role: _text(said.get(role)) for role in ROLES}
    return {role: text for role, text in texts.items() if text in added}


def listed_tokens(folder: Path) -> tuple[list[str], dict[str, int]]:
    """The special tokens that the files beside GPT-2's name, and those that they give ids.

    Raises:
        VocabularyError: One of the files is not JSON, or an id is not a number.
    """
    names = read_json_object(folder / _MAP_FILE)
    config = read_json_object(folder / CONFIG_FILE)
    more = names.get("additional_special_tokens")
    values = [*(names.get(role) for role in ROLES), *(more if isinstance(more, list) else [])]
    ids: dict[str, int] = {}
    for text, token_id in read_json_object(folder / "added_tokens.json").items():
        ids[text] = _number(token_id, folder / "added_tokens.json")
    decoder = config.get("added_tokens_decoder")
    for number, token in decoder.items() if isinstance(decoder, dict) else ():
        content = _text(token)
        if content is not None:
            ids[content] = _number(number, folder / CONFIG_FILE)
    texts = dict.fromkeys(text for text in map(_text, values) if text)
    return [text for text in texts if text not in ids], ids


def read_json_object(path: Path) -> dict[str, Any]:
    """What a small file of JSON holds; nothing where there is no file.

    Raises:
        VocabularyError: It is not JSON, or not an object.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        msg = f"cannot read {path}: {error}"
        raise VocabularyError(msg) from error
    if not isinstance(found, dict):
        msg = f"cannot read {path}: it holds a {type(found).__name__}, not an object of JSON"
        raise VocabularyError(msg)
    return found


def _text(token: object) -> str | None:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def _number(token_id: object, path: Path) -> int:
    if isinstance(token_id, int) and not isinstance(token_id, bool):
        return token_id
    if isinstance(token_id, str) and token_id.isdecimal():
        return int(token_id)
    msg = f"cannot read {path}: {token_id!r} is not the id of a token"
    raise VocabularyError(msg)
