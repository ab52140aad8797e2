"""A run: one execution of a plan on one target, as stored in `run.json` (docs/run-folder.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from howlate.errors import DamagedError
from howlate.model.decode import UNKNOWN_SCHEMA, Table, json_text, members, parse_json, warnings_of
from howlate.model.plan import Plan
from howlate.model.seal import is_changed, sealed
from howlate.model.study import KERNEL, Study
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, message

CHANGED_SINCE = message("model.changed-since", "it was changed after howlate wrote it")
WITHOUT_RIGHT = message(
    "run.without-right", "measured under SCHED_OTHER, because {policy} is not permitted here: {reason}"
)

NOT_EXPLAINED = message("run.not-explained", "what delayed the late samples was not recorded: {reason}")

REAL, VIRTUAL = "real", "virtual"
CLOCKS = (REAL, VIRTUAL)
BY_HAND = "by hand"
"""The target of an imported run that was measured elsewhere."""


def policy_without_right(warning: Statement) -> str:
    """The policy that was wanted, if the warning is that its caller may not have it; "" otherwise."""
    return str(warning.values.get("policy", "")) if warning.rule == WITHOUT_RIGHT.id else ""


def _of_older(text: str) -> Statement:
    """A text of an older howlate, which stored no statements. The missing right is known by its words: what the
    doctor looks for in that run depends on it."""
    words = re.match(
        r"measured under SCHED_OTHER, because (\S+) is not permitted here: (.*)", text, re.DOTALL
    )
    return WITHOUT_RIGHT(policy=words[1], reason=words[2]) if words else Statement.verbatim(text)


class Run(Struct, frozen=True):
    """What is known of a run before its first cell is measured; written again when `howlate run` continues."""

    id: str
    """Time and study, as in the default folder's name: "20260102T030405-check"."""
    started: str
    """ISO 8601, UTC."""
    study: Study
    plan: Plan
    target: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`howlate-probe facts --json` of the target, as captured; of its first machine if it has several."""
    findings: tuple[Mapping[str, Any], ...] = ()
    """The doctor's findings from these facts, as JSON (model/facts.py). If the target has several machines,
    a finding about some of them names these under "machines"."""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    """The study's knobs; each cell records what was applied and read back."""
    versions: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)
    """Changes of the study by `--set`, as given."""
    scale: float = 1.0
    """Counts were multiplied by this (`--scale`); 1.0 is the unscaled study."""
    stream_place: str = ""
    """Where raw streams were written during the measurement: "memory" (/dev/shm) or "disk"."""
    warnings: tuple[Statement, ...] = ()
    """Sentences about the whole run: not root, resumed, scaled."""
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Facts by machine (a kernel's label) if the target's machines have names, in the plan's order."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """By machine: the file of the run folder with its kernel's whole configuration."""
    clock: str = "real"
    """ "real" or "virtual": the time of the samples. In virtual time repetitions are seeds."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was in force below the study, by name ("cyclic.period"): {"value", "from"}: the study, --set, a
    settings file, or the probe itself."""
    token: str = ""
    """A random text of the folder that its cells carry, so that no other run's cell is taken for one of its own; ""
    in a run of an older howlate."""
    schema: int = 1

    @property
    def axes(self) -> tuple[str, ...]:
        """The labels that tell cells apart: the part, the kernel, and the axes of all parts."""
        names = self.study.names_of_axes
        return (*names[:1], KERNEL, *names[1:]) if self.study.parts and self.machines else names

    @property
    def virtual(self) -> bool:
        return self.clock == VIRTUAL

    def to_json(self) -> dict[str, Any]:
        return {
            **members(self, "schema", "id", "token", "started", "target", "clock"),
            "versions": dict(self.versions),
            "scale": self.scale,
            "changes": dict(self.changes),
            "stream_place": self.stream_place,
            "warnings": [english(warning) for warning in self.warnings],
            "statements": [to_json(warning) for warning in self.warnings],
            "knobs": dict(self.knobs),
            "settings": {name: dict(its) for name, its in self.settings.items()},
            "study": self.study.to_json(),
            "plan": self.plan.to_json(),
            "findings": [dict(f) for f in self.findings],
            "facts": dict(self.facts),
            "configs": dict(self.configs),
            "machines": {name: dict(facts) for name, facts in self.machines.items()},
        }

    def to_text(self) -> str:
        return json_text(sealed(self.to_json()))

    @classmethod
    def from_text(cls, text: str, file: str = "run.json") -> Run:
        """Decode run.json; keys of newer versions are ignored (the schema grows by additions)."""
        return cls.from_table(parse_json(text, file))

    @classmethod
    def from_table(cls, table: Table) -> Run:
        schema = table.integer("schema")
        if schema != 1:
            raise table.fail(UNKNOWN_SCHEMA(schema=schema))
        if is_changed(table.values):
            raise table.fail(CHANGED_SINCE())
        return cls(
            id=table.text("id"),
            token=table.text("token", ""),
            started=_started(table),
            study=Study.from_json(
                table.mapping("study", required=True), f"{table.file}, study", DamagedError
            ),
            plan=Plan.from_json(table.mapping("plan", required=True), table.file),
            target=table.text("target"),
            facts=table.mapping("facts"),
            findings=tuple(t.values for t in table.tables("findings")),
            knobs=table.mapping("knobs"),
            versions={k: str(v) for k, v in table.mapping("versions").items()},
            changes={k: str(v) for k, v in table.mapping("changes").items()},
            scale=table.real("scale", 1.0),
            stream_place=table.text("stream_place", ""),
            warnings=warnings_of(table, _of_older),
            machines=_machines(table.table("machines")),
            configs={k: str(v) for k, v in table.mapping("configs").items()},
            clock=_clock(table),
            settings=_machines(table.table("settings")),
        )


def _machines(table: Table) -> dict[str, Mapping[str, Any]]:
    return {name: table.mapping(name) for name in table.values}


_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def _started(table: Table) -> str:
    """A time, or a text of an imported run that begins with no digit."""
    started = table.text("started")
    if re.match(r"\s*[+-]?\d", started):
        try:
            fits = _TIME.fullmatch(started) and datetime.fromisoformat(started)
        except ValueError:
            fits = None
        if not fits:
            raise table.wrong("started", "a time in UTC", "", started[:40])
    return started


def _clock(table: Table) -> str:
    clock = table.text("clock", REAL)
    if clock not in CLOCKS:
        raise table.wrong("clock", " or ".join(CLOCKS), REAL)
    return clock
