"""What the first screen says next to its figures: signs, hints, notes, and what it leaves out."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from howlate import rooms
from howlate.document.document import Folded, Texts
from howlate.document.first_screen.answer import as_measured, calmest_kernel
from howlate.document.first_screen.brief import brief_of
from howlate.document.first_screen.lines import (
    COLUMNS,
    LINES,
    Line,
    apart,
    are_apart,
    cut,
    joined,
    middle,
    shortened,
)
from howlate.document.first_screen.notes import notes
from howlate.document.first_screen.on_page import head, title
from howlate.document.first_screen.on_screen import ScreenAdvice, ScreenNote
from howlate.document.first_screen.rows import ScreenRow, screen_rows
from howlate.document.first_screen.screen import Parts, screen
from howlate.document.first_screen.strips import DrawnRows
from howlate.document.of_runs import document
from howlate.document.report_input import NO_CELL
from howlate.document.sheet import PAGE
from howlate.model.knowledge import Knowledge
from howlate.model.plan import Cell, Plan
from howlate.model.run import BY_HAND
from howlate.statistics.groups import VIRTUAL_TIME
from howlate.words.say import english as say_english
from howlate.words.say import text_of
from made_cells import made_cell
from made_runs import five_cells, made_run
from made_screens import (
    MADE,
    made,
    of,
    texts,
)


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
    letters = "".join(row.letter for row in found.rows)
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


def test_without_a_whole_cell_nothing_was_measured_which_is_said_once() -> None:
    material = made("nothing, failed")
    assert brief_of(material) == f"UNMEASURED max=- p99=- {material.folder}"
    page = replace(material, style=PAGE)
    assert title(page).startswith("UNMEASURED")
    assert sum(NO_CELL.id in str(section) for section in document(page).sections) == 1
    assert not any("Why it was late" in line for line in texts(screen(material)))


@pytest.mark.parametrize(
    ("lacks", "told"),
    [
        ({"time_order": False, "missed_releases": False}, "machine, order, missed wake-ups"),
        ({"missed_releases": False}, "machine, missed wake-ups"),
        ({}, "machine"),
    ],
)
def test_an_imported_run_says_what_its_file_does_not_say(lacks: dict[str, bool], told: str) -> None:
    run = made_run(five_cells()[:2])
    cells = [replace(c, summary=replace(c.summary, known=Knowledge(**lacks))) for c in run.cells]
    run = replace(run, cells=tuple(cells), run=replace(run.run, target=BY_HAND, facts={}))
    found = [text_of(note.text) for note in notes(of(run), screen_rows([run]).rows, ())]
    assert found[0] == f"the file does not say: {told}"
    local = replace(run, run=replace(run.run, target="local"))
    assert not any("file" in text_of(note.text) for note in notes(of(local), screen_rows([local]).rows, ()))


def test_of_kernels_the_calmest_is_tried_first_where_it_is_twice_as_good() -> None:
    rows = screen_rows(made("lab").runs).rows
    kernels = sorted({row.labels["kernel"] for row in rows})
    assert not rows[0].group.overruns

    def row_of(row: ScreenRow, ns: int, **of: object) -> ScreenRow:
        of = {"outcome": "", "group": row.group, **of}
        return cast(ScreenRow, SimpleNamespace(mark="", max_ns=ns, labels=row.labels, **of))

    for factor, told in ((1, None), (2, kernels[0]), (3, kernels[0])):
        times = [1_000 if row.labels["kernel"] == kernels[0] else 1_000 * factor for row in rows]
        timed = [row_of(row, ns) for row, ns in zip(rows, times, strict=True)]
        found = calmest_kernel(timed)
        assert (found and found.text) == (told and f"boot {told}")
        assert found is None or text_of(found.buys) == "max 1.00 µs here"
        named = [ScreenAdvice(f"boot {kernel}", 0.5, kernel=kernel) for kernel in (*kernels, "other")]
        measured = as_measured(named, timed)
        assert measured[-1] is named[-1]
        assert [each.kernel for each in measured[:-1]] == kernels[: factor > 1]
        assert {text_of(each.buys) for each in measured[:-1]} <= {"max 1.00 µs here"}
    assert calmest_kernel(timed[1:]) is None  # not under the same loads
    at = times.index(1_000)
    for lost in ({"outcome": "FAIL"}, {"group": SimpleNamespace(overruns=1)}):  # it is the worst of all
        assert calmest_kernel([*timed[:at], row_of(rows[at], 1_000, **lost), *timed[at + 1 :]]) is None
    assert calmest_kernel([*timed, row_of(rows[at], 5_000)]) is None  # of another run
    assert calmest_kernel(screen_rows(made("five").runs).rows) is None


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
    assert any(text.startswith("not valid: no load (") for text in told), told
    cell, bins, _ = made_cell("cpu:50")
    weak = of(made_run([(replace(cell, loads=(replace(cell.loads[0], share=0.5),)), bins)]))
    told = [text_of(note.text) for note in notes(weak, screen_rows(weak.runs).rows, ())]
    assert any(text.startswith("cpu:50 had 50") for text in told), told


@given(st.lists(st.integers(0, 12), min_size=3, max_size=3), st.integers(0, 4), st.integers(0, 2))
def test_what_has_no_room_is_left_out_whole(sizes: list[int], causes: int, advice: int) -> None:
    """What to try before the causes, of which the largest stays."""

    def lines(word: str, count: int) -> list[Line]:
        return [((f"{word} {n}", ""),) for n in range(count)]

    head, rows, last = sizes
    why = lines("why", causes)
    told = lines("try", advice)
    parts = Parts(lines("head", head), lines("row", rows), why=why, advice=told, last=lines("last", last))
    fitted = replace(parts, short=lines("short", min(1, causes)))
    shown = texts(fitted.fitted(COLUMNS))
    counts = Counter(line.partition(" ")[0] for line in shown)
    assert counts["why"] in (0, causes) and counts["try"] in (0, 1, advice)
    assert counts["try"] == 0 or counts["why"] == causes or counts["short"] == 1
    assert not (counts["why"] and counts["short"])
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


@given(st.lists(st.text("ab", min_size=1, max_size=40), min_size=1), st.integers(6, 40))
def test_names_are_shortened_in_the_middle_and_stay_apart(names: list[str], room: int) -> None:
    short = shortened(names, room)
    assert are_apart(short, names)
    for name, each in zip(names, short, strict=True):
        assert each == name or "…" in each
    if are_apart(ends := [middle(name, room) for name in names], names):
        assert short == ends


@given(
    st.lists(st.tuples(st.sampled_from(["none", "disk"]), st.integers(0, 99)), min_size=2, unique=True),
    st.integers(24, 40),
)
def test_what_differs_between_long_names_is_kept(rows: list[tuple[str, int]], room: int) -> None:
    """Of hosts and kernels that begin and end alike, by themselves and behind a load."""
    hosts = [
        f"ssh:operator@rack-of-the-build-farm-board-{n:02}.latency.example.internal" for _load, n in rows
    ]
    for names in (hosts, [f"{load} · {host}" for (load, _n), host in zip(rows, hosts, strict=True)]):
        short = apart(names, room)
        assert are_apart(short, names) and max(map(len, short)) <= room
        numbers = [f"{n:02}" in each for (_load, n), each in zip(rows, short, strict=True)]
        assert all(numbers) or names is not hosts or len({*hosts}) == 1


@given(st.lists(st.text("abc-", min_size=1, max_size=9), min_size=2), st.integers(12, 80))
def test_a_line_that_is_cut_ends_behind_a_whole_word_where_that_leaves_most_of_it(
    words: list[str], width: int
) -> None:
    line = cut(" ".join(words), width)
    assert len(line) <= width
    if line.endswith("…") and all(3 * len(word) < width for word in words):
        assert line[:-1].split() == words[: len(line[:-1].split())]
