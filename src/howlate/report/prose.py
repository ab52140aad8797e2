"""The sentences of the report: the short answer, what to be careful about, and what each number means.

No sentence promises anything beyond the samples: the largest value seen is called that.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from howlate.charts._words import grouped, seconds_text, time_text
from howlate.model.columns import LATENCY, column_words, things
from howlate.model.facts import Facts
from howlate.model.run import VIRTUAL_TIME, Run
from howlate.report.content import CellContent, RunContent
from howlate.report.labels import axes_that_vary
from howlate.report.terminal import AS_PUBLISHED, one_is_none
from howlate.stats.groups import Group, groups_of, kinds_of, repetitions

MOST_CAUTIONS = 100
"""Sentences before the results; nobody reads more."""
MOST_NAMES = 12
"""Cells that one sentence names."""

MEANING: tuple[tuple[str, str], ...] = (
    (
        "Wake-up latency",
        "From the release (the instant at which an activation was due) to the first time stamp that the "
        "awakened task takes in "
        "user space. It includes the timer's interrupt, the kernel's work, the switch to the task and the "
        "return to user "
        "mode, the cost of reading the clock, and whatever came between. It does not include the task's own "
        "work.",
    ),
    (
        "Largest seen",
        "The latest wake-up among those measured. A longer run, another load, other hardware or another day "
        "can show a later "
        "one; these samples alone promise nothing about that.",
    ),
    (
        "Median, p99, p99.9",
        "Order statistics of all samples, warm-up left out. Each is given only where at least ten samples "
        "lie beyond it; "
        "elsewhere a dash stands.",
    ),
    (
        "Standard deviation",
        "Of the samples, with n - 1. Latencies are far from a bell curve: no multiple of it bounds anything.",
    ),
    ("Period exceeded", "Activations whose latency was greater than the period."),
    (
        "Overruns",
        "Releases that got no activation because an earlier one was served too late (late policy skip), or "
        "that were due and "
        "unserved at the end. With late policy backlog, passed releases are served at once, one by one.",
    ),
    (
        "Dropped",
        "Activations that took place but could not be recorded. They make the statistics of a row "
        "incomplete; the maximum is "
        "kept by the measuring task itself, so it holds nevertheless. Always: releases = recorded + "
        "overruns + dropped.",
    ),
    (
        "Load achieved",
        "What a load really got, as a share of the CPUs given to it. A load that stays below its target "
        "disturbs less than "
        "its name says.",
    ),
    (
        "Invalid",
        "A check failed that these numbers depend on, such as the clock source or the accounting; the row "
        "says which. Its "
        "numbers are shown, and left out of the short answer.",
    ),
)


OF_POINTS: tuple[tuple[str, str], ...] = (
    (
        "Spread",
        "The same point was measured several times. Each repetition has one largest latency; the table gives the "
        "smallest, the median and the largest of these, and the median of the repetitions' medians. Of an even "
        "number the median is the mean of the middle two. Invalid repetitions are left out and counted.",
    ),
)
OF_VIRTUAL_TIME: tuple[tuple[str, str], ...] = (
    (
        "Virtual time",
        "One instruction of the guest is one nanosecond, whatever the host does. It compares the paths through "
        "kernels: what can be preempted, how long interrupts stay off, what a switch costs in instructions. It knows "
        "no caches, no real devices, no second CPU and no firmware: these are not microseconds of your hardware.",
    ),
    (
        "Seed",
        "A seed sets where in the kernel's tick the first release lies, and the dither where there is one; it is the "
        "same for all kernels and points. One seed is one case: a kernel's result is the spread over several.",
    ),
)


def answer_of_points(groups: Sequence[Group], run: Run) -> list[str]:
    """The short answer where points are repeated: the largest of all, then each kernel's (or point's) largest."""
    found = [(g, s) for g in groups if (s := g.spread(_column(g))) is not None]
    if not found:
        return [
            "No repetition is valid, so there is no answer yet." if groups else "Nothing was measured yet."
        ]
    worst, spread = max(found, key=lambda row: row[1].maxima.largest)
    axes = axes_that_vary([g.labels for g, _ in found])
    name = " · ".join(worst.labels[axis] for axis in axes if worst.labels.get(axis))
    what = column_words(_column(worst))
    counted = grouped(sum(len(g.counted) for g, _ in found))
    where = " in virtual time" if run.virtual else ""
    under = f", of <b>{escape(name)}</b>" if len(found) > 1 else ""
    said = [
        f"Largest {what} seen{where} over all {repetitions(run)}: "
        f"<b>{escape(time_text(spread.maxima.largest))}</b>{under}."
    ]
    by_kernel: dict[str, int] = {}
    for group, one in found:
        kernel = group.labels.get("kernel", "")
        by_kernel[kernel] = max(by_kernel.get(kernel, 0), one.maxima.largest)
    rest = f"{counted} cells were measured, {grouped(len(found))} points with their {repetitions(run)}."
    if len(by_kernel) > 1:
        ordered = sorted(by_kernel.items(), key=lambda row: row[1])
        named = [f"{escape(kernel)} {escape(time_text(largest))}" for kernel, largest in ordered]
        many = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
        rest = f"The largest of each kernel: {', '.join(named[:MOST_NAMES])}{many}. {rest}"
    return [*said, rest]


def _column(group: Group) -> str:
    """The column that the answer is about."""
    return (
        LATENCY
        if any(LATENCY in c.columns for c in group.cells)
        else next((name for c in group.cells for name in c.columns), LATENCY)
    )


def answer(cells: Sequence[CellContent], names: Sequence[str], machines: int = 1) -> list[str]:
    """The short answer in words, as HTML: the largest latency of the valid cells, then what stands beside
    it. `machines`: how many they were measured on."""
    usable = [
        (n, c)
        for n, c in zip(names, cells, strict=True)
        if c.summary.valid and c.column and c.column.max is not None
    ]
    if not usable:
        return [
            "None of the cells is valid, so there is no answer yet." if cells else "Nothing was measured yet."
        ]
    name, worst = max(usable, key=lambda pair: _max(pair[1]))
    seconds = [c.seconds for _, c in usable]
    known = [s for s in seconds if s is not None]
    during = f" in {seconds_text(sum(known))}" if len(known) == len(seconds) else ""
    what = column_words(worst.column_name)
    calm = worst.summary.labels.get("load") == "none"
    under = ", without load" if calm and name == "none" else f", under <b>{escape(name)}</b>"
    under = under if len(usable) > 1 else ""
    where = "this machine" if machines == 1 else f"these {machines} machines"
    said = [f"Largest {what} seen{during} on {where}: <b>{escape(time_text(_max(worst)))}</b>{under}."]
    return [*said, " ".join(_beside(usable, calm))]


def _beside(usable: Sequence[tuple[str, CellContent]], calm: bool) -> list[str]:
    out: list[str] = []
    idle = [(n, c) for n, c in usable if c.summary.labels.get("load") == "none"]
    loaded = [pair for pair in usable if pair not in idle]
    if idle and loaded and calm:
        name, cell = max(loaded, key=lambda pair: _max(pair[1]))
        out.append(f"With a load the largest was {escape(time_text(_max(cell)))}, under {escape(name)}.")
    elif idle and loaded:
        out.append(f"Without load the largest was {escape(time_text(max(_max(c) for _, c in idle)))}.")
    of = things(usable[0][1].column_name)
    late = of == "wake-ups"
    medians = [c.column.quantiles.get("0.5") for _, c in usable if c.column]
    stated = [m for m in medians if m is not None]
    if stated:
        low, high = escape(time_text(min(stated))), escape(time_text(max(stated)))
        out.append(
            f"Half of the {of} {'came' if late else 'lie'} within {low}."
            if low == high
            else f"Half of the {of} {'came' if late else 'lie'} within {low} to {high}"
            + (", depending on the load." if late else ", depending on the cell.")
        )
    total = sum(c.column.count for _, c in usable if c.column)
    overruns = sum(c.summary.accounting.overruns for _, c in usable)
    if late:
        missed = f"{grouped(overruns)} releases got no wake-up" if overruns else "no release was missed"
    else:
        missed = f"{grouped(overruns)} were wanted and not had" if overruns else "none is missing"
    out.append(f"{escape(grouped(total))} {of} were measured; {escape(missed)}.")
    passed = [
        (name, sum(int(c.summary.outcomes.get(name, 0)) for _, c in usable))
        for name in ("passes", "failures")
    ]
    if any(name in c.summary.outcomes for _, c in usable for name, _ in passed):
        out.append(f"{' and '.join(f'{escape(grouped(count))} {name}' for name, count in passed)}.")
    return out


def _max(cell: CellContent) -> int:
    return cell.column.max if cell.column is not None and cell.column.max is not None else 0


def cautions(runs: Sequence[RunContent], cells: Sequence[CellContent], names: Sequence[str]) -> list[str]:
    """What a reader must know before using the numbers."""
    out: list[str] = []
    for content in runs:
        out += _virtual(content)
        out += [sentence(w) for w in content.run.warnings]
        if content.run.scale != 1.0:
            out.append(f"Counts were scaled by {content.run.scale:g}: this is not the whole study.")
        for why in dict.fromkeys(content.failed.values()):
            ids = [cell for cell, reason in content.failed.items() if reason == why]
            out.append(
                f"The cell{'s' * (len(ids) > 1)} {several(ids)} {'is' if len(ids) == 1 else 'are'} missing: "
                f"{sentence(why)}"
            )
        missing = len(content.run.plan.cells) - len(content.cells) - len(content.failed)
        impossible = [c for c in content.run.plan.cells if c.impossible]
        if missing > len(impossible):
            out.append(f"{missing - len(impossible)} cells of the plan are not measured yet.")
        for reason in dict.fromkeys(c.impossible for c in impossible):
            ids = [c.id for c in impossible if c.impossible == reason]
            out.append(f"Not possible on this machine: {several(ids)} ({reason}).")
    for name, cell in zip(names, cells, strict=True):
        if not cell.summary.valid:
            out.append(
                f"{name} is invalid: "
                f"{' '.join(sentence(w) for w in cell.summary.warnings) or 'a check failed.'}"
            )
        if cell.summary.accounting.dropped:
            dropped = grouped(cell.summary.accounting.dropped)
            out.append(f"{name} is incomplete: {dropped} {things(cell.column_name)} could not be recorded.")
    for warning, rows in _warned(cells, names).items():
        who = "" if len(rows) == len(cells) else f"{several(rows)}: "
        out.append(f"{who}{sentence(warning)}")
    if any(c.summary.accounting.late_policy == "as-published" for c in cells):
        out.append(AS_PUBLISHED)
    said = list(dict.fromkeys(out))
    if len(said) > MOST_CAUTIONS:
        rest = len(said) - MOST_CAUTIONS
        said = [*said[:MOST_CAUTIONS], f"{rest} more sentences of this kind are in `howlate show`."]
    return said


def _warned(cells: Sequence[CellContent], names: Sequence[str]) -> dict[str, list[str]]:
    """Warnings of valid cells with the names of those that have them; of a point's repetitions those that differ in
    numbers alone once, with how many there are."""
    points: dict[str, list[tuple[str, CellContent]]] = {}
    for name, cell in zip(names, cells, strict=True):
        if cell.summary.valid:
            points.setdefault(name.rpartition(" (")[0] or name, []).append((name, cell))
    warned: dict[str, list[str]] = {}
    for point, some in points.items():
        for text, many in kinds_of(warning for _, cell in some for warning in cell.summary.warnings):
            name = some[0][0] if len(some) == 1 else f"{point} ({many} of {len(some)})"
            warned.setdefault(text, []).append(name)
    return warned


def several(names: Sequence[str]) -> str:
    """Names for a sentence; of many the first, and how many more."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"


def _virtual(content: RunContent) -> list[str]:
    """A virtual machine's numbers are also its host's; in virtual time they are nobody's hardware's."""
    if content.run.virtual:
        one = any(len(g.counted) == 1 for g in groups_of([c.summary for c in content.cells], content.run))
        known = [VIRTUAL_TIME, *([one_is_none(content.run)] if one else [])]
        return [sentence(text[:1].upper() + text[1:]) for text in known]
    facts = facts_of(content.run.facts)
    steal_ns = sum(int(c.trailer.get("steal_ns") or 0) for c in content.cells)
    said = (
        f" The host took {time_text(steal_ns)} of CPU time away while it measured (steal)."
        if steal_ns
        else ""
    )
    if is_virtual(facts):
        return [
            f"This is a virtual machine: part of every latency is its host's doing, not this Linux's.{said}"
        ]
    return [said.strip()] if said else []


def facts_of(value: Any) -> Facts:
    """The run's facts; none where they were not captured."""
    return Facts.from_json(value) if isinstance(value, dict) and value.get("facts") == 1 else Facts({}, {})


def is_virtual(facts: Facts) -> bool:
    """Whether the captured facts say that a hypervisor is below."""
    flags = facts.text("cpu.flags") or ""
    hypervisor = facts.text("machine.hypervisor") or ""
    return (
        "hypervisor" in flags.split()
        or hypervisor not in ("", "none")
        or facts.flag("cpu.hypervisor") is True
    )


def sentence(text: str) -> str:
    """With a full stop."""
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
