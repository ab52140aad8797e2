"""The first screen, over runs of every kind: at most 22 lines of 80 columns with the answer on them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import made_inventory
from howlate import rooms
from howlate.cli._measure import material_of
from howlate.document.document import Folded, Texts
from howlate.document.first_screen.brief import brief_of
from howlate.document.first_screen.lines import COLUMNS, LINES, Line, joined
from howlate.document.first_screen.notes import notes
from howlate.document.first_screen.on_page import head, title
from howlate.document.first_screen.on_screen import ScreenNote
from howlate.document.first_screen.rows import ScreenRows, screen_rows
from howlate.document.first_screen.screen import Parts, screen
from howlate.document.first_screen.strips import LEAST_STRIP, DrawnRows
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.model.bins import CellBins
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.published.load import references
from howlate.rooms import hooks
from howlate.statistics.groups import VIRTUAL_TIME
from howlate.store.loaded import load_run
from howlate.studies import find_study
from howlate.words.language import english, speak
from howlate.words.quantities import percent, seconds_text, time_text
from howlate.words.say import english as say_english
from howlate.words.say import text_of
from made_cells import invalid, made_cell
from made_points import KERNELS, made_points, virtual_run
from made_runs import five_cells, made_run

NAMES = {
    "long": "a-load-whose-name-is-as-long-as-any-name-may-be-and-then-some-more-of-it:100",
    "wide": "とても長い名前の負荷がここに書かれている場合でも画面に収まる",
    "escape": "\x1b[31mred\x1b[0m",
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReportInput]:
    """The twelve runs of the inventory, as `show` has them."""
    place = tmp_path_factory.mktemp("inventory") / "runs"
    made_inventory.make_runs(place)
    return {
        name: material_of([load_run(place / name, kernels=False)], None, Path("runs") / name)
        for name in made_inventory.RUNS
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
        line for line in too_long if " " in line.removeprefix("./howlate ").strip() and "/" not in line
    ]
    assert "\x1b" not in shown
    return lines


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", MADE)
def test_a_made_run_fits_on_one_screen(kind: str, width: int) -> None:
    lines = fits(made(kind), width)
    first = lines[0]
    assert first.strip().startswith(("max ", "PASS", "FAIL", "INCONCLUSIVE", "No cell")), first


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_a_stored_run_fits_on_one_screen(stored: dict[str, ReportInput], name: str, width: int) -> None:
    lines = fits(stored[name], width)
    outcome = brief_of(stored[name]).partition(" ")[0]
    assert lines[0].startswith("max" if outcome == "MEASURED" else outcome)
    assert any(f"show --all runs/{name}" in line for line in lines)


@pytest.mark.parametrize("language", ["de", "ja"])
@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_a_translated_screen_fits_too(stored: dict[str, ReportInput], name: str, language: str) -> None:
    try:
        speak(language)
        lines = fits(stored[name], COLUMNS)
    finally:
        speak("en")
    with english():
        assert lines != fits(stored[name], COLUMNS)


NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)? (?:ns|us|ms|s|h|%)(?!\w)")


@pytest.mark.parametrize("kind", MADE)
def test_no_measured_number_stands_there_twice(kind: str) -> None:
    """But for the largest of all, which is the answer and stands in its row."""
    lines = texts(screen(made(kind)))
    rows = [line for line in lines if "█" in line or " X" in line]
    numbers = Counter(number for line in lines if line not in rows for number in NUMBER.findall(line))
    assert [number for number, times in numbers.items() if times > 1] == []


@pytest.mark.parametrize("kind", ["half valid", "three of five valid", "not valid", "one, not valid", "five"])
def test_the_head_counts_the_rows_that_its_maximum_is_of(kind: str) -> None:
    """The valid ones; all where none is."""
    (content,) = made(kind).runs
    valid = [cell for cell in content.cells if cell.summary.valid] or list(content.cells)
    columns = [cell.summary.columns["latency_ns"] for cell in valid]
    head = re.split(r"\n\n", "\n".join(texts(screen(made(kind)))))[0].replace("\n", " ")
    assert head.startswith(f"max {time_text(max(c.max or 0 for c in columns), 'us', ' ')}"), head
    assert f"  {sum(c.count or 0 for c in columns):,} wake-ups" in head
    seconds = seconds_text(sum(cell.looked_s for cell in valid), " ")
    assert len(valid) == 1 or f", {seconds}, {len(valid)} rows" in " ".join(head.split())


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("half valid", "none of 12,000 wake-ups missed it"),
        ("three of five valid", "36 of 36,000 wake-ups missed it, in 3 of 3 rows"),
        ("not valid", "48 of 60,000 wake-ups missed it, in 4 of 5 rows"),
    ],
)
def test_the_head_counts_the_misses_of_valid_rows(kind: str, told: str) -> None:
    assert texts(screen(made(f"{kind}, judged")))[0].endswith(f"  deadline 50 us: {told}")


def test_a_row_that_fails_though_it_is_not_valid_is_counted(tmp_path: Path) -> None:
    """That a miss was seen holds all the same."""
    calm = made_inventory.measured([9_000] * 500, "200us")
    late = made_inventory.measured(
        [9_000] * 499 + [900_000], "200us", account_changes={"releases": 503, "dropped": 3}
    )
    cells = [made_inventory.Made("calm", calm), made_inventory.Made("late", late, {"load": "cpu:50"})]
    made_inventory.folder_of(tmp_path / "run", cells)
    lines = texts(screen(of(load_run(tmp_path / "run", kernels=False))))
    assert lines[0].startswith("FAIL  deadline 200 us: 1 of 1,003 ") and "1 of 2 rows" in lines[0]
    assert any("not valid: cpu:50 (" in line for line in lines)


@pytest.mark.parametrize("kind", MADE)
def test_a_terminal_without_utf8_gets_letters(kind: str) -> None:
    material = made(kind)
    if kind in ("names", "names judged"):  # whose names are no letters
        return
    for line in texts(screen(material, letters=True)):
        assert line.isascii(), line


def test_the_worst_rows_come_first_and_say_what_they_are_without_colour() -> None:
    lines = texts(screen(made("judged")))
    rows = [line for line in lines if line[:2] in ("F ", "P ", "? ")]
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), key="F?P".index)
    assert len(rows) == 5


def test_of_more_rows_than_have_room_the_worst_are_kept() -> None:
    material = made("forty")
    lines = texts(screen(material))
    maxima = sorted((cell.columns["latency_ns"].max or 0 for cell in material.summaries), reverse=True)
    shown = [line for line in lines if " X" in line or "X " in line]
    assert len(lines) == LINES
    assert f"{maxima[0] / 1e6:.2f} ms" in lines[0] or f"{maxima[0] / 1e3:.0f} us" in lines[0]
    assert any(re.fullmatch(r" +\d+ more rows", line) for line in lines) and len(shown) < 40


def test_rows_that_differ_have_names_that_do() -> None:
    lines = texts(screen(made("lab")))
    names = [re.split(r"  |▁|▂", line)[0] for line in lines if re.search(r"█.*X", line)]
    assert len({*names}) == len(names) == 6


def test_causes_are_kinds_sorted_by_their_share(stored: dict[str, ReportInput]) -> None:
    (why,) = filter(None, [room(stored["traced"]) for room in hooks("reasons")])
    shares = [reason.share for reason in why.reasons]
    names = [text_of(reason.name) for reason in why.reasons]
    assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1
    assert len(set(names)) == len(names) and "recording" not in names
    assert [each.share for each in why.advice] == sorted((each.share for each in why.advice), reverse=True)
    lines = texts(screen(stored["traced"]))
    title = next(i for i, line in enumerate(lines) if line.startswith("Why late (the "))
    assert [line.split("%")[0].strip() for line in lines[title + 1 : title + 4]] == [
        percent(share).split()[0] for share in shares[:3]
    ]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_number_is_parted_from_its_unit(stored: dict[str, ReportInput], width: int) -> None:
    for material in (*stored.values(), *map(made, MADE)):
        for line in texts(screen(material, width)):
            assert not re.match(r" *(ns|us|ms|s|h|%)\b", line), line
            assert not re.search(r"(Measured|Watched) [\d.]+[a-z]", line), line


def test_what_could_not_be_measured_says_why_where_there_is_nothing_else() -> None:
    why = "cpu:100: failed: the probe ended with 4"
    assert f"! {why}." in "".join(texts(screen(made("nothing, failed"))))
    assert any(why in line for line in texts(screen(made("cut"))))


def test_brief_is_one_line_of_words_for_programs(stored: dict[str, ReportInput]) -> None:
    form = re.compile(
        r"(MEASURED|FAIL|PASS|INCONCLUSIVE) max=(-|\d+\.\dus) p99=(-|\d+\.\dus)( missed=\d+/\d+)?"
        r"( \S+=\S+)* runs/\S+"
    )
    for name, material in stored.items():
        line = brief_of(material)
        found = form.fullmatch(line)
        assert found, line
        assert bool(found[4]) == (found[1] != "MEASURED"), name
    assert brief_of(stored["failed"]).startswith("FAIL max=2000.0us p99=8.")
    assert " missed=3/20000 load=cpu:50 runs/failed" in brief_of(stored["failed"])


def row_of(name: str, later: int | None, deadline_ns: int) -> ScreenRows:
    """A row of this name beside another."""
    found = screen_rows(made("judged" if deadline_ns else "five").runs)
    counts = [None if n is None else DeadlineSummary(deadline_ns, 10**18, n, 0) for n in (later, 0)]
    names = (name, f"{name}'")
    rows = tuple(
        replace(row, name=each, limit=n) for row, each, n in zip(found.rows[:2], names, counts, strict=True)
    )
    return ScreenRows(rows, deadline_ns)


@given(
    st.integers(10, 120),
    st.text(st.characters(exclude_categories=["C", "Z"]), max_size=80),
    st.none() | st.integers(0, 10**18),
    st.sampled_from([0, 50_000]),
)
def test_a_row_is_drawn_at_any_width(width: int, name: str, later: int | None, deadline_ns: int) -> None:
    drawn = DrawnRows(width, letters=False, content=row_of(name, later, deadline_ns))
    axis, rows = drawn.lines()
    lengths = {sum(cell_len(text) for text, _ in line) for line in (*axis, *rows)}
    assert len(lengths) == 1
    assert drawn.strip == 0 or drawn.strip >= LEAST_STRIP
    if drawn.strip:
        assert lengths == {width}


@pytest.mark.parametrize("kind", ["lab judged", "names judged", "forty judged", "five", "nothing, failed"])
def test_no_terminal_is_too_narrow_or_too_wide(kind: str) -> None:
    material = made(kind)
    for width in range(10, 121):
        assert len(texts(screen(material, width))) <= LINES


@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"nothing", "nothing, failed"}))
def test_brief_is_of_the_first_row_of_the_screen(kind: str) -> None:
    """Valid ones stand before others of the same outcome."""
    material = made(kind)
    found = screen_rows(material.runs).rows
    for before, after in pairwise(found):
        assert before.outcome != after.outcome or before.group.counted or not after.group.counted
    first = found[0]
    assert f" max={(first.max_ns or 0) / 1000:.1f}us " in brief_of(material)
    if first.name and not first.outcome:
        assert f"({first.name})"[:30] in texts(screen(material))[0]


def bounded(content: RunContent, misses: int | None = None) -> RunContent:
    """The same run where more may have missed the deadline, or were later than the steps of the ladder."""
    cells = []
    for cell in content.cells:
        own = cell.summary.deadline
        counts = own and replace(own, late=own.late if misses is None else misses, at_least=True)
        ladder = tuple(replace(step, at_least=True) for step in cell.summary.ladder)
        cells.append(replace(cell, summary=replace(cell.summary, deadline=counts, ladder=ladder)))
    return replace(content, cells=tuple(cells))


@pytest.mark.parametrize("kind", sorted(kind for kind in MADE if "judged" in kind))
@pytest.mark.parametrize("letters", [False, True])
def test_a_count_that_may_be_larger_says_at_least(kind: str, letters: bool) -> None:
    material = of(bounded(made(kind).runs[0], misses=1234))
    shown = texts(screen(material, letters=letters))
    row = screen_rows(material.runs).rows[0]
    assert row.later
    assert re.search(r"deadline \d+ us: at least \d", shown[0]), shown[0]
    sign = ">=" if letters else "≥"
    (line,) = [line for line in shown if line[:2] == f"{row.letter} "][:1]
    assert line.endswith(f" {sign}{row.later:,}"), line
    assert re.search(r" missed>=\d+/", brief_of(material))
    page = "".join(map(str, head(material)))
    assert f"≥{row.later:,}" in page and "at least {misses}" in page


@pytest.mark.parametrize("kind", sorted(kind for kind in MADE if "judged" in kind))
def test_where_any_may_have_missed_none_is_not_said(kind: str) -> None:
    material = of(bounded(made(kind).runs[0], misses=0))
    shown = texts(screen(material))
    assert ": misses unknown" in shown[0] and not any("none of" in line for line in shown)
    row = screen_rows(material.runs).rows[0]
    lines = [line for line in shown if line[:2] == f"{row.letter} "]
    assert row.later is None and not any(re.search(r"(≥| )[\d,]+$", line) for line in lines)
    assert " missed>=0/" in brief_of(material)


def test_the_step_of_the_column_is_the_longest_that_any_is_later_than(stored: dict[str, ReportInput]) -> None:
    """By its answers; also where only the least is known."""
    for name, material in stored.items():
        if not (found := screen_rows(material.runs)).step_ns:
            continue
        steps = [step for row in found.rows for cell in row.cells for step in cell.ladder if step.late]
        assert found.step_ns == max(step.deadline_ns for step in steps), name
        least = screen_rows([bounded(material.runs[0])])
        assert least.step_ns == found.step_ns and least.rows[0].at_least, name
        assert f"≥{least.rows[0].later:,}" in "\n".join(texts(screen(of(bounded(material.runs[0])))))


def with_skipped(content: RunContent, unserved: int) -> RunContent:
    """The same run with releases that nothing answered, which are later than any deadline."""
    cells = []
    for cell in content.cells:
        ladder = tuple(replace(step, unserved=unserved) for step in cell.summary.ladder)
        own = cell.summary.deadline
        counts = own and replace(own, unserved=unserved)
        cells.append(replace(cell, summary=replace(cell.summary, deadline=counts, ladder=ladder)))
    return replace(content, cells=tuple(cells))


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", [*(kind for kind in MADE if "judged" in kind), *made_inventory.RUNS])
def test_no_count_in_a_row_contradicts_its_largest(
    stored: dict[str, ReportInput], kind: str, width: int
) -> None:
    """A release that was never served is later than any deadline, and has no latency."""
    material = of(with_skipped((stored[kind] if kind in stored else made(kind)).runs[0], 7))
    found = screen_rows(material.runs)
    lines = texts(DrawnRows(width, letters=False, content=found).lines()[1])
    for row, line in zip(found.rows, lines, strict=True):
        limit_ns = row.counts.deadline_ns if row.counts is not None else found.step_ns
        is_later = (row.max_ns or 0) > limit_ns
        assert bool(row.later) and line.endswith(" skipped") is not is_later, line
    head = " ".join(" ".join(texts(screen(material, width))).split())
    if any(row.is_skipped for row in found.judged if row.is_counted):
        assert re.search(r" missed it(, in \d+ of \d+ rows)?, \d+ skipped ", head), head
    for said in re.findall(r"later than (.*?)\. ", head):
        assert re.search(r"(s: \d+ skipped|: at least 1 in [\d,]+)$", said), said


def legend_of(kind: str, width: int) -> tuple[str, list[str]]:
    """What stands below the rows, and the screen."""
    material = made(kind)
    lines = texts(screen(material, width, "runs/20260102T030405-check/report.html"))
    legend = texts(DrawnRows(width, letters=False, content=screen_rows(material.runs)).legend())
    return " ".join(line for line in legend if line in lines), lines


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"nothing", "nothing, failed"}))
def test_signs_that_occur_are_explained_and_no_others(kind: str, width: int) -> None:
    legend, lines = legend_of(kind, width)
    if not legend and width < COLUMNS and sum(max(1, -(-cell_len(line) // width)) for line in lines) == LINES:
        return  # there was no room
    found = screen_rows(made(kind).runs)
    meanings = {"F": "FAIL", "P": "PASS", "?": "INCONCLUSIVE", "!": "invalid"}
    letters = {row.letter for row in found.rows}
    for sign, meaning in meanings.items():
        assert (f"{sign} {meaning}" in legend) is (sign in letters), (legend, lines)
    assert ("│ deadline" in legend) is any("│" in line for line in lines if line != legend), legend
    assert ("█ most" in legend) is any("█" in line for line in lines if line not in legend), legend


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"nothing", "nothing, failed"}))
def test_without_a_deadline_the_screen_says_how_to_get_a_verdict(kind: str, width: int) -> None:
    """Where it has room for it, which it has at 80 columns."""
    material = made(kind)
    lines = texts(screen(material, width))
    hint = [line for line in lines if f"verdict {material.folder} --deadline " in line]
    rows = sum(max(1, -(-cell_len(line) // width)) for line in lines)
    if brief_of(material).startswith("MEASURED"):
        assert hint or (width < COLUMNS and rows > LINES - 4), lines
    else:
        assert not hint


@pytest.mark.parametrize("kind", ["nothing", "five"])
def test_a_deadline_that_was_stated_in_vain_leaves_the_outcome_open(kind: str) -> None:
    """Of the cells that have one none is whole."""
    content = made(kind).runs[0]
    lost = Cell("lost", "cyclic", {"deadline": "100us"}, {"load": "none"}, 1, 12.0)
    material = of(replace(content, run=replace(content.run, plan=Plan((*content.run.plan.cells, lost)))))
    assert brief_of(material).startswith("INCONCLUSIVE max=")
    assert title(material).startswith("INCONCLUSIVE")
    bar = str(next(iter(head(material))))
    assert "INCONCLUSIVE" in bar and "MEASURED" not in bar


def test_p99_is_of_the_repetition_with_the_largest_value() -> None:
    for kind in ("lab", "five"):
        for row in screen_rows(made(kind).runs).rows:
            worst = max(row.cells, key=lambda cell: cell.columns[cell.latest].max or 0)
            assert row.p99_ns == worst.columns[worst.latest].quantiles.get("0.99")


def test_sentences_name_the_only_row_by_its_load() -> None:
    material = made("one, not valid")
    rows = screen_rows(material.runs).rows
    assert [row.name for row in rows] == [""]
    told = [text_of(note.text) for note in notes(material, rows, ())]
    assert any(text.startswith("not valid: none (") for text in told), told
    cell, bins, _ = made_cell("cpu:50")
    weak = of(made_run([(replace(cell, loads=(replace(cell.loads[0], share=0.5),)), bins)]))
    told = [text_of(note.text) for note in notes(weak, screen_rows(weak.runs).rows, ())]
    assert any(text.startswith("cpu:50 had 50") for text in told), told


@given(st.lists(st.integers(0, 12), min_size=3, max_size=3), st.integers(0, 4), st.integers(0, 2))
def test_what_has_no_room_is_left_out_whole(sizes: list[int], causes: int, advice: int) -> None:
    """What to try before the causes, and of neither a part."""

    def lines(word: str, count: int) -> list[Line]:
        return [((f"{word} {n}", ""),) for n in range(count)]

    head, rows, last = sizes
    why = lines("why", causes)
    told = lines("try", advice)
    fitted = Parts(lines("head", head), lines("row", rows), why=why, advice=told, last=lines("last", last))
    shown = texts(fitted.fitted(COLUMNS))
    counts = Counter(line.partition(" ")[0] for line in shown)
    assert counts["why"] in (0, causes) and counts["try"] in (0, advice)
    assert counts["try"] == 0 or counts["why"] == causes
    if head + last + min(rows, 5) <= LINES:
        assert len(shown) <= LINES


@pytest.mark.parametrize("kind", ["judged", "passes", "not valid, judged"])
def test_without_the_verdict_the_outcome_is_open(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "ROOMS", tuple(room for room in rooms.ROOMS if room != "verdict"))
    material = made(kind)
    assert texts(screen(material))[0].startswith("INCONCLUSIVE  deadline ")
    assert brief_of(material).startswith("INCONCLUSIVE ")


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("letters", [False, True])
def test_what_is_copied_is_whole(letters: bool, width: int) -> None:
    page, folder, log = "runs/5µs–10 ms·…×/report.html", "'runs/5µs – 10 ms·…×'", "runs/5µs–µs/cells/console"
    failures = ("! cpu:100: failed.", f"  the whole console: {log}")
    material = of(made_run([]), folder=folder, failures=failures)
    lines = texts(screen(material, width, page, letters=letters))
    assert page in lines
    assert any(f"show --all {folder}" in line for line in lines), lines
    assert f"  the whole console: {log}" in lines


def test_the_page_folds_no_sentence_that_a_chip_has_in_its_heading() -> None:
    material = made("lab")
    (trust,) = [section for section in head(material) if section.id == "trust"]
    chips = [item for item in trust.items if isinstance(item, Folded)]
    more = [
        text_of(text).lower()
        for chip in chips
        if "more note" in chip.title
        for item in chip.items
        if isinstance(item, Texts)
        for text in item.texts
    ]
    assert any("virtual time: instructions" in chip.title for chip in chips)
    assert not any("virtual time: instructions" in text for text in more)


@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_caution_about_virtual_time_stands_there_once_and_whole(width: int) -> None:
    shown = " ".join(" ".join(texts(screen(made("lab"), width))).split())
    assert shown.count(say_english(VIRTUAL_TIME())) == shown.count("virtual time: instructions") == 1


@pytest.mark.parametrize("width", [80, 60, 40])
def test_short_notes_share_a_line_and_no_note_is_lost(width: int) -> None:
    notes = ["not valid: cpu:100 (not loaded)", "virtual machine (steal 0 %)", "x" * 30, "y" * 70]
    lines = joined(notes, width)
    assert "; ".join(lines) == "; ".join(notes)
    assert all(cell_len(line) <= width or line in notes for line in lines)
    together = pairwise(lines)
    assert all(cell_len(f"{one}; {next_one.partition('; ')[0]}") > width for one, next_one in together)


@pytest.mark.parametrize(("of_rooms", "shown"), [(0, 1), (2, 3), (3, 4), (4, 3), (9, 3)])
def test_the_only_note_that_would_be_left_out_stands_there(of_rooms: int, shown: int) -> None:
    """The run has one of its own: that it was measured on a virtual machine."""
    told = notes(of(made_run([])), [], [ScreenNote(rank, f"note {rank}") for rank in range(of_rooms)])
    assert len(told) == shown
    assert [note.rank for note in told] == sorted(note.rank for note in told)
