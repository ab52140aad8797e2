"""What to call cells: by the axes on which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.model.study import PART, Study
from howlate.model.summary import CellSummary
from howlate.model.units import parse_duration_ns

FIRST = ("run", "kernel", "load")
HEADINGS = {"cpu": "CPU", "late_policy": "late policy"}


def heading(axis: str) -> str:
    """An axis as a column's heading."""
    return HEADINGS.get(axis, axis.replace("_", " ").replace("-", " "))


def policy_words(policy: str) -> str:
    """A policy as the kernel calls it: "SCHED_FIFO 80"."""
    name, _, rest = policy.partition(":")
    return f"SCHED_{name.upper()}{f' {rest}' if rest else ''}" if name else ""


def policy_in_force(labels: Sequence[Mapping[str, str]]) -> str:
    """What all cells were measured under, as the kernel calls it; "" where they differ or do not say it."""
    found = {one.get("policy", "") for one in labels}
    return policy_words(found.pop()) if len(found) == 1 else ""


def axes_that_vary(labels: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Labels in which the cells differ, kernel and load first; the load alone (or whatever there is) if none
    does."""
    names = list(dict.fromkeys(name for one in labels for name in one))
    vary = [n for n in names if len({one.get(n) for one in labels}) > 1]
    if not vary:
        vary = [n for n in ("load", *names) if n in names][:1]
    return tuple(sorted(vary, key=lambda n: (FIRST.index(n) if n in FIRST else len(FIRST), names.index(n))))


def by_part(labels: Sequence[Mapping[str, str]]) -> dict[str, list[int]]:
    """Places of the cells of each part, in the order in which the parts come; "" where the study has none."""
    found: dict[str, list[int]] = {}
    for place, one in enumerate(labels):
        found.setdefault(one.get(PART, ""), []).append(place)
    return found


def title_of(part: str, study: Study | None) -> str:
    """A part's title, or its id where the study is not at hand."""
    parts = study.parts if study is not None else ()
    return next((one.title for one in parts if one.id == part), part)


def row_names(labels: Sequence[Mapping[str, str]]) -> list[str]:
    """One name a cell, of the axes that vary; cells that differ in nothing are numbered."""
    axes = axes_that_vary(labels)
    names = [" · ".join(one[axis] for axis in axes if one.get(axis)) or "cell" for one in labels]
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if names.count(name) == 1 else f"{name} ({seen[name]})")
    return out


def measured_s(summary: CellSummary) -> float | None:
    """How long a cell measured, from its releases (summed over its CPUs) and its period; None where the period
    is not known."""
    cpus = 1 + summary.labels.get("cpu", "").count(",")
    try:
        return summary.accounting.releases / cpus * parse_duration_ns(summary.labels.get("period", "")) / 1e9
    except ValueError:
        return None
