"""Settings: defaults of tests, loads, lab and target, read in turn from several files, later over earlier
(docs/settings.md). Each value knows the file that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.decode import Table, kind_of, parse_toml, read_text, suggestion
from howlate.model.study import Value, scalar

LAB, LOADS, TARGETS = "lab", "loads", "targets"
OF_LAB = {"seeds": "count", "jobs": "count"}
OF_TARGETS = ("default",)
PROGRAM = "howlate's settings.toml"
"""What the program's own file is called. It is of one make with howlate, and may name what an older probe lacks."""


@dataclass(frozen=True)
class Setting:
    """A value and the file that it stands in."""

    value: Value
    place: str


@dataclass(frozen=True)
class Settings:
    """What was read. Names of tests, of their parameters and of loads are checked where the probe's list is known
    (plan/defaults.py)."""

    tests: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    loads: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    lab: Mapping[str, Setting] = field(default_factory=dict)
    targets: Mapping[str, Setting] = field(default_factory=dict)

    def count(self, name: str) -> int:
        """A whole number of [lab]; 0 where it is not set."""
        found = self.lab.get(name)
        return int(str(found.value)) if found is not None else 0

    def target(self) -> str:
        """The target where --target does not say it."""
        found = self.targets.get("default")
        return str(found.value) if found is not None else "local"


def places(program: Path, environment: Mapping[str, str], working: Path) -> tuple[Path, ...]:
    """Where settings are looked for, in order: the program's folder, the user's, the working folder."""
    base = environment.get("XDG_CONFIG_HOME") or ""
    if not base.startswith("/"):  # as the XDG specification has it: a relative one is not valid
        home = environment.get("HOME") or ""
        base = f"{home}/.config" if home else ""
    user = (Path(base) / "howlate" / "settings.toml",) if base else ()
    return (program / "settings.toml", *user, working / "howlate.toml")


def read_settings(files: Iterable[Path]) -> Settings:
    """Those of the files that are there, the program's first, later over earlier; UsageError names file and place."""
    found = Settings()
    for number, file in enumerate(files):
        try:
            there = file.exists()
        except OSError:
            there = False  # in a folder that this user may not search
        if there:
            name = str(file) if number else PROGRAM
            found = over(found, decode_settings(parse_toml(read_text(file, UsageError), name)))
    return found


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
    """One file's. [lab], [loads.NAME] and [targets] are known here; any other table is a test's."""
    lab, targets = table.table(LAB), table.table(TARGETS)
    lab.only(*OF_LAB)
    targets.only(*OF_TARGETS)
    for name in lab.values:
        if lab.integer(name) < 0:
            raise lab.fail(f'"{name}" cannot be negative', "write 0 for howlate's own choice")
    if "default" in targets.values and not targets.text("default").strip():
        raise targets.fail('"default" is empty', 'write default = "local"')
    loads = table.table(LOADS)
    tests: dict[str, Mapping[str, Setting]] = {}
    for name, value in table.values.items():
        if name in (LAB, LOADS, TARGETS):
            continue
        if not isinstance(value, dict):
            raise table.fail(
                f'"{name}" cannot be {kind_of(value)}',
                f"settings stand in tables: [cyclic], [{LAB}], [{LOADS}.cpu]",
            )
        tests[name] = _settings(table.table(name))
    return Settings(
        tests,
        {name: _settings(_one(loads, name)) for name in loads.values},
        _settings(lab),
        _settings(targets),
    )


def _one(loads: Table, name: str) -> Table:
    if not isinstance(loads.values[name], dict):
        raise loads.fail(f'"{name}" cannot be {kind_of(loads.values[name])}', f"write [{LOADS}.{name}]")
    return loads.table(name)


def _settings(table: Table) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, value in table.values.items():
        if isinstance(value, list):
            found[name] = Setting(tuple(str(scalar(v, table, name)) for v in value), table.file)
        else:
            found[name] = Setting(scalar(value, table, name), table.file)
    return found


def unknown(name: str, file: str, place: str, known: Iterable[str]) -> UsageError:
    """The error of a name that the probe's list does not have."""
    return UsageError(f'{file}, {place}: "{name}" is not known', suggestion(name, known))
