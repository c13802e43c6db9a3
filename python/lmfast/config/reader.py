"""Fill settings from TOML and ``--set key=value``; unknown keys are refused."""

import contextlib
import dataclasses
import difflib
import json
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lmfast.errors import ConfigError, FileError, MissingFileError

T = TypeVar("T")


def load_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        MissingFileError: There is no such file.
        FileError: It cannot be read.
        ConfigError: It is not TOML; the message has the line.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = f"cannot read the configuration {path}: there is no such file"
        raise MissingFileError(msg) from error
    except OSError as error:
        msg = f"cannot read the configuration {path}: {error.strerror}"
        raise FileError(msg) from error
    # Numbers of thousands of digits and tables of thousands of levels are errors of their own.
    except (ValueError, RecursionError) as error:
        msg = f"cannot read the configuration {path}: {error}"
        raise ConfigError(msg) from error


def apply_overrides(table: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """A copy of ``table`` with each ``a.b=value`` put in its place.

    A value is read as TOML (``3``, ``0.1``, ``true``, ``[0.9, 0.95]``); anything else is taken
    as text, so that ``out=runs/a`` needs no quotes.

    Raises:
        ConfigError: An override is not of the form ``key=value``, or its key runs through a value.
    """
    try:
        result = _copy(table)
    except RecursionError as error:
        msg = "cannot read the settings: their tables lie in each other far too deep"
        raise ConfigError(msg) from error
    for override in overrides:
        key, equals, text = override.partition("=")
        *parents, name = key.strip().split(".")
        if not equals or not name or not all(parents):
            example = "it must be key=value, as in model.n_layer=4"
            msg = f"cannot read the override {override!r}: {example}"
            raise ConfigError(msg)
        target = result
        for parent in parents:
            target = target.setdefault(parent, {})
            if not isinstance(target, dict):
                msg = f"cannot apply the override {override!r}: {parent} is a value, not a table"
                raise ConfigError(msg)
        target[name] = _toml_value(text.strip())
    return result


def from_dict(cls: type[T], table: Mapping[str, Any], where: str = "") -> T:
    """An instance of the settings class ``cls`` from nested tables.

    Raises:
        ConfigError: A key is unknown or missing, or a value has the wrong type.
    """
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known settings: {', '.join(fields)}"
            msg = f"unknown setting {where}{key}; {hint}"
            raise ConfigError(msg)
    for name, field in fields.items():
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if required and name not in table:
            msg = f"missing setting {where}{name}"
            raise ConfigError(msg)
    values = {key: _convert(hints[key], value, where + key) for key, value in table.items()}
    return cls(**values)


def to_dict(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any settings dataclass
    """The settings as nested tables; ``from_dict`` brings them back."""
    return dataclasses.asdict(config)


def to_toml(config: Any) -> str:  # noqa: ANN401 - any settings dataclass
    """The settings as TOML text; unset values are left out."""
    lines: list[str] = []
    tables: list[tuple[str, dict[str, Any]]] = [("", to_dict(config))]
    while tables:
        prefix, table = tables.pop(0)
        if prefix:
            lines += ["", f"[{prefix}]"]
        for key, value in table.items():
            if isinstance(value, dict):
                tables.append((f"{prefix}.{key}" if prefix else key, value))
            elif value is not None:
                lines.append(f"{key} = {_toml_text(value)}")
    return "\n".join(lines) + "\n"


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(v) if isinstance(v, Mapping) else v for key, v in table.items()}


def _toml_text(value: Any) -> str:  # noqa: ANN401 - any value of a settings dataclass
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_text, value))}]"
    if isinstance(value, float):
        return repr(value)  # inf and nan as TOML spells them
    # JSON writes whole numbers, booleans and strings as TOML does, except one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_value(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A text of several lines could hold more than the one value.
    return table["value"] if len(table) == 1 else text


def _convert(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - driven by the hint
    """``value`` as the type that ``hint`` asks for, or a ``ConfigError``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return from_dict(hint, value, f"{where}.")  # type: ignore[arg-type]
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        inner = [argument for argument in arguments if argument is not type(None)]
        return _convert(inner[0], value, where)
    if origin is typing.Literal and value in arguments:
        return value
    if origin is tuple and isinstance(value, list | tuple) and len(value) == len(arguments):
        return tuple(_convert(a, v, where) for a, v in zip(arguments, value, strict=True))
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    if (origin or hint) in (int, str, bool, dict) and type(value) is (origin or hint):
        return value
    msg = f"{where} = {_shown(value)} is not usable: it must be {_describe(hint)}"
    raise ConfigError(msg)


def _shown(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    try:
        text = repr(value)
    except ValueError:  # Python does not write out a number of thousands of digits
        return "a number far too large"
    return text if len(text) <= 80 else text[:77] + "..."


def _describe(hint: Any) -> str:  # noqa: ANN401 - driven by the hint
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(hint)))
    if typing.get_origin(hint) is tuple:
        return f"a list of {len(typing.get_args(hint))} numbers"
    if dataclasses.is_dataclass(hint):
        return "a table"
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    return names.get(hint, str(hint))
