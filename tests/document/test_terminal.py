"""Tables and findings in the terminal."""

import io
import json

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from howlate.document.cautions import NOT_RECORDED
from howlate.document.document import Document, Section
from howlate.document.findings import LEVEL_NAMES, sheet, weightiest
from howlate.document.report_input import NO_CELL
from howlate.document.sheet import unit_for
from howlate.document.text import folded
from howlate.model.facts import Facts, Finding
from howlate.model.summary import CellSummary
from howlate.statistics.labels import axes_that_vary, in_sentence, row_names
from howlate.store.loaded import command_line
from howlate.words.say import say, text_of
from howlate.words.statement import Caption
from made_cells import LOADS, invalid, made_cell
from made_runs import FINDINGS, made_run
from printed import lines_of, print_cells, show_json


def cells(**labels: str) -> list[CellSummary]:
    return [made_cell(load, seed, labels=labels)[0] for seed, load in enumerate(LOADS, 1)]


def printed(summaries: list[CellSummary], width: int = 80) -> str:
    """As when piped: no terminal, no colour."""
    out = io.StringIO()
    print_cells(Console(file=out, width=width), summaries)
    return out.getvalue()


def words_of(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_number_is_cut_off_and_no_line_is_too_long(width: int) -> None:
    """What there is no room for is named, whole columns at a time."""
    summaries = cells()
    text = printed(summaries, width)
    assert "\x1b" not in text and "…" not in text
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    told = words_of(text).partition("no room for: ")[2].partition(" every row")[0].split("; ")
    left_out = {"min", "mean", "std dev"} & {*told}
    assert left_out == ({"min", "mean", "std dev"} if width == 40 else set())
    for summary in summaries:
        column = summary.columns["latency_ns"]
        figures = {"min": column.min, "mean": column.mean, "std dev": column.stddev, "max": column.max}
        for name, value in (*figures.items(), ("p99", column.quantiles["0.99"])):
            assert value is not None
            assert name in left_out or f"{value / 1000:.1f}" in text.split()


def test_the_table_fits_eighty_columns_in_one_piece() -> None:
    text = printed(cells())
    assert text.count("p99.9") == 1
    assert [line.split(" ")[0] for line in text.splitlines()].count("hackbench:10") == 1


def test_two_axes_of_the_timers_study_fit_eighty_columns() -> None:
    summaries = [
        made_cell(load, 1, labels={"timer": timer})[0]
        for load in ("none", "hackbench:10")
        for timer in ("clock_nanosleep", "timer_create", "epoll_pwait2")
    ]
    text = printed(summaries)
    assert text.count("p99.9") == 1
    assert all(
        row.split()[1] in ("clock_nanosleep", "timer_create", "epoll_pwait2")
        for row in text.splitlines()
        if row.startswith(("none ", "hackbench")) and len(row.split()) > 3
    )


def test_the_heading_tells_how_long_was_looked() -> None:
    assert "in us, 12 s per cell" in words_of(printed(cells()))
    assert "worst" not in printed(cells()).lower()


def test_the_time_of_a_row_is_not_counted_once_a_cpu() -> None:
    one = cells()[0]
    both = replace(
        one,
        labels=one.labels | {"cpu": "0,1"},
        accounting=replace(one.accounting, releases=2 * one.accounting.releases),
    )
    assert "in us, 12 s per cell" in words_of(printed([both]))


def test_the_probes_own_duration_comes_first() -> None:
    out = io.StringIO()
    summary = cells()[0]
    print_cells(Console(file=out, width=100), [summary], {summary.id: 7.0})
    assert "in us, 7 s per cell" in words_of(out.getvalue())


def test_an_invalid_row_is_marked_with_the_reason() -> None:
    summaries = cells()
    why = "the clock source changed from tsc to hpet"
    summaries[1] = invalid(summaries[1], why)
    assert f"! cpu:50 (invalid): {why}" in words_of(printed(summaries))


def test_dropped_samples_are_shown() -> None:
    summaries = cells()
    summaries[0] = replace(summaries[0], accounting=replace(summaries[0].accounting, dropped=3))
    text = printed(summaries)
    assert "dropped" in text and say(NOT_RECORDED(count=3, things=Caption("wake-ups"))) in words_of(text)


@pytest.mark.parametrize("width", [80, 60, 40])
def test_a_load_that_was_not_reached_is_seen_at_any_width(width: int) -> None:
    weak = [
        replace(cell, loads=(replace(cell.loads[0], share=0.5),)) if cell.loads else cell for cell in cells()
    ]
    lost = [replace(cell, accounting=replace(cell.accounting, dropped=37)) for cell in weak]
    text = words_of(printed(lost, width))
    assert text.count("50 %") == sum(bool(cell.loads) for cell in weak) > 0
    assert "achieved" in text and "dropped" in text and text.split().count("37") >= len(lost)


def test_hostile_labels_are_no_markup() -> None:
    text = printed([made_cell("none", labels={"load": "[bold red]x[/] [link=evil]"})[0]])
    assert "[bold red]x[/]" in text


def test_a_quantile_that_is_not_stated_is_a_dash() -> None:
    text = printed([made_cell("none", n=50)[0], made_cell("disk")[0]])
    line = next(row for row in text.splitlines() if row.startswith("none"))
    assert line.split()[3:5] == ["-", "-"]


def test_json_is_the_summaries() -> None:
    summaries = cells()
    value = json.loads(show_json(summaries))
    assert value["schema"] == 1
    assert [CellSummary.from_json(cell) for cell in value["cells"]] == summaries


def test_no_cells_is_a_sentence() -> None:
    assert printed([]) == f"{say(NO_CELL())}\n"


def test_findings_are_printed_with_what_why_and_how_and_the_rest_is_counted() -> None:
    late = [{**FINDINGS[0], "weight": weight} for weight in range(4)]
    content = made_run([made_cell("none", 1)[:2]])
    run = replace(content.run, findings=(*late, *FINDINGS[1:]))
    text = lines_of(Document(tuple(weightiest([replace(content, run=run)]))), 60)
    assert all(len(line) <= 60 for line in text.splitlines()[3:])
    words = " ".join(text.split())
    assert words.count(FINDINGS[0]["why"]) == 3 and FINDINGS[1]["title"] not in words
    assert f": {FINDINGS[0]['change']}" in words
    assert "(1 more: `howlate doctor`)" in words


def test_axes_that_vary_come_first_by_kernel_and_load() -> None:
    labels = [
        {"period": "1ms", "load": "none", "kernel": k, "timer": t} for k in ("a", "b") for t in ("x", "y")
    ]
    assert axes_that_vary(labels) == ("kernel", "timer")
    assert axes_that_vary(labels[:1]) == ("load",)
    names = row_names([{"load": "none"}, {"load": "none"}])
    assert names == ["none (1)", "none (2)"]
    assert [text_of(in_sentence(name)) for name in ("none", *names, "disk (2)")] == [
        "no load",
        "no load (1)",
        "no load (2)",
        "disk (2)",
    ]


def test_one_row_of_nanoseconds_does_not_choose_the_unit_of_the_others() -> None:
    column = cells()[0].columns["latency_ns"]
    spin = replace(column, min=0, mean=90.0, max=5_601_381)
    assert unit_for([column, spin, column]).name == "us"


def test_the_timers_study_has_no_label_broken_at_eighty_columns() -> None:
    timers = ("clock_nanosleep", "clock_nanosleep-relative", "epoll_pwait2", "spin")
    summaries = [
        made_cell(load, 1, labels={"timer": timer})[0] for load in ("none", "cpu:100") for timer in timers
    ]
    text = printed(summaries)
    assert text.count("clock_nanosleep-relative") >= 2
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())


def test_a_long_label_is_broken_between_words_and_its_numbers_stand_beside_its_beginning() -> None:
    long = ("6.1-rt[nohz=off threadirqs isolcpus=0,1,2,3 rcu_nocbs=1]", "6.12[preempt=full nosmt quiet]")
    summaries = [
        made_cell(load, 1, labels={"kernel": kernel})[0] for kernel in long for load in ("none", "cpu:100")
    ]
    text = printed(summaries, 88)
    lines = text.splitlines()
    assert all(len(line.rstrip()) <= 88 for line in lines)
    for word in ("threadirqs", "nohz=off", "preempt=full", "rcu_nocbs=1"):
        assert text.count(word) >= 2, "no word is broken"
    for summary in summaries:
        largest = summary.columns["latency_ns"].max or 0
        rows = [line for line in lines if f"{largest / 1000:.2f}" in line.split()]
        assert rows and all(row.startswith(("6.1-rt", "6.12")) for row in rows)
        assert not any(label in row for row in rows for label in long)


@pytest.mark.parametrize("width", [2, 5, 12, 30])
def test_a_folded_label_keeps_every_character(width: int) -> None:
    for label in ("6.1-rt[nohz=off threadirqs]", "標籤[preempt=none]", "a" * 50, "", "x,y, z"):
        lines = folded(label, width)
        assert "".join(lines).replace(" ", "") == label.replace(" ", "")
        assert all(cell_len(line) <= width for line in lines)


def test_the_command_line_of_a_guest_is_shown_as_it_was_given() -> None:
    values = {
        "kernel.cmdline": "console=ttyS0 nosuch=...",
        "lab.arguments": '["-append", "console=ttyS0 nosuch=1"]',
    }
    own = Facts.from_json({"facts": 1, "values": values, "missing": {}})
    assert command_line(own) == "console=ttyS0 nosuch=1"
    for arguments in ("", "[]", "{", '["-append"]'):
        cut = {**values, "lab.arguments": arguments}
        shown = command_line(Facts.from_json({"facts": 1, "values": cut, "missing": {}}))
        assert shown == values["kernel.cmdline"]


def test_findings_of_several_levels_say_theirs_and_why() -> None:
    findings = [Finding.from_json(one) for one in FINDINGS[:2]]
    shown = Section("findings", (sheet(findings, levels=True),))
    text = lines_of(Document((shown,)), 100)
    for finding in findings:
        assert f"- {LEVEL_NAMES[finding.level]}: {finding.title}" in text
    assert text.count("To change it") == sum(bool(finding.change) for finding in findings)


def test_the_unit_follows_the_numbers() -> None:
    column = cells()[0].columns["latency_ns"]
    assert unit_for([column]).name == "us"
    assert unit_for([replace(column, max=900, mean=80.0)]).name == "ns"
    few_ns = replace(column, max=2_000_000, mean=45.0)
    assert unit_for([few_ns]).text(45) != unit_for([few_ns]).text(0)
    assert unit_for([replace(column, max=2_000_000_000, mean=4e8)]).name == "ms"


def test_a_table_that_is_sent_to_somebody_is_understood_alone() -> None:
    """Heading: what, under which policy, for how long; below it kernel, timer, period, policy, CPU and how many."""
    labels = {
        "kernel": "6.1.0-rt",
        "period": "1ms",
        "policy": "fifo:80",
        "timer": "clock_nanosleep",
        "cpu": "1",
    }
    summaries = cells(**labels)
    text = words_of(printed(summaries))
    assert "60 s: 8.50 ms (hackbench:10)." in text
    assert "latency under SCHED_FIFO 80 in us" in text
    count = f"{summaries[0].columns['latency_ns'].count:,}"
    rows = "kernel 6.1.0-rt, timer clock_nanosleep, period 1ms, policy fifo:80, CPU 1"
    assert f"every row: {rows}, {count} wake-ups each" in text
    for summary in summaries:
        median = summary.columns["latency_ns"].quantiles["0.5"]
        assert median is not None and f"{median / 1000:.1f}" in text.split()


def test_one_row_alone_names_its_kernel_too() -> None:
    text = words_of(printed(cells(kernel="6.1.0-rt")[:1]))
    assert "kernel 6.1.0-rt" in text


def test_of_several_cpus_the_one_with_the_maximum_is_told() -> None:
    def on_two_cpus(summary: CellSummary) -> CellSummary:
        column = summary.columns["latency_ns"]
        assert column.max is not None
        return replace(
            summary, columns={"latency_ns": replace(column, max_by_cpu={"0": 7_000, "3": column.max})}
        )

    summaries = [on_two_cpus(summary) for summary in cells()]
    text = printed(summaries, 120)
    assert " CPU " in text
    largest = summaries[0].columns["latency_ns"].max or 0
    line = next(row for row in text.splitlines() if row.startswith("none"))
    assert line.split()[1:3] == [f"{largest / 1000:.1f}", "3"]
    assert f" us: CPU 0: 7.0, CPU 3: {largest / 1000:.1f}" in words_of(text)
    assert CellSummary.from_json(summaries[0].to_json()) == summaries[0]
    assert "max_by_cpu" not in cells()[0].to_json()["columns"]["latency_ns"]


def test_a_label_of_a_hundred_thousand_characters_is_folded_at_once() -> None:
    """Each line looked at all that was left once for each of its characters: minutes for a forged label."""
    lines = folded("x" * 100_000, 10)
    assert len(lines) == 12_500 and "".join(line.strip() for line in lines) == "x" * 100_000
