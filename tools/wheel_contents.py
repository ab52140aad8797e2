"""What a wheel holds beside the Python package: the static probes and a library for the lab's QEMU, the sources of
the kernel modules, settings.toml.

A build hook of hatchling (`./dev wheel`). The probes are taken from build/cross/, where all of them have to be; where
$HOWLATE_WHEEL_PROBES names another folder, those that are in it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ARCHITECTURES = ("x86_64", "aarch64", "armv7", "riscv64")
PROBE = "howlate-probe"
CLOCK, TRACE = "howlate-clock.so", "howlate-trace.so"
"""For the QEMU of the lab."""


def contents(root: Path, environment: dict[str, str]) -> dict[str, str]:
    """Files of the checkout -> where they are in the wheel. SystemExit with a sentence where a probe is not built."""
    other_folder = environment.get("HOWLATE_WHEEL_PROBES")
    folder = Path(other_folder) if other_folder else root / "build" / "cross"
    built = [
        name
        for name in ARCHITECTURES
        if os.access(folder / name / PROBE, os.X_OK)
        and all((folder / name / file).is_file() for file in (CLOCK, TRACE))
    ]
    absent = [name for name in ARCHITECTURES if name not in built]
    if absent if not other_folder else not built:
        raise SystemExit(
            f"howlate: a wheel holds static probes, and there is none in {folder} for {', '.join(absent)}. "
            "`./dev wheel` builds them and the wheel. To use howlate from this checkout, install nothing and call "
            "./howlate"
        )
    probes = {
        str(folder / name / file): f"howlate/probes/{name}/{file}"
        for name in built
        for file in (PROBE, CLOCK, TRACE)
    }
    modules = {str(path): f"howlate/kmod/{path.name}" for path in sorted((root / "kmod").iterdir())}
    return {**probes, **modules, str(root / "settings.toml"): "howlate/settings.toml"}


class WheelContents(BuildHookInterface):  # type: ignore[misc]
    """Called by hatchling before it writes the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"].update(contents(Path(self.root), dict(os.environ)))
