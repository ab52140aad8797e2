"""One kernel on disk: an unpacked package in the cache, or a file of the user's own; its config, and its modes of
preemption."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, UnfitKernelError
from howlate.lab.cache import entry_hash, read_entry
from howlate.lab.kernels.image import MOST_CONFIG
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import Modules
from howlate.lab.problems import UNUSABLE
from howlate.model.kernel_config import Config, parse_config
from howlate.store.files import read_json, write_json
from howlate.words.statement import Statement

LEAVE_OUT = "leave out the parameter"


class Modes(Struct, frozen=True):
    """The preemption modes of a kernel: the built-in one, and those that `preempt=` selects."""

    built: str
    choices: tuple[str, ...]
    because: str
    """Why there are no others, according to the config."""


def modes(config: Config, series: str) -> Modes:
    """The modes that `preempt=` accepts. A kernel that gets another one only logs that and continues."""
    number = tuple(int(part) for part in series.split(".")[:2])
    rt = config.get("CONFIG_PREEMPT_RT") == "y"
    lazy = config.get("CONFIG_ARCH_HAS_PREEMPT_LAZY") == "y"
    built = _built(config)
    if config.get("CONFIG_PREEMPT_DYNAMIC") != "y":
        is_set = next((n for n in _BUILT if config.get(n) == "y"), "none of CONFIG_PREEMPT_*")
        return Modes(built, (), f"its config has no CONFIG_PREEMPT_DYNAMIC and it is built with {is_set}")
    choices: list[str] = []
    if not rt and not (lazy and number >= (7, 0)):
        choices += ["none", "voluntary"]
    choices.append("full")
    if lazy:
        choices.append("lazy")
    why = "its config has CONFIG_PREEMPT_DYNAMIC"
    if rt:
        why += " and CONFIG_PREEMPT_RT, which is never less than full or lazy"
    elif lazy and number >= (7, 0):
        why += " and CONFIG_ARCH_HAS_PREEMPT_LAZY, with which 7.0 and newer have full and lazy only"
    elif not lazy:
        why += " and no CONFIG_ARCH_HAS_PREEMPT_LAZY"
    return Modes(built, tuple(choices), why)


_BUILT = {
    "CONFIG_PREEMPT_RT": "rt",
    "CONFIG_PREEMPT_LAZY": "lazy",
    "CONFIG_PREEMPT": "full",
    "CONFIG_PREEMPT_VOLUNTARY": "voluntary",
    "CONFIG_PREEMPT_NONE": "none",
}


def _built(config: Config) -> str:
    """With CONFIG_PREEMPT_DYNAMIC the built-in mode is the choice of CONFIG_PREEMPT_*; before 5.15 the
    spelling differs."""
    return next((mode for name, mode in _BUILT.items() if config.get(name) == "y"), "")


def check_parameters(label: Label, config: Config | None, version: str) -> None:
    """Refuse a mode of preemption that this kernel does not have, with the reason from its config.

    `version` is the kernel's own (uname -r), because the label of a user's own kernel does not contain it.
    """
    for word in label.parameters:
        name, _, value = word.partition("=")
        if name != "preempt":
            continue
        if config is None:
            reason = f"without a config it is unknown whether the kernel has {word}"
            hint = f"{LEAVE_OUT}, or put the config into the kernel's folder"
            raise UnfitKernelError(UNUSABLE(what=label, reason=reason, hint=hint))
        have = modes(config, version)
        if value not in have.choices:
            choices = ", ".join(have.choices) or "no choice of preemption"
            reason = f"it has {choices}, because {have.because}"
            raise UnfitKernelError(UNUSABLE(what=label, reason=reason, hint=LEAVE_OUT))


RECORD = "kernel.json"
VMLINUZ, CONFIG, SYSTEM_MAP, MODULES = "vmlinuz", "config", "System.map", "modules"
VMLINUX = "vmlinux"
"""An unpacked kernel, for amd64."""


class Kernel(Struct, frozen=True, dict=True):
    """A kernel that can be booted, and what is known about it."""

    label: Label
    """Without parameters, and without the version: `6.1-rt@arm64`."""
    release: str
    """The output of `uname -r` in the guest; "" if the file does not tell it."""
    vmlinuz: Path
    """What QEMU boots: a bzImage (amd64) or an uncompressed Image (arm64)."""
    vmlinuz_sha256: str
    config_path: Path | None = None
    """None if the archive no longer has its config, or a kernel of the user's own has no config file."""
    modules_path: Path | None = None
    package: str = ""
    version: str = ""
    suite: str = ""
    packages: tuple[dict[str, str], ...] = ()
    """Name, version, architecture, sha256 and address of all packages from which it was unpacked."""
    tree: Path | None = None
    """Of a kernel of the user's own: the build tree in which its file stands."""

    @property
    def name(self) -> str:
        """`6.1-rt@arm64`; with boot parameters: `kernel.label.with_parameters(...)`."""
        return str(self.label)

    @property
    def pinned(self) -> Label:
        """The label that permanently means this package: `6.1=6.1.192-2`."""
        return self.label if self.label.own else replace(self.label, version=self.version)

    @property
    def arch(self) -> str:
        return self.label.arch

    @cached_property
    def config(self) -> Config:
        """CONFIG_X -> value; empty if the config is missing (see config_path)."""
        if self.config_path is None:
            return {}
        return parse_config(read_entry(self.config_path, MOST_CONFIG).decode("utf-8", errors="replace"))

    @cached_property
    def checked_sha256(self) -> str:
        """The hash of the file that is booted; DamagedError if it differs from the fetched one."""
        try:
            digest = entry_hash(self.vmlinuz)
        except OSError as error:
            raise DamagedError(self._changed(error.strerror)) from None
        if digest != self.vmlinuz_sha256:
            raise DamagedError(self._changed("its content has changed"))
        return digest

    def _changed(self, reason: str | None) -> Statement:
        again = "call the command again" if self.label.own else "fetch the kernel again"
        hint = f"remove {self.vmlinuz.parent} and {again}"
        why = f"it is not the kernel {self.pinned}: {reason}"
        return UNUSABLE(what=self.vmlinuz, reason=why, hint=hint)

    @property
    def modes(self) -> Modes | None:
        """The modes of preemption it has; None without a config."""
        return None if self.config_path is None else modes(self.config, self._number)

    def check(self, label: Label) -> None:
        check_parameters(label, None if self.config_path is None else self.config, self._number)

    @property
    def modules(self) -> Modules:
        """The unpacked modules; none for a kernel of the user's own."""
        return Modules({}) if self.modules_path is None else Modules.read(self.modules_path)

    def module_files(self, name: str) -> tuple[Path, ...]:
        order = self.modules.order(name)
        assert self.modules_path is not None
        return tuple(self.modules_path / f"{needed}.ko" for needed in order)

    @property
    def _number(self) -> str:
        known = self.release if self.label.own else self.label.series
        parts = known.split(".")
        return ".".join(parts[:2]) if len(parts) >= 2 and all(p.isdigit() for p in parts[:2]) else "0.0"

    def write(self, folder: Path) -> None:
        """Write kernel.json, with paths relative to it."""
        values: dict[str, Any] = {
            "schema": 1,
            "label": str(self.label),
            "release": self.release,
            "vmlinuz_sha256": self.vmlinuz_sha256,
            "package": self.package,
            "version": self.version,
            "suite": self.suite,
            "packages": list(self.packages),
        }
        write_json(folder / RECORD, values)

    @classmethod
    def read(cls, folder: Path) -> Kernel:
        values = read_json(folder / RECORD, f"remove {folder} and fetch the kernel again")

        def there(name: str) -> Path | None:
            return folder / name if (folder / name).exists() else None

        try:
            return cls(
                label=Label.parse(values["label"]),
                release=values["release"],
                vmlinuz=folder / VMLINUZ,
                vmlinuz_sha256=values["vmlinuz_sha256"],
                config_path=there(CONFIG),
                modules_path=there(MODULES),
                package=values["package"],
                version=values["version"],
                suite=values["suite"],
                packages=tuple(values["packages"]),
            )
        except (KeyError, TypeError) as error:
            raise DamagedError(
                UNUSABLE(what=folder / RECORD, reason=error, hint=f"remove {folder} and fetch it again")
            ) from None
