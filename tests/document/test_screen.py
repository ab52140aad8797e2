"""The first screen, over runs of every kind: at most 22 lines of 80 columns with the answer on them."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

import made_inventory
from howlate.cli._measure import material_of
from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.brief import brief_of
from howlate.document.first_screen.lines import COLUMNS, LINES
from howlate.document.first_screen.on_page import head
from howlate.document.first_screen.rows import ScreenRows, screen_rows, totalled
from howlate.document.first_screen.screen import screen
from howlate.document.first_screen.strips import LEAST_STRIP, DrawnRows
from howlate.document.report_input import ReportInput
from howlate.document.sheet import NOTHING, Sheet
from howlate.model.loaded import RunContent
from howlate.model.summary import DeadlineSummary
from howlate.rooms import hooks
from howlate.statistics.deadline import together
from howlate.statistics.labels import in_sentence
from howlate.statistics.ladder import ladder_of
from howlate.statistics.misses import deadlines_json
from howlate.statistics.valid import holds
from howlate.store.loaded import load_run
from howlate.verdict.document import opening
from howlate.verdict.judge import stated
from howlate.verdict.ruling import Ruling
from howlate.words.language import english, speak
from howlate.words.quantities import percent, seconds_text, time_text
from howlate.words.say import text_of
from made_screens import (
    MADE,
    fits,
    made,
    of,
    texts,
)
from statement_parts import parts


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReportInput]:
    """The twelve runs of the inventory, as `show` has them."""
    place = tmp_path_factory.mktemp("inventory") / "runs"
    made_inventory.make_runs(place)
    return {
        name: material_of([load_run(place / name, kernels=False)], None, Path("runs") / name)
        for name in made_inventory.RUNS
    }


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


SHORT = [
    "short of load",
    "repeated",
    "half valid",
    "three of five valid",
    "not valid",
    "one, not valid",
    "five",
]


@pytest.mark.parametrize("kind", SHORT)
def test_the_head_counts_the_rows_that_its_maximum_is_of(kind: str) -> None:
    """Those that count; all where none does."""
    (content,) = made(kind).runs
    valid = [cell for cell in content.cells if holds(cell.summary)] or list(content.cells)
    columns = [cell.summary.columns["latency_ns"] for cell in valid]
    head = re.split(r"\n\n", "\n".join(texts(screen(made(kind)))))[0].replace("\n", " ")
    assert head.startswith(f"max {time_text(max(c.max or 0 for c in columns), 'us', ' ')}"), head
    assert f"  {sum(c.count or 0 for c in columns):,} wake-ups" in head
    seconds = seconds_text(sum(cell.looked_s for cell in valid), " ")
    rows = len(totalled(screen_rows([content]).rows))
    assert rows == 1 or f", {seconds}, {rows} rows" in " ".join(head.split())


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("short of load", "48 of 60,000 wake-ups missed it, in 4 of 5 rows"),
        ("half valid", "none of 12,000 wake-ups missed it"),
        ("three of five valid", "36 of 36,000 wake-ups missed it, in 3 of 3 rows"),
        ("not valid", "48 of 60,000 wake-ups missed it, in 4 of 5 rows"),
    ],
)
def test_the_head_counts_the_misses_of_rows_that_count(kind: str, told: str) -> None:
    assert texts(screen(made(f"{kind}, judged")))[0].endswith(f"  deadline 50 us: {told}")


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("kind", [kind for kind in MADE if "valid" in kind or "short" in kind])
def test_rows_that_are_not_valid_are_marked_and_the_trust_says_whether_they_count(
    kind: str, width: int
) -> None:
    """With a deadline and without one alike."""
    lines = texts(screen(made(kind), width))
    found = screen_rows(made(kind).runs).rows
    assert all((row.letter[-1] == "!") is not any(cell.valid for cell in row.cells) for row in found)
    told, counts = " ".join(" ".join(lines).split()), {row.is_counted for row in found}
    assert ("not valid, not counted: " in told) is (counts == {True, False})
    assert (" not valid: " in told) is ("short" in kind or counts == {False})


@pytest.mark.parametrize("kind", SHORT)
def test_a_run_has_one_maximum(kind: str) -> None:
    """In head, brief line, ladder and the page's sentence alike."""
    material = made(kind)
    (content,) = material.runs
    counting = [cell for cell in content.summaries if holds(cell)] or content.summaries
    worst = max(counting, key=lambda cell: cell.columns["latency_ns"].max or 0)
    max_ns = worst.columns["latency_ns"].max
    rows = screen_rows(material.runs).rows
    assert totalled(rows)[0] == rows[0] and rows[0].max_ns == max_ns
    assert (" valid=no" in brief_of(material)) is not worst.valid
    told = material.whole.answer
    if any(map(holds, counting)):
        assert told.values["largest_ns"] == max_ns
        assert (ladder := ladder_of(content)) is None or ladder.row in ("", rows[0].name)


@pytest.mark.parametrize("kind", sorted(kind for kind in MADE if kind.endswith("judged")))
def test_a_run_has_one_count_of_misses(kind: str) -> None:
    """In head, JSON and verdicts alike."""
    (content,) = made(kind).runs
    rows = screen_rows([content]).rows
    every = together([row.counts for row in totalled(rows) if row.is_counted and row.counts])
    assert deadlines_json(content.summaries) == ([every.to_json()] if every else [])
    missed = {row.group.point for row in rows if row.later and row.is_counted}
    assert missed == {row.point for row in stated(content) if row.verdict.outcome is Ruling.FAIL}


@pytest.mark.parametrize("order", [1, -1])
def test_a_pass_of_some_rows_is_none_of_all(stored: dict[str, ReportInput], order: int) -> None:
    judged, unjudged = stored["passed"].runs[0], made("five").runs[0]
    runs = [judged, unjudged][::order]
    material = material_of(runs, None, Path("runs"))
    answer, rows = ScreenAnswer.of(material), [row.verdict for row in stated(judged)]
    left = len(screen_rows([unjudged]).rows)
    assert (answer.outcome, answer.state, answer.rows.unjudged) == ("PASS", "INCONCLUSIVE", left)
    assert ScreenAnswer.of(stored["passed"]).state == "PASS"
    told = parts(*opening(rows, *runs))
    assert told["verdict.run-some"] == {"count": len(rows), "rows": len(rows) + left}
    assert list(told["verdict.unasked"]["rows"]) == [unjudged.run.id]
    assert next(head(material)).kind == "header inconclusive"


@pytest.mark.parametrize("kind", sorted(kind for kind in MADE if kind.endswith("judged")))
def test_what_was_never_served_is_no_wake_up(kind: str) -> None:
    rows = totalled(screen_rows(made(kind).runs).rows)
    every = together([row.counts for row in rows if row.counts])
    if every is not None and not every.at_least:
        things = "releases" if every.unserved or every.skipped else "wake-ups"
        assert f" of {every.releases:,} {things} " in " ".join(texts(screen(made(kind)))[0:2])


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


def test_rows_of_several_tests_are_named_by_them(stored: dict[str, ReportInput]) -> None:
    """And no table has a row of a test that does not measure what the table is of."""
    shown = "\n".join(fits(stored["points"], 80))
    assert all(f"\n{test} · none" in shown for test in ("hardware-gap", "irq", "preemption"))
    sheets = [item for item in stored["points"].whole.tables(None) if isinstance(item, Sheet)]
    assert len(sheets) > 5
    for sheet in sheets:
        figures = [column.cells for column in sheet.columns if not column.label]
        assert all(any(cell.text != NOTHING for cell in row) for row in zip(*figures, strict=True)), sheet.key


def test_causes_are_kinds_sorted_by_their_share(stored: dict[str, ReportInput]) -> None:
    (why,) = filter(None, [room(stored["traced"]) for room in hooks("reasons")])
    shares = [reason.share for reason in why.reasons]
    names = [text_of(reason.name) for reason in why.reasons]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    assert len(set(names)) == len(names)
    assert [each.share for each in why.advice] == sorted((each.share for each in why.advice), reverse=True)
    lines = texts(screen(stored["traced"]))
    title = next(i for i, line in enumerate(lines) if line.startswith("Why late (the "))
    assert [line.split("%")[0].strip() for line in lines[title + 1 : title + 4]] == [
        percent(share).split()[0] for share in shares[:3]
    ]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_largest_cause_and_what_to_try_stand_there_at_any_width(
    stored: dict[str, ReportInput], width: int
) -> None:
    """Also above a table of many rows, and the whole ladder."""
    for material in (stored["traced"], stored["failed"]):
        why, lines = ScreenAnswer.of(material).why, texts(screen(material, width))
        if why is not None and why.reasons:
            (told,) = [
                line for line in lines if f"{percent(why.reasons[0].share)} " in line.replace("%  ", "% ")
            ]
            assert text_of(why.reasons[0].name)[:4] in told
            assert any(line.startswith("Try 1") for line in lines) is bool(why.advice)
        assert not any(re.search(r"\d…$", line) for line in lines)


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


@pytest.mark.parametrize("step", [18, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("kind", ["lab judged", "names judged", "forty judged", "five", "nothing, failed"])
def test_no_terminal_is_too_narrow_or_too_wide(kind: str, step: int) -> None:
    material = made(kind)
    for width in range(10, 121, step):
        assert len(texts(screen(material, width))) <= LINES


@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"nothing", "nothing, failed"}))
def test_brief_is_of_the_first_row_of_the_screen(kind: str) -> None:
    """Those that count stand before others of the same outcome."""
    material = made(kind)
    found = screen_rows(material.runs).rows
    for before, after in pairwise(found):
        assert before.outcome != after.outcome or before.is_counted or not after.is_counted
    first = found[0]
    assert f" max={(first.max_ns or 0) / 1000:.1f}us " in brief_of(material)
    if first.name and not first.outcome:
        assert (
            f"({first.mark} {text_of(in_sentence(first.name))}".replace("( ", "(")[:30]
            in texts(screen(material))[0]
        )


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
    (line,) = [line for line in shown if line.startswith(f"{row.letter} ")][:1]
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
    lines = [line for line in shown if line.startswith(f"{row.letter} ")]
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
