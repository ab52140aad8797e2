"""Settings below a study: what it and `--set` leave open, the settings files say, and the probe says the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, LoadKind, Parameter
from howlate.model.settings import LAB, LOADS, PROGRAM, TARGETS, Setting, Settings, unknown
from howlate.model.study import Study, Value, spell
from howlate.plan.check import (
    OURS_OF_LOADS,
    canonical,
    check_typed,
    find_test,
    load_specs,
    parameters_of,
)

STUDY, CHANGED, PROBE = "the study", "--set", "the probe"
"""Places that are no files."""
TARGET = "target"
"""What a load's target is called among its options."""


@dataclass(frozen=True)
class InForce:
    """A study with the settings below it."""

    study: Study
    settings: Mapping[str, Mapping[str, object]]
    """Each value with the place it came from, by name: "cyclic.period", "loads.cpu.nice", "lab.seeds"."""


def check_settings(settings: Settings, can: Capabilities) -> None:
    """Refuses what the probe does not know, with the nearest name, the file and the place."""
    tests = {test.name: test for test in can.tests}
    for name, values in _others(settings.tests).items():
        if name not in tests:
            file = next((its.place for its in values.values()), "settings")
            raise unknown(name, file, f"[{name}]", [*tests, LAB, LOADS, TARGETS])
        for key, setting in values.items():
            _checked(key, setting, f"[{name}]", lambda k, v, t=tests[name]: canonical(k, v, t, can))
    loads = {load.name: load for load in can.loads}
    for name, values in _others(settings.loads).items():
        if name not in loads:
            file = next((its.place for its in values.values()), "settings")
            raise unknown(name, file, f"[{LOADS}.{name}]", loads)
        for key, setting in values.items():
            known = _options(loads[name], can)
            if key not in known:
                raise unknown(key, setting.place, f"[{LOADS}.{name}]", known)
            if known[key].type != "flag":
                _checked(key, setting, f"[{LOADS}.{name}]", lambda k, v, o=known: check_typed(o[k], spell(v)))


def _others(tables: Mapping[str, Mapping[str, Setting]]) -> dict[str, dict[str, Setting]]:
    """Without what the program's own file says."""
    own = {
        name: {key: setting for key, setting in values.items() if setting.place != PROGRAM}
        for name, values in tables.items()
    }
    return {name: values for name, values in own.items() if values or not tables[name]}


def _checked(key: str, setting: Setting, place: str, check: object) -> None:
    try:
        check(key, setting.value)  # type: ignore[operator]
    except UsageError as problem:
        raise UsageError(f"{setting.place}, {place}: {problem.message}", problem.remedy) from None


def _options(load: LoadKind, can: Capabilities) -> dict[str, Parameter]:
    found = {p.name: p for p in (*load.params, *can.load_common) if p.name not in OURS_OF_LOADS}
    return {TARGET: load.target, **found}


def with_settings(study: Study, settings: Settings, can: Capabilities, changed: Mapping[str, str]) -> InForce:
    """The study with what the files say where it is silent. What is the probe's own default is left out, so that
    cells keep their ids whether a default stands in a file or not. `changed`: what --set named."""
    check_settings(settings, can)
    told: dict[str, Mapping[str, object]] = {}

    def change(piece: Study) -> Study:
        full, said = _of_piece(piece, settings, can, changed)
        told.update(said)
        return full

    full = study.each(change)
    for kind, some in ((LAB, settings.lab), (TARGETS, settings.targets)):
        told |= {f"{kind}.{n}": {"value": _plain(s.value), "from": s.place} for n, s in some.items()}
    for load, options in settings.loads.items():
        told |= {
            f"{LOADS}.{load}.{n}": {"value": _plain(s.value), "from": s.place} for n, s in options.items()
        }
    return InForce(full, told)


def _of_piece(
    study: Study, settings: Settings, can: Capabilities, changed: Mapping[str, str]
) -> tuple[Study, Mapping[str, Mapping[str, object]]]:
    """A study without parts, with what is below it, and what that says of each parameter of its test."""
    try:
        test = find_test(study.test, can)
    except UsageError as problem:
        raise UsageError(f"{study.name}: {problem.message}", problem.remedy) from None
    known = parameters_of(test, can)
    own = settings.tests.get(study.test, {})
    added: dict[str, Value] = {}
    for name, its in own.items():
        if name not in known or name in study.settings or name in study.axes:
            continue
        default = known[name].default
        value = canonical(name, its.value, test, can)
        if value != (canonical(name, default, test, can) if default else None) and value not in (None, ()):
            added[name] = its.value
    full = _with_loads(replace(study, settings={**added, **study.settings}), settings.loads, can)
    told: dict[str, Mapping[str, object]] = {}
    for name, parameter in known.items():
        setting = own.get(name)
        if name in full.axes or (name in full.settings and name not in added):
            found: object = full.axes.get(name, full.settings.get(name))
            place = CHANGED if {name, f"{study.part}.{name}"} & changed.keys() else STUDY
        elif setting is not None:
            found, place = setting.value, setting.place
        else:
            found, place = parameter.default, PROBE
        if found != "":
            told[f"{study.part or study.test}.{name}"] = {"value": _plain(found), "from": place}
    return full, told


def _plain(value: object) -> object:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _with_loads(study: Study, settings: Mapping[str, Mapping[str, Setting]], can: Capabilities) -> Study:
    """The loads of the study with the options that the files give them and the study does not."""
    if not any(settings.values()):
        return study
    loads = {load.name: load for load in can.loads}

    def one(spec: str) -> str:
        name = spec.split(",")[0].partition(":")[0]
        own = settings.get(name, {})
        return _with_options(spec, own, loads[name], can) if name in loads and own else spec

    def all_of(value: Value) -> Value:
        specs = tuple(one(spec) for spec in load_specs(value))
        if not specs:
            return value
        return "+".join(specs) if isinstance(value, str) else specs

    def of_axis(name: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(all_of(value) for value in values) if name == "load" else values

    return replace(
        study,
        settings={k: all_of(v) if k == "load" else v for k, v in study.settings.items()},
        axes={k: of_axis(k, vs) for k, vs in study.axes.items()},
        exclude=tuple({k: of_axis(k, vs) for k, vs in entry.items()} for entry in study.exclude),
    )


def _with_options(spec: str, own: Mapping[str, Setting], load: LoadKind, can: Capabilities) -> str:
    """A load as it is written, with what `own` adds to it: neither what is written nor the probe's defaults."""
    head, *options = spec.split(",")
    known = _options(load, can)
    given = {option.partition("=")[0] for option in options}
    if ":" not in head and TARGET in own and spell(own[TARGET].value) != load.target.default:
        head = f"{load.name}:{spell(own[TARGET].value)}"
    for key, setting in own.items():
        if key == TARGET or key not in known or key in given or spell(setting.value) == known[key].default:
            continue
        if known[key].type == "flag":
            options += [key] if setting.value is True else []
        else:
            options.append(f"{key}={spell(setting.value)}")
    return ",".join([head, *options])


def defaults_text(can: Capabilities) -> str:
    """The program's own settings file: every default that there is."""
    lines = [
        "# Every default, as `howlate settings --defaults` writes it. Which files lie above it: docs/settings.md.",
        "# A name behind a # has no default: it is off, or howlate chooses.",
        "",
        f"[{TARGETS}]",
        'default = "local"',
        "",
        f"[{LAB}]",
        "seeds = 0 # 0: eight",
        "jobs = 0 # 0: as many guests at once as the host has CPUs",
    ]
    for test in sorted(can.tests, key=lambda test: test.name):
        lines += ["", f"[{test.name}]"]
        for name, parameter in sorted(parameters_of(test, can).items()):
            lines.append(_line(name, parameter.type, parameter.default))
    for load in sorted(can.loads, key=lambda load: load.name):
        if load.name == "none":
            continue
        lines += ["", f"[{LOADS}.{load.name}]"]
        for name, option in _options(load, can).items():
            lines.append(_line(name, option.type, option.default))
    return "\n".join(lines) + "\n"


def _line(name: str, kind: str, default: str) -> str:
    if kind == "flag":
        return f"{name} = {'true' if default in ('true', 'on') else 'false'}"
    return f'{name} = "{default}"' if default else f'# {name} = ""'
