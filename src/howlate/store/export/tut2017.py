"""The listings of the study `tut-2017`: for each kernel and load its tests with number of data points, minimum, mean,
maximum and standard deviation of each column, in ns, by the names that the study gives them. From the summaries, so
warm-up is left out; no samples. Parts that are none of its tests have no place in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.study import Value, spell
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.store.export._format import Format
from howlate.store.export._rows import chosen, target
from howlate.store.files import OUTPUT, storing
from howlate.store.run_folder import RunFolder

HEAD = "    Column        Min        Avg        Max      StDev"
TIMERS = {"clock_nanosleep": "TimerAccuracyTestAbs", "clock_nanosleep-relative": "TimerAccuracyTestRel"}
ENDS = {
    "duration": "the maximum execution time was reached",
    "activations": "the maximum number of interrupts was reached",
}


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """Returns the data points that the listings tell of."""
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
        raise UsageError(
            f"{run.path} has no cell of a test of tut-2017's listings ({', '.join(_NAMES)})",
            "use --format csv, which writes every column of any test",
        )
    texts = []
    for (kernel, load), found in listings.items():
        texts.append(f"Listing: {f'{kernel}, ' if kernel else ''}load {load}")
        found.sort(key=lambda one: (list(_NAMES).index(one.test), _title(one)))
        texts += ["\n".join(_test(one, planned.get(one.id, {}))) for one in found]
    with target(out) as place, storing(out, OUTPUT):
        place.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return sum(
        max((c.count for c in one.columns.values()), default=0) for its in listings.values() for one in its
    )


def _title(summary: CellSummary) -> str:
    """The study's name of the test; "" where it has none."""
    return (
        TIMERS.get(summary.labels.get("timer", ""), "")
        if summary.test == "timer"
        else _NAMES.get(summary.test, "")
    )


def _test(summary: CellSummary, parameters: Mapping[str, Value]) -> list[str]:
    names, per, after = _SHAPES[summary.test]
    lines = [_title(summary), *([] if summary.valid else [f"! not valid: {'; '.join(summary.warnings)}"])]
    there = {name: summary.columns[column] for column, name in names.items() if column in summary.columns}
    if summary.test == "hardware-gap":
        lines += _limits(summary, parameters, next(iter(there.values()), None))
    lines.append(f"{max((c.count for c in there.values()), default=0)} datapoints")
    lines += [HEAD, *(_row(name, column, per) for name, column in there.items())]
    return lines + (after(summary) if after else [])


def _row(name: str, column: ColumnSummary, per: float) -> str:
    values = (column.min, column.mean, column.max, column.stddev)
    return f"{name:>10}" + "".join(f"{'-':>11}" if v is None else f"{v / per:>11.2f}" for v in values)


def _passes(summary: CellSummary) -> list[str]:
    return [
        f"{text}{summary.outcomes.get(key, 0):>{30 - len(text)}}"
        for text, key in (("Successfull passes:", "passes"), ("Failed passes:", "failures"))
    ]


def _limits(summary: CellSummary, parameters: Mapping[str, Value], gaps: ColumnSummary | None) -> list[str]:
    """What the study's detector says before its table. Its rate is that of its records, one a window at most; here it
    is of all gaps, in the time that was watched."""
    asked = {n: spell(parameters[n]) if n in parameters else "no limit" for n in ("duration", "points")}
    end = ENDS.get(summary.stop_reason, f"of: {summary.stop_reason}")
    rate = summary.outcomes.get("gaps_per_s")
    return [
        f"Test scheduled for {asked['duration']} and {asked['points']} interrupts.",
        f"Test finished after {gaps.count if gaps else 0} interrupts.",
        f"The test was finished because {end}.",
        *_rates(rate or 0),
        "",
        "Analysing interrupt durations (times in µs):",
    ]


def _rates(rate: float) -> list[str]:
    if rate <= 0:
        return ["Average timings:     0.000 interrupts/s, of the time that was watched"]
    return [
        f"Average timings:  {rate:8.3f} interrupts/s = {rate * 60:8.3f} interrupts/min, of the time that was watched",
        f"Average interval: {1 / rate:8.3f} s/interrupt  = {1e3 / rate:8.3f} ms/interrupt",
    ]


_NAMES = {
    "preemption": "PreemptionTest",
    "clock": "TimerResolutionTest",
    "switch": "ContextSwitchTest",
    "timer": "TimerAccuracyTest",
    "hardware-gap": "SMITest",
}
_SHAPES: Mapping[str, tuple[Mapping[str, str], float, Callable[[CellSummary], list[str]] | None]] = {
    "preemption": ({"cs1_ns": "cs1", "wait_ns": "wait", "cs2_ns": "cs2"}, 1, _passes),
    "clock": ({"dt_ns": "dt"}, 1, None),
    "switch": ({"switch_ns": "time"}, 1, None),
    "timer": ({"delay_ns": "delay"}, 1, None),
    "hardware-gap": ({"gap_ns": "duration"}, 1000, None),
}
"""Of each test the study's names of its columns, ns in its unit, and what follows the table."""

FORMAT = Format(
    "tut2017", ".txt", "the study's listings: its tests by kernel and load, from the summaries", write
)
