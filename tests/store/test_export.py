"""Exports: every row once, in order, with what it was measured under."""

import csv
import re
from pathlib import Path

import duckdb
import pytest

from howlate.errors import DamagedError, ExitCode, StorageError, UsageError
from howlate.measure.execute import Tally
from howlate.store.checksums import CHECKSUMS
from howlate.store.export import _rows, find_format, names
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, RunFolder
from howlate.store.summarise import summarise

from .exports import ABSENT, doubtful, exporter, hackbench
from .runs import a_folder, a_run
from .streams import points_stream, stream

export_csv, export_parquet, export_text = exporter("csv"), exporter("parquet"), exporter("text3")


def test_csv_has_labels_and_samples_of_every_cell(tmp_path: Path) -> None:
    run = a_folder(
        tmp_path / "run",
        {"b": stream([10, 20], [0, 2], warm_up=1), "a": stream([30])},
        {"b": {"load": "cpu:50", "cpu": "0"}, "a": {"load": 'it\'s, "odd"', "kernel": "6.1"}},
    )
    assert export_csv(run, tmp_path / "out.csv", ()) == 3
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["cell"] for row in found] == ["b", "b", "a"]
    assert [row["load"] for row in found] == ["cpu:50", "cpu:50", 'it\'s, "odd"']
    assert [row["kernel"] for row in found] == ["nan", "nan", "6.1"]
    assert [row["label_cpu"] for row in found] == ["0", "0", "nan"]
    assert [row["cpu"] for row in found] == ["0", "0", "0"]
    assert [row["release"] for row in found] == ["0", "2", "0"]
    assert [row["release_ns"] for row in found] == ["0", "2000000", "0"]
    assert [row["latency_ns"] for row in found] == ["10", "20", "30"]
    assert [row["flags"] for row in found] == ["1", "0", "0"]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(500))), "b": stream([7])})
    out = tmp_path / "out.parquet"
    assert export_parquet(run, out, ["b", "a"]) == 501
    found = duckdb.execute(f"SELECT cell, load, latency_ns FROM '{out}'").fetchall()
    assert found == [("b", "b", 7)] + [("a", "a", n) for n in range(500)]


def test_text_is_the_three_columns_of_the_study(tmp_path: Path) -> None:
    """The published lines begin at 0.000000; what was warm-up is not written, so the first line after it does too.
    There is no interrupt's handler here."""
    run = a_folder(tmp_path / "run", {"a": stream([1, 13_679, 2_000_000], [0, 10, 1_234_567], warm_up=1)})
    assert export_text(run, tmp_path / "out.txt", ()) == 2
    assert (tmp_path / "out.txt").read_text() == "0.000000 13.679000 nan\n1234.557000 2000.000000 nan\n"


def test_text_of_several_cells_is_in_blocks(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"b": stream([1000]), "a": stream([2000])})
    assert export_text(run, tmp_path / "out.txt", ()) == 2
    expected = "# b thread 0\n0.000000 1.000000 nan\n\n\n# a thread 0\n0.000000 2.000000 nan\n"
    assert (tmp_path / "out.txt").read_text() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "run"]


def test_a_cell_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    with pytest.raises(UsageError, match="no whole cell") as caught:
        export_csv(run, tmp_path / "out", ["b"])
    assert "a" in caught.value.remedy
    with pytest.raises(UsageError, match="has no whole cell"):
        export_csv(a_folder(tmp_path / "empty", {}), tmp_path / "out", ())


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(
            StorageError, match=r"missing/out could not be written: No such file or directory$"
        ):
            export(run, tmp_path / "missing" / "out", ())


def test_a_full_disk_is_named_by_the_file_and_not_by_a_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = a_folder(tmp_path / "run", {"a": stream([1])}), tmp_path / "out"
    error = duckdb.IOException('IO Error: Could not write file "/proc/self/fd/5": No space left on device')

    def full(*_: object) -> str:
        raise error

    monkeypatch.setattr(_rows, "copy_to", full)
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(StorageError, match=r"No space left on device$") as caught:
            export(run, out, ())
        assert caught.value.statement.values["path"] == str(out)
        assert "/proc/" not in str(caught.value)


def test_damaged_samples_are_a_sentence_and_leave_nothing(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(100)))})
    samples = run.cell_path("a") / "samples.parquet"
    (run.cell_path("a") / CHECKSUMS).unlink()  # else these tell it first
    samples.write_bytes(samples.read_bytes()[:-30])
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match="cannot be read"):
            export(run, tmp_path / "out", ())
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_samples_that_break_in_the_middle_are_not_blamed_on_the_destination(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(5000)))})
    samples = run.cell_path("a") / "samples.parquet"
    (run.cell_path("a") / CHECKSUMS).unlink()  # else these tell it first
    whole = samples.read_bytes()
    samples.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match=r"samples\.parquet cannot be read"):
            export(run, tmp_path / "out", ())


def test_samples_whose_first_page_is_altered_are_not_blamed_on_the_destination(tmp_path: Path) -> None:
    """How many there are still stands at the end of the file."""
    run = a_folder(tmp_path / "run", {"a": stream(list(range(5000)))})
    samples = run.cell_path("a") / "samples.parquet"
    (run.cell_path("a") / CHECKSUMS).unlink()  # else these tell it first
    whole = samples.read_bytes()
    samples.write_bytes(whole[:4] + b"\xff" * 40 + whole[44:])
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match=r"samples\.parquet cannot be read"):
            export(run, tmp_path / "out", ())


def test_samples_of_something_else_are_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    path = run.cell_path("a") / "samples.parquet"
    (run.cell_path("a") / CHECKSUMS).unlink()
    duckdb.execute(f"COPY (SELECT 1 AS other) TO '{path}' (FORMAT parquet)")
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match=r"has no column|not found"):
            export(run, tmp_path / "out", ())


IRQ = {"irq_latency_ns": [1_760, 2_000], "wake_latency_ns": [13_680, 99_000]}


def test_every_format_is_a_file_of_its_own() -> None:
    assert names() == ("csv", "gnuplot", "parquet", "perfetto", "sh7780", "sh7780data", "text3", "tut2017")
    assert all(find_format(name).name == name for name in names())


def test_the_study_sh7780_gets_its_three_columns(tmp_path: Path) -> None:
    """The published lines are `0.000000 23.600000 2.400000`, `0.010000 13.679999 1.760000`: time begins with the
    first line, wherever the cell's own t0 was, and warm-up before it is not written."""
    told = {"irq_latency_ns": [9_000, 2_400, 1_760], "wake_latency_ns": [99_000, 23_600, 13_680]}
    data = points_stream(told, time_ns=[17_694_000, 27_694_000, 37_694_000], flags=[1, 0, 0], test="irq")
    run = a_folder(tmp_path / "run", {"a": data})
    assert exporter("sh7780")(run, tmp_path / "out.txt", ()) == 2
    assert (tmp_path / "out.txt").read_text() == "0.000000 23.600000 2.400000\n0.010000 13.680000 1.760000\n"


def test_the_study_sh7780_gets_the_data_files_of_its_figures_2_to_5(tmp_path: Path) -> None:
    """`plot "data-time-2.6.25.4" using 1:2` is a line of the study's: argument, and two values."""
    streams, labels = {}, {}
    for kernel, factor in (("6.1[preempt=none]", 10), ("6.1-rt", 1)):
        for argument in (10, 2):
            for part in ("time", "latency"):
                cell = f"{part}-{kernel[:6]}-{argument}".replace("[", "")
                labels[cell], trailer = hackbench(argument, kernel, part)
                labels[cell] |= {"period": "1ms"} if part == "latency" else {}
                values = {
                    "irq_latency_ns": [1_000, factor * 1_500],
                    "wake_latency_ns": [2_000, factor * 1_000 * argument],
                }
                streams[cell] = (
                    points_stream(values, test="irq", trailer_changes=trailer)
                    if part == "latency"
                    else points_stream({"run_ns": [1]}, test="unmeasured", trailer_changes=trailer)
                )
    streams["course"] = points_stream({"irq_latency_ns": [9**9], "wake_latency_ns": [9**9]}, test="irq")
    labels["course"] = {**labels["latency-6.1-rt-2"], "period": "10ms"}
    run = a_folder(tmp_path / "run", streams, labels)
    assert exporter("sh7780data")(run, tmp_path / "data", ()) == 8
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "data-latency-6.1-preempt=none",
        "data-latency-6.1-rt",
        "data-time-6.1-preempt=none",
        "data-time-6.1-rt",
    ]
    lines = (tmp_path / "data" / "data-latency-6.1-preempt=none").read_text().splitlines()
    assert lines[1:] == ["2 20.000000 15.000000", "10 100.000000 15.000000"]
    lines = (tmp_path / "data" / "data-time-6.1-rt").read_text().splitlines()
    assert lines[1:] == ["2 2.000000 3.000000", "10 10.000000 15.000000"]
    with pytest.raises(UsageError, match="is not a folder"):
        exporter("sh7780data")(run, tmp_path / "data" / "data-time-6.1-rt", ())
    with pytest.raises(UsageError, match="no valid cell of unmeasured or irq"):
        exporter("sh7780data")(run, tmp_path / "other", ("course",))


def test_tut_2017_gets_its_listings_in_the_order_of_the_study(tmp_path: Path) -> None:
    """The layout of its listings 2 to 8: numbers of eleven places, names of ten, times in ns and of gaps in us."""
    preemption = points_stream(
        {"cs1_ns": [684, 700], "wait_ns": [54, 54], "cs2_ns": [573, 573]}, test="preemption"
    )
    streams = {
        "gap": points_stream({"gap_ns": [22_000, 33_000]}, test="hardware-gap"),
        "timer": points_stream({"delay_ns": [757]}, test="timer"),
        "busy": points_stream({"dt_ns": [15, 18]}, test="clock"),
        "spin": preemption,
        "wake": stream([1]),
    }
    labels = {name: {"kernel": "6.1-rt", "load": "none"} for name in streams}
    labels["timer"]["timer"], labels["busy"]["load"] = "clock_nanosleep-relative", "cpu:100,nice=10"
    run = a_folder(tmp_path / "run", streams, labels)
    assert exporter("tut2017")(run, tmp_path / "out.txt", ()) == 7
    text = (tmp_path / "out.txt").read_text()
    head = "    Column        Min        Avg        Max      StDev\n"
    idle, _, loaded = text.partition("\n\nListing: 6.1-rt, load cpu:100,nice=10\n\n")
    assert idle.startswith("Listing: 6.1-rt, load none\n\nPreemptionTest\n2 datapoints\n" + head)
    assert "       cs1     684.00     692.00     700.00      11.31\n" in idle
    assert (
        f"TimerAccuracyTestRel\n1 datapoint\n{head}     delay     757.00     757.00     757.00        nan\n"
        in idle
    )
    assert idle.endswith(f"2 datapoints\n{head}  duration      22.00      27.50      33.00       7.78")
    assert idle.index("PreemptionTest") < idle.index("TimerAccuracyTestRel") < idle.index("SMITest")
    assert (
        loaded
        == f"TimerResolutionTest\n2 datapoints\n{head}        dt      15.00      16.50      18.00       2.12\n"
    )
    with pytest.raises(UsageError, match="no cell of the tests"):
        exporter("tut2017")(run, tmp_path / "none.txt", ("wake",))


def test_the_time_of_a_switch_has_the_decimals_of_the_study(tmp_path: Path) -> None:
    """A data point of a thousand switches tells hundredths of a ns of one, which a column of whole ns cannot."""
    columns = {"switch_ns": [4496, 4497], "point_ns": [4_496_080, 4_496_500]}
    asked = {"points": "2", "switches-per-point": "1000"}
    told = points_stream(columns, test="switch", header_changes={"parameters": asked})
    unasked = points_stream(columns, test="switch")
    run = a_folder(tmp_path / "run", {"a": told, "b": unasked})
    assert exporter("tut2017")(run, tmp_path / "out.txt", ("a",)) == 2
    assert "      time    4496.08    4496.29    4496.50       0.30\n" in (tmp_path / "out.txt").read_text()
    exporter("tut2017")(run, tmp_path / "whole.txt", ("b",))
    assert "      time    4496.00    4496.50    4497.00       0.71\n" in (tmp_path / "whole.txt").read_text()


def test_the_passes_of_a_listing_are_its_data_points_without_the_warm_up(tmp_path: Path) -> None:
    told = points_stream(
        {"cs1_ns": [900, 5, 6]},
        flags=[1, 0, 0],
        test="preemption",
        trailer_changes={"outcomes": {"passes": 3, "failures": 0}},
    )
    run = a_folder(tmp_path / "run", {"a": told})
    assert exporter("tut2017")(run, tmp_path / "out.txt", ()) == 2
    text = (tmp_path / "out.txt").read_text()
    assert "2 datapoints\n" in text and "Successfull passes:          2\n" in text


def test_a_listing_of_what_watched_nothing_claims_no_interrupts(tmp_path: Path) -> None:
    nothing = points_stream(
        {"gap_ns": []},
        test="hardware-gap",
        trailer_changes={"stop_reason": "duration", "outcomes": {"windows": 0, "gaps": 0, "watched_ns": 0}},
    )
    run = a_folder(tmp_path / "run", {"gap": nothing})
    summary = run.summary("gap")
    assert not summary.valid and summary.warnings[0].rule == "cell.unwatched"
    assert Tally.of(run.summaries(), ()).exit_code is ExitCode.INCONCLUSIVE
    assert exporter("tut2017")(run, tmp_path / "out.txt", ()) == 0
    text = (tmp_path / "out.txt").read_text()
    assert "inconclusive." in text and "finished after" not in text


def test_a_test_without_a_handler_is_refused_the_study_s_columns(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    with pytest.raises(UsageError, match="has no irq_latency_ns"):
        exporter("sh7780")(run, tmp_path / "out.txt", ())
    points = a_folder(tmp_path / "points", {"a": points_stream({"dt_ns": [1]})})
    with pytest.raises(UsageError, match="has no latency_ns"):
        export_text(points, tmp_path / "out.txt", ())
    assert not (tmp_path / "out.txt").exists()


def test_csv_has_the_columns_of_any_test(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": points_stream({"cs1_ns": [5, 6], "cs2_ns": [7, 8]})})
    assert export_csv(run, tmp_path / "out.csv", ()) == 2
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "cell,load,thread,cpu,index,cs1_ns,cs2_ns,flags,valid,loaded",
        "a,a,0,1,0,5,7,0,true,true",
        "a,a,0,1,1,6,8,0,true,true",
    ]


@pytest.mark.parametrize("with_parameters", [False, True])
def test_a_table_of_samples_says_which_cells_are_not_valid_or_not_loaded(
    tmp_path: Path, with_parameters: bool
) -> None:
    """In each row, since rows are filtered; a label of the same name keeps its values under another."""
    run = doubtful(tmp_path / "run")
    expected = {
        "good": ("true", "true"),
        "cut": ("false", None),
        "absent": ("false", "false"),
        "starved": ("true", "false"),
    }
    for name in ("csv", "parquet"):
        form = find_format(name)
        write = form.write_with_parameters if with_parameters else form.write
        assert write is not None
        write(run, tmp_path / f"out.{name}", ())
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row["cell"]: (row["valid"], None if row["loaded"] == "nan" else row["loaded"]) for row in rows}
    assert found == expected
    query = f"SELECT DISTINCT cell, valid::VARCHAR, loaded::VARCHAR FROM '{tmp_path / 'out.parquet'}'"
    assert {cell: (valid, loaded) for cell, valid, loaded in duckdb.execute(query).fetchall()} == expected
    named = a_folder(tmp_path / "named", {"a": stream([1])}, {"a": {"valid": "maybe", "loaded": "heavily"}})
    export_csv(named, tmp_path / "named.csv", ())
    with (tmp_path / "named.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["label_valid"], row["label_loaded"]) == ("maybe", "heavily")
    assert (row["valid"], row["loaded"]) == ("true", "true")


def test_three_columns_say_in_a_comment_which_cells_are_not_valid_or_not_loaded(tmp_path: Path) -> None:
    run = doubtful(tmp_path / "run")
    export_text(run, tmp_path / "all.txt", ())
    comments = [line for line in (tmp_path / "all.txt").read_text().splitlines() if line.startswith("#")]
    assert comments == [
        "# good thread 0",
        "# cut thread 0 (not valid)",
        "# absent thread 0 (not loaded)",
        "# starved thread 0 (not loaded)",
    ]
    export_text(run, tmp_path / "one.txt", ("absent",))
    assert (tmp_path / "one.txt").read_text().splitlines()[0] == "# absent thread 0 (not loaded)"
    export_text(run, tmp_path / "good.txt", ("good",))
    assert "#" not in (tmp_path / "good.txt").read_text()


def test_the_studys_own_files_say_it_too(tmp_path: Path) -> None:
    """The listings of the one in words, the data of the other's figures in a comment."""
    fields = hackbench(10, "6.1", "time")
    assert isinstance(fields[1]["loads"], list)
    told = points_stream(
        {"run_ns": [1]}, test="unmeasured", trailer_changes={"loads": [*fields[1]["loads"], ABSENT]}
    )
    late = RunFolder.create(tmp_path / "late", a_run("h"))
    part = late.start_cell("h")
    (part / STREAM).write_bytes(told)
    ingest(part / STREAM, part)
    summarise(part, "h", fields[0], starvation_expected=True)
    late.finish_cell("h")
    exporter("sh7780data")(late, tmp_path / "data", ())
    (file,) = (tmp_path / "data").iterdir()
    assert file.read_text().splitlines()[1:] == ["# not loaded: 10", "10 10.000000 nan"]
    starved = points_stream({"delay_ns": [5]}, test="timer", trailer_changes={"loads": [ABSENT]})
    run = RunFolder.create(tmp_path / "run", a_run("a"))
    part = run.start_cell("a")
    (part / STREAM).write_bytes(starved)
    ingest(part / STREAM, part)
    summarise(part, "a", {"timer": "clock_nanosleep", "load": "cpu:100"}, starvation_expected=True)
    run.finish_cell("a")
    exporter("tut2017")(run, tmp_path / "out.txt", ())
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines[2] == "TimerAccuracyTestAbs"
    assert re.match(r"! not loaded: starved.* cpu:100 achieved 1\.0 %", lines[3])


LISTING_8 = """SMITest
Test scheduled for  1800.000s and  1000000 interrupts.
Test finished after 1800.471s and     1801 interrupts.
The test was finished because the maximum execution time was reached.
Average timings:     1.000 interrupts/s =   60.018 interrupts/min
Average interval:    1.000 s/interrupt  =  999.706 ms/interrupt

Analysing interrupt durations (times in µs):
1801 datapoints
"""
"""As the thesis prints it."""


def test_the_search_for_gaps_has_the_head_that_the_thesis_prints(tmp_path: Path) -> None:
    """Digit by digit: 1,801 interrupts in 1,800.471 s are 1.000 a second and one in 999.706 ms."""
    gaps = points_stream(
        {"gap_ns": [26_000] * 1801},
        test="hardware-gap",
        header_changes={"parameters": {"duration": "30min", "points": "1000000", "policy": "fifo:80"}},
        trailer_changes={"stop_reason": "duration", "duration_ns": 1_800_471_000_000},
    )
    run = a_folder(tmp_path / "run", {"smi": gaps})
    exporter("tut2017")(run, tmp_path / "out.txt", ())
    assert (tmp_path / "out.txt").read_text().splitlines()[2:11] == LISTING_8.splitlines()
