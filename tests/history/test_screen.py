"""The screen of runs over time: what is worse first, a line for each value that was followed."""

import re
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from history.test_history import cell, run, runs_of, steady
from howlate.history.chart import MOST_PANELS, draw
from howlate.history.history import History, history
from howlate.history.known_runs import KnownRun
from howlate.history.screen import MOST_LINES, screen, verdict_of
from howlate.words.language import speak
from howlate.words.say import english, text_of

LOADS = {"none": 90, "disk": 120, "cpu:100": 400, "memory-alloc:100": 800, "hackbench": 3000}
BLOCKS = "▁▂▃▄▅▆▇█"


def daily(runs: Sequence[KnownRun]) -> list[KnownRun]:
    return [replace(known, started=f"2026-01-{number + 1:02}T00:00:00Z") for number, known in enumerate(runs)]


def loads(count: int, factor: Callable[[str, int], float] = lambda _load, _run: 1.0) -> History:
    """Runs of five loads, whose maxima have this factor."""
    return history(
        daily(
            [
                run(n, *(cell(round(ns * factor(load, n)) + n * 97 % 13, load) for load, ns in LOADS.items()))
                for n in range(count)
            ]
        )
    )


def two_levels() -> History:
    """Fifteen runs, and fifteen after which `disk` is three times as large and `none` half as large."""
    return loads(30, lambda load, n: {"disk": 3.0, "none": 0.5}.get(load, 1.0) if n >= 15 else 1.0)


def shown(found: History, width: int = 80, *, every: bool = False, letters: bool = False) -> list[str]:
    lines = screen(found, width, every=every, letters=letters)
    return ["".join(text for text, _ in line) for line in lines]


MADE = {
    "ten": loads(10),
    "ten, worse": loads(10, lambda _load, n: 9.0 if n >= 6 else 1.0),
    "thirty": two_levels(),
    "one load": history(daily(runs_of(steady(10)))),
    "two": history(daily(runs_of(steady(2)))),
    "none": history([]),
    "rising": history(daily(runs_of([round(1000 * 1.06**n) + n * 7 % 5 for n in range(40)])), ["max"]),
    "below zero": history(daily(runs_of([-5, 3, -2, 4, -1, 0, 2, 5, 1, -3]))),
    "eighty rows": history([run(n, *(cell(90 + k, f"cpu:{k}") for k in range(40))) for n in range(3)]),
}


@pytest.mark.parametrize("language", ["en", "de", "ja"])
@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", MADE)
def test_it_is_one_screen_at_any_width(kind: str, width: int, language: str) -> None:
    try:
        speak(language)
        lines = shown(MADE[kind], width)
    finally:
        speak("en")
    assert len(lines) <= MOST_LINES, "\n".join(lines)
    assert all(cell_len(line.rstrip("。")) <= width for line in lines), "\n".join(lines)


@pytest.mark.parametrize(
    ("width", "names"), [(40, ["pi"]), (60, ["board-1", "board-2"]), (80, list("abcdef"))]
)
def test_names_of_machines_that_fit_stand_whole(width: int, names: list[str]) -> None:
    found = loads(10)
    series = [replace(each, machine=names[n % len(names)]) for n, each in enumerate(found.series * 2)]
    last = shown(replace(found, series=tuple(series)), width)
    assert any(line.endswith("; " + "; ".join(names)) for line in last), last


def test_what_is_worse_stands_first_with_its_size_and_date() -> None:
    found = two_levels()
    lines = shown(found)
    assert lines[0] == "2 worse, 2 better  disk max: since 2026-01-16, run run-015"
    (head,) = [place for place, line in enumerate(lines) if "  since" in line]
    rows = [re.split(r"  +", line) for line in lines[head + 1 : head + 5]]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("disk", "max", "worse"),
        ("disk", "p99.9", "worse"),
        ("none", "max", "better"),
        ("none", "p99.9", "better"),
    ]
    for row in rows:
        assert row[-2] == "2026-01-16"
        ratio, low, high = map(float, re.findall(r"[\d.]+", row[-3]))
        size = next(
            each.changes[-1].size
            for each in found.courses
            if (each.series.name, each.statistic) == (row[0], {"p99.9": "0.999"}.get(row[1], row[1]))
        )
        assert ratio == pytest.approx(size.value, rel=0.05)
        assert low <= size.low + 1e-9 and size.high <= high + 1e-9


@pytest.mark.parametrize("letters", [False, True])
def test_the_line_of_values_rises_where_they_do(letters: bool) -> None:
    found = history(daily(runs_of([100] * 5 + [200] * 5)), ["max"])
    assert any(
        ("▁▁▁▁▁█████" if not letters else ".....@@@@@") in line for line in shown(found, letters=letters)
    )


def test_runs_that_are_alike_look_alike() -> None:
    """Less than a twentieth is no step of a line that spans a factor of two."""
    (row,) = [
        line for line in shown(history(daily(runs_of([100, 102, 101, 104] * 3)), ["max"])) if "▁" in line
    ]
    assert "▁" * 12 in row


@pytest.mark.parametrize("kind", MADE)
def test_every_value_stands_once_in_what_all_shows(kind: str) -> None:
    found = MADE[kind]
    lines = [line for line in shown(found, every=True) if any(sign in line for sign in BLOCKS)]
    assert len(lines) == len(found.courses)
    fewer = [line for line in shown(found) if any(sign in line for sign in BLOCKS)]
    left = [
        int(each[1]) for line in shown(found) if (each := re.fullmatch(r"  (\d+) more rows: --all", line))
    ]
    assert len(fewer) + sum(left) == len(lines)
    verdicts = [verdict_of(course) for course in found.courses]
    assert [line.endswith("worse") for line in lines] == sorted(
        (verdict == "worse" for verdict in verdicts), reverse=True
    )


def test_a_chart_says_how_many_rows_it_leaves_out() -> None:
    for more, said in ((0, []), (1, ["1 more row"]), (2, ["2 more rows"])):
        cells = [cell(90 + k, f"cpu:{k}") for k in range(MOST_PANELS + more)]
        figure = draw(history([run(n, *cells) for n in range(3)]))
        assert figure is not None and re.findall(r"\d+ more \w+", text_of(figure.reading)) == said


def test_a_rise_from_run_to_run_is_said() -> None:
    """Or that it is worse since a run."""
    found = MADE["rising"]
    assert found.is_worse and shown(found)[0].startswith("1 worse  none")


@pytest.mark.parametrize("kind", ["ten", "one load", "two", "none"])
def test_where_nothing_changed_that_is_the_answer(kind: str) -> None:
    first = shown(MADE[kind])[0]
    few = english(MADE[kind].statements[0][0])
    assert MADE[kind].statements[0][0].rule in ("history.no-change", "history.too-few")
    assert few.startswith(first[:60])


def test_rows_of_one_name_are_explained() -> None:
    """Two configurations whose labels are equal, and two whose labels tell them apart."""
    note = "settings that their names leave out"
    alike = [run(n, replace(cell(90), id=f"none-{n % 2:010x}-1")) for n in range(4)]
    assert any(note in line for line in shown(history(daily(alike))))
    assert not any(note in line for line in shown(loads(4)))
