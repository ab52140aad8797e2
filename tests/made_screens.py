"""Runs of every kind as the first screen shows them, for tests of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from msgspec.structs import replace
from rich.cells import cell_len

from howlate.document.first_screen.lines import LINES, Line
from howlate.document.first_screen.screen import screen
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.model.bins import CellBins
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.published.load import references
from howlate.statistics.load_reached import NOT_LOADED
from howlate.studies import find_study
from howlate.words.statement import Statement
from made_cells import invalid, made_cell
from made_points import KERNELS, made_points, virtual_run
from made_runs import five_cells, made_run

NAMES = {
    "long": "a-load-whose-name-is-as-long-as-any-name-may-be-and-then-some-more-of-it:100",
    "wide": "とても長い名前の負荷がここに書かれている場合でも画面に収まる",
    "escape": "\x1b[31mred\x1b[0m",
}


def of(
    content: RunContent, folder: str = "runs/20260102T030405-check", failures: tuple[str, ...] = ()
) -> ReportInput:
    return ReportInput([content], TERMINAL, folder=folder, failures=failures)


def judged(content: RunContent, deadline_ns: int) -> RunContent:
    """The same run with its samples held against a deadline."""
    cells = []
    for cell in content.cells:
        column = cell.summary.columns["latency_ns"]
        late = round((column.count or 0) * ((column.max or 0) > deadline_ns) / 1000)
        counts = DeadlineSummary(deadline_ns, column.count or 0, late, 0)
        cells.append(replace(cell, summary=replace(cell.summary, deadline=counts)))
    return replace(content, cells=tuple(cells))


def named(name: str, load: str, seed: int) -> tuple[CellSummary, CellBins]:
    return made_cell(load, seed, labels={"load": name})[:2]


@cache
def five() -> RunContent:
    return made_run(five_cells())


@cache
def ten() -> RunContent:
    return made_run([made_cell(f"cpu:{n}0", n)[:2] for n in range(1, 11)])


@cache
def forty() -> RunContent:
    return made_run([made_cell(f"cpu:{n}", n)[:2] for n in range(1, 41)])


@cache
def eight() -> RunContent:
    return made_run(
        [
            (replace(summary, labels=summary.labels | {"cpu": "0,1,2,3,4,5,6,7"}), bins)
            for summary, bins in five_cells()
        ]
    )


@cache
def names() -> RunContent:
    return made_run([named(name, "none", n) for n, name in enumerate(NAMES.values())])


@cache
def short() -> RunContent:
    """Two rows of which a load fell short: what they show counts."""
    why = NOT_LOADED(reason=Statement.verbatim("by half"))
    cells = [(cell.summary, bins) for cell, (_whole, bins) in zip(mixed().cells, five_cells(), strict=True)]
    return made_run(
        [(own if own.valid else replace(own, warnings=(why,), failed_checks=1), bins) for own, bins in cells]
    )


@cache
def repeated() -> RunContent:
    """Of one row the latest of three repetitions fell short of its load, of the other all did."""
    content = virtual_run(made_points(KERNELS[:1], ("none", "hackbench"), 3), KERNELS[:1])
    short = [cell for cell in content.cells if cell.summary.labels["load"] == "hackbench"]
    rest = [cell for cell in content.cells if cell not in short]
    short.append(max(rest, key=lambda cell: cell.summary.columns["latency_ns"].max or 0))
    why = {
        "warnings": (NOT_LOADED(reason=Statement.verbatim("by half")),),
        "failed_checks": 1,
        "valid": False,
    }
    return replace(
        content,
        cells=tuple(
            replace(cell, summary=replace(cell.summary, **why)) if cell in short else cell
            for cell in content.cells
        ),
    )


@cache
def broken() -> RunContent:
    return made_run([(invalid(summary, "a check failed: " * 20), bins) for summary, bins in five_cells()])


@cache
def half() -> RunContent:
    none, (loaded, bins) = made_cell("none")[:2], made_cell("cpu:100", 2)[:2]
    return made_run([none, (invalid(loaded, "a check failed"), bins)])


@cache
def mixed() -> RunContent:
    return made_run(
        [
            (invalid(summary, "a check failed") if place in (0, 3) else summary, bins)
            for place, (summary, bins) in enumerate(five_cells())
        ]
    )


@cache
def lab() -> RunContent:
    return virtual_run(made_points(KERNELS, ("none", "hackbench"), 3))


@cache
def alike() -> RunContent:
    return virtual_run(made_points(KERNELS[:2], ("none", "hackbench:1"), 3), KERNELS[:2])


def published() -> RunContent:
    return made_run(five_cells(), study=find_study(sorted(references())[0]))


FAILURES = ("! cpu:100: failed: the probe ended with 4.", "  (the same in 3 more cells)")
LONG_FOLDER = "/" + "/".join(["a-folder-of-a-long-name"] * 6)
MADE: Mapping[str, Callable[[], ReportInput]] = {
    "five": lambda: of(five()),
    "repeated": lambda: of(repeated()),
    "repeated, judged": lambda: of(judged(repeated(), 20_000)),
    "judged": lambda: of(judged(five(), 200_000)),
    "passes": lambda: of(judged(five(), 10**10)),
    "ten": lambda: of(ten()),
    "ten judged": lambda: of(judged(ten(), 50_000)),
    "forty": lambda: of(forty()),
    "forty judged": lambda: of(judged(forty(), 50_000)),
    "eight CPUs": lambda: of(eight()),
    "names": lambda: of(names()),
    "names judged": lambda: of(judged(names(), 50_000)),
    "three of five valid": lambda: of(mixed()),
    "three of five valid, judged": lambda: of(judged(mixed(), 50_000)),
    "short of load": lambda: of(short()),
    "short of load, judged": lambda: of(judged(short(), 50_000)),
    "half valid": lambda: of(half()),
    "half valid, judged": lambda: of(judged(half(), 50_000)),
    "not valid": lambda: of(broken()),
    "one, not valid": lambda: of(replace(broken(), cells=broken().cells[:1])),
    "not valid, judged": lambda: of(judged(broken(), 50_000)),
    "nothing": lambda: of(made_run([])),
    "nothing, failed": lambda: of(made_run([]), failures=FAILURES),
    "cut": lambda: of(replace(five(), cells=five().cells[:2]), failures=FAILURES),
    "one": lambda: of(made_run(five_cells()[:1])),
    "published": lambda: of(published()),
    "lab": lambda: of(lab()),
    "lab judged": lambda: of(judged(alike(), 50_000)),
    "long folder": lambda: of(five(), folder=LONG_FOLDER),
}
"""Runs of other kinds, from a generator; none is made before a test asks for it."""


def made(kind: str) -> ReportInput:
    return MADE[kind]()


def texts(lines: Sequence[Line]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def fits(material: ReportInput, width: int, letters: bool = False) -> list[str]:
    lines = texts(screen(material, width, "runs/20260102T030405-check/report.html", letters=letters))
    rows = sum(max(1, -(-cell_len(line) // width)) for line in lines)
    shown = "\n".join(lines)
    assert rows <= LINES, shown
    too_long = [line for line in lines if cell_len(line) > width]
    assert not [
        line for line in too_long if " " in line.strip() and "/" not in line and "howlate " not in line
    ]
    assert "\x1b" not in shown
    return lines
