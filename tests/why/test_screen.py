"""The screen of `howlate why`, over runs of every kind: causes, the worst sample, and what to try."""

import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import made_inventory
from howlate.cli._measure import material_of
from howlate.cli.check import command as check
from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.lines import LINES, cause_lines
from howlate.document.first_screen.on_page import shares as shares_sheet
from howlate.document.first_screen.screen import screen as first_screen
from howlate.model.cause import ORDINARY, Cause, CausePart
from howlate.model.loaded import RunContent
from howlate.model.run import NOT_EXPLAINED
from howlate.model.summary import DeadlineSummary
from howlate.rooms import hooks
from howlate.store.loaded import load_run
from howlate.why.cause_words import NAMES
from howlate.why.explained_cells import ExplainedCell, cause_sums, explained_cells, worst_cases
from howlate.why.late_counters import OF_A_FILE, UNRECORDED
from howlate.why.late_json import cells_json
from howlate.why.on_screen import advice, advised, is_ours, kinds, looked_at, samples_of
from howlate.why.remedies import remedy_of
from howlate.why.replayed.pair_document import pair_said
from howlate.why.screen import WhyScreen
from howlate.words.language import speak
from howlate.words.printable import quoted
from howlate.words.quantities import percent
from howlate.words.say import text_of
from howlate.words.statement import Caption
from made_cells import invalid
from made_runs import FINDINGS, five_cells, made_run
from made_trace import late_samples
from printed import plain
from screens import fits, texts
from why.test_replayed_document import LATENESS, explained
from why.test_replayed_pair import PAIR

EVERY = "howlate why --all runs/20260102T030405-check"
WHY = "Why it was late"
TRIAL = "howlate why --try runs/20260102T030405-check"


def of(content: RunContent, cells: Sequence[ExplainedCell] | None = None, trial: str = TRIAL) -> WhyScreen:
    return WhyScreen(content, explained_cells(content) if cells is None else cells, EVERY, trial)


@cache
def made() -> dict[str, WhyScreen]:
    five = made_run(five_cells(2_000))
    found = replace(five.run, findings=tuple(FINDINGS))
    traced = replace(five, cells=tuple(replace(cell, trace=late_samples(12)) for cell in five.cells))
    lost = replace(
        late_samples(12), cases_lost=3, events_lost=7, events_missed=2, absent=("nmi", "ipi_entry")
    )
    empty = replace(late_samples(12), cases=(), events=())
    cells = tuple(replace(cell, trace=lost) for cell in five.cells)
    calm = tuple(replace(cell, trace=empty) for cell in five.cells)
    name = "a-load-whose-name-is-as-long-as-any-name-may-be-and-then-some-more-of-it:100"
    named = [replace(cell, name=name) for cell in explained_cells(traced)]
    one = explained("6.1[preempt=none], memory-alloc:100")
    return {
        "traced": of(traced),
        "with findings": of(replace(traced, run=found)),
        "lost": of(replace(five, cells=cells)),
        "calm": of(replace(five, cells=calm)),
        "half calm": of(replace(five, cells=(*cells[:2], *calm[2:]))),
        "half traced": of(replace(five, cells=(*cells[:2], *five.cells[2:]))),
        "untraced": of(five),
        "long name": of(traced, named),
        "no trial": of(traced, trial=""),
        "replayed": of(five, [one.cell]),
        "pair": replace(of(replace(five, cells=()), [PAIR.one.cell, PAIR.other.cell]), pair=PAIR),
    }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunContent]:
    place = tmp_path_factory.mktemp("why") / "runs"
    made_inventory.make_runs(place)
    return {name: load_run(place / name) for name in made_inventory.RUNS}


@pytest.mark.parametrize("letters", [False, True])
@pytest.mark.parametrize("width", [200, 80, 60, 40, 10])
@pytest.mark.parametrize("kind", made())
def test_every_kind_of_run_fits(kind: str, width: int, letters: bool) -> None:
    lines = fits(made()[kind].lines(width, letters=letters), min(80, max(40, width)))
    assert EVERY in "\n".join(lines)
    assert not letters or all(line.isascii() for line in lines)


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_a_stored_run_fits(stored: dict[str, RunContent], name: str, width: int) -> None:
    fits(of(stored[name]).lines(width), width)


@pytest.mark.parametrize("language", ["de", "ja"])
def test_a_translated_screen_fits_too(language: str) -> None:
    plain = {kind: screen.lines() for kind, screen in made().items()}
    try:
        speak(language)
        for kind, screen in made().items():
            lines = screen.lines()
            fits(lines, 80)
            assert lines != plain[kind], kind
    finally:
        speak("en")


def shares(lines: Sequence[str]) -> list[float]:
    """What the lines say in percent, those of the causes first."""
    found = [re.match(r" *([\d.e-]+) %  \S", line) for line in lines]
    return [float(match[1]) for match in found if match]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_causes_are_sorted_and_add_up(width: int) -> None:
    screen = made()["traced"]
    lines = fits(screen.lines(width), width)
    sums = cause_sums(screen.cells)
    every = kinds(sums, sum(each.total_ns for each in sums))
    assert len(every) == len({each.cause for each in sums}) > len({each.cause for each in sums} - ORDINARY)
    end = next(i for i, line in enumerate(lines) if "more rows" in line)
    told = shares(lines[: end + 1])
    assert told[:-1] == [float(percent(each.share).split()[0]) for each in every[: len(told) - 1]]
    assert told[:-1] == sorted(told[:-1], reverse=True) and 98 < sum(told) < 102
    assert text_of(every[0].name)[:10] in next(line for line in lines if re.match(r" *\d+ %", line))


NAMED = ("", "cc1", "python", "kdamond")


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Cause.NOT_PREEMPTIBLE, Cause.SOFTIRQ, Cause.RETURN]),
            st.sampled_from(NAMED),
            st.integers(1, 10**7),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([80, 60, 40]),
)
def test_every_row_is_true_of_its_own_numbers(parts: list[tuple[Cause, str, int]], width: int) -> None:
    """By size, each with the one that its largest part is of; who stands there beside it has more than half."""
    case = made()["traced"].cells[0].cases[0]
    cases = tuple(replace(case, parts=(CausePart(cause, 0, ns, name),)) for cause, name, ns in parts)
    sums = cause_sums([ExplainedCell("cell", "cell", {}, cases, 100)])
    whole_ns = sum(ns for _cause, _name, ns in parts)
    reasons = kinds(sums, whole_ns)
    assert [one.share for one in reasons] == sorted((one.share for one in reasons), reverse=True)
    for reason in reasons:
        own = {quoted(each.name): each for each in sums if NAMES[each.cause] == reason.name}
        total_ns = sum(each.total_ns for each in own.values())
        assert reason.share == total_ns / whole_ns and reason.tasks == len(own)
        assert reason.worst_ns == own[reason.owner].worst_ns == max(each.worst_ns for each in own.values())
        assert not reason.task or 2 * own[reason.task].total_ns > total_ns
        for text in map(text_of, reason.brackets):
            told = {quoted(name) for name in NAMED if name and quoted(name) in text}
            assert told <= {reason.task, reason.owner} and (not told or reason.owner in told)
    lines = texts(list(cause_lines(len(cases), reasons, 1, width)))
    assert 98 < sum(shares(lines)) < 102


@pytest.mark.parametrize("kind", ["as it is", "two not valid", "ended by its threshold"])
def test_check_why_and_the_page_tell_causes_of_the_same_samples(kind: str) -> None:
    content = made()["traced"].content
    changed = [cell.summary for cell in content.cells]
    if kind == "two not valid":
        changed[:2] = [invalid(summary, "not loaded: by half") for summary in changed[:2]]
    elif kind == "ended by its threshold":
        changed[2] = replace(changed[2], stop_reason="threshold")
    every = [replace(cell, summary=own) for cell, own in zip(content.cells, changed, strict=True)]
    content = replace(content, cells=tuple(every))
    cells = explained_cells(content)
    looked = looked_at(cells, [content])
    counts = {"as it is": 60, "two not valid": 36, "ended by its threshold": 1}
    assert samples_of(looked) == counts[kind]
    material = material_of([content], None, Path("runs/a"))
    (why,) = filter(None, [room(material) for room in hooks("reasons")])
    found = cells_json(cells, content)
    whole_ns = sum(each["total_ns"] for each in found["causes"])
    assert whole_ns == sum(case.case.latency_ns for cell in looked for case in cell.cases)
    assert [cell["id"] for cell in found["cells"] if cell["counted"]] == [cell.id for cell in looked]
    first = fits(of(content, cells).lines(), 80)
    assert f"{percent(why.reasons[0].share)}  {text_of(why.reasons[0].name)}" in " ".join(first)
    assert why.samples == samples_of(looked)


def test_causes_are_of_the_rows_that_are_counted() -> None:
    """As the totals are: of the valid ones, and of all where none is."""
    shown = made()["traced"]
    for valid in ({1, 3}, set()):
        summaries = [
            cell.summary if place in valid else invalid(cell.summary, "not loaded: by half")
            for place, cell in enumerate(shown.content.cells)
        ]
        cells = [replace(c, summary=s) for c, s in zip(shown.content.cells, summaries, strict=True)]
        content = replace(shown.content, cells=tuple(cells))
        counted = [shown.cells[place] for place in sorted(valid)] or list(shown.cells)
        assert looked_at(shown.cells, [content]) == counted
        material = material_of([content], None, Path("runs/a"))
        (why,) = filter(None, [room(material) for room in hooks("reasons")])
        assert why.samples == 12 * len(counted)
        assert {reason.row for reason in why.reasons} <= {cell.name for cell in counted}
        lines = fits(replace(shown, content=content).lines(), 80)
        assert lines[0].startswith(f"Why late (the {12 * len(counted)} worst, share of their time)")
        assert any("not valid, not counted: " in line for line in lines) is bool(valid)


@pytest.mark.parametrize("kind", ["traced", "lost", "replayed"])
@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_worst_sample_adds_up_to_the_nanosecond(kind: str, width: int) -> None:
    screen = made()[kind]
    lines = fits(screen.lines(width), width)
    latency_ns = worst_cases(screen.cells, 1)[0].case.case.latency_ns
    took = [float(match[1]) for line in lines if (match := re.match(r" *[\d.e-]+ % +(\d+\.\d+) us", line))]
    total = next(float(m[1]) for line in lines if (m := re.match(r" {8} *(\d+\.\d+) us  total", line)))
    assert round(1000 * total) == round(1000 * sum(took)) == latency_ns
    assert took[:3] == sorted(took[:3], reverse=True)


def test_a_sample_that_was_played_again_names_its_functions() -> None:
    lines = fits(made()["replayed"].lines(), 80)
    assert not any("without events" in line for line in lines)
    assert f"Functions: work ({LATENESS.functions[0].self_ns} ns), lock;it (30 ns), main (10 ns)" in lines


def test_a_thread_of_howlate_is_called_so_and_needs_no_priority() -> None:
    (each, *_) = [one for one in cause_sums(made()["traced"].cells) if one.cause is Cause.HIGHER_TASK]
    for name in ("gaps/1", "timer/0", "measure/any"):
        one = replace(each, name=name, largest_in=1)
        (reason,) = kinds([one], one.total_ns)
        assert reason.task == f'"{name}" of howlate'
        assert [said.text for said in advice([one], (), one.total_ns)] == [
            "measure with one howlate at a time"
        ]
    assert not is_ours("measurement") and not is_ours("kworker/1:2")


def test_remedies_begin_alike() -> None:
    """Small, as the doctor's do."""
    causes = {each.cause: each.example for each in cause_sums(made()["traced"].cells)}
    remedies = [remedy_of(part, has_idle_states=True) for part in causes.values()]
    said = [advised(remedy, ()) for remedy in remedies if remedy is not None]
    assert len(said) > 3 and all(text[:1].islower() for text in said if text)


@pytest.mark.parametrize("kind", ["traced", "with findings"])
def test_the_screen_the_page_and_the_json_give_a_remedy_the_same_time(kind: str) -> None:
    shown = made()[kind]
    material = material_of([shown.content], None, Path("runs/a"))
    why = ScreenAnswer.of(material).why
    assert why is not None
    (texts_of,) = (column.cells for column in shares_sheet(why, "runs/a").columns if column.key == "remedy")
    amounts = {each.text: each.amount for each in why.advice}
    on_page = [(reason.advice, cell.text) for reason, cell in zip(why.reasons, texts_of[:-1], strict=False)]
    assert any(one is not None and one.text in amounts for one, _text in on_page)
    for one, text in on_page:
        assert text.endswith(amounts.get(one.text, one.amount) if one is not None else "")
    found = cells_json(shown.cells, shown.content)
    whole_ns = sum(cause["total_ns"] for cause in found["causes"])
    in_json = {each["text"]: percent(each["saves_ns"] / whole_ns) for each in found["advice"]}
    assert in_json == {each.text: percent(each.share) for each in why.advice}


@pytest.mark.parametrize("width", [80, 60])
def test_the_column_of_the_most_is_named_where_there_is_room(width: int) -> None:
    for kind in ("traced", "with findings"):
        title, row, *_ = fits(made()[kind].lines(width), width)
        found = re.fullmatch(r"Why late .*\)( +the most in one)?", title)
        assert found, title
        if found[1]:
            assert re.search(r"\d [mun]?s$", row[: len(title)]), (title, row)
        assert width < 80 or found[1]


def test_what_to_try_has_the_command_that_measures_it() -> None:
    assert f"Try: {TRIAL}" in fits(made()["traced"].lines(), 80)
    assert not any("--try" in line for line in fits(made()["no trial"].lines(), 80))


def test_rows_without_events_and_events_that_were_lost_are_told() -> None:
    half = replace(made()["half traced"], cells=made()["half traced"].cells[:2])
    plain = [replace(cell, events_lost=0, events_missed=0, cases_lost=0, absent=()) for cell in half.cells]
    assert any("3 rows without events" in line for line in fits(replace(half, cells=plain).lines(), 80))
    lost = [replace(cell, absent=(), cases_lost=0) for cell in half.cells]
    shown = " ".join(fits(replace(half, cells=lost).lines(), 80))
    assert "the kernel lost 7 events" in " ".join(shown.split())


def test_without_events_the_largest_second_comes_first() -> None:
    screen = made()["untraced"]
    lines = fits(screen.lines(), 80)
    names = [cell.summary.labels["load"] for cell in screen.content.cells]
    told = [line.split(" ")[0] for line in lines if line.split(" ")[0] in names]
    by_size = sorted(screen.content.cells, key=lambda cell: -((cell.column and cell.column.max) or 0))
    assert told[: len(names)] == [cell.summary.labels["load"] for cell in by_size]


def test_a_table_without_a_count_is_no_table() -> None:
    """Of a file that does not even say when its largest sample was."""
    screen = made()["untraced"]
    cells = [
        replace(
            cell,
            summary=replace(
                cell.summary,
                columns={
                    name: replace(column, max_at_s=None) for name, column in cell.summary.columns.items()
                },
            ),
        )
        for cell in screen.content.cells
    ]
    shown = replace(screen, content=replace(screen.content, cells=tuple(cells)))
    told, bare = (fits(each.lines(), 80) for each in (screen, shown))
    name = cells[0].summary.labels["load"]
    assert [any(line.startswith(f"{name} ") for line in lines) for lines in (told, bare)] == [True, False]


def test_two_samples_side_by_side_have_their_difference() -> None:
    lines = fits(made()["pair"].lines(), 80)
    assert lines[:2] == [text_of(text) for text in pair_said(PAIR)[:2]]
    assert next(line for line in lines if line.startswith("total ")).split() == [
        "total",
        "0.100",
        "0.037",
        "+0.063",
    ]


@pytest.mark.parametrize("kind", made())
def test_a_screen_without_a_verdict_says_how_to_get_one(kind: str) -> None:
    screen = replace(made()[kind], folder="runs/a")
    lines = fits(screen.lines(), 80)
    hint = "for a verdict: howlate verdict runs/a --deadline TIME"
    assert (hint in lines) or not screen.content.cells or len(lines) == LINES
    counts = DeadlineSummary(300_000, 10, 0, 0)
    cells = [replace(c, summary=replace(c.summary, deadline=counts)) for c in screen.content.cells]
    stated = replace(screen, content=replace(screen.content, cells=tuple(cells)))
    assert not cells or hint not in fits(stated.lines(), 80)


@pytest.mark.parametrize(
    ("target", "why"), [("local", UNRECORDED), ("ssh:board", UNRECORDED), ("by hand", OF_A_FILE)]
)
def test_a_failure_without_events_says_why_there_is_no_cause(target: str, why: Caption) -> None:
    """And the whole command that records them."""
    made_five = made_run(five_cells(2_000))
    counts = DeadlineSummary(1, 10, 10, 0)
    cells = [replace(c, summary=replace(c.summary, deadline=counts)) for c in made_five.cells]
    run = replace(made_five.run, target=target)
    material = material_of([replace(made_five, run=run, cells=tuple(cells))], None, Path("runs/a"))
    lines = fits(first_screen(material), 80)
    (typed,) = [line for line in lines if line.startswith("howlate check ")]
    assert lines[0].startswith("FAIL") and f"{WHY} {text_of(why)}" in " ".join(" ".join(lines).split())
    asked = check.make_context("check", shlex.split(typed)[2:]).params
    worst = max(material.summaries, key=lambda cell: cell.columns["latency_ns"].max or 0).labels["load"]
    of_why = fits(of(material.runs[0]).lines(), 80)
    assert typed in of_why and text_of(why) in " ".join(" ".join(of_why).split())
    told = [asked[name] for name in ("deadline", "period", "policy", "loads", "target")]
    assert told == ["1ns", "1ms", "fifo:80", (worst,), target if target.startswith("ssh:") else None]
    refused = replace(run, target="local", warnings=(NOT_EXPLAINED(reason="not here"),))
    material = material_of([replace(made_five, run=refused, cells=tuple(cells))], None, Path("runs/a"))
    shown = " ".join(" ".join(fits(first_screen(material), 80)).split())
    assert f"{WHY} {plain(NOT_EXPLAINED(reason='not here'))}" in shown
