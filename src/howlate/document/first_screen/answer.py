"""The answer of a run, once for terminal, page and scripts: the verdict or the largest value, the rows, why they were
late, and how far the numbers can be trusted (docs/first-screen.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.first_screen import notes
from howlate.document.first_screen.on_screen import Reasons, Ruled, ScreenAdvice, ScreenNote
from howlate.document.first_screen.rows import ScreenRow, ScreenRows, screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.document.sheet import NOTHING
from howlate.figures.figure import things_of
from howlate.model.study import KERNEL
from howlate.rooms import hooks
from howlate.statistics.deadline import together
from howlate.statistics.labels import in_sentence
from howlate.statistics.ladder import ladder_of
from howlate.statistics.phrases import RELEASES
from howlate.statistics.threshold import of_the_ended
from howlate.words.language import _
from howlate.words.quantities import given_text, seconds_text, time_text
from howlate.words.say import Text, count_text, text_of
from howlate.words.statement import Caption, Listed

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
HALF = 2
"""What another kernel must divide the largest value by to be worth a line."""


class ScreenAnswer(Struct, frozen=True):
    """The answer of all runs of a material."""

    rows: ScreenRows
    outcome: str
    """PASS, FAIL or INCONCLUSIVE; "" where no deadline was stated."""
    word: str
    """The outcome, else the largest value."""
    text: Text
    """Next to it: the deadline and its misses, else how much was measured."""
    more: tuple[Text, ...]
    """What may be promised, or why nothing may, and what to do; else how often what was later."""
    why: Reasons | None
    """None too where every release kept the deadline."""
    notes: tuple[ScreenNote, ...]
    command: str = ""
    """One that may decide what is open."""

    @property
    def state(self) -> str:
        """What its colour tells: a PASS of which not all rows were judged is none of the whole."""
        return INCONCLUSIVE if self.outcome == PASS and self.rows.unjudged else self.outcome

    @classmethod
    def of(cls, material: ReportInput) -> ScreenAnswer:
        ruled = _ruled(material)
        found = screen_rows(material.runs, ruled.rows if ruled is not None else None, material.labels)
        why: Reasons | None = next((told for room in hooks("reasons") if (told := room(material))), None)
        outcome, word = outcome_of(material), ""
        said: Text = ""
        more: Sequence[Text] = ()
        if found.judged:
            word, said = outcome, _missed(found)
            more = ruled.texts if ruled is not None else ()
        elif found.rows:
            word, said = _largest(found.rows), _measured(totalled(found.rows))
            ladders = (ladder_of(content) for content in material.runs)
            more = [ladder.statement() for ladder in ladders if ladder is not None]
        if why is not None:
            why = _as_measured(why, found.rows)
        content = material.runs[0]
        if ended := of_the_ended(content.summaries, content.run):
            more = (Listed(ended, " "), *more)
        was_late = not found.judged or any(row.later for row in found.judged)
        has_told = why is not None and (bool(why.reasons) or outcome != PASS)
        return cls(
            found,
            outcome,
            word,
            said,
            tuple(more),
            why if was_late and has_told else None,
            notes.notes(material, found.rows, [note for room in (why, ruled) if room for note in room.notes]),
            ruled.command if ruled is not None else "",
        )


def _as_measured(why: Reasons, rows: Sequence[ScreenRow]) -> Reasons:
    """The same of what is advised against each kind."""
    largest, unserved = _kernels(rows)
    reasons = (
        reason
        if reason.advice is None
        else replace(reason, advice=_measured_here(reason.advice, largest, unserved))
        for reason in why.reasons
    )
    return replace(why, reasons=tuple(reasons), advice=as_measured(why.advice, rows))


def as_measured(advice: Sequence[ScreenAdvice], rows: Sequence[ScreenRow]) -> tuple[ScreenAdvice, ...]:
    """First the calmest kernel, and what these rows measured of the kernels that are advised; of no worse one."""
    largest, unserved = _kernels(rows)
    first = calmest_kernel(rows)
    others = [each for each in advice if first is None or each.kernel != first.kernel]
    told = [first, *(_measured_here(each, largest, unserved) for each in others)]
    return tuple(each for each in told if each is not None)


def _measured_here(
    advice: ScreenAdvice, largest: Mapping[str, int], unserved: Collection[str]
) -> ScreenAdvice | None:
    """None where its kernel was measured here, and was no better."""
    if advice.kernel not in largest or advice.kernel in unserved:
        return advice
    ns = largest[advice.kernel]
    return replace(advice, buys=_max_here(ns)) if ns < max(largest.values()) else None


def calmest_kernel(rows: Sequence[ScreenRow]) -> ScreenAdvice | None:
    """Of kernels under the same loads the one whose largest is the least, where that is half or less of another's and
    every release was answered: a largest value is of answered ones alone."""
    largest, unserved = _kernels(rows)
    calmest = min(largest, key=lambda kernel: largest[kernel], default="")
    if not largest or calmest in unserved or HALF * largest[calmest] > max(largest.values()):
        return None
    text = _("boot {kernel}").format(kernel=calmest)
    return ScreenAdvice(text, 0.0, _max_here(largest[calmest]), calmest)


def _max_here(ns: int) -> Text:
    return Caption("max {time} here", time=time_text(ns, space=" "))


def _kernels(rows: Sequence[ScreenRow]) -> tuple[dict[str, int], set[str]]:
    """Each kernel's largest value, where all have the same loads, and those with releases that were not answered."""
    kernels: dict[str, dict[tuple[str, ...], int]] = {}
    unserved: set[str] = set()
    for row in rows:
        if row.mark or row.max_ns is None:
            return {}, set()
        point = tuple(sorted(f"{name}={value}" for name, value in row.labels.items() if name != KERNEL))
        kernel = row.labels.get(KERNEL, "")
        points = kernels.setdefault(kernel, {})
        points[point] = max(row.max_ns, points.get(point, 0))
        unserved |= {kernel} if row.group.overruns or row.outcome == FAIL else set()
    if len(kernels) < 2 or len({frozenset(points) for points in kernels.values()}) > 1:
        return {}, set()
    return {kernel: max(points.values()) for kernel, points in kernels.items()}, unserved


def outcome_of(material: ReportInput) -> str:
    """PASS, FAIL or INCONCLUSIVE; "" where no deadline was stated."""
    if (ruled := _ruled(material)) is not None:
        return str(ruled.outcome)
    held = any(cell.deadline is not None for content in material.runs for cell in content.summaries)
    asked = (cell.parameters.get("deadline") for content in material.runs for cell in content.run.plan.cells)
    return INCONCLUSIVE if held or any(asked) else ""


def _ruled(material: ReportInput) -> Ruled | None:
    return next((told for room in hooks("ruled") if (told := room(material))), None)


def _largest(rows: Sequence[ScreenRow]) -> str:
    worst = rows[0]
    largest = NOTHING if worst.max_ns is None else time_text(worst.max_ns, space=" ")
    where = (
        f"{worst.mark} {text_of(in_sentence(worst.name))}".lstrip()
        if len(rows) > 1
        else worst.mark and _("invalid")
    )
    return " ".join((_("max"), largest)) + (f" ({where})" if where else "")


def _measured(rows: Sequence[ScreenRow]) -> Text:
    seconds = sum(row.seconds for row in rows)
    counts = [cell.columns[cell.latest].count for row in rows for cell in row.cells if cell.columns]
    measured = sum(count for count in counts if count is not None)
    skipped = sum(row.group.overruns for row in rows if row.group.overruns)
    facts = (
        f"{count_text(measured)} {text_of(things_of(rows[0].column, measured))}",
        Caption("{count} more skipped", count=count_text(skipped)) if skipped else "",
        seconds_text(seconds, space=" ") if seconds and len(rows) > 1 else "",
        Caption("{count} rows", count=len(rows)) if len(rows) > 1 else "",
    )
    return Listed(facts)


def _missed(found: ScreenRows) -> Text:
    """How many releases missed the deadline, and in how many rows."""
    judged = totalled(found.judged)
    every = together([counts for row in judged if (counts := row.counts) is not None])
    assert every is not None
    is_skipped = every.unserved or every.skipped
    things = text_of(RELEASES if is_skipped else things_of(found.rows[0].column, every.releases))
    deadline: Text = (
        Caption("deadline {time}", time=given_text(found.deadline_ns)) if found.deadline_ns else ""
    )
    if found.unjudged:
        of = {"count": len(found.judged), "rows": len(found.judged) + found.unjudged}
        deadline = Listed((Caption("{count} of {rows} rows judged", **of), deadline))
    if not every.misses and every.at_least:
        return Listed((deadline, Listed((_("misses"), _("unknown")), " ")), ": ")
    misses = count_text(every.misses) if every.misses else _("none")
    figures = {"misses": misses, "count": count_text(every.releases), "things": things}
    missed = Caption("{misses} of {count} {things} missed it", **figures)
    if every.at_least:
        missed = Caption("at least {misses} of {count} {things} missed it", **figures)
    if not every.misses:
        return Listed((deadline, missed), ": ")
    rows = sum(bool(row.later) for row in judged)
    where = Caption("in {count} of {rows} rows", count=rows, rows=len(judged)) if len(judged) > 1 else ""
    skipped = Caption("{count} skipped", count=count_text(every.unserved))
    told = (missed, where, skipped if any(row.is_skipped for row in judged) else "")
    return Listed((deadline, Listed(told)), ": ")
