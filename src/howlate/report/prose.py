"""The sentences of the report: the short answer, what to be careful about, and what each number means.

No sentence promises anything beyond the samples: the largest value seen is called that.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from howlate.charts._words import grouped, seconds_text, things_of, time_text, words_of_column
from howlate.language import N_, _, ngettext, retold
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.facts import Facts
from howlate.model.run import VIRTUAL_TIME, Run, policy_without_right
from howlate.report.content import CellContent, RunContent
from howlate.report.labels import axes_that_vary
from howlate.report.terminal import AS_PUBLISHED, one_is_none
from howlate.report.text import listed
from howlate.stats.groups import Group, groups_of, kinds_of, repetitions

MOST_CAUTIONS = 100
"""Sentences before the results; nobody reads more."""
MOST_NAMES = 12
"""Cells that one sentence names."""

MEANING: tuple[tuple[str, str], ...] = (
    (
        N_("Wake-up latency"),
        N_(
            "From the release (the instant at which an activation was due) to the first time "
            "stamp that the awakened task takes in user space. It includes the timer's "
            "interrupt, the kernel's work, the switch to the task and the return to user mode, "
            "the cost of reading the clock, and whatever came between. It does not include the "
            "task's own work."
        ),
    ),
    (
        N_("Largest seen"),
        N_(
            "The latest wake-up among those measured. A longer run, another load, other hardware "
            "or another day can show a later one; these samples alone promise nothing about that."
        ),
    ),
    (
        N_("Median, p99, p99.9"),
        N_(
            "Order statistics of all samples, warm-up left out. Each is given only where at "
            "least ten samples lie beyond it; elsewhere a dash stands."
        ),
    ),
    (
        N_("Standard deviation"),
        N_(
            "Of the samples, with n - 1. Latencies are far from a bell curve: no multiple of it "
            "bounds anything."
        ),
    ),
    (N_("Period exceeded"), N_("Activations whose latency was greater than the period.")),
    (
        N_("Overruns"),
        N_(
            "Releases that got no activation because an earlier one was served too late (late "
            "policy skip), or that were due and unserved at the end. With late policy backlog, "
            "passed releases are served at once, one by one."
        ),
    ),
    (
        N_("Deadline misses"),
        N_(
            "Releases that were not answered within the deadline that was stated, whether late or never: "
            "activations whose latency (or response time, where the task works) is greater than the deadline, "
            "and overruns. Warm-up is left out."
        ),
    ),
    (
        N_("Dropped"),
        N_(
            "Activations that took place but could not be recorded. They make the statistics of "
            "a row incomplete; the maximum is kept by the measuring task itself, so it holds "
            "nevertheless. Always: releases = recorded + overruns + dropped."
        ),
    ),
    (
        N_("Load achieved"),
        N_(
            "What a load really got, as a share of the CPUs given to it. A load that stays below "
            "its target disturbs less than its name says."
        ),
    ),
    (
        N_("Invalid"),
        N_(
            "A check failed that these numbers depend on, such as the clock source or the "
            "accounting; the row says which. Its numbers are shown, and left out of the short "
            "answer."
        ),
    ),
)


OF_POINTS: tuple[tuple[str, str], ...] = (
    (
        N_("Spread"),
        N_(
            "The same point was measured several times. Each repetition has one largest latency; "
            "the table gives the smallest, the median and the largest of these, and the median "
            "of the repetitions' medians. Of an even number the median is the mean of the middle "
            "two. Invalid repetitions are left out and counted."
        ),
    ),
)
OF_VIRTUAL_TIME: tuple[tuple[str, str], ...] = (
    (
        N_("Virtual time"),
        N_(
            "One instruction of the guest is one nanosecond, whatever the host does. It compares "
            "the paths through kernels: what can be preempted, how long interrupts stay off, "
            "what a switch costs in instructions. It knows no caches, no real devices, no second "
            "CPU and no firmware: these are not microseconds of your hardware."
        ),
    ),
    (
        N_("Seed"),
        N_(
            "A seed sets where in the kernel's tick the first release lies, and the dither where "
            "there is one; it is the same for all kernels and points. One seed is one case: a "
            "kernel's result is the spread over several."
        ),
    ),
)


def answer_of_points(groups: Sequence[Group], run: Run) -> list[str]:
    """The short answer where points are repeated: the largest of all, then each kernel's (or point's) largest."""
    found = [(g, s) for g in groups if (s := g.spread(_column(g))) is not None]
    if not found:
        return [
            _("No repetition is valid, so there is no answer yet.")
            if groups
            else _("Nothing was measured yet.")
        ]
    worst, spread = max(found, key=lambda row: row[1].maxima.largest)
    axes = axes_that_vary([g.labels for g, _ in found])
    name = " · ".join(worst.labels[axis] for axis in axes if worst.labels.get(axis))
    what = words_of_column(_column(worst))
    counted = grouped(sum(len(g.counted) for g, _ in found))
    where = _(" in virtual time") if run.virtual else ""
    under = _(", of <b>{name}</b>").format(name=escape(name)) if len(found) > 1 else ""
    said = [
        _("Largest {what} seen{where} over all {repetitions}: <b>{time}</b>{under}.").format(
            what=what,
            where=where,
            repetitions=_(repetitions(run)),
            time=escape(time_text(spread.maxima.largest)),
            under=under,
        )
    ]
    by_kernel: dict[str, int] = {}
    for group, one in found:
        kernel = group.labels.get("kernel", "")
        by_kernel[kernel] = max(by_kernel.get(kernel, 0), one.maxima.largest)
    rest = _("{counted} cells were measured, {grouped} points with their {run}.").format(
        counted=counted, grouped=grouped(len(found)), run=_(repetitions(run))
    )
    if len(by_kernel) > 1:
        ordered = sorted(by_kernel.items(), key=lambda row: row[1])
        named = [f"{escape(kernel)} {escape(time_text(largest))}" for kernel, largest in ordered]
        many = _(" and {named} more").format(named=len(named) - MOST_NAMES) if len(named) > MOST_NAMES else ""
        rest = _("The largest of each kernel: {join}{many}. {rest}").format(
            join=", ".join(named[:MOST_NAMES]), many=many, rest=rest
        )
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
        if c.summary.valid and not c.summary.starved and c.column and c.column.max is not None
    ]
    if not usable:
        if any(c.summary.starved for c in cells):
            return [
                _(
                    "No load was there where it was asked for, as the study expects: there is no answer under load."
                )
            ]
        if any(c.summary.valid for c in cells):
            return [_("Nothing was found that could be late: the valid cells have no value.")]
        return [
            _("None of the cells is valid, so there is no answer yet.")
            if cells
            else _("Nothing was measured yet.")
        ]
    name, worst = max(usable, key=lambda pair: _max(pair[1]))
    seconds = [c.seconds for _, c in usable]
    known = [s for s in seconds if s is not None]
    during = _(" in {time}").format(time=seconds_text(sum(known))) if len(known) == len(seconds) else ""
    what = words_of_column(worst.column_name)
    calm = worst.summary.labels.get("load") == "none"
    under = (
        _(", without load")
        if calm and name == "none"
        else _(", under <b>{name}</b>").format(name=escape(name))
    )
    under = under if len(usable) > 1 else ""
    sentence = (
        _("Largest {what} seen{during} on this machine: <b>{time}</b>{under}.")
        if machines == 1
        else _("Largest {what} seen{during} on these {machines} machines: <b>{time}</b>{under}.")
    )
    said = [
        sentence.format(
            what=what, during=during, machines=machines, time=escape(time_text(_max(worst))), under=under
        )
    ]
    return [*said, " ".join(_beside(usable, calm))]


def _beside(usable: Sequence[tuple[str, CellContent]], calm: bool) -> list[str]:
    out: list[str] = []
    idle = [(n, c) for n, c in usable if c.summary.labels.get("load") == "none"]
    loaded = [pair for pair in usable if pair not in idle]
    if idle and loaded and calm:
        name, cell = max(loaded, key=lambda pair: _max(pair[1]))
        out.append(
            _("With a load the largest was {escape}, under {name}.").format(
                escape=escape(time_text(_max(cell))), name=escape(name)
            )
        )
    elif idle and loaded:
        out.append(
            _("Without load the largest was {escape}.").format(
                escape=escape(time_text(max((_max(c) for _, c in idle))))
            )
        )
    column = usable[0][1].column_name
    of, late = things_of(column), column in (LATENCY, RESPONSE)
    medians = [c.column.quantiles.get("0.5") for _, c in usable if c.column]
    stated = [m for m in medians if m is not None]
    if stated:
        low, high = escape(time_text(min(stated))), escape(time_text(max(stated)))
        out.append(_half(of, low, high, late))
    total = sum(c.column.count for _, c in usable if c.column)
    overruns = sum(c.summary.accounting.overruns for _, c in usable)
    if late:
        missed = (
            _("{overruns} releases got no wake-up").format(overruns=grouped(overruns))
            if overruns
            else _("no release was missed")
        )
    else:
        missed = (
            _("{overruns} were wanted and not had").format(overruns=grouped(overruns))
            if overruns
            else _("none is missing")
        )
    out.append(
        _("{escape} {of} were measured; {missed}.").format(
            escape=escape(grouped(total)), of=of, missed=escape(missed)
        )
    )
    passed = [
        (name, sum(int(c.summary.outcomes.get(name, 0)) for _name, c in usable))
        for name in (N_("passes"), N_("failures"))
    ]
    if any(name in c.summary.outcomes for _, c in usable for name, _ in passed):
        said = [f"{escape(grouped(count))} {_(name)}" for name, count in passed]
        out.append(_("{passes} and {failures}.").format(passes=said[0], failures=said[1]))
    return out


def _half(of: str, low: str, high: str, late: bool) -> str:
    """Between which values the medians lie."""
    if late and low == high:
        text = _("Half of the {of} came within {low}.")
    elif late:
        text = _("Half of the {of} came within {low} to {high}, depending on the load.")
    elif low == high:
        text = _("Half of the {of} lie within {low}.")
    else:
        text = _("Half of the {of} lie within {low} to {high}, depending on the cell.")
    return text.format(of=of, low=low, high=high)


def _max(cell: CellContent) -> int:
    return cell.column.max if cell.column is not None and cell.column.max is not None else 0


def cautions(runs: Sequence[RunContent], cells: Sequence[CellContent], names: Sequence[str]) -> list[str]:
    """What a reader must know before using the numbers."""
    out = [sentence(w) for content in runs for w in content.run.warnings if policy_without_right(w)]
    for content in runs:
        out += _of_run(content)
    for name, cell in zip(names, cells, strict=True):
        out += _of_cell(name, cell)
    for warning, rows in _warned(cells, names).items():
        who = "" if len(rows) == len(cells) else f"{several(rows)}: "
        out.append(f"{who}{sentence(warning)}")
    if any(c.summary.accounting.late_policy == "as-published" for c in cells):
        out.append(_(AS_PUBLISHED))
    said = list(dict.fromkeys(out))
    if len(said) > MOST_CAUTIONS:
        rest = len(said) - MOST_CAUTIONS
        said = [
            *said[:MOST_CAUTIONS],
            _("{rest} more sentences of this kind are in `howlate show`.").format(rest=rest),
        ]
    return said


def _of_run(content: RunContent) -> list[str]:
    """What holds for a whole run: its clock, its warnings, and the cells that are missing."""
    out = [*_virtual(content), *(sentence(w) for w in content.run.warnings)]
    if content.run.scale != 1.0:
        out.append(
            _("Counts were scaled by {scale:g}: this is not the whole study.").format(scale=content.run.scale)
        )
    for why in dict.fromkeys(content.failed.values()):
        ids = [cell for cell, reason in content.failed.items() if reason == why]
        out.append(
            ngettext(
                "The cell {ids} is missing: {why}", "The cells {ids} are missing: {why}", len(ids)
            ).format(ids=several(ids), why=sentence(why))
        )
    missing = len(content.run.plan.cells) - len(content.cells) - len(content.failed)
    impossible = [c for c in content.run.plan.cells if c.impossible]
    if missing > len(impossible):
        out.append(
            _("{missing} cells of the plan are not measured yet.").format(missing=missing - len(impossible))
        )
    for reason in dict.fromkeys(c.impossible for c in impossible):
        ids = [c.id for c in impossible if c.impossible == reason]
        out.append(
            _("Not possible on this machine: {ids} ({reason}).").format(
                ids=several(ids), reason=retold(reason)
            )
        )
    return out


def _of_cell(name: str, cell: CellContent) -> list[str]:
    """Why a cell is not valid, and what of it could not be recorded."""
    out = []
    if not cell.summary.valid:
        out.append(
            _("{name} is invalid: {value}").format(
                name=name,
                value=sentence(listed(cell.summary.warnings) or _("a check failed")),
            )
        )
    if cell.summary.accounting.dropped:
        dropped = grouped(cell.summary.accounting.dropped)
        out.append(
            _("{name} is incomplete: {dropped} {column_name} could not be recorded.").format(
                name=name, dropped=dropped, column_name=things_of(cell.column_name)
            )
        )
    return out


def _warned(cells: Sequence[CellContent], names: Sequence[str]) -> dict[str, list[str]]:
    """Warnings of valid cells with the names of those that have them; of a point's repetitions those that differ in
    numbers alone once, with how many there are."""
    points: dict[str, list[tuple[str, CellContent]]] = {}
    for name, cell in zip(names, cells, strict=True):
        if cell.summary.valid:
            points.setdefault(name.rpartition(" (")[0] or name, []).append((name, cell))
    warned: dict[str, list[str]] = {}
    for point, some in points.items():
        for text, many in kinds_of(warning for _name, cell in some for warning in cell.summary.warnings):
            name = (
                some[0][0]
                if len(some) == 1
                else _("{point} ({many} of {some})").format(point=point, many=many, some=len(some))
            )
            warned.setdefault(text, []).append(name)
    return warned


def several(names: Sequence[str]) -> str:
    """Names for a sentence; of many the first, and how many more."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return _("{join} and {names} more").format(
        join=", ".join(names[:MOST_NAMES]), names=len(names) - MOST_NAMES
    )


def _virtual(content: RunContent) -> list[str]:
    """A virtual machine's numbers are also its host's; in virtual time they are nobody's hardware's."""
    if content.run.virtual:
        one = any(len(g.counted) == 1 for g in groups_of([c.summary for c in content.cells], content.run))
        known = [VIRTUAL_TIME, *([one_is_none(content.run)] if one else [])]
        return [sentence(text[:1].upper() + text[1:]) for text in known]
    facts = facts_of(content.run.facts)
    steal_ns = sum(int(c.trailer.get("steal_ns") or 0) for c in content.cells)
    said = (
        _(" The host took {steal_ns} of CPU time away while it measured (steal).").format(
            steal_ns=time_text(steal_ns)
        )
        if steal_ns
        else ""
    )
    if is_virtual(facts):
        return [
            _(
                "This is a virtual machine: part of every latency is its host's doing, not this "
                "Linux's.{said}"
            ).format(said=said)
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
    text = retold(text.strip())
    return text if text.endswith((".", "!", "?", "。", "？")) else _("{sentence}.").format(sentence=text)
