"""Tables in the published layout, in terminal, page and JSON."""

import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from document.sheets import row, sheet, who
from howlate.compare.compare import compare, to_json
from howlate.compare.conclusions import conclusions
from howlate.compare.document import doubtful
from howlate.compare.trends import DECIDED
from howlate.errors import UsageError
from howlate.model.guest_cpus import GuestCpus
from howlate.model.loaded import RunContent
from howlate.model.plan import Plan
from howlate.store.files import write_json
from howlate.store.run_folder import CELL, RunFolder, write_summary
from howlate.words.say import english
from made_sides import NONE, RT, Machine, Made, at, lab_run, real_run
from printed import compared_html as section
from printed import print_comparison

TWO = {
    at(load="none", period="1ms"): [Made(maximum=50, deviation=2)],
    at(load="disk", period="1ms"): [Made(maximum=900, deviation=30, overruns=3, exceeded=1)],
}
FAST = {labels: [Made(maximum=9)] for labels in TWO}


def printed(found: object, width: int = 100) -> str:
    out = io.StringIO()
    print_comparison(Console(file=out, width=width, highlight=False, markup=False), found)  # type: ignore[arg-type]
    return out.getvalue()


def test_a_table_for_each_combination_with_the_sides_as_rows() -> None:
    found = compare([real_run(TWO), real_run(TWO, RT, "run-b")])
    sheets = [sheet(found, block) for block in found.blocks]
    assert [its.title.partition(":")[0] for its in sheets] == ["load none", "load disk"]
    assert who(sheets[1]) == [("6.1.0 (preempt=none)", ""), ("6.1.0-rt (rt)", "")]
    values = {name: cell.value for name, cell in row(sheets[1], 0).items() if name != "side"}
    assert list(values) == ["minimum", "mean", "p99", "maximum", "deviation", "overruns", "exceeded"]
    assert list(values.values()) == pytest.approx((3000, 4400, 8000, 900_000, 30_000, 3, 1))


def test_repetitions_are_told_as_a_spread_and_never_one_of_them() -> None:
    seeds = [Made(maximum=10 + i, overruns=i) for i in range(8)]
    found = compare([lab_run({"6.1": {at(load="none"): seeds}, "6.1-rt": {at(load="none"): seeds[:7]}})])
    table = sheet(found, found.blocks[0])
    figures = [[cell.value for cell in c.cells] for c in table.columns if c.key in ("maximum", "overruns")]
    assert [(*names, *values) for names, *values in zip(who(table), *figures, strict=True)] == [
        ("6.1 (8)", "smallest", 10_000, 0),
        ("", "median", 13_500, 3.5),
        ("", "largest", 17_000, 7),
        ("6.1-rt (7)", "smallest", 10_000, 0),
        ("", "median", 13_000, 3),
        ("", "largest", 16_000, 6),
    ]


def test_what_the_lab_cannot_resolve_is_said() -> None:
    """Two CPUs in turns of 5 us resolve 100 us."""
    two = GuestCpus(2, 1000, 5_000)
    idle, loaded = (at(load=load, **two.labels()) for load in ("none", "cpu:100"))
    small, large = [Made(maximum=90)], [Made(median=150, maximum=600)]
    found = compare(
        [lab_run({"6.1": {idle: small, loaded: large}, "6.1-rt": {idle: small, loaded: [Made(maximum=600)]}})]
    )
    doubts = {text.values["rows"]: text.values["what"] for text in doubtful(found)}
    assert {what.rule for what in doubts.values()} == {"resolution.below"}
    assert {rows: what.values["columns"] for rows, what in doubts.items()} == {
        ("6.1, load none", "6.1-rt, load none"): ("latency",),
        ("6.1-rt, load cpu:100",): ("latency (p50)",),
    }
    one = compare([lab_run({"6.1": {at(load="none"): small}, "6.1-rt": {at(load="none"): small}})])
    assert doubtful(one) == []


def test_a_side_without_a_valid_repetition_has_no_figures() -> None:
    bad = {at(load="none"): [Made(valid=False)] * 2}
    found = compare([lab_run({"6.1": bad, "6.1-rt": {at(load="none"): [Made(), Made()]}})])
    table = sheet(found, found.blocks[0])
    assert who(table)[0][1] == "no valid repetition"
    assert {cell.value for cell in row(table, 0).values()} == {None}


def test_one_side_is_nothing_to_compare_and_the_axes_are_named() -> None:
    with pytest.raises(UsageError, match=r"only 6\.1\.0 \(preempt=none\)") as caught:
        compare([real_run(TWO)])
    assert "--by load" in caught.value.remedy
    assert [s.name for s in compare([real_run(TWO)], "load").joined.sides] == ["none", "disk"]


def test_runs_without_a_common_point_are_told_as_such() -> None:
    first, second = (
        real_run({at(load="none"): [Made()]}),
        real_run({at(load="disk"): [Made()]}, NONE, "run-b"),
    )
    with pytest.raises(UsageError, match="no point was measured in more than one") as caught:
        compare([first, second])
    assert "the same study" in caught.value.remedy


def test_a_comparison_without_two_sides_has_the_remedy_of_its_reason() -> None:
    with pytest.raises(UsageError, match=r"^only .* can be compared") as caught:
        compare([real_run({at(load="none"): [Made()]})])
    assert "another kernel" in caught.value.remedy and "--by" not in caught.value.remedy
    with pytest.raises(UsageError, match="no cell is whole yet in ") as caught:
        compare([replace(real_run(TWO), cells=())])
    assert "to its end" in caught.value.remedy


def test_the_configurations_that_matter_are_there_for_machines_too() -> None:
    other = Machine("6.1.0-rt", "#1 SMP PREEMPT_RT Debian", "full", config={"HZ": "1000", "NAME": "x"})
    found = compare([real_run(TWO, NONE), real_run(TWO, other, "run-b")])
    assert [(one.option, one.values) for one in found.differences] == [("HZ", ("250", "1000"))]
    assert "HZ: 250 (6.1.0); 1000 (6.1.0-rt)" in printed(found)
    assert "<code>HZ</code> 250 (6.1.0); 1000 (6.1.0-rt)" in section(found, 100)


def test_terminal_page_and_json_tell_the_same(tmp_path: Path) -> None:
    seeds = [Made(maximum=10 + i / 10) for i in range(8)]
    slow = [Made(maximum=100 + i / 10) for i in range(8)]
    found = compare([lab_run({"6.1": {at(load="none"): slow}, "6.1-rt": {at(load="none"): seeds}})])
    page, value, text = section(found, 100), to_json(found), " ".join(printed(found, 200).split())
    table = value["tables"][0]
    assert table["rows"][0]["maximum"] == {"smallest": 100_000, "median": 100_350.0, "largest": 100_700}
    for number in ("100.0", "100.7", "10.0", "10.7"):
        assert number in page and number in text
    assert '<data value="100700.0">' in page
    ratio = next(d for d in table["differences"] if d["figure"] == "max")
    assert ratio["direction"] == "larger" and ratio["pairs"] == 8
    assert re.search(r"max 0\.1\d* \[0\.1", text) and "smaller" in text  # the second to the first
    assert "virtual time: instructions" in text and "Virtual time: instructions" in page


def write(folder: Path, content: object) -> Path:
    """A run folder of made cells."""
    run = RunFolder.create(folder, content.run)  # type: ignore[attr-defined]
    for cell in content.cells:  # type: ignore[attr-defined]
        part = run.start_cell(cell.summary.id)
        write_json(part / CELL, {"header": {}, "trailer": {}})
        write_summary(part, cell.summary)
        run.finish_cell(cell.summary.id)
    return folder


def test_the_command_reads_folders_and_says_what_it_refuses(tmp_path: Path) -> None:
    from howlate.compare.cli.compare import command

    one, other = write(tmp_path / "a", real_run(TWO)), write(tmp_path / "b", real_run(FAST, RT, "run-b"))
    done = CliRunner().invoke(command, [str(one), str(other), "--json"], standalone_mode=False)
    assert done.exception is None
    value = json.loads(done.stdout)
    assert [side["preemption"] for side in value["sides"]] == ["none", "rt"]
    assert {s["rule"] for s in value["summary"]} >= {"largest", "typical", "against"}
    from howlate.cli.show import command as show

    both = CliRunner().invoke(show, [str(one), str(other)], standalone_mode=False)
    assert "6.1.0 (preempt=none)" in both.output and "6.1.0-rt (rt)" in both.output
    told = CliRunner().invoke(show, [str(one), str(other), "--json"], standalone_mode=False)
    kernels = [cell["labels"]["kernel"] for cell in json.loads(told.stdout)["cells"]]
    assert kernels == ["6.1.0 (preempt=none)"] * 2 + ["6.1.0-rt (rt)"] * 2
    shown = CliRunner().invoke(command, [str(one), str(other)], standalone_mode=False)
    assert "6.1.0-rt (rt)" in shown.output
    alone = CliRunner().invoke(command, [str(one)], standalone_mode=False)
    assert isinstance(alone.exception, UsageError)


# --- Published figures ---


def of_the_study(content: RunContent) -> RunContent:
    """The run as one of a study that names its document."""
    return replace(
        content, run=replace(content.run, study=replace(content.run.study, reference="toshiba-2010"))
    )


SLIDE_16 = {at(load="cpu:100+disk", period="1ms"): [Made(maximum=50, deviation=2)]}


def test_published_rows_stand_below_ours_with_marks_and_counts() -> None:
    found = compare([of_the_study(real_run(SLIDE_16)), of_the_study(real_run(SLIDE_16, RT, "run-b"))])
    its = sheet(found, found.blocks[0])
    assert who(its) == [
        ("6.1.0 (preempt=none)", ""),
        ("", "published: 2.6.26lenny (user mode)"),
        ("6.1.0-rt (rt)", ""),
        ("", "published: 2.6.26.8RT (user mode)"),
    ], "each below the side that has its preemption model, and none of the others"
    lenny = {name: (cell.value, cell.sign) for name, cell in row(its, 1).items()}
    assert (
        lenny["maximum"] == (28_101_026, "")
        and lenny["deviation"] == (7374, "*")
        and lenny["overruns"] == (82, "*")
    )
    assert lenny["minimum"] == (None, "")
    assert "slide 16" in its.notes[0] and {"1,000,000", "1,000."} <= {*its.notes[1].split()}
    assert its.notes[2].startswith("* ran together")
    text, page = " ".join(printed(found, 200).split()), section(found, 100)
    assert "published: 2.6.26lenny (user mode)" in text and "28101.026 7.374*" in text, (
        "with the digits that are printed"
    )
    assert 'class="published"' in page and "<sup>*</sup>" in page
    assert to_json(found)["tables"][0]["published"][0]["label"] == "2.6.26lenny (user mode)"


def test_a_published_row_stands_below_the_side_that_was_measured_as_it_was() -> None:
    """Sides of one kernel, told apart by the timer: the document's is setitimer, here the second."""
    slide = {"load": "cpu:100+disk", "period": "1ms"}
    timers = ("clock_nanosleep", "setitimer")
    run = of_the_study(real_run({at(**slide, timer=its): [Made(maximum=50)] for its in timers}))
    its = sheet(found := compare([run], by="timer"), found.blocks[0])
    assert who(its)[:3] == [
        ("clock_nanosleep", ""),
        ("setitimer", ""),
        ("", "published: 2.6.26lenny (user mode)"),
    ]
    other = of_the_study(real_run({at(**slide, timer="clock_nanosleep"): [Made(maximum=50)]}))
    assert compare([other]).blocks[0].published == ()


def test_one_side_is_enough_where_a_document_stands_beside_it() -> None:
    found = compare([of_the_study(real_run(SLIDE_16, RT))])
    assert "<h2>As published</h2>" in section(found, 100)
    assert who(sheet(found, found.blocks[0]))[1][1] == "published: 2.6.26.8RT (user mode)"


def test_what_measures_nothing_itself_is_compared_by_its_loads_runs() -> None:
    alone = real_run({at(load="hackbench:10", part="alone"): [Made(run_ms=100)] * 7}, test="unmeasured")
    rounds = [
        replace(c, summary=replace(c.summary, columns={"round_ns": c.summary.columns["latency_ns"]}))
        for c in alone.cells
    ]
    alone = replace(alone, cells=tuple(rounds))
    beside = real_run({at(load="hackbench:10", part="beside", period="1ms"): [Made(run_ms=150)] * 7})
    one = replace(
        alone,
        cells=(*alone.cells, *beside.cells),
        run=replace(alone.run, plan=Plan((*alone.run.plan.cells, *beside.run.plan.cells))),
    )
    found = compare([one], "part")
    assert found.sides == ("alone", "beside")
    its = sheet(found, next(block for block in found.blocks if not block.column))
    medians = [i for i, (_side, what) in enumerate(who(its)) if what == "median"]
    assert [its.columns[-1].cells[i].value for i in medians] == [100e6, 150e6]
    statements = [statement for _, of_one in conclusions(found) for statement in of_one]
    (run,) = [statement.values for statement in statements if statement.rule == DECIDED.id]
    assert (run["load"], run["a"], run["b"]) == ("hackbench", "alone", "beside")
    assert (english(run["ratio"]), run["longer"], run["shorter"]) == ("0.667", 0, 1)


def test_a_runs_own_tables_end_in_the_published_layout(tmp_path: Path) -> None:
    from howlate.cli.show import command as show

    folder = write(tmp_path / "a", of_the_study(real_run(SLIDE_16, RT)))
    said = CliRunner().invoke(show, ["--all", str(folder)], standalone_mode=False)
    assert said.exception is None
    text = " ".join(said.output.split())
    assert "As toshiba-2010 printed" in text and "published: 2.6.26.8RT" in text
    assert text.index("As toshiba-2010 printed") > text.index("max")
    plain = CliRunner().invoke(
        show, ["--all", str(write(tmp_path / "b", real_run(SLIDE_16)))], standalone_mode=False
    )
    assert "printed it" not in plain.output
