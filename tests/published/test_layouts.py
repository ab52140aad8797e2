"""The documents' own tables with ours in them: rows and columns as printed, whole, as the references declare them."""

from io import StringIO

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from howlate.compare.compare import Comparison, compare
from howlate.compare.screen import screen
from howlate.document.sheet import Sheet
from howlate.model.loaded import RunContent
from howlate.published.layouts import layouts
from howlate.published.load import find_reference
from made_sides import Made, Points, at, lab_run
from printed import compared_html as section
from printed import print_comparison

LOADS = ("none", "cpu:50", "cpu:100", "memory-alloc:50", "memory-alloc:100")


def of_study(study: str, kernels: dict[str, Points], test: str = "cyclic") -> Comparison:
    content: RunContent = lab_run(kernels)
    cells = tuple(replace(c, summary=replace(c.summary, test=test)) for c in content.cells)
    machines = {
        name: {**facts, "values": {**facts["values"], "kernel.preempt_mode": f"({_mode(name)})"}}
        for name, facts in content.run.machines.items()
    }
    run = replace(content.run, machines=machines, study=replace(content.run.study, reference=study))
    return compare([replace(content, run=run, cells=cells)])


def _mode(kernel: str) -> str:
    return "none" if "none" in kernel else "full"


def memory(seeds: int = 1, loads: tuple[str, ...] = LOADS) -> list[Sheet]:
    def points(factor: float) -> Points:
        return {
            at(load=load, period="500us", timer=timer): [
                Made(maximum=factor * (10 + number) + seed, minimum=1, exceeded=number)
                for seed in range(seeds)
            ]
            for number, load in enumerate(loads)
            for timer in ("setitimer", "clock_nanosleep")
        }

    return layouts(of_study("toshiba-mem-2010", {"6.1[preempt=full]": points(10), "6.1-rt": points(1)}))


class ShownLine(Struct, frozen=True):
    """A row of a layout, without the empty parts of its label."""

    labels: tuple[str, ...]
    who: str
    texts: tuple[str, ...]
    kind: str


def lines_of(sheet: Sheet) -> list[ShownLine]:
    *parts, side = (column for column in sheet.columns if column.label)
    figures = [column for column in sheet.columns if not column.label]
    return [
        ShownLine(
            tuple(part.cells[i].text for part in parts if part.cells[i].text),
            side.cells[i].text,
            tuple(column.cells[i].text for column in figures),
            row.kind,
        )
        for i, row in enumerate(sheet.rows)
    ]


def heads_of(sheet: Sheet) -> tuple[str, ...]:
    return tuple(column.heading for column in sheet.columns if not column.label)


def test_kernel_and_load_stand_in_one_table_with_the_cpu_s_below() -> None:
    """Slides 21 and 22: the memory load's six rows, and the CPU load's six rows again below them."""
    found = memory()
    assert [(one.about, one.kind) for one in found] == [
        ("memory-alloc-500us", "sides layout"),
        ("cpu-500us", "sides layout below"),
    ]
    for layout in found:
        assert heads_of(layout) == ("mean (us)", "max (us)", "stddev (us)", "exceeded")
        rows = [line.labels for line in lines_of(layout) if line.labels]
        assert rows == [
            (kernel, share) for kernel in ("2.6.31.12", "2.6.31.12-RT") for share in ("0%", "50%", "100%")
        ]
        assert [line.kind for line in lines_of(layout)] == ["ours", "published"] * 6


def test_the_row_without_load_is_printed_again_so_that_each_table_is_whole() -> None:
    first, second = memory()
    for side in ("6.1[preempt=full]", "6.1-rt"):
        rows = [next(its for its in lines_of(layout) if its.who == side) for layout in (first, second)]
        assert rows[0].texts == rows[1].texts and rows[0].texts[1] != "-"
    assert lines_of(first)[0].texts[1:] == ("100.000", "1.000", "0")
    assert lines_of(first)[2].texts[1] == "130.000" and lines_of(second)[2].texts[1] == "110.000"


def test_the_published_figures_stand_below_ours_as_they_are_printed() -> None:
    table = find_reference("toshiba-mem-2010").table("cpu-500us")
    assert table is not None
    printed = [line.texts[1] for line in lines_of(memory()[1]) if line.kind == "published"]
    assert printed == [row.values["max"].printed for row in table.rows]


def test_of_repetitions_the_median_stands_there_and_that_is_said() -> None:
    layout = memory(seeds=3)[0]
    assert lines_of(layout)[0].texts[1] == "101.000"
    assert "medians over 3 seeds" in layout.notes[0]
    assert memory(seeds=1)[0].notes == ()


def test_the_cpu_load_s_table_stands_alone_where_nothing_else_was_measured() -> None:
    found = memory(loads=("none", "cpu:50"))
    assert found[-1].about == "cpu-500us"
    half = lines_of(found[-1])
    assert [line.labels for line in half if line.kind == "published"].count(("2.6.31.12", "100%")) == 1


def test_rts7751_s_twelve_rows_have_its_three_columns() -> None:
    points: Points = {
        at(load=load, policy=policy, part="uio"): [
            Made(maximum=60.5, minimum=10, median=20, column="user_latency_ns")
        ]
        for load in ("none", "network:flood")
        for policy in ("other", "fifo:80")
    }
    kernels = dict.fromkeys(("6.1[preempt=none]", "6.1[preempt=full]", "6.1-rt"), points)
    found = of_study("rts7751-2007", kernels, "uio")
    (layout,) = layouts(found)
    assert heads_of(layout) == ("MIN (us)", "MAX (us)", "AVG (us)")
    ours = [line for line in lines_of(layout) if line.kind == "ours"]
    assert len(ours) == 12
    assert [line.who for line in ours] == ["6.1[preempt=none]", "6.1[preempt=full]", "6.1-rt"] * 4
    assert {line.texts for line in ours} == {("10.00", "60.50", "22.00")}
    out = StringIO()
    print_comparison(Console(file=out, width=100, highlight=False, markup=False), found)
    text = out.getvalue()
    row = next(line for line in text.splitlines() if "_FIFO" in line and "_RT" in line and "none" in line)
    assert row.split()[-3:] == ["10.00", "60.50", "22.00"]
    assert "60.47" in text and "34.89" in text
    one = of_study("rts7751-2007", {"6.1-rt": points}, "uio")
    lines = ["".join(part for part, _style in each) for each in screen(one, (), "rts")]
    assert lines[0].split() == ["figure", "rts7751-2007", "6.1-rt", "ratio"]
    assert any(each.split()[:4] == ["none", "·", "fifo:80", "max"] and "0.88" not in each for each in lines)
    page = section(found, 100)
    assert 'data-column="results"' in page and page.count('<tr class="ours">') >= 12


def test_a_study_without_such_a_table_has_none() -> None:
    points: Points = {at(load="none", period="1ms"): [Made()]}
    assert layouts(of_study("toshiba-2010", {"6.1[preempt=full]": points, "6.1-rt": points})) == []
