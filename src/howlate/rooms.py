"""Finds plug-ins: in their folder, and in the folder of the same name in each room that adds to howlate.

A room is a package that answers one question. It may contain folders named like those of the core or of an
earlier room (`charts`, `cli`, `export`, `formats`, `lab`, `studies`, `targets`), whose files are plug-ins like those
beside which they are listed, and a file `hooks.py`, whose functions howlate calls by name if they exist. Without the
room, howlate offers less and works as before.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = "howlate"
ROOMS = ("verdict", "compare", "lab", "why", "prove", "history", "imports", "published", "notebook")


def folders(package: str) -> dict[str, Path]:
    """The packages that contain a package's plug-ins -> their folders: the package itself and its namesakes."""
    home = Path(__file__).parent
    own = home.joinpath(*package.split(".")[1:])
    found = {f"{PACKAGE}.{room}.{own.name}": home / room / own.name for room in ROOMS}
    return {package: own} | {name: folder for name, folder in found.items() if folder.is_dir()}


def plugins(package: str) -> dict[str, str]:
    """The names of a package's plug-ins, sorted -> their modules. Nothing is imported."""
    found = {
        module.name: f"{name}.{module.name}"
        for name, folder in folders(package).items()
        for module in pkgutil.iter_modules([str(folder)])
        if not module.name.startswith("_")
    }
    return dict(sorted(found.items()))


def docstring(module: str) -> str:
    """The docstring of a plug-in, read without importing it."""
    place = Path(__file__).parent.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def hooks(name: str) -> list[Callable[..., Any]]:
    """The functions of that name in the rooms' hooks.py."""
    home = Path(__file__).parent
    modules = [
        importlib.import_module(f"{PACKAGE}.{room}.hooks")
        for room in ROOMS
        if (home / room / "hooks.py").is_file()
    ]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
