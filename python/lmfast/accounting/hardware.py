"""What devices can do at most: a table with sources, the user's own entries, and measured ones.

An unknown device is unknown: no look-up ever answers with another one's figures.
"""

import dataclasses
import difflib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lmfast.accounting.quantity import Quantity
from lmfast.config import from_dict, load_toml
from lmfast.errors import ConfigError, FileError, HardwareError

ELEMENT_BYTES: dict[str, float] = {
    "fp32": 4,
    "tf32": 4,
    "fp16": 2,
    "bf16": 2,
    "fp8": 1,
    "fp4": 0.5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """FLOP/s of matrix products by the type of their operands; ``None`` is unknown or absent."""

    fp32: float | None = None
    tf32: float | None = None
    fp16: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    fp4: float | None = None

    def of(self, dtype: str) -> float | None:
        """The peak for that type.

        Raises:
            HardwareError: There is no such type.
        """
        if dtype not in ELEMENT_BYTES:
            msg = f"unknown dtype {dtype!r}: known dtypes are {', '.join(ELEMENT_BYTES)}"
            raise HardwareError(msg)
        peak: float | None = getattr(self, dtype)
        return peak

    def to_dict(self) -> dict[str, float]:
        """The known peaks."""
        known = dataclasses.asdict(self)
        return {dtype: peak for dtype, peak in known.items() if peak is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device; a field that is not known is ``None``."""

    name: str
    dense: Peaks
    source: str
    sparse: Peaks = field(default_factory=Peaks)
    """With 2:4 structured sparsity; shown for comparison and used nowhere."""
    memory: float | None = None
    """Bytes, from the vendor's GB of 10⁹."""
    bandwidth: float | None = None
    """Bytes per second between memory and cores."""
    interconnect: float | None = None
    """Bytes per second to other devices, both directions together."""
    watts: float | None = None
    retrieved: str = ""
    note: str = ""
    measured: bool = False
    """Whether the peaks were timed here rather than printed by a vendor."""
    torch_names: tuple[str, ...] = ()
    """Names by which torch knows the device; compared whole."""

    def peak(self, dtype: str) -> Quantity:
        """Dense FLOP/s for operands of that type."""
        kind = "measured here" if self.measured else "dense peak"
        value = self.dense.of(dtype)
        return Quantity(
            name="peak_flops",
            value=value,
            unit="FLOP/s",
            formula=f"{self.name}, {dtype}" if value else f"{self.name} has no known {dtype} peak",
            convention=f"{kind}; {self.source}",
        )

    def ridge(self, dtype: str) -> Quantity:
        """FLOPs per byte above which compute, not memory, is the bound."""
        peak = self.dense.of(dtype)
        known = peak is not None and self.bandwidth is not None
        return Quantity(
            name="ridge",
            value=peak / self.bandwidth if peak is not None and self.bandwidth else None,
            unit="FLOP/byte",
            formula=f"{peak:.4g} FLOP/s / {self.bandwidth:.4g} B/s" if known else "not known",
            convention=f"{self.name}, {dtype}, {'measured' if self.measured else 'dense'}",
        )

    def to_dict(self) -> dict[str, Any]:
        """The entry for JSON."""
        data = dataclasses.asdict(self)
        return data | {"dense": self.dense.to_dict(), "sparse": self.sparse.to_dict()}


def hardware_file() -> Path:
    """The file of the user's own and measured entries.

    It is ``$LMFAST_HARDWARE``, or else ``lmfast/hardware.toml`` in ``$XDG_CONFIG_HOME`` (default:
    ``~/.config``).
    """
    named = os.environ.get("LMFAST_HARDWARE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "lmfast" / "hardware.toml"


def measured_file() -> Path:
    """The file of what was measured here; it lies beside the user's own, and is lmfast's."""
    return hardware_file().with_name("measured.toml")


@cache
def built_in_devices() -> Mapping[str, Device]:
    """The table that comes with lmfast, by key."""
    text = resources.files("lmfast.accounting").joinpath("hardware.toml").read_text("utf-8")
    return _devices(tomllib.loads(text), "hardware.toml")


def known_devices() -> dict[str, Device]:
    """All devices by key; the user's entries add to the table and take precedence.

    Raises:
        ConfigError: The user's file is not TOML or has an entry that does not fit.
    """
    devices = dict(built_in_devices())
    for path in (measured_file(), hardware_file()):
        if path.exists():
            devices |= _devices(load_toml(path), str(path))
    return devices


def store_device(key: str, device: Device) -> Path:
    """Keep a measured entry under ``key``, in place of an older one; the file it went to.

    Raises:
        HardwareError: The key does not consist of letters, digits, ``-``, ``_`` and ``.``.
        FileError: The file cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", key):
        msg = f"cannot store {key!r}: a key is made of letters, digits, '-', '_' and '.'"
        raise HardwareError(msg)
    path = measured_file()
    devices = _devices(load_toml(path), str(path)) if path.exists() else {}
    devices[key] = device
    text = "# Written by lmfast account measure.\n"
    text += "".join(_toml_table(key, entry) for key, entry in devices.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A reader never sees half a file.
        temporary = path.with_suffix(".tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise FileError(msg) from error
    return path


def _toml_table(key: str, device: Device) -> str:
    lines = [f'\n["{key}"]']
    for name, value in device.to_dict().items():
        if isinstance(value, dict):
            pairs = ", ".join(f"{dtype} = {peak!r}" for dtype, peak in value.items())
            lines.append(f"{name} = {{ {pairs} }}")
        elif value is not None:
            # JSON writes texts, numbers, booleans and lists as TOML does.
            lines.append(f"{name} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def find_device(key: str) -> Device:
    """The device of that key, such as ``h100-sxm``.

    Raises:
        HardwareError: There is none; the message names near ones.
    """
    devices = known_devices()
    if key in devices:
        return devices[key]
    near = difflib.get_close_matches(key, devices, n=3, cutoff=0.4)
    hint = f"near are {', '.join(near)}; " if near else ""
    msg = f"unknown hardware {key!r}: {hint}lmfast account hardware lists all"
    raise HardwareError(msg)


def device_of_torch(name: str) -> Device | None:
    """The device that torch calls ``name``; ``None`` when no entry has exactly that name."""
    matches = [device for device in known_devices().values() if name in device.torch_names]
    return matches[-1] if matches else None


def _devices(table: Mapping[str, Any], where: str) -> dict[str, Device]:
    retrieved = table.get("retrieved", "")
    entries = {key: entry for key, entry in table.items() if key != "retrieved"}
    return {key: _device(key, entry, retrieved, where) for key, entry in entries.items()}


def _device(key: str, entry: Any, retrieved: str, where: str) -> Device:  # noqa: ANN401 - of TOML
    if not isinstance(entry, dict):
        msg = f"{where}: {key} = {entry!r} is not usable: it must be a table"
        raise ConfigError(msg)
    settings = {"retrieved": retrieved, **entry}
    names = settings.pop("torch_names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        msg = f"{where}: {key}.torch_names = {names!r} is not usable: it must be a list of names"
        raise ConfigError(msg)
    device = from_dict(Device, settings, f"{where}: {key}.")
    return dataclasses.replace(device, torch_names=tuple(names))
