"""Settings: defaults of tests, loads, lab and target, read in turn from several files; later files override
earlier ones (docs/settings.md). Each value knows the file that it came from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from howlate.errors import UsageError
from howlate.model.decode import Table, parse_toml, read_text
from howlate.model.study import Value, scalar
from howlate.words.statement import message

ANOTHERS = message(
    "settings.anothers",
    "{file} belongs to another user or may be written by any, and would decide what is measured and where",
    remedy="call howlate in another folder, or make the file your own: chown -h $(id -u) {file:shell}; "
    "chmod o-w {file:shell}",
)

LAB, LOADS, TARGETS = "lab", "loads", "targets"
OF_LAB = {"seeds": "count", "jobs": "count"}
OF_TARGETS = ("default",)
FILE = "settings.toml"
PROGRAM = "howlate's settings.toml"
"""The name of the program's own file, wherever it is installed."""


class Setting(Struct, frozen=True):
    """A value and the file that contains it."""

    value: Value
    place: str


class Settings(Struct, frozen=True):
    """The settings that were read. The names of tests, parameters and loads are checked when the probe's list
    is known (plan/defaults.py)."""

    tests: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    loads: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    lab: Mapping[str, Setting] = field(default_factory=dict)
    targets: Mapping[str, Setting] = field(default_factory=dict)

    def count(self, name: str) -> int:
        """An integer of [lab]; 0 if it is not set."""
        setting = self.lab.get(name)
        return int(str(setting.value)) if setting is not None else 0

    def target(self) -> str:
        """The target if --target does not give one."""
        setting = self.targets.get("default")
        return str(setting.value) if setting is not None else "local"


def places(program: Path, environment: Mapping[str, str], working: Path) -> tuple[Path, ...]:
    """The places of settings files, in order: the program's folder, the user's, the working folder."""
    base = environment.get("XDG_CONFIG_HOME") or ""
    if not base.startswith("/"):  # according to the XDG specification a relative path is invalid
        home = environment.get("HOME") or ""
        base = f"{home}/.config" if home else ""
    user = (Path(base) / "howlate" / FILE,) if base else ()
    return (program / FILE, *user, working / "howlate.toml")


def read_settings(files: Iterable[Path]) -> Settings:
    """The settings of the existing files, the program's first; later ones override earlier ones. UsageError
    names file and place."""
    settings = Settings()
    for number, file in enumerate(files):
        try:
            there = file.exists()
        except OSError:
            there = False  # in a folder that this user may not search
        if there:
            name, check = (str(file), partial(_must_be_own, file)) if number else (PROGRAM, None)
            text = read_text(file, UsageError, check)
            settings = over(settings, decode_settings(parse_toml(text, name)))
    return settings


def _must_be_own(file: Path, opened: os.stat_result) -> None:
    """UsageError for a file, or a link to it, of another user than root, the caller, or whoever called sudo, and for
    a file that any user may write to."""
    users = {0, os.geteuid()}
    behind_sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and behind_sudo.isdecimal():
        users.add(int(behind_sudo))
    if not {opened.st_uid, file.lstat().st_uid} <= users or opened.st_mode & stat.S_IWOTH:
        raise UsageError(ANOTHERS(file=file))


def over(below: Settings, above: Settings) -> Settings:
    """Both, with the values of `above` where both have one."""
    return Settings(
        _tables(below.tests, above.tests),
        _tables(below.loads, above.loads),
        {**below.lab, **above.lab},
        {**below.targets, **above.targets},
    )


def _tables(
    below: Mapping[str, Mapping[str, Setting]], above: Mapping[str, Mapping[str, Setting]]
) -> dict[str, dict[str, Setting]]:
    return {name: {**below.get(name, {}), **above.get(name, {})} for name in dict.fromkeys([*below, *above])}


def decode_settings(table: Table) -> Settings:
    """The settings of one file. [lab], [loads.NAME] and [targets] are known here; any other table is a
    test's."""
    lab, targets = table.table(LAB), table.table(TARGETS)
    lab.only(*OF_LAB)
    targets.only(*OF_TARGETS)
    for name in lab.values:
        if lab.integer(name) < 0:
            raise lab.wrong(name, "0 or more", "0")
    if "default" in targets.values and not targets.text("default").strip():
        raise targets.wrong("default", "the name of a target", '"local"', "empty")
    loads = table.table(LOADS)
    return Settings(
        {name: _settings(table.table(name)) for name in table.values if name not in (LAB, LOADS, TARGETS)},
        {name: _settings(loads.table(name)) for name in loads.values},
        _settings(lab),
        _settings(targets),
    )


def _settings(table: Table) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, value in table.values.items():
        if isinstance(value, list):
            found[name] = Setting(tuple(str(scalar(v, table, name)) for v in value), table.file)
        else:
            found[name] = Setting(scalar(value, table, name), table.file)
    return found
