"""What the first screen says of how far its numbers can be trusted, and under which circumstances they were taken."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from howlate.document import cautions
from howlate.document.first_screen.lines import shortened
from howlate.document.first_screen.on_screen import ScreenNote
from howlate.document.first_screen.rows import ScreenRow, totalled
from howlate.document.machine import place
from howlate.document.missing import missing_of
from howlate.document.report_input import ReportInput
from howlate.document.text import virtual_note
from howlate.model.disturbances import Others, OtherTask
from howlate.model.facts import facts_of, is_guest
from howlate.model.loaded import RunContent
from howlate.model.preemption import preemption_of, spelt
from howlate.model.run import BY_HAND, Run, policy_without_right
from howlate.model.summary import CellSummary
from howlate.statistics.labels import in_sentence, varying
from howlate.statistics.valid import ACCOUNT, BEYOND, UNCOUNTED, UNORDERED
from howlate.words.printable import quoted
from howlate.words.quantities import percent, seconds_text
from howlate.words.say import Text, more_rows_text, text_of
from howlate.words.statement import Caption, Listed, Statement, message

MOST = 3
UNMEASURED, UNSTATED, INVALID, OTHERS, CLOCK, LOAD, LENGTH = 10, 15, 20, 25, 30, 60, 90
"""Their ranks; a room's (on_screen.py) lie between them."""
WEAK_LOAD = 0.9
LONG_NAME, NAMED = 24, 4
"""Of rows that are not valid: the width of a name, and how many are named."""
NOT_THERE = ("report.cells-missing", "report.not-")
"""The rules of what says that cells are missing."""
LONGER = message(
    "notes.longer",
    "With {level:level} confidence only rarer events can have been missed; a longer run sees them: `howlate "
    "check --long`.",
)
LEVEL = 0.95
RULE_OF_THREE = 3
"""What comes less often than this number of times in the measured time may not have come at all, with 95 %."""


def notes(
    material: ReportInput, rows: Sequence[ScreenRow], of_rooms: Sequence[ScreenNote]
) -> tuple[ScreenNote, ...]:
    """At most `MOST`, ranked; one more where only that one would be left out."""
    found = sorted([*_notes(material, rows), *of_rooms], key=lambda note: note.rank)
    last = [note for note in found if note.rank == LENGTH]
    first = [note for note in found if note.rank != LENGTH]
    room = MOST - len(last)
    return (*(first if len(first) == room + 1 else first[:room]), *last)


def others(material: ReportInput, shown: Sequence[ScreenNote]) -> int:
    """How many sentences the whole report has besides these notes."""
    content = material.runs[0]
    rows = [(name, (cell.summary,)) for name, cell in zip(material.whole.names, material.cells, strict=True)]
    every = len(cautions.of_runs([content], rows)) + len(material.failures) + len(missing_of(content))
    return max(0, every - sum(note.count for note in shown if note.rank != LENGTH))


def _notes(material: ReportInput, rows: Sequence[ScreenRow]) -> Iterator[ScreenNote]:
    content = material.runs[0]
    for warning in content.run.warnings:
        if policy_without_right(warning):
            yield ScreenNote(0, warning)
    away = _lacking(content)
    lacking = [cell for cell in content.run.plan.cells if cell.id in away]
    if material.failures and rows:
        yield ScreenNote(
            UNMEASURED, material.failures[0].removeprefix("! "), len(material.failures), NOT_THERE
        )
    elif lacking and rows:
        loads = tuple(cell.labels.get("load", cell.id) for cell in lacking)
        names = loads if len(set(loads)) == len(loads) else tuple(cell.id for cell in lacking)
        rows_ = Listed(tuple(map(in_sentence, names)))
        yield ScreenNote(UNMEASURED, Caption("not measured: {rows}", rows=rows_), rules=NOT_THERE)
    if content.run.target == BY_HAND:
        yield from _unstated(content, rows)
    yield from of_invalid(rows)
    yield from of_machine(content)
    yield from _of_loads(rows)
    yield from of_others(rows)
    seconds = [row.seconds for row in totalled(rows) if row.seconds]
    if seconds and not content.run.virtual:
        shortest = min(seconds)
        yield ScreenNote(
            LENGTH,
            Caption(
                "{time} per row may miss what comes less often than once in {every}",
                time=seconds_text(shortest, space=" "),
                every=seconds_text(shortest / RULE_OF_THREE, " ", math.floor),
            ),
            more=(LONGER(level=LEVEL),),
        )


def _unstated(content: RunContent, rows: Sequence[ScreenRow]) -> Iterator[ScreenNote]:
    """What a file of another program does not say, and the samples whose values it lacks."""
    cells = [cell for row in rows for cell in row.cells]
    if not cells:
        return
    unsaid = {
        Caption("machine"): not facts_of(content.run.facts).text("kernel.release"),
        Caption("load"): any("load" not in cell.labels for cell in cells),
        Caption("length"): not all(row.seconds for row in rows),
        Caption("order"): not all(cell.known.time_order for cell in cells),
        Caption("missed wake-ups"): not all(cell.known.missed_releases for cell in cells),
    }
    warned = {rule for rule in (UNORDERED.id, UNCOUNTED.id) for cell in cells if _warned(cell, rule)}
    if items := tuple(item for item, is_unsaid in unsaid.items() if is_unsaid):
        told = Caption("the file does not say: {items}", items=Listed(items))
        yield ScreenNote(UNSTATED, told, len(warned), tuple(warned))
    beyond = dict.fromkeys(text for cell in cells for text in _warned(cell, BEYOND.id))
    if beyond:
        yield ScreenNote(UNSTATED, next(iter(beyond)), len(beyond), (BEYOND.id,))


def _warned(cell: CellSummary, rule: str) -> list[Statement]:
    return [warning for warning in cell.warnings if warning.rule == rule]


def of_invalid(rows: Sequence[ScreenRow]) -> Iterator[ScreenNote]:
    """Which rows are not valid, and of which of these totals and causes are."""
    counted = totalled(rows)
    for is_counted in (False, True):
        invalid = [row for row in rows if row.mark and (row in counted) is is_counted]
        if invalid:
            yield _of_invalid(invalid, is_counted=is_counted, is_alone=len(rows) == 1)


def _of_invalid(invalid: Sequence[ScreenRow], *, is_counted: bool, is_alone: bool) -> ScreenNote:
    failed = [text for row in invalid for cell in row.cells for text in cell.failed]
    why = text_of(failed[0]).partition(":")[0].rstrip(".。") if failed else ""
    if failed and failed[0].rule == ACCOUNT.id:  # begins with the place in a file
        why = text_of(Caption("its numbers contradict each other"))
    names = [
        text_of(in_sentence(name)) + _how_many(row)
        for row, name in zip(invalid, shortened([row.title for row in invalid], LONG_NAME), strict=True)
    ]
    named = Listed(
        (*names[:NAMED], more_rows_text(len(names) - NAMED)) if len(names) > NAMED + 1 else tuple(names)
    )
    told = Caption("not valid: {rows} ({why})", rows=named, why=why)
    if is_alone and "load" not in invalid[0].labels:  # nothing that names it
        told = Caption("not valid: {why}", why=why)
    elif not is_counted:
        told = Caption("not valid, not counted: {rows} ({why})", rows=named, why=why)
    return ScreenNote(INVALID, told, len(names), tuple(text.rule for text in failed))


def _how_many(row: ScreenRow) -> str:
    """Of the repetitions, where some are valid."""
    group = row.group
    return f" {len(group.cells) - len(group.counted)}/{len(group.cells)}" if group.counted else ""


def _lacking(content: RunContent) -> set[str]:
    there = {summary.id for summary in content.summaries}
    return {cell.id for cell in content.run.plan.cells} - there


def of_machine(content: RunContent) -> Iterator[ScreenNote]:
    if content.run.virtual:
        yield ScreenNote(CLOCK, virtual_note(virtual=True), rules=("report.one-seed",))
        return
    steal_ns = sum(int(cell.trailer.get("steal_ns") or 0) for cell in content.cells)
    measured_ns = sum(1e9 * (cell.seconds or 0) for cell in content.cells)
    if is_guest(facts_of(content.run.facts)):
        share = percent(steal_ns / measured_ns if measured_ns else 0.0)
        yield ScreenNote(
            CLOCK,
            Caption("virtual machine (steal {share})", share=share),
            rules=("report.hypervisor", "report.steal", "cell.steal"),
        )


def _of_loads(rows: Sequence[ScreenRow]) -> Iterator[ScreenNote]:
    """The load that fell furthest short of its target."""
    weak = [
        (min(row.group.load_shares), row.title)
        for row in rows
        if row.group.load_shares and not row.group.starved and min(row.group.load_shares) < WEAK_LOAD
    ]
    if weak:
        share, name = min(weak)
        told = Caption("{row} had {share} of its load", row=name, share=percent(share))
        yield ScreenNote(LOAD, told, len(weak), ("load.",))


def of_others(rows: Sequence[ScreenRow]) -> Iterator[ScreenNote]:
    """What others used at most in a row, and the task that used most of it."""
    disturbed = [row for row in rows if not row.group.alone]
    if not disturbed:
        return
    seen = [cell.others for row in disturbed for cell in row.cells if cell.others is not None]
    if not seen:
        return
    most = max(seen, key=lambda each: each.user_ns / max(1, each.window_ns))
    window_ns = max(1, most.window_ns)
    tasks = [f" ({quoted(task.name)} {percent(task.cpu_ns / window_ns)})" for task in _by_time(most)[:1]]
    words = {"share": percent(most.user_ns / window_ns), "task": "".join(tasks)}
    told = Caption("others used up to {share} of a CPU{task}", **words)
    if len(disturbed) < len(rows):
        told = Caption(
            "others used up to {share} of a CPU in {count} of {rows} rows{task}",
            count=len(disturbed),
            rows=len(rows),
            **words,
        )
    yield ScreenNote(OTHERS, told, len(disturbed), ("others.",))


def _by_time(others: Others) -> list[OtherTask]:
    return sorted(others.tasks, key=lambda task: -task.cpu_ns)


def circumstances(content: RunContent) -> Text:
    """Policy, period and CPUs; kernel and its preemption; processor and hypervisor."""
    labels = [dict(summary.labels) for summary in content.summaries]
    differ = varying(labels)
    common = labels[0] if labels else {}
    facts = facts_of(content.run.facts)
    of_task = [common.get(name, "") for name in ("policy", "period") if name not in differ]
    of_task = [re.sub(r"^(\d+)([a-z]+)$", r"\1 \2", text) for text in of_task]
    if (cpu := common.get("cpu", "")) and "cpu" not in differ:
        of_task.append(f"CPU {cpu}")
    if content.run.machines:
        return Listed((", ".join(filter(None, of_task)), place(content.run)), "; ")
    model = preemption_of(content.run.facts) if content.run.facts else ""
    kernel = facts.text("kernel.release")
    hardware = facts.text("cpu.model") or facts.text("machine.model") or ""
    return Listed(
        (
            target(content.run),
            ", ".join(filter(None, of_task)),
            " ".join(filter(None, (f"Linux {kernel}" if kernel else "", spelt(model) if model else ""))),
            " ".join(hardware.split()),
        ),
        "; ",
    )


def target(run: Run) -> Text:
    """What was measured, if it is not this machine."""
    if run.target == BY_HAND:
        return Caption(
            "{test}, imported", test=", ".join(dict.fromkeys(cell.test for cell in run.plan.cells))
        )
    return "" if run.target == "local" else run.target


def one_line(note: ScreenNote) -> str:
    """A note on one line, without its full stop."""
    return " ".join(text_of(note.text).split()).rstrip(".。")
