"""The verdict on the first screen: the run's outcome, and what may be promised or stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from howlate.document.first_screen.on_screen import Ruled
from howlate.document.of_runs import Material
from howlate.verdict.in_report import rows
from howlate.verdict.promise import remaining
from howlate.verdict.promise_bounds import rate_line
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.whole import lacking, outcome_of, ruling_of
from howlate.words.caption import Caption, Listed
from howlate.words.quantities import level_text, rate_bound, seconds_text
from howlate.words.say import Text

HOUR_S = 3600


def ruled(material: Material) -> Ruled | None:
    """None where no deadline was stated."""
    verdicts = [row.verdict for row in material.once(rows)]
    if not verdicts:
        return None
    seen = outcome_of(verdicts)
    outcome = ruling_of(seen, material.runs[0])
    if outcome is not seen:
        told = Caption("of {count} cells nothing is known: they are missing", count=lacking(material.runs[0]))
        return Ruled(outcome, (told,))
    said: Sequence[Text] = ()
    if outcome is Ruling.PASS:
        said = promised(verdicts)
    elif outcome is Ruling.INCONCLUSIVE:
        said = _open([verdict for verdict in verdicts if verdict.outcome is outcome])
    return Ruled(outcome, tuple(said))


def promised(verdicts: Sequence[Verdict]) -> list[Text]:
    """What holds for each row: the weakest of the bounds that all of them have."""
    asked = verdicts[0].asked
    if verdicts[0].evidence.virtual:
        return [Caption("exact for these {seeds} seeds", seeds=verdicts[0].evidence.repetitions)]
    found: list[Text] = []
    if asked.miss_rate:
        found.append(rate_line(max(verdicts, key=lambda verdict: verdict.rate.upper or 0.0)))
    horizons = [v.stretch.horizon_s for v in verdicts if v.stretch.bound and v.stretch.horizon_s]
    level, bounds = level_text(asked.confidence), []
    if len(horizons) == len(verdicts):
        bounds.append(Caption("none later in its next {seconds}", seconds=_time(min(horizons))))
    events = [v.rate.events_per_h for v in verdicts if v.rate.events_per_h is not None]
    if len(events) == len(verdicts):
        bounds.append(Caption("under {count} late events an hour", count=rate_bound(max(events))))
    if bounds:
        found.append(
            Caption("each row, with {level}: {bounds}", level=level, bounds=Listed(tuple(bounds), "; "))
        )
    if horizons and min(horizons) < HOUR_S:
        needed_s = HOUR_S * asked.confidence / (1 - asked.confidence)
        found.append(
            Caption("to show it for the next hour: {time} a row (`howlate plan`)", time=_time(needed_s))
        )
    return found


def _time(seconds: float) -> str:
    return seconds_text(seconds, space=" ")


def _open(verdicts: Sequence[Verdict]) -> list[Text]:
    """What stands in the way of most rows, and what to do about it."""
    why = Counter(reason.rule for verdict in verdicts for reason in verdict.forbids).most_common(1)
    first = [reason for verdict in verdicts for reason in verdict.forbids if reason.rule == why[0][0]][:1]
    return [*first, *[told for verdict in verdicts for told in remaining(verdict)][:1]]
