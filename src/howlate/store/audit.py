"""The host's own check of a table of activations: rows, releases and totals against the measuring thread's
account.

Every release is accounted for: `releases = recorded + overruns + dropped`, the gaps between the rows'
releases are exactly the overruns and drops, and no row is later than the thread's own maximum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field

from howlate.model.columns import FLAGS, INDICES, LATENCY, RELEASE, WARM_UP
from howlate.store.stream import Batch, StreamTable, Totals, is_int

COUNTS = ("releases", "recorded", "overruns", "dropped", "late_starts", "early", "warm_up")
FAULTS = ("minor_faults", "major_faults", "involuntary_switches", "voluntary_switches", "migrations")
OF_CORES = ("stage_switches", "core_overruns", "gravity_ns")
"""For a thread that slept by the calls of a real-time core next to Linux; absent from all others."""
PLACE_CHANGED = "place_changed"
"""Whether the CPUs that a thread may use changed while it measured; absent from an older probe's account."""


class TableAudit(Struct):
    """Takes a table's batches in order; then call `account()` and `problems()`."""

    table: StreamTable
    totals: Totals = field(default_factory=lambda: Totals(0, 0, 0, 0))
    last_release: int = -1
    warm_up: int = 0
    latency_max: int | None = None
    contradictions: dict[str, str] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        before, self.totals = self.totals, batch.totals
        now = self.totals
        if now.releases != now.rows_total + now.overruns + now.dropped:
            self._problem(
                "identity",
                f"{now.releases} releases are not {now.rows_total} recorded + {now.overruns} overruns + "
                f"{now.dropped} dropped in a batch",
            )
        if now.overruns < before.overruns or now.dropped < before.dropped:
            self._problem("back", "overruns or drops became fewer from one batch to the next")
        if batch.rows == 0:
            return
        self._releases(batch)
        self._latencies(batch)

    def account(self, claimed: Mapping[str, Any] | None) -> dict[str, int]:
        """The table's account: the thread's own if there is a trailer, else that of the last whole batch."""
        if claimed is not None:
            names = (*COUNTS, *FAULTS, *(name for name in OF_CORES if name in claimed))
            account = {name: _count(claimed, name) for name in names}
            return account | ({PLACE_CHANGED: 1} if claimed.get(PLACE_CHANGED) is True else {})
        now = self.totals
        known = {
            "releases": now.releases,
            "recorded": now.rows_total,
            "overruns": now.overruns,
            "dropped": now.dropped,
            "warm_up": self.warm_up,
        }
        return {name: known.get(name, 0) for name in (*COUNTS, *FAULTS)}

    def problems(self, claimed: Mapping[str, Any] | None) -> list[str]:
        """Sentences about faults; empty if the account is right. `claimed` is the table's entry in the
        trailer, None if there is no trailer."""
        found = list(self.contradictions.values())
        if claimed is not None:
            found += self._against(claimed)
        who = f"thread {self.table.thread or 0}"
        if self.table.cpu is not None:
            who += f" on CPU {self.table.cpu}"
        return [f"the account of {who} does not add up: {sentence}" for sentence in found]

    def _problem(self, kind: str, sentence: str) -> None:
        self.contradictions.setdefault(kind, sentence)

    def _releases(self, batch: Batch) -> None:
        """Activations by their release, data points by their index; only a release shows what was left out."""
        name = next((name for name in INDICES if name in batch.columns), None)
        if name is None:
            return
        release = batch.columns[name]
        first, last = int(release[0]), int(release[-1])
        if first <= self.last_release or not bool(np.all(release[1:] > release[:-1])):
            self._problem("order", f"{_plural(name)} are not strictly increasing")
        if name == RELEASE and last + 1 != batch.totals.releases:
            self._problem(
                "gaps",
                f"the rows up to release {last} leave {last + 1 - batch.totals.rows_total} out, but "
                f"{batch.totals.overruns} overruns and {batch.totals.dropped} drops are counted",
            )
        self.last_release = last

    def _latencies(self, batch: Batch) -> None:
        latency, flags = batch.columns.get(LATENCY), batch.columns.get(FLAGS)
        if latency is None:
            return
        if flags is not None:
            cold = (flags & WARM_UP) != 0
            self.warm_up += int(np.count_nonzero(cold))
            latency = latency[~cold]
        if len(latency):
            most = int(latency.max())
            self.latency_max = most if self.latency_max is None else max(most, self.latency_max)

    def _against(self, claimed: Mapping[str, Any]) -> list[str]:
        found = []
        own = {name: _count(claimed, name) for name in COUNTS}
        if own["recorded"] != self.totals.rows_total:
            found.append(f"{self.totals.rows_total} rows stand for {own['recorded']} recorded activations")
        if own["releases"] != own["recorded"] + own["overruns"] + own["dropped"]:
            found.append(
                f"{own['releases']} releases are not {own['recorded']} recorded + "
                f"{own['overruns']} overruns + {own['dropped']} dropped"
            )
        if own["overruns"] < self.totals.overruns or own["dropped"] < self.totals.dropped:
            found.append("the measuring thread counted fewer overruns or drops than the rows show")
        if own["warm_up"] < self.warm_up:
            found.append(
                f"{self.warm_up} rows are flagged as warm-up, the measuring thread had {own['warm_up']}"
            )
        return found + self._maximum(claimed, own["dropped"])

    def _maximum(self, claimed: Mapping[str, Any], dropped: int) -> list[str]:
        most = claimed.get("latency_ns_max")
        if self.latency_max is None or not is_int(most):
            return []
        if int(most) < self.latency_max or (dropped == 0 and int(most) != self.latency_max):  # type: ignore[arg-type]
            return [
                f"the largest latency of the rows is {self.latency_max} ns, "
                f"the measuring thread's own is {most} ns"
            ]
        return []


def _plural(name: str) -> str:
    return "releases" if name == RELEASE else "indices"


def _count(claimed: Mapping[str, Any], name: str) -> int:
    value = claimed.get(name, 0)
    return int(value) if is_int(value) else 0
