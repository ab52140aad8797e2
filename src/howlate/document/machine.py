"""What a report says of the machine: its facts, the parameters in force, and the knobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from howlate.document import kernels
from howlate.document.document import Folded, Item, Texts
from howlate.document.sheet import pairs
from howlate.model.facts import Facts, facts_of
from howlate.model.loaded import CellContent, RunContent
from howlate.model.preemption import PREEMPT_MODE
from howlate.model.run import Run
from howlate.settings.clock_source import AVAILABLE, SOURCE
from howlate.settings.cpuset import ISOLATED
from howlate.settings.governor import FACT as FREQUENCY
from howlate.settings.rt_throttling import RUNTIME
from howlate.words.language import N_, _, ngettext
from howlate.words.quantities import time_text

FACTS: tuple[tuple[str, str], ...] = (
    ("kernel.release", N_("Kernel")),
    ("kernel.version", N_("Kernel version")),
    (PREEMPT_MODE, N_("Preemption mode")),
    ("kernel.realtime", N_("Real-time kernel")),
    ("kernel.distribution", N_("Distribution")),
    ("machine.vendor", N_("Vendor")),
    ("machine.product", N_("Product")),
    ("machine.model", N_("Model")),
    ("machine.hypervisor", N_("Hypervisor")),
    ("cpu.model", "CPU"),
    ("cpu.online", N_("CPUs online")),
    (ISOLATED, N_("CPUs isolated")),
    ("cpu.idle_driver", N_("Idle driver")),
    (FREQUENCY, N_("Frequency")),
    ("cpu.microcode", N_("Microcode")),
    ("memory.total_kib", N_("Memory")),
    (SOURCE, N_("Clock source")),
    (AVAILABLE, N_("Clock sources there")),
    (RUNTIME, N_("RT runtime a second")),
    ("kernel.cmdline", N_("Kernel command line")),
)
OF_THE_HOST = ("json", "progress", "quiet", "stream", "end-with-parent", "parent", "knob")
"""Options that say where the numbers go, and knobs, which have their own list."""
READ_BACK = {
    "threads cpu": N_("measuring CPU"),
    "threads cpus": N_("CPUs that the measuring thread may use"),
    "threads pinned": N_("measuring thread pinned"),
    "threads policy": N_("measuring policy"),
    "threads priority": N_("measuring priority"),
    "threads timer slack": N_("timer slack of the measuring thread"),
    "threads cpuset": N_("cpuset of the measuring thread"),
    "threads stagger": N_("shift between the measuring threads"),
    "threads work iterations": N_("work of an activation, in iterations"),
    "memory lock": N_("memory locked"),
    "recorder place": N_("the recorder runs"),
    "recorder cpus": N_("CPUs that the recorder may use"),
    "recorder policy": N_("policy of the recorder"),
    "recorder priority": N_("priority of the recorder"),
    "recorder timer slack": N_("timer slack of the recorder"),
    "recorder record": N_("samples are recorded as"),
    "recorder ring samples": N_("room for samples between two writes"),
    "recorder wake": N_("the recorder wakes every"),
    "recorder write bytes max": N_("largest write of the recorder, in bytes"),
    "recorder policy wanted": N_("policy wanted for the recorder"),
    "recorder not had": N_("why the recorder did not get it"),
}
"""What the stream's header calls `in_force`, for people."""
MOST_FACTS = 12
"""Facts of a machine that are shown; run.json has all."""
MOST_NAMED = 40
"""Listed values that are the cells' own names, at most."""
MOST_VALUES = 6
"""Listed values of a parameter, at most; of more, how many."""


def place(run: Run) -> str:
    if run.machines:
        time = _("virtual time") if run.virtual else _("real time")
        count = len(run.machines)
        said = ngettext("{count} kernel in the lab · {time}", "{count} kernels in the lab · {time}", count)
        return said.format(count=count, time=time)
    facts = facts_of(run.facts)
    found = [facts.text("kernel.release"), facts.text("cpu.model") or facts.text("machine.model")]
    words = [_("Linux {found}").format(found=found[0]) if found[0] else "", found[1] or ""]
    target = "" if run.target == "local" else run.target
    return " · ".join(w for w in (target, *words) if w)


def hardware(runs: Sequence[RunContent]) -> int:
    """How many machines these runs were measured on: kernels of one machine are one."""
    found = set()
    for content in runs:
        facts = facts_of(content.run.facts)
        named = [
            facts.text(key) or "" for key in ("cpu.model", "machine.product", "machine.model", "cpu.online")
        ]
        found.add((content.run.target, *named))
    return len(found)


def items(runs: Sequence[RunContent], cells: Sequence[CellContent], names: Sequence[str]) -> tuple[Item, ...]:
    """The machines or kernels of the runs, then what was in force in the cells."""
    found: list[Item] = []
    seen: list[list[tuple[str, str]]] = []
    for content in runs:
        if content.kernels:
            found += kernels.items(content.kernels)
            continue
        rows = list(fact_rows(facts_of(content.run.facts)))
        if rows and rows not in seen:
            seen.append(rows)
            title = _("Machine") if len(runs) == 1 else _("Machine of {id}").format(id=content.run.id)
            found.append(pairs("list facts", title, rows[:MOST_FACTS]))
    knobs = [(k, _text(v)) for content in runs for k, v in content.run.knobs.items()]
    knobs += [
        (f"{name}: {k}", v) for name, c in zip(names, cells, strict=True) for k, v in _flat(_knobs(c), "")
    ]
    nothing = _("No knob was set: the machine was measured as it is.")
    found.append(
        pairs("list knobs", _("Knobs"), list(dict.fromkeys(knobs)))
        if knobs
        else Texts("lead knobless", (nothing,))
    )
    inside = [pairs("list parameters", _("Parameters in force"), agreed(cells, names, _settings))]
    if read := agreed(cells, names, _read_back):
        inside.append(pairs("list read", _("Read back while measuring"), read))
    return (*found, Folded(_("Parameters, and what was read back"), tuple(inside)))


def fact_rows(facts: Facts) -> Iterator[tuple[str, str]]:
    """The facts that identify a machine; what could not be found out is left out here (the doctor names
    it)."""
    for key, title in FACTS:
        value = facts.values.get(key)
        if value in (None, "", []):
            continue
        if key == "memory.total_kib" and isinstance(value, int):
            yield _(title), f"{value / 2**20:.1f} GiB"
        elif key == RUNTIME and isinstance(value, int):
            yield _(title), _("not limited") if value < 0 else time_text(value * 1000)
        else:
            yield _(title), _text(value)
    hz = facts.config("HZ")
    if hz is not None and hz != "n":
        yield _("Timer tick (HZ)"), hz


def agreed(
    cells: Sequence[CellContent],
    names: Sequence[str],
    settings: Callable[[CellContent], Iterator[tuple[str, str]]],
) -> list[tuple[str, str]]:
    """The settings that all cells share; where they differ, the values."""
    values: dict[str, dict[str, list[str]]] = {}
    for name, cell in zip(names, cells, strict=True):
        for key, value in settings(cell):
            values.setdefault(key, {}).setdefault(value, []).append(name)
    rows = []
    for key, found in values.items():
        if len(found) == 1 and len(next(iter(found.values()))) == len(cells):
            rows.append((key, next(iter(found))))
        elif len(found) <= MOST_NAMED and all(who == [value] for value, who in found.items()):
            rows.append((key, "; ".join(found)))
        elif len(found) <= MOST_VALUES:
            none = _("none")
            rows.append((key, "; ".join(f"{value or none} ({_who(who)})" for value, who in found.items())))
        else:
            rows.append((key, _("{found} different values").format(found=len(found))))
    return rows


def _who(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else _("{names} cells").format(names=len(names))


def _settings(cell: CellContent) -> Iterator[tuple[str, str]]:
    parameters = cell.header.get("parameters")
    source = parameters if isinstance(parameters, dict) else cell.summary.labels
    for key, value in source.items():
        if str(key).replace("_", "-") not in OF_THE_HOST and value not in ("", None, []):
            yield str(key).replace("_", " ").replace("-", " "), _text(value)
    if "late_policy" not in source and "late-policy" not in source:
        yield "late policy", cell.summary.accounting.late_policy
    clock = cell.summary.clocksource
    yield _("clock source before, after"), f"{clock.get('before', '?')}, {clock.get('after', '?')}"
    yield _("ended by"), cell.summary.stop_reason


def _read_back(cell: CellContent) -> Iterator[tuple[str, str]]:
    return (
        (name, text) for key, text in _flat(_of(cell, "in_force"), "") if text and (name := _for_people(key))
    )


def _for_people(key: str) -> str:
    """What was read back, by a name that says what it is; of several threads with the thread's number. "" where it
    lacks them: the stream has all."""
    thread = re.match(r"threads (\d+) (.+)", key)
    name = READ_BACK.get(f"threads {thread[2]}" if thread else key)
    if name is None:
        return ""
    return _("{name}, thread {number}").format(name=_(name), number=thread[1]) if thread else _(name)


def _of(cell: CellContent, *path: str) -> Mapping[str, Any]:
    value: Any = cell.header
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, list):
        return _named(value)
    return value if isinstance(value, dict) else {}


def _named(value: Sequence[Any]) -> Mapping[str, Any]:
    return {str(v.get("name", i)) if isinstance(v, dict) else str(i): v for i, v in enumerate(value)}


def _knobs(cell: CellContent) -> Mapping[str, Any]:
    """As they were after they had been restored; as they were set where the probe did not live to say so."""
    told = cell.trailer.get("knobs")
    return _named(told) if isinstance(told, list) else _of(cell, "in_force", "knobs")


def _flat(value: Mapping[str, Any], lead: str) -> Iterator[tuple[str, str]]:
    """Nested settings as "recorder priority"; a list of one is its element."""
    for key, inner in value.items():
        name = f"{lead}{key}".replace("_", " ")
        if isinstance(inner, list) and len(inner) == 1:
            inner = inner[0]
        if isinstance(inner, dict):
            yield from _flat(inner, f"{name} ")
        elif isinstance(inner, list) and any(isinstance(v, dict) for v in inner):
            for i, v in enumerate(inner):
                yield from _flat(v if isinstance(v, dict) else {"": v}, f"{name} {i} ")
        elif name.endswith(" ns") and isinstance(inner, int):
            yield name.removesuffix(" ns"), time_text(inner)
        else:
            yield name, _text(inner)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_text(v) for v in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in value.items())
    return "" if value is None else str(value)
