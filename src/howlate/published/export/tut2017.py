"""The listings of the study `tut-2017`: for each kernel and load its tests with number of data points, minimum, mean,
maximum and standard deviation of each column, in ns, by the names that the study gives them. From the summaries, so
warm-up is left out; no samples. Other tests are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.model.study import Value
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.model.units import parse_duration_ns
from howlate.published.export._three import lacks
from howlate.statistics.valid import STARVED
from howlate.store.export._rows import Format, chosen, loaded
from howlate.store.files import OUTPUT, storing, written_output
from howlate.store.run_folder import RunFolder
from howlate.words.quantities import percent
from howlate.words.say import english

HEAD = "    Column        Min        Avg        Max      StDev"
TIMERS = {"clock_nanosleep": "TimerAccuracyTestAbs", "clock_nanosleep-relative": "TimerAccuracyTestRel"}
ENDS = {
    "duration": "the maximum execution time was reached",
    "activations": "the maximum number of interrupts was reached",
}


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """Returns the number of data points in the listings."""
    planned = {cell.id: cell.parameters for cell in run.read_run().plan.cells}
    order = list(planned)
    listings: dict[tuple[str, str], list[CellSummary]] = {}
    for cell in sorted(
        chosen(run, cells), key=lambda its: order.index(its) if its in planned else len(order)
    ):
        summary = run.summary(cell)
        if _title(summary):
            labels = summary.labels
            listings.setdefault((labels.get("kernel", ""), labels.get("load", "none")), []).append(summary)
    if not listings:
        raise lacks(run.path, f"cell of the tests {', '.join(_NAMES)}")
    texts = []
    for (kernel, load), summaries in listings.items():
        texts.append(f"Listing: {f'{kernel}, ' if kernel else ''}load {load}")
        summaries.sort(key=lambda one: (list(_NAMES).index(one.test), _title(one)))
        texts += ["\n".join(_test(one, _settings_of(run, one, planned.get(one.id, {})))) for one in summaries]
    with written_output(out) as place, storing(out, OUTPUT):
        place.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return sum(
        max((c.count or 0 for c in one.columns.values()), default=0)
        for its in listings.values()
        for one in its
    )


def _title(summary: CellSummary) -> str:
    """The study's name of the test; "" if it has none."""
    return (
        TIMERS.get(summary.labels.get("timer", ""), "")
        if summary.test == "timer"
        else _NAMES.get(summary.test, "")
    )


Shape = tuple[Mapping[str, str], float, Callable[[CellSummary], list[str]] | None]


class DetectorSettings(Struct, frozen=True):
    """How long and how often a detector was to watch, how long it took, and how many switches make a data
    point."""

    duration_s: float | None
    points: int | None
    elapsed_s: float | None
    switches: int | None


def _settings_of(run: RunFolder, summary: CellSummary, planned: Mapping[str, Value]) -> DetectorSettings:
    """The probe's option, else the plan's."""
    recorded = run.cell(summary.id)
    header, trailer = recorded.get("header") or {}, recorded.get("trailer") or {}
    given = {**planned, **(header.get("parameters") or {})}
    duration, elapsed = given.get("duration"), trailer.get("duration_ns")
    return DetectorSettings(
        parse_duration_ns(duration) / 1e9 if isinstance(duration, str) and duration else None,
        _number(given.get("points")),
        elapsed / 1e9 if isinstance(elapsed, int | float) else None,
        _number(given.get("switches-per-point")),
    )


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, str) and value.isdigit() else None


def _test(summary: CellSummary, settings: DetectorSettings) -> list[str]:
    names, per, after = _shape(summary, settings)
    lines = [_title(summary)]
    if not summary.valid:
        lines.append(f"! not valid: {'; '.join(map(english, summary.warnings))}")
    if summary.valid and loaded(summary) is False:
        absent = "; ".join(english(warning) for warning in summary.warnings if warning.rule == STARVED.id)
        lines.append(f"! not loaded: {absent or f'{percent(summary.load_share or 0.0)} of its target'}")
    there = {name: summary.columns[column] for column, name in names.items() if column in summary.columns}
    if summary.watched_nothing:
        return [*lines, "Nothing was watched: inconclusive."]
    if summary.test == "hardware-gap":
        lines += _limits(summary, settings, next(iter(there.values()), None))
    points = max((c.count or 0 for c in there.values()), default=0)
    lines.append("1 datapoint" if points == 1 else f"{points} datapoints")
    lines += [HEAD, *(_row(name, column, per) for name, column in there.items())]
    return lines + (after(summary) if after else [])


def _shape(summary: CellSummary, settings: DetectorSettings) -> Shape:
    """A switch is a part of its data point's time: `switch_ns` is in whole ns, the listing has hundredths."""
    if summary.test == "switch" and settings.switches and "point_ns" in summary.columns:
        return {"point_ns": "time"}, settings.switches, None
    return _SHAPES[summary.test]


def _row(name: str, column: ColumnSummary, per: float) -> str:
    values = (column.min, column.mean, column.max, column.stddev)
    return f"{name:>10}" + "".join(f"{'nan':>11}" if v is None else f"{v / per:>11.2f}" for v in values)


def _passes(summary: CellSummary) -> list[str]:
    """A successful pass is a data point. Passes of the warm-up, which the probe counts too, are left out."""
    succeeded = max((column.count or 0 for column in summary.columns.values()), default=0)
    return [
        f"{text}{number:>{30 - len(text)}}"
        for text, number in (
            ("Successfull passes:", succeeded),
            ("Failed passes:", summary.outcomes.get("failures", 0)),
        )
    ]


def _limits(summary: CellSummary, settings: DetectorSettings, gaps: ColumnSummary | None) -> list[str]:
    """The text before the table of the study's detector. Its rate counts records, at most one a window, over
    the elapsed time; `gaps_per_s` of `show --json` counts all gaps in the watched time."""
    seen = (gaps.count or 0) if gaps else 0
    end = ENDS.get(summary.stop_reason, f"of: {summary.stop_reason}")
    most = "any number of" if settings.points is None else f"{settings.points:8d}"
    return [
        f"Test scheduled for {_seconds(settings.duration_s)}s and {most} interrupts.",
        f"Test finished after{_seconds(settings.elapsed_s)}s and {seen:8d} interrupts.",
        f"The test was finished because {end}.",
        *_rates(seen, settings.elapsed_s or 0.0),
        "",
        "Analysing interrupt durations (times in µs):",
    ]


def _seconds(value: float | None) -> str:
    return f"{'-':>9}" if value is None else f"{value:9.3f}"


def _rates(seen: int, elapsed_s: float) -> list[str]:
    """The rate and its inverse; without gaps there is no interval."""
    rate = seen / elapsed_s if elapsed_s > 0 else 0.0
    both = (1 / rate, 1e3 / rate) if rate > 0 else (math.inf, math.inf)
    return [
        f"Average timings:  {rate:8.3f} interrupts/s = {rate * 60:8.3f} interrupts/min",
        f"Average interval: {both[0]:8.3f} s/interrupt  = {both[1]:8.3f} ms/interrupt",
    ]


_NAMES = {
    "preemption": "PreemptionTest",
    "clock": "TimerResolutionTest",
    "switch": "ContextSwitchTest",
    "timer": "TimerAccuracyTest",
    "hardware-gap": "SMITest",
}
_SHAPES: Mapping[str, Shape] = {
    "preemption": ({"cs1_ns": "cs1", "wait_ns": "wait", "cs2_ns": "cs2"}, 1, _passes),
    "clock": ({"dt_ns": "dt"}, 1, None),
    "switch": ({"switch_ns": "time"}, 1, None),
    "timer": ({"delay_ns": "delay"}, 1, None),
    "hardware-gap": ({"gap_ns": "duration"}, 1000, None),
}
"""For each test: the study's names of its columns, ns in its unit, and the text after the table."""

FORMAT = Format(
    "tut2017", ".txt", "the listings of tut-2017: its tests by kernel and load, of their summaries", write
)
