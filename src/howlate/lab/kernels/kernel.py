"""One kernel on disk: an unpacked package in the cache, or a file of the user's own."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError
from howlate.lab.cache import entry_hash, read_entry
from howlate.lab.kernels.config import Modes, check_parameters, modes
from howlate.lab.kernels.image import MOST_CONFIG
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import Modules
from howlate.lab.problems import UNUSABLE
from howlate.model.kernel_config import Config, parse_config
from howlate.store.files import read_json, write_json
from howlate.words.statement import Statement

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
