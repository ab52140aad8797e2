"""What counters tell of cells without events: the second of the largest sample, and the interrupts of its CPU."""

from msgspec.structs import asdict, replace

from howlate.document.document import Section
from howlate.document.sheet import Sheet
from howlate.model.bins import LoadCourse
from howlate.model.counted import Counted, Counters
from howlate.model.loaded import CellContent
from howlate.why.late_counters import MOST_KINDS, counters_json, counters_section
from made_runs import five_cells, made_run

TIMER = Counted("interrupt", "LOC", "Local timer interrupts", 1, -1, 12_000, 1000.0, 1010, 1004)
DISK = Counted(
    "interrupt", "24", "PCI-MSIX-0000:00:04.0 2-edge virtio3-tx, virtio3-rx", 1, -1, 80, 0.0, 2, 78
)
ELSEWHERE = Counted("interrupt", "31", "IO-APIC 9-fasteoi acpi", 0, -1, 7, 0.0, 1, 5)
SOFTIRQ = Counted("softirq", "NET_RX", "", 1, -1, 90, 1.0, 3, 60)
ALL = Counted("interrupts", "", "", -1, -1, 30_000, 2500.0, 2600, 2700)
FAULTS = Counted("minor_faults", "", "", -1, 0, None, 0.0, 0, 3)
MAJOR = Counted("major_faults", "", "", -1, 0, None, 0.0, 0, 1)
EVERY = ["interrupt", "softirq", "interrupts", "minor_faults", "major_faults", "heat"]


def a_cell(
    *counted: Counted,
    each_second: list[str] = EVERY,
    cpus: tuple[int, ...] = (1,),
    second_s: float | None = 1.0,
) -> CellContent:
    cell = made_run(five_cells(2_000)).cells[1]
    assert cell.bins is not None
    tables = [{"name": "samples", "thread": thread, "cpu": cpu} for thread, cpu in enumerate(cpus)]
    return replace(
        cell,
        bins=replace(cell.bins, counters=Counters(second_s, tuple(each_second), counted)),
        header={**cell.header, "tables": tables},
    )


def sheets(cell: CellContent) -> dict[str, list[dict[str, str]]]:
    (section,) = counters_section([cell])
    return {item.kind: item.records() for item in section.items if isinstance(item, Sheet)}


def test_the_second_of_the_largest_sample_has_what_its_cpu_and_thread_met() -> None:
    (row,) = sheets(a_cell(TIMER, DISK, ELSEWHERE, SOFTIRQ, ALL, FAULTS, MAJOR))["late-counters"]
    assert row["interrupts"].replace("\u202f", "") == str(1004 + 78)
    assert row["all_interrupts"].replace("\u202f", "") == "2700"
    assert row["faults"] == "4"
    assert row["heat"] == "0"  # read each second, and it never rose
    assert row["involuntary_switches"] == row["all_switches"] == "–"  # not read


def test_what_stood_out_comes_first_and_a_device_has_the_name_of_its_handlers() -> None:
    rows = sheets(a_cell(TIMER, DISK, ELSEWHERE, SOFTIRQ))["late-interrupts"]
    assert rows[0]["what"] == "24 virtio3-tx, virtio3-rx"
    assert [row["what"].split()[0] for row in rows] == ["24", "NET_RX", "LOC"]
    assert [rows[0][column] for column in ("at_max", "usual", "most", "total")] == ["78", "0", "2", "80"]


def test_the_table_of_interrupts_stays_short_and_json_has_all() -> None:
    many = [replace(DISK, label=str(number), total=number) for number in range(100)]
    cell = a_cell(*many)
    assert len(sheets(cell)["late-interrupts"]) == MOST_KINDS
    (told,) = counters_json([cell])
    assert told["second_s"] == 1 and len(told["counted"]) == 100 and told["counted"][7] == asdict(many[7])


def test_the_cpu_of_the_largest_sample_counts_where_several_measured() -> None:
    cell = a_cell(TIMER, ELSEWHERE, FAULTS, replace(FAULTS, thread=1, at_max=9), cpus=(0, 1))
    column = replace(cell.summary.columns["latency_ns"], max_by_cpu={"0": 5, "1": 7})
    cell = replace(cell, summary=replace(cell.summary, columns={"latency_ns": column}))
    (row,) = sheets(cell)["late-counters"]
    assert (row["interrupts"].replace("\u202f", ""), row["faults"]) == ("1004", "9")


def test_interrupts_that_were_counted_around_the_cell_alone_are_said_so() -> None:
    around = replace(TIMER, usual=None, most=None, at_max=None)
    cell = a_cell(around, ALL, each_second=["interrupts"])
    (section,) = counters_section([cell])
    assert "late.around-the-cell" in _prose(section)
    (row,) = sheets(cell)["late-counters"]
    assert row["interrupts"] == "–" and row["all_interrupts"].replace("\u202f", "") == "2700"
    (interrupt,) = sheets(cell)["late-interrupts"]
    assert interrupt["total"].replace("\u202f", "") == "12000" and interrupt["at_max"] == "–"
    assert "late.around-the-cell" not in _prose(counters_section([a_cell(TIMER)])[0])


def test_the_thread_of_the_largest_sample_is_the_one_that_says_so() -> None:
    """Two threads on one CPU, or on all of them."""
    other = replace(FAULTS, thread=1, at_max=9)
    for cpus in ((1, 1), (-1, -1)):
        cell = a_cell(TIMER, ELSEWHERE, FAULTS, other, cpus=cpus)
        entries = [{"table": 0, "latency_ns_max": 70}, {"table": 1, "latency_ns_max": 90}]
        cell = replace(cell, trailer={**cell.trailer, "accounting": entries})
        (row,) = sheets(cell)["late-counters"]
        assert row["faults"] == "9"


def test_how_busy_it_was_is_said_of_the_largest_samples_cpu() -> None:
    cell = a_cell(TIMER, cpus=(0, 1))
    assert cell.bins is not None
    loads = tuple(LoadCourse(f"cpu {cpu} busy", (60.0,), (share,)) for cpu, share in ((0, 0.9), (1, 0.2)))
    cell = replace(cell, bins=replace(cell.bins, loads=loads))
    for largest, busy in (({"0": 5, "1": 7}, 0.2), ({"0": 7, "1": 5}, 0.9)):
        column = replace(cell.summary.columns["latency_ns"], max_by_cpu=largest)
        met = replace(cell, summary=replace(cell.summary, columns={"latency_ns": column}))
        assert counters_json([met])[0]["busy_share"] == busy


def test_of_a_thread_that_may_run_anywhere_all_cpus_are_added_up() -> None:
    cell = a_cell(TIMER, replace(TIMER, cpu=0, at_max=6, total=10, usual=5.0, most=8), DISK, cpus=(-1,))
    rows = {row["what"]: row for row in sheets(cell)["late-interrupts"]}
    timer = rows["LOC Local timer interrupts"]
    assert timer["cpu"] == "all" and timer["at_max"].replace("\u202f", "") == "1010"
    assert timer["usual"].replace("\u202f", "") == "1005"
    assert len(rows) == 2


def test_one_interrupt_that_comes_never_else_is_seen_among_many_that_jitter() -> None:
    jitter = [replace(TIMER, label=f"J{n}", usual=50.0, most=54, at_max=53) for n in range(12)]
    rare = replace(TIMER, label="NMI", usual=0.0, most=0, at_max=1, total=1)
    assert sheets(a_cell(*jitter, rare))["late-interrupts"][0]["what"].startswith("NMI")


def test_smis_of_another_cpu_are_shown_as_the_most_of_one() -> None:
    smi = Counted("smi", "", "", 0, -1, 9, 0.0, 2, 3)
    (row,) = sheets(a_cell(TIMER, smi, replace(smi, cpu=2, at_max=1)))["late-counters"]
    assert row["smi"] == "3"
    (row,) = sheets(a_cell(TIMER))["late-counters"]
    assert row["smi"] == "–"


def test_a_sample_in_the_rest_of_a_second_is_said_so() -> None:
    assert "late.short-second" in _prose(counters_section([a_cell(TIMER, second_s=0.05)])[0])
    assert "late.short-second" not in _prose(counters_section([a_cell(TIMER)])[0])


def test_a_cell_of_an_older_probe_has_gaps() -> None:
    cell = a_cell(each_second=[], second_s=None)
    (row,) = sheets(cell)["late-counters"]
    assert {row[key] for key in ("interrupts", "faults", "heat", "all_switches", "smi")} == {"–"}
    assert "late-interrupts" not in sheets(cell)
    assert "late.around-the-cell" not in _prose(counters_section([cell])[0])


def _prose(section: Section) -> str:
    return " ".join(str(item) for item in section.items if not isinstance(item, Sheet))
