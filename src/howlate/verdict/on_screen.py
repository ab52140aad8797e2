"""The verdict on the first screen: the run's outcome, and what may be promised or stands in the way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from howlate.document.first_screen.again import again
from howlate.document.first_screen.on_screen import Ruled, ScreenNote
from howlate.document.report_input import ReportInput
from howlate.verdict.document import beside
from howlate.verdict.in_report import rows
from howlate.verdict.judge import Judged
from howlate.verdict.promise_bounds import rate_line
from howlate.verdict.row_statements import AGAIN, CONTRADICTED, ROUNDS_MAY_HELP, answers, remaining
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.whole import lacking, outcome_of, ruling_of
from howlate.words.printable import printable
from howlate.words.quantities import Rounds, level_text, rate_bound, seconds_text, time_text
from howlate.words.say import Text, text_of
from howlate.words.statement import Caption, Listed, Statement

HOUR_S = 3600
ROUNDS = ("--rounds", "20", "--every", "5min")
"""The options in ROUNDS_MAY_HELP."""
MOST_REASONS = 3
RANK = 25
"""Of what no verdict is about, among notes."""


def ruled(material: ReportInput) -> Ruled:
    """The verdict on a run of which a deadline was stated."""
    verdicts = [row.verdict for row in material.once(rows)]
    content = material.runs[0]
    seen = outcome_of(verdicts)
    outcome = ruling_of(seen, content)
    said: Sequence[Text] = ()
    command = ""
    if outcome is not seen:
        said = (Caption("missing cells: {count}", count=lacking(content)),)
    elif outcome is Ruling.FAIL and verdicts[0].question.miss_rate:
        said = (rate_line(next(verdict for verdict in verdicts if verdict.outcome is outcome)),)
    elif outcome is Ruling.PASS:
        said = promised(verdicts)
    elif outcome is Ruling.INCONCLUSIVE:
        open_ = [row for row in material.once(rows) if row.verdict.outcome is outcome]
        said = waiting([row.verdict for row in open_])
        far_apart = [row.point for row in open_ if ROUNDS_MAY_HELP() in remaining(row.verdict)]
        command = again(material, far_apart, *ROUNDS) if ROUNDS_MAY_HELP() in said else ""
    told = (ScreenNote(RANK, text) for text in beside(verdicts, *material.runs))
    return Ruled(outcome, tuple(said), by_id(material.once(rows)), tuple(told), command)


def by_id(judged: Sequence[Judged]) -> dict[str, str]:
    """The outcomes by point and by cell."""
    return {name: row.verdict.outcome for row in judged for name in (row.point, *row.cells)}


def promised(verdicts: Sequence[Verdict]) -> list[Text]:
    """What holds for each row: the weakest of the bounds that all of them have."""
    asked = verdicts[0].question
    if verdicts[0].evidence.virtual:
        return [Caption("exact for these {seeds} seeds", seeds=verdicts[0].evidence.repetitions)]
    found: list[Text] = []
    if asked.miss_rate:
        found.append(rate_line(max(verdicts, key=lambda verdict: verdict.rate.upper or 0.0)))
    horizons = [v.bounded_s for v in verdicts if v.bounded_s is not None]
    level, bounds = level_text(asked.confidence), []
    if len(horizons) == len(verdicts):
        largest = time_text(max(v.evidence.bound_ns for v in verdicts), space=" ", rounds=math.ceil)
        time = _time(min(horizons), math.floor)
        bounds.append(Caption("nothing later than {max} in its next {seconds}", max=largest, seconds=time))
    events = [v.rate.events_per_h for v in verdicts if v.rate.events_per_h is not None]
    if len(events) == len(verdicts):
        bounds.append(Caption("fewer than {count} late events an hour", count=rate_bound(max(events))))
    if bounds:
        found.append(
            Caption("each row, with {level}: {bounds}", level=level, bounds=Listed(tuple(bounds), "; "))
        )
    if horizons and min(horizons) < HOUR_S:
        needed_s = HOUR_S * asked.confidence / (1 - asked.confidence)
        found.append(
            Caption(
                "a bound for the next hour needs {time} a row: howlate plan --horizon 1h",
                time=_time(needed_s, math.ceil),
            )
        )
    return found


def _time(seconds: float, rounds: Rounds) -> str:
    return seconds_text(seconds, " ", rounds)


def waiting(verdicts: Sequence[Verdict]) -> list[Text]:
    """What stands in the way of each of these rows, that of most first, and what to do about it: of the questions
    that are open, not of a bound that is not judged."""
    every = [
        dict.fromkeys(reason for answer in verdict.open for reason in answer.forbids) for verdict in verdicts
    ]
    many = Counter(reason.rule for own in every for reason in own)
    longest = sorted(verdicts, key=lambda verdict: (verdict.needed_s is not None, -(verdict.needed_s or 0)))
    to_do = [told for verdict in longest for told in remaining(verdict)]
    do = sorted(to_do, key=lambda told: told.rule in (AGAIN.id, CONTRADICTED.id))[:1]  # of valid rows first
    if not many:
        return [
            *[rate_line(verdict) for verdict in longest if verdict.rate.outcome is Ruling.INCONCLUSIVE][:1],
            *do,
        ]
    told: dict[str, list[Statement]] = {}
    names: dict[str, list[str]] = {}
    for verdict, own in zip(verdicts, every, strict=True):
        reason = max(own, key=lambda one: many[one.rule], default=None) or answers(verdict)[-1]
        if verdict.rate.outcome is Ruling.INCONCLUSIVE and not own:
            reason = rate_line(verdict)
        told.setdefault(reason.rule, []).append(reason)
        names.setdefault(reason.rule, []).append(printable(verdict.evidence.name))
    ranked = sorted(told, key=lambda rule: -len(names[rule]))
    return [*(_of_rows(names[rule], told[rule]) for rule in ranked[:MOST_REASONS]), *do]


def _of_rows(names: Sequence[str], reasons: Sequence[Statement]) -> Text:
    """A reason with the rows that it is about; of values that differ none is told."""
    reason: Text = reasons[0]
    kind, colon, _values = text_of(reason).partition(":")
    if colon and len(set(map(text_of, reasons))) > 1:
        reason = f"{kind}."
    shown = Listed(tuple(filter(None, names)))
    return Listed((shown, reason), ": ") if any(names) else reason
