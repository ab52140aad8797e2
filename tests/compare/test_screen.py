"""The screen of a comparison: one table on one screen, the largest difference first, with the values of the JSON."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from rich.cells import cell_len

import made_inventory
from howlate.compare.compare import Comparison, compare, to_json
from howlate.compare.in_report import comparison, lead
from howlate.compare.screen import FEW_LINES, CompareRow, screen
from howlate.document.first_screen.lines import LINES
from howlate.document.report_input import ReportInput
from howlate.document.sheet import NOTHING, PAGE
from howlate.errors import UsageError
from howlate.model.summary import MISSES
from howlate.sides.sides import Decision
from howlate.store.loaded import load_run
from howlate.words.language import speak
from howlate.words.quantities import ratio_text
from howlate.words.say import text_of
from made_sides import RT, Made, at, lab_run, real_run

LOADS = {"none": (3.9, 3.7), "disk": (4.6, 4.5), "memory-alloc:100": (651, 8.7), "cpu:100": (4.2, 3.4)}
FACTORS = [0.80, 0.85, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.15, 1.2, 1.25]
"""Of the twelve seeds; where it is not the same on both sides nothing is shown."""


def side(maximum: float, shuffled: bool = False) -> list[Made]:
    factors = [*FACTORS[5:], *FACTORS[:5]] if shuffled else FACTORS
    return [Made(maximum=maximum * factor) for factor in factors]


def five() -> Comparison:
    """The rows of a study on two kernels, of which two differ."""
    return compare(
        [
            lab_run(
                {
                    kernel: {
                        **{at(load=load): side(both[which]) for load, both in LOADS.items()},
                        at(load="hackbench"): side(40, shuffled=bool(which)),
                    }
                    for which, kernel in enumerate(("6.1", "6.1-rt"))
                }
            )
        ]
    )


def many(sides: int, loads: int) -> Comparison:
    kernels = [f"6.{number}" for number in range(sides)]
    return compare(
        [
            lab_run(
                {
                    kernel: {at(load=f"cpu:{n}"): side(10 * (1 + which * n)) for n in range(1, loads + 1)}
                    for which, kernel in enumerate(kernels)
                }
            )
        ]
    )


def shown(found: Comparison, width: int = 80, *, every: bool = False) -> list[str]:
    lines = screen(found, (), "a b", width, every=every)
    return ["".join(text for text, _ in line) for line in lines]


def table(lines: list[str]) -> list[list[str]]:
    """Its rows, by cells."""
    if lines[0] == "no row has a figure above zero on both sides":
        return []
    (head,) = [place for place, line in enumerate(lines) if re.search(r"  ratio\b|^ratio\b", line)]
    rows = lines[head + 1 :]
    end = next(
        (place for place, line in enumerate(rows) if not line or line.startswith(("  ", "Trust"))), len(rows)
    )
    return [re.split(r"  +", line) for line in rows[:end]]


def test_it_is_one_table_sorted_by_size_with_what_each_ratio_means() -> None:
    lines = shown(five())
    assert lines[0] == "2 of 5 rows differ  by more than 10 %; medians of 12 repetitions; 95 %"
    assert table(lines) == [
        ["memory-alloc:100", "max", "658 us", "8.79 us", "0.013 [0.013, 0.014]", "smaller"],
        ["cpu:100", "max", "4.24 us", "3.43 us", "0.81 [0.80, 0.81]", "smaller"],
        ["none", "max", "3.94 us", "3.74 us", "0.95 [0.94, 0.95]", "equal"],
        ["hackbench", "max", "40.4 us", "40.4 us", "0.97 [0.78, 1.20]", "not shown"],
        ["disk", "max", "4.65 us", "4.54 us", "0.98 [0.97, 0.98]", "equal"],
    ]
    assert len(lines) <= FEW_LINES


def test_its_ratios_are_those_of_the_json_turned_round_and_its_interval_no_narrower() -> None:
    found = five()
    told = {
        (each["labels"]["load"], one["figure"]): one
        for each in to_json(found)["tables"]
        for one in each["differences"]
    }
    rows = table(shown(found, every=True))
    assert len(rows) == len(told) == 15
    figures = {"median": "0.5", "std dev": "stddev"}
    for load, figure, *_values, ratio, meaning in rows:
        one = told[load, figures.get(figure, figure)]
        seen, low, high = (float(text) for text in re.findall(r"[\d.]+", ratio))
        assert seen == float(ratio_text(1 / one["ratio"]))
        assert low <= 1 / one["high"] + 1e-9 and high >= 1 / one["low"] - 1e-9
        turned = {"smaller": "larger", "larger": "smaller", "equal": "equal"}
        assert meaning == turned.get(one["direction"], "not shown")


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize(("sides", "loads"), [(2, 1), (2, 5), (2, 12), (2, 40), (4, 3), (6, 10)])
def test_of_more_rows_than_have_room_the_largest_stay(sides: int, loads: int, width: int) -> None:
    found = many(sides, loads)
    lines, every = shown(found, width), table(shown(found, width, every=True))
    assert len(lines) <= (FEW_LINES if (sides - 1) * loads <= 5 and width == 80 else LINES), "\n".join(lines)
    rows = table(lines)
    ratios = [float(row[-2].partition(" ")[0]) for row in rows]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == max(float(row[-2].partition(" ")[0]) for row in every)
    left = [int(each[1]) for line in lines if (each := re.fullmatch(r"  (\d+) more rows: --all", line))]
    assert len(rows) + sum(left) == (sides - 1) * loads
    assert len(rows) >= min(5, (sides - 1) * loads)
    assert all(cell_len(line) <= width for line in lines)


def test_rows_without_a_valid_cell_on_a_side_are_named() -> None:
    loads = {at(load="none"): [Made()], at(load="disk"): [Made(valid=False)]}
    found = compare([real_run(loads), real_run({place: [Made()] for place in loads}, RT, "run-b")])
    (named,) = [line for line in shown(found) if "not valid" in line]
    assert "disk" in named and "none" not in named


def test_one_run_each_shows_no_change() -> None:
    """Not interleaved: what differs may be the day."""
    found = compare(
        [
            real_run({at(load=load): side(10) for load in ("none", "disk")}),
            real_run({at(load=load): side(90) for load in ("none", "disk")}, RT, "run-b"),
        ]
    )
    lines = shown(found)
    assert lines[0].startswith("not shown") and {"12", "one"} <= {*lines[0].split()}
    assert [row[-2:] for row in table(lines)] == [["9.0", "not shown"]] * 2


@pytest.mark.parametrize("pairs", [2, 3, 4, 5, 6])
def test_no_interval_excludes_one_where_nothing_is_stated(pairs: int) -> None:
    cells = [{at(load="none"): side(maximum)[:pairs]} for maximum in (40, 9)]
    lines = shown(compare([lab_run(dict(zip(("6.1", "6.1-rt"), cells, strict=True)))]))
    (row,) = table(lines)
    assert row[-1] == "not shown" and "[" not in row[-2]
    assert lines[0].startswith("not shown") and f" {pairs} repetitions; " in lines[0]
    assert "measure 7 " in " ".join(line.strip() for line in lines[:3])


def test_a_count_of_none_on_one_side_has_no_ratio() -> None:
    told = Decision(MISSES, "unstated", seen=41.0)
    assert CompareRow("", "b", MISSES, (0, 20), told).ratio == NOTHING
    assert CompareRow("", "b", MISSES, (2, 20), told).ratio != NOTHING


@pytest.mark.parametrize("width", [80, 60])
def test_several_sides_with_long_names_leave_room_for_every_column(width: int) -> None:
    names = [f"6.1.0-18-amd64 (preempt=voluntary), the run of side {number}" for number in range(3)]
    runs = {name: {at(load="memory-alloc:100"): side(10 + 9 * n)} for n, name in enumerate(names)}
    lines = shown(compare([lab_run(runs)]), width)
    head = next(line for line in lines if "ratio" in line)
    assert {"side", "figure", "ratio"} < set(head.split()), head
    assert [row[0] for row in table(lines)] == ["B", "A"]
    legend = [line for line in lines if re.match(r"(old|A|B): 6", line)]
    assert [line[-6:] for line in legend] == ["side 0", "side 1", "side 2"]
    assert all(cell_len(line) <= width for line in lines)


def test_the_page_of_one_run_without_a_comparison_says_nothing_of_it(stored: Path) -> None:
    for name in made_inventory.RUNS:
        runs = [load_run(stored / name, bins=False)]
        material = ReportInput(runs, PAGE, comparison(runs, ""))
        assert not any("no row has a figure" in text_of(text) for text in lead(material)), name


@pytest.mark.parametrize("language", ["en", "de", "ja"])
@pytest.mark.parametrize("width", [80, 60, 40])
def test_any_two_runs_fit_on_one_screen(stored: Path, width: int, language: str) -> None:
    contents = {name: load_run(stored / name, bins=False) for name in made_inventory.RUNS}
    seen = 0
    for one, other in combinations(made_inventory.RUNS, 2):
        try:
            found = compare([contents[one], contents[other]])
        except UsageError:
            continue
        try:
            speak(language)
            lines = shown(found, width)
        finally:
            speak("en")
        seen += 1
        assert len(lines) <= LINES, "\n".join(lines)
        assert all(cell_len(line) <= width for line in lines), "\n".join(lines)
        if width == 80 and language == "en" and len(table(lines)) <= 5:
            assert len(lines) <= FEW_LINES, "\n".join(lines)
    assert seen > 5


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("inventory") / "runs"
    made_inventory.make_runs(place)
    return place
