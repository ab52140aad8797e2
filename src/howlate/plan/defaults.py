"""Settings below a study: for what the study and `--set` leave open, the settings files decide, then the
probe."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities, LoadKind, Parameter, spec_name
from howlate.model.decode import IN_FILE, Table, unknown
from howlate.model.study import Study, Value, spell
from howlate.plan.options import (
    OURS_OF_LOADS,
    arguments,
    check_options,
    find_test,
    load_specs,
    parameters_of,
    plain,
)
from howlate.plan.settings import LAB, LOADS, PROGRAM, TARGETS, Setting, Settings, over
from howlate.words.statement import Statement, message

STUDY, CHANGED, PROBE = "the study", "--set", "the probe"
"""Origins that are not files."""
TARGET = "target"
"""The name of a load's target among its options."""


SET_BY_FILE = message("plan.set-by-file", "{file} sets {names:all}.")


class InForce(Struct, frozen=True):
    """A study with the settings below it."""

    study: Study
    settings: Mapping[str, Mapping[str, object]]
    """Each value with its origin, by name: "cyclic.period", "loads.cpu.nice", "lab.seeds"."""


def set_by_files(settings: Settings) -> tuple[Statement, ...]:
    """What each file but the program's own sets."""
    tables = {LAB: settings.lab, TARGETS: settings.targets, **settings.tests}
    tables |= {f"{LOADS}.{load}": options for load, options in settings.loads.items()}
    named: dict[str, list[str]] = {}
    for table, values in tables.items():
        for name, setting in values.items():
            if setting.place != PROGRAM:
                named.setdefault(setting.place, []).append(f"{table}.{name}")
    return tuple(SET_BY_FILE(file=file, names=tuple(names)) for file, names in named.items())


def questions_of(settings: Settings, can: Capabilities) -> dict[Command, str]:
    """The questions to the probe about the values in these settings, with the place of each. Names that the
    probe does not know are refused, with the nearest name, the file and the place."""
    tests = {test.name: test for test in can.tests}
    questions: dict[Command, str] = {}
    for name, values in settings.tests.items():
        if name not in tests:
            file = next((setting.place for setting in values.values()), "settings")
            raise Table({}, file).fail(unknown("table", name, [*tests, LAB, LOADS, TARGETS]))
        for key, setting in values.items():
            place = f"{setting.place}, [{name}]"
            try:
                check_options({key: setting.value}, tests[name], can)
            except UsageError as problem:
                raise UsageError(IN_FILE(file=place, problem=problem.statement)) from None
            questions[arguments(name, {key: setting.value})] = place
    loads = {load.name: load for load in can.loads}
    for name, values in settings.loads.items():
        if name not in loads:
            file = next((setting.place for setting in values.values()), "settings")
            raise Table({}, file, f"[{LOADS}]").fail(unknown("load", name, loads))
        for key, setting in values.items():
            known = _options(loads[name], can)
            if key not in known:
                raise Table({}, setting.place, f"[{LOADS}.{name}]").fail(unknown("option", key, known))
            spec = name if key != TARGET else f"{name}:{spell(setting.value)}"
            option = arguments(spec, {} if key == TARGET else {key: setting.value})
            questions["load", *option] = f"{setting.place}, [{LOADS}.{name}]"
    return questions


def refuse_settings(questions: Mapping[Command, str], answers: Mapping[Command, Answer]) -> None:
    """UsageError for the first value that is wrong regardless of the others."""
    for command, place in questions.items():
        why = answers[command].refusal
        if why is not None and not answers[command].readable:
            raise UsageError(IN_FILE(file=place, problem=why.statement))


def _options(load: LoadKind, can: Capabilities) -> dict[str, Parameter]:
    options = {p.name: p for p in (*load.params, *can.load_common) if p.name not in OURS_OF_LOADS}
    return {TARGET: load.target, **options}


def probe_settings(can: Capabilities) -> Settings:
    """The probe's own defaults, as the settings below all files."""
    return Settings(
        {test.name: _defaults(parameters_of(test, can)) for test in can.tests},
        {load.name: _defaults(_options(load, can)) for load in can.loads if load.name != "none"},
    )


def _defaults(parameters: Mapping[str, Parameter]) -> dict[str, Setting]:
    return {
        name: Setting(
            parameter.default in ("true", "on") if parameter.type == "flag" else parameter.default, PROBE
        )
        for name, parameter in parameters.items()
        if parameter.default or parameter.type == "flag"
    }


def with_settings(study: Study, settings: Settings, can: Capabilities, changed: Mapping[str, str]) -> InForce:
    """The study, completed from the files. Values that equal the probe's own default are left out, so that
    cells keep their ids whether a file states a default or not. `changed`: the names that --set gave."""
    told: dict[str, Mapping[str, object]] = {}
    settings = over(probe_settings(can), settings)

    def change(piece: Study) -> Study:
        full, origins = _of_piece(piece, settings, can, changed)
        told.update(origins)
        return full

    full = study.each(change)
    tables = {LAB: settings.lab, TARGETS: settings.targets}
    tables |= {f"{LOADS}.{load}": options for load, options in settings.loads.items()}
    for table, values in tables.items():
        told |= {f"{table}.{n}": {"value": _plain(s.value), "from": s.place} for n, s in values.items()}
    return InForce(full, told)


def _of_piece(
    study: Study, settings: Settings, can: Capabilities, changed: Mapping[str, str]
) -> tuple[Study, Mapping[str, Mapping[str, object]]]:
    """A study without parts, completed from below, and the origin of each parameter of its test."""
    try:
        test = find_test(study.test, can)
    except UsageError as problem:
        raise UsageError(IN_FILE(file=study.name, problem=problem.statement)) from None
    known = parameters_of(test, can)
    own = settings.tests.get(study.test, {})
    added: dict[str, Value] = {}
    for name, setting in own.items():
        if name not in known or name in study.settings or name in study.axes:
            continue
        value = plain(name, setting.value)
        if value not in (plain(name, known[name].default or False), ()):
            added[name] = setting.value
    full = _with_loads(replace(study, settings={**added, **study.settings}), settings.loads, can)
    told: dict[str, Mapping[str, object]] = {}
    for name in known:
        if name in full.axes or (name in full.settings and name not in added):
            value = full.axes.get(name, full.settings.get(name))
            place = CHANGED if {name, f"{study.part}.{name}"} & changed.keys() else STUDY
        elif name in own:
            value, place = own[name].value, own[name].place
        else:
            continue
        told[f"{study.part or study.test}.{name}"] = {"value": _plain(value), "from": place}
    return full, told


def _plain(value: object) -> object:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _with_loads(study: Study, settings: Mapping[str, Mapping[str, Setting]], can: Capabilities) -> Study:
    """The loads of the study with the options that the files give them and the study does not."""
    loads = {load.name: load for load in can.loads}

    def one(spec: str) -> str:
        name = spec_name(spec)
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
    """A load as written, completed from `own` except for the options that are written and those that equal
    the probe's defaults."""
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
    lines = ["# The probe's defaults. A name behind a # has no default: it is off, or the probe chooses."]
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
