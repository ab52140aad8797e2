"""Names for cells: by the axes on which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from howlate.model.study import PART, Study
from howlate.words.statement import Caption, Listed

FIRST = ("run", "kernel", "test", "load")
HEADINGS = {"cpu": "CPU", "late_policy": "late policy"}


def heading(axis: str) -> str:
    return HEADINGS.get(axis, axis.replace("_", " ").replace("-", " "))


def policy_words(policy: str) -> str:
    """A policy under the kernel's name: "SCHED_FIFO 80"."""
    name, _, rest = policy.partition(":")
    return f"SCHED_{name.upper()}{f' {rest}' if rest else ''}" if name else ""


def policy_in_force(labels: Sequence[Mapping[str, str]]) -> str:
    """The policy of all cells, under the kernel's name; "" if they differ or do not say."""
    policies = {cell.get("policy", "") for cell in labels}
    return policy_words(policies.pop()) if len(policies) == 1 else ""


def axes_that_vary(labels: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Labels in which the cells differ, kernel and load first; only the load (or any other label) if none
    does."""
    names = list(dict.fromkeys(name for cell in labels for name in cell))
    vary = varying(labels)
    if not vary:
        vary = [n for n in ("load", *names) if n in names][:1]
    return tuple(sorted(vary, key=lambda n: (FIRST.index(n) if n in FIRST else len(FIRST), names.index(n))))


def varying(labels: Sequence[Mapping[str, str]]) -> list[str]:
    names = dict.fromkeys(name for cell in labels for name in cell)
    return [name for name in names if len({cell.get(name) for cell in labels}) > 1]


def by_part(labels: Sequence[Mapping[str, str]]) -> dict[str, list[int]]:
    """Positions of the cells of each part, in the order in which the parts come; "" if the study is not divided."""
    parts: dict[str, list[int]] = {}
    for place, cell in enumerate(labels):
        parts.setdefault(cell.get(PART, ""), []).append(place)
    return parts


def title_of(part: str, study: Study | None) -> str:
    """A part's title, or its id if the study is not available."""
    parts = study.parts if study is not None else ()
    return next((known.title for known in parts if known.id == part), part)


def row_names(labels: Sequence[Mapping[str, str]]) -> list[str]:
    """A name for each cell, from the axes that vary; cells that do not differ are numbered."""
    axes = axes_that_vary(labels)
    return numbered([" · ".join(cell[axis] for axis in axes if cell.get(axis)) or "cell" for cell in labels])


def in_sentence(name: str) -> str | Listed:
    """A row's name among other words, where "none" or "none (2)" would not be read as a load."""
    load, bracket, number = name.partition(" (")
    return Listed((Caption("no load"), f"{bracket}{number}"), "") if load == "none" else name


def numbered(names: Sequence[str]) -> list[str]:
    """The names; equal ones with a number each."""
    times = Counter(names)
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if times[name] == 1 else f"{name} ({seen[name]})")
    return out
