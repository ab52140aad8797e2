"""Streams that were measured by hand, as one run: a cell each, and an axis where their parameters differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate import doctor
from howlate.errors import REMEDIED, DamagedError, UsageError
from howlate.imports.formats._importer import date_of, same_measurement
from howlate.model.decode import parse_json, read_text
from howlate.model.facts import Facts
from howlate.model.plan import Cell, Plan
from howlate.model.run import BY_HAND, Run
from howlate.model.study import KERNEL, PART, Part, Study, Value, spell
from howlate.plan.aim import aim_of
from howlate.plan.matrix import LABELLED, cell_id
from howlate.plan.options import OURS
from howlate.settings.clock_source import SOURCE
from howlate.store.frames import End, EndKind
from howlate.store.stream import Header, StreamReader
from howlate.system.version import __version__
from howlate.words.statement import Statement, message

LITTLE_KNOWN = message(
    "import.little-known", "No machine facts ({reason}): the doctor's checks and causes are skipped."
)
DIFFERS = message("import.differs", '{path} has the {fact} "{value}", {other} "{before}"')
SEVERAL_BOOTS = message(
    "import.several-boots",
    "measurements and facts are from {boots} boots of the machine, which may explain differences",
)

FACTS = "facts.json"
"""In a stream's folder: the output of `howlate-probe facts --json` on its machine."""
_OUTPUT = '{"facts": 1'
"""So that command's output begins."""

MEASURE_AGAIN = "measure it again: nothing of the file can be used"
ONE_MACHINE = "import each machine's measurements into a run of its own (--out), and compare the runs"
_STUDY = "by-hand"
SAME = {
    "kernel_release": "kernel",
    "kernel_version": "build of the kernel",
    "cmdline": "kernel command line",
    "machine": "architecture",
    "cpus_online": "CPUs online",
}
"""What the streams of one run have in common; runs of several machines are compared."""
MAY_CHANGE = "cpus_online"
"""Of these, what may change on one machine while a job runs."""
BRIEF = {
    "kernel_release": "kernel.release",
    "kernel_version": "kernel.version",
    "machine": "kernel.machine",
    "cpus_online": "cpu.online",
    "clocksource": SOURCE,
    "cmdline": "kernel.cmdline",
}
"""A stream's facts -> those of `howlate-probe facts --json`."""


class Recorded(Struct, frozen=True):
    """A stream, read through once."""

    path: Path
    header: Header
    end: End
    seconds: float

    @property
    def parameters(self) -> dict[str, Value]:
        """The options in force, without those that say where the numbers go."""
        values = {n: _value(v) for n, v in self.header.raw.get("parameters", {}).items() if n not in OURS}
        return {
            name: value for name, value in values.items() if value not in (False, "", ()) or name == "load"
        }

    @property
    def facts(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.header.raw.get("facts", {})
        return found

    @property
    def boot_id(self) -> str:
        return str(self.header.raw.get("boot_id", ""))


def recorded(path: Path) -> Recorded:
    """DamagedError where nothing of the stream can be used."""
    try:
        with StreamReader.open(path) as reader:
            rows = sum(batch.rows for batch in reader.batches() if batch.table.name == "samples")
            end, trailer = reader.end, reader.trailer or {}
    except DamagedError as problem:
        raise DamagedError(REMEDIED(problem=problem.statement, remedy=MEASURE_AGAIN)) from None
    assert end is not None
    if end.kind is not EndKind.WHOLE and not rows:
        raise DamagedError(REMEDIED(problem=f"{path}: {end.reason}", remedy=MEASURE_AGAIN))
    ns = trailer.get("duration_ns")
    return Recorded(path, reader.header, end, ns / 1e9 if isinstance(ns, int) else 0.0)


def planned(streams: Sequence[Recorded], given: Mapping[str, str]) -> tuple[Run, dict[str, Path]]:
    """The run of these streams, and which of them is which cell. `given`: labels of the caller's."""
    streams = _in_order(streams)
    _one_machine(streams)
    labels_are_free(given, {name for stream in streams for name in stream.parameters})
    tests = list(dict.fromkeys(stream.header.test for stream in streams))
    parts = [_part(test, [stream for stream in streams if stream.header.test == test]) for test in tests]
    facts, warnings = _facts(streams)
    kernel = str(streams[0].facts.get("kernel_release") or "unknown")
    cells = _cells(streams, {part.id: part for part in parts}, {KERNEL: kernel, **given})
    study = _study(parts)
    plan = Plan(tuple(cells.values()))
    stamp, started = _started(streams)
    run = Run(
        id=f"{stamp}-{study.id}",
        started=started,
        study=study,
        plan=plan,
        target=BY_HAND,
        facts=facts.to_json(),
        findings=()
        if warnings
        else tuple(f.to_json() for f in doctor.examine(facts, aim_of(plan, {}), here=False)),
        knobs=_knobs(streams),
        versions={"howlate": __version__, "probe": str(streams[0].header.raw.get("probe", ""))},
        warnings=(*warnings, *_boots(streams)),
    )
    return run, {cell.id: stream.path for stream, cell in zip(streams, cells.values(), strict=True)}


def _value(value: object) -> Value:
    if isinstance(value, bool):
        return value
    return tuple(map(str, value)) if isinstance(value, list) else str(value)


def _in_order(streams: Sequence[Recorded]) -> list[Recorded]:
    """As they were measured: boots in the order in which they are named, and by time within one."""
    boots = list(dict.fromkeys(stream.boot_id for stream in streams))
    seen: dict[tuple[str, int, str], Path] = {}
    for stream in streams:
        key = (stream.boot_id, stream.header.t0_ns, stream.header.test)
        if key in seen:
            raise UsageError(same_measurement(stream.path, seen[key]))
        seen[key] = stream.path
    return sorted(streams, key=lambda stream: (boots.index(stream.boot_id), stream.header.t0_ns))


def _one_machine(streams: Sequence[Recorded]) -> None:
    first = streams[0]
    for stream in streams[1:]:
        for key, what in SAME.items():
            was, is_now = first.facts.get(key), stream.facts.get(key)
            if was != is_now:
                raise other_machine(stream.path, what, is_now, first.path, was)


def labels_are_free(given: Mapping[str, str], parameters: Iterable[str]) -> None:
    """UsageError for a label that is none, or that the measurements themselves have."""
    taken = {PART, "cell", *LABELLED, *parameters}
    for name in given:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
            raise bad_label(name, "use small letters, digits and dashes: --label board=left")
        if name in taken:
            raise bad_label(name, "the measurements have it already; choose another name, or kernel")


def bad_label(name: str, hint: str) -> UsageError:
    return UsageError('"{name}" cannot be a label here', remedy="{hint}", name=name, hint=hint)


def other_machine(path: Path, fact: str, value: object, other: object, before: object) -> UsageError:
    """The error about measurements of several machines or boot configurations."""
    differs = DIFFERS(path=path, fact=fact, value=value, other=other, before=before)
    return UsageError(REMEDIED(problem=differs, remedy=ONE_MACHINE))


def _facts(streams: Sequence[Recorded]) -> tuple[Facts, tuple[Statement, ...]]:
    """The machine's facts, and a warning if they are only those of the streams."""
    brief = streams[0].facts
    values = {ours: brief[name] for name, ours in BRIEF.items() if isinstance(brief.get(name), str)}
    if streams[0].boot_id:
        values["kernel.boot_id"] = streams[0].boot_id
    reason: Statement | str = f"no {FACTS} in the folder of the streams"
    for file in _files_of_facts([stream.path for stream in streams]):
        text = read_text(file, UsageError)
        if file.name != FACTS and not text.startswith(_OUTPUT):
            continue
        facts = Facts.from_json(dict(parse_json(text, str(file), UsageError).values))
        differ = [key for key in ("kernel.release", "kernel.version") if facts.text(key) != values.get(key)]
        if not differ:
            return facts, ()
        reason = DIFFERS(
            path=file,
            fact=differ[0],
            value=facts.text(differ[0]) or "",
            other=streams[0].path,
            before=values.get(differ[0], ""),
        )
    return Facts(values), (LITTLE_KNOWN(reason=reason),)


def _files_of_facts(streams: Sequence[Path]) -> Iterator[Path]:
    """Files with the facts of the streams' machine: in their folders; of a job's lines, also in the folder of its
    results and in the output of another line. Each once."""
    folders = dict.fromkeys(stream.parent for stream in streams)
    results = dict.fromkeys(folder.parent for folder in folders if folder.name.isdecimal())
    places = [*folders, *results]
    yield from (file for file in (folder / FACTS for folder in places) if file.is_file())
    for folder in results:
        yield from (file for file in sorted(folder.glob("*/stdout")) if file.is_file())


def _part(test: str, streams: Sequence[Recorded]) -> Part:
    """One matrix: what all have in common, and what differs."""
    names = list(dict.fromkeys(name for stream in streams for name in stream.parameters))
    texts = {name: list(dict.fromkeys(_text(name, stream) for stream in streams)) for name in names}
    axes: dict[str, tuple[Value, ...]] = {n: tuple(its) for n, its in texts.items() if len(its) > 1}
    common = {n: v for n, v in streams[0].parameters.items() if n not in axes and v != ()}
    return Part(test, f"{test}, measured by hand", test, common, axes)


def _text(name: str, stream: Recorded) -> str:
    return spell(stream.parameters.get(name, () if name == "load" else False))


def _study(parts: Sequence[Part]) -> Study:
    question = "How late was it, as it was measured by hand?"
    if len(parts) > 1:
        return Study(_STUDY, "Measured by hand", question, parts=tuple(parts))
    part = parts[0]
    return Study(_STUDY, part.title, question, part.test, part.settings, part.axes)


def _cells(
    streams: Sequence[Recorded], parts: Mapping[str, Part], labels: Mapping[str, str]
) -> dict[Path, Cell]:
    """Equal parameters are repetitions of one point, in the order of their times."""
    seen: dict[str, int] = {}
    cells = {}
    for stream in streams:
        part = parts[stream.header.test]
        parameters = stream.parameters
        shown = {name: _text(name, stream) for name in LABELLED if name in parameters}
        shown |= {name: _text(name, stream) for name in part.axes}
        slug = [shown[name] for name in part.axes]
        first = cell_id(part.test, parameters, [part.test, *slug], 1)
        seen[first] = seen.get(first, 0) + 1
        own = {PART: part.id} if len(parts) > 1 else {}
        cells[stream.path] = Cell(
            id=f"{first.removesuffix('-1')}-{seen[first]}",
            test=part.test,
            parameters=parameters,
            labels={**own, **labels, **shown},
            repetition=seen[first],
            expected_s=stream.seconds,
        )
    return cells


def _knobs(streams: Iterable[Recorded]) -> dict[str, str]:
    knobs: dict[str, str] = {}
    for stream in streams:
        values = stream.parameters.get("knob", ())
        for text in values if isinstance(values, tuple) else ():
            name, _, value = text.partition("=")
            knobs.setdefault(name, value)
    return knobs


def _started(streams: Sequence[Recorded]) -> tuple[str, str]:
    """The stream has no time of day; its file's is that of its last byte, wherever copies keep it."""
    return min(date_of(stream.path.stat().st_mtime, stream.path) for stream in streams)


def _boots(streams: Sequence[Recorded]) -> tuple[Statement, ...]:
    boots = len({stream.boot_id for stream in streams})
    return (SEVERAL_BOOTS(boots=boots),) if boots > 1 else ()


def with_kernel(cell: Cell, kernel: str) -> Cell:
    """The cell with the label that a machine's kernel gives to a plan that was made before the machine was known."""
    if KERNEL in cell.labels:
        return cell
    part = {PART: cell.labels[PART]} if PART in cell.labels else {}
    return replace(cell, labels={**part, KERNEL: kernel, **cell.labels})


def breaks_off(path: Path, end: End) -> str:
    what = "is cut" if end.kind is EndKind.CUT else "is damaged"
    return (
        f"{path} {what} at byte {end.at:,} ({end.reason}); it is imported up to its last whole batch, "
        "and its cell is not valid"
    )
