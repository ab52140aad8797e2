"""Finds plug-ins: in their folder, and in the folder of the same name in each room that adds to howlate.

A room is a package that answers one question. It may contain folders named like those of the core or of an
earlier room (`charts`, `cli`, `export`, `formats`, `lab`, `studies`, `targets`), whose files are plug-ins like those
with which they are listed, and a file `hooks.py`, whose functions howlate calls by name if they exist. Without the
room, howlate offers less and works as before. An installed package that declares an entry point of the group
`howlate.rooms` is a room as well (docs/build-on-it.md); one that cannot be used is named in a warning.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import pkgutil
import re
import shlex
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

PACKAGE = "howlate"
GROUP = "howlate.rooms"
_OF_NO_RESULT = ("cli", "export", "lab", "hooks")
ROOMS = ("verdict", "compare", "lab", "why", "prove", "history", "imports", "published", "notebook")


class RoomWarning(UserWarning):
    """About an installed package that cannot be used."""


class OutsideRoom(Struct, frozen=True):
    """A package that adds to howlate, and the installed distribution that declares it."""

    package: str
    folder: Path
    distribution: str

    @property
    def remedy(self) -> str:
        uninstall = shlex.join([sys.executable, "-m", "pip", "uninstall", self.distribution])
        return f"update it, or remove it: {uninstall}"

    def unusable(self, problem: object) -> str:
        return f"the package {self.distribution} extends howlate and cannot be used: {problem}"

    def warn(self, problem: object) -> None:
        """Once; Python forgets what it has printed when a library changes the filters of warnings."""
        sentence = self.unusable(problem)
        end = "" if sentence[-1] in ".?!" else "."
        advice = f"{self.remedy[0].upper()}{self.remedy[1:]}."
        shown = "".join(
            sign if sign.isprintable() else ascii(sign)[1:-1] for sign in f"{sentence}{end} {advice}"
        )
        _warn_once(shown)


@functools.cache
def _warn_once(shown: str) -> None:
    warnings.warn(shown, RoomWarning, stacklevel=1)


@functools.cache
def outside() -> dict[str, OutsideRoom]:
    """The rooms of installed packages, by the names of their modules."""
    declaring = _declaring()
    if not declaring:  # the library that reads entry points takes longer to import than most commands
        return {}
    from importlib.metadata import Distribution

    declared: list[tuple[str, OutsideRoom]] = []
    for name, folder in declaring.items():
        room = OutsideRoom("", folder, name)
        try:
            entries = Distribution.at(folder).entry_points.select(group=GROUP)
        except Exception as problem:
            room.warn(problem_text(problem))
            continue
        for entry in entries:
            package = ""
            with suppress(AttributeError, ValueError):  # of a value that no module can have as its name
                package = entry.module
            declared.append((entry.value, replace(room, package=package)))
    found = {}
    for value, room in sorted(declared, key=lambda each: each[0]):
        try:
            spec = importlib.util.find_spec(room.package) if room.package else None
            place = next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None
        except (Exception, SystemExit) as problem:
            room.warn(problem_text(problem))
            continue
        if place is None:
            room.warn(f'there is no package "{value}"')
            continue
        found[room.package] = replace(room, folder=Path(place))
    return found


def _declaring() -> dict[str, Path]:
    """The installed distributions whose entry points name the group -> the first folder of each on the path."""
    folders: dict[str, Path] = {}
    for folder in (folder for path in sys.path for folder in Path(path).glob("*-info")):
        folders.setdefault(re.sub(r"[-_.]+", "-", folder.stem.partition("-")[0]).lower(), folder)
    found = {}
    for name, folder in folders.items():
        with suppress(OSError):
            if GROUP.encode() in (folder / "entry_points.txt").read_bytes():
                found[name] = folder
    return found


def problem_text(problem: BaseException) -> str:
    """In one line."""
    return ": ".join((type(problem).__name__, *str(problem).splitlines()[:1]))


def folders(package: str) -> dict[str, Path]:
    """The packages that contain a package's plug-ins -> their folders: the package itself and its namesakes."""
    home = Path(__file__).parent
    own = home.joinpath(*package.split(".")[1:])
    found = {f"{PACKAGE}.{room}.{own.name}": home / room / own.name for room in ROOMS}
    found |= {f"{name}.{own.name}": room.folder / own.name for name, room in outside().items()}
    return {package: own} | {name: folder for name, folder in found.items() if folder.is_dir()}


def plugins(package: str) -> dict[str, str]:
    """The names of a package's plug-ins, sorted -> their modules. Nothing is imported. None from outside takes the
    place of another."""
    found: dict[str, str] = {}
    for name, folder in folders(package).items():
        for module in pkgutil.iter_modules([str(folder)]):
            if module.name in found and (room := room_of(name)) is not None:
                room.warn(f"{name}.{module.name} has the name of {found[module.name]}")
            elif not module.name.startswith("_"):
                found[module.name] = f"{name}.{module.name}"
    return dict(sorted(found.items()))


def room_of(module: str) -> OutsideRoom | None:
    return next((room for room in outside().values() if module.startswith(f"{room.package}.")), None)


def docstring(module: str) -> str:
    """The docstring of a plug-in, read without importing it."""
    room = room_of(module)
    home, package = (room.folder, room.package) if room is not None else (Path(__file__).parent, PACKAGE)
    place = home.joinpath(*module.removeprefix(f"{package}.").split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    try:
        return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    except (OSError, SyntaxError, ValueError) as problem:
        if room is None:
            raise
        room.warn(problem_text(problem))
        return ""


Plugin = TypeVar("Plugin")


def load(module: str, name: str, kind: type[Plugin] | tuple[type[Plugin], ...]) -> Plugin:
    """What a plug-in's file defines under this name."""
    found = getattr(importlib.import_module(module), name)
    if not isinstance(found, kind):
        raise TypeError(f"{name} of {module} is of another type")
    return found


def every_plugin(package: str, name: str, kind: type[Plugin] | tuple[type[Plugin], ...]) -> list[Plugin]:
    """The same of each file, without those from outside that cannot be used."""
    found = []
    for module in plugins(package).values():
        try:
            found.append(load(module, name, kind))
        except (Exception, SystemExit) as problem:
            if (room := room_of(module)) is None:
                raise
            room.warn(problem_text(problem))
    return found


def later(module: str, name: str) -> Callable[..., Any]:
    """A hook of a room: what a module of it has under this name, which is imported when the hook is called."""

    def hook(*arguments: Any) -> Any:
        found = getattr(importlib.import_module(module), name)
        return found(*arguments) if callable(found) else found

    return hook


def modules_in(package: str, without: str = "") -> Callable[[], tuple[str, ...]]:
    """The hook `modules_of_results` of a room: its modules, without commands, exporters, the lab, and those named."""
    left_out = re.compile("|".join(rf"{package}\.{name}" for name in (*_OF_NO_RESULT, *without.split())))

    def hook() -> tuple[str, ...]:
        every = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        return tuple(each.name for each in every if not left_out.match(each.name))

    return hook


def hooks(name: str) -> list[Callable[..., Any]]:
    """The functions of that name in the rooms' hooks.py."""
    home = Path(__file__).parent
    modules = [
        importlib.import_module(f"{PACKAGE}.{room}.hooks")
        for room in ROOMS
        if (home / room / "hooks.py").is_file()
    ]
    modules += _hooks_from_outside()
    return [getattr(module, name) for module in modules if hasattr(module, name)]


@functools.cache
def _hooks_from_outside() -> list[ModuleType]:
    """Each is executed once, also one that fails, which Python would execute again."""
    modules = []
    for package, room in outside().items():
        if (room.folder / "hooks.py").is_file():
            try:
                modules.append(importlib.import_module(f"{package}.hooks"))
            except (Exception, SystemExit) as problem:
                room.warn(problem_text(problem))
    return modules
