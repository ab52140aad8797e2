"""A run: one execution of a plan on one target, as it stands in `run.json` (docs/run-folder.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from howlate.errors import DamagedError
from howlate.model.decode import Table, parse_json
from howlate.model.plan import Plan
from howlate.model.seal import is_changed, sealed
from howlate.model.study import Study

REAL, VIRTUAL = "real", "virtual"
CLOCKS = (REAL, VIRTUAL)
BY_HAND = "by hand"
"""The target of what was measured elsewhere and imported."""
VIRTUAL_TIME = "virtual time: instructions, not microseconds of your hardware; no caches, no real devices"
"""Said at every table and chart of a run in virtual time."""


def policy_without_right(warning: str) -> str:
    """The policy that was wanted, of the warning that its caller may not have it; "" for any other warning."""
    found = re.match(r"measured under SCHED_OTHER, because (\S+) is not permitted here: ", warning)
    return found[1] if found else ""


@dataclass(frozen=True)
class Run:
    """What is known of a run before its first cell is measured; written again where `howlate run` goes on."""

    id: str
    """Time and study, as the default folder is called: "20260102T030405-check"."""
    started: str
    """ISO 8601, UTC."""
    study: Study
    plan: Plan
    target: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`howlate-probe facts --json` of the target, as captured; of its first machine where it has several."""
    findings: tuple[Mapping[str, Any], ...] = ()
    """The doctor's findings from these facts, as JSON (model/finding.py). Where the target has several
    machines, one that is about some of them names these under "machines"."""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    """Knobs that the study asked for; what was applied and read back stands in each cell."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """howlate and probe."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """What `--set` changed in the study, as given."""
    scale: float = 1.0
    """Counts were multiplied by this (`--scale`); 1.0 is the study as it is."""
    stream_place: str = ""
    """Where raw streams were written while measuring: "memory" (/dev/shm) or "disk"."""
    warnings: tuple[str, ...] = ()
    """Sentences about the whole run: not root, resumed, scaled."""
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Facts by machine (a kernel's label) where the target's machines have names, in the plan's order."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """By machine: the file of the run folder that holds its kernel's whole configuration."""
    clock: str = "real"
    """"real" or "virtual": whose time the samples are in. In virtual time repetitions are seeds."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was in force below the study, by name ("cyclic.period"): {"value", "from"}: the study, --set, a settings
    file, or the probe itself."""
    schema: int = 1

    @property
    def virtual(self) -> bool:
        return self.clock == VIRTUAL

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "id": self.id,
            "started": self.started,
            "target": self.target,
            "clock": self.clock,
            "versions": dict(self.versions),
            "scale": self.scale,
            "changes": dict(self.changes),
            "stream_place": self.stream_place,
            "warnings": list(self.warnings),
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
        """The text of run.json."""
        return json.dumps(sealed(self.to_json()), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str, file: str = "run.json") -> Run:
        """Decodes run.json; keys of newer versions are left alone (the schema grows by additions)."""
        return cls.from_table(parse_json(text, file))

    @classmethod
    def from_table(cls, table: Table) -> Run:
        schema = table.integer("schema")
        if schema != 1:
            raise table.fail(f"schema {schema} is not known to this howlate", "use a newer howlate")
        if is_changed(table.values):
            raise table.fail("it was changed after howlate wrote it")
        return cls(
            id=table.text("id"),
            started=table.text("started"),
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
            warnings=tuple(str(w) for w in table.items("warnings")),
            machines=_machines(table.table("machines")),
            configs={k: str(v) for k, v in table.mapping("configs").items()},
            clock=_clock(table),
            settings=_machines(table.table("settings")),
        )


def _machines(table: Table) -> dict[str, Mapping[str, Any]]:
    return {name: table.mapping(name) for name in table.values}


def _clock(table: Table) -> str:
    clock = table.text("clock", REAL)
    if clock not in CLOCKS:
        raise table.fail(f'"{clock}" is not a clock known to this howlate', "use a newer howlate")
    return clock
