"""What others put into a run folder in place of what howlate wrote there: cells of other names, tables of other types
(with new checksums), links that lead nowhere. Every reader names it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from hostile.alter import reseal
from howlate.errors import DamagedError, UsageError
from howlate.history.catalogue import read_catalogue
from howlate.history.query import ask
from howlate.model.run import Run
from howlate.store import trace
from howlate.store.activations import recorded_activations
from howlate.store.export import find_format
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder, spare
from howlate.store.trace import trace_of
from howlate.store.verified import differences
from howlate.words.say import english
from made_trace import late_samples

from .runs import a_folder
from .streams import stream, traced_stream


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    streams = {"traced": traced_stream(late_samples(3)), "plain": stream([10, 20, 30])}
    return a_folder(tmp_path / "run", streams)


def catalogued(folder: RunFolder) -> None:
    """Raises the reason for which a cell is left out."""
    for left_out in read_catalogue([folder.path], index=False).left_out:
        raise DamagedError(left_out.reason)


def exported(form: str) -> Callable[[RunFolder], object]:
    return lambda folder: find_format(form).write(folder, folder.path.with_name("out"), ())


def verified(folder: RunFolder) -> None:
    run = folder.read_run()
    for cell in folder.whole_cells(run):
        for what in differences(folder, run, cell):
            raise AssertionError(f"{cell}: {what}")


READERS: dict[str, Callable[[RunFolder], object]] = {
    "load": lambda folder: load_run(folder.path),
    "load without bins": lambda folder: load_run(folder.path, bins=False, kernels=False),
    "summaries": RunFolder.summaries,
    "catalogue": catalogued,
    "csv": exported("csv"),
    "parquet": exported("parquet"),
    "gnuplot": exported("gnuplot"),
    "perfetto": exported("perfetto"),
}


def copied(cells: Path) -> None:
    shutil.copytree(cells / "plain", cells / "plain.bak")


def copied_oddly(cells: Path) -> None:
    shutil.copytree(cells / "plain", cells / "plain copy~")


def swapped(cells: Path) -> None:
    shutil.rmtree(cells / "traced")
    shutil.copytree(cells / "plain", cells / "traced")


def from_another_run(cells: Path) -> None:
    other = a_folder(cells.parent.with_name("other"), {"foreign": stream([1, 2])})
    shutil.copytree(other.cell_path("foreign"), cells / "foreign")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("plant", [copied, copied_oddly, swapped, from_another_run])
def test_a_cell_under_another_name_is_damaged_for_every_reader(
    folder: RunFolder, plant: Callable[[Path], None], read: Callable[[RunFolder], object]
) -> None:
    plant(folder.cells_path)
    with pytest.raises(DamagedError) as caught:
        read(folder)
    assert caught.value.statement.rule == "store.not-the-cell", english(caught.value.statement)


@pytest.mark.parametrize("plant", [copied, swapped, from_another_run])
def test_no_sample_of_it_is_counted(folder: RunFolder, plant: Callable[[Path], None]) -> None:
    plant(folder.cells_path)
    known = read_catalogue([folder.path], index=False)
    answer = ask("SELECT cell, count(*) FROM samples GROUP BY cell", known.runs).rows
    assert dict(answer)["plain"] == 3 and set(dict(answer)) <= {"plain", "traced"}
    assert plant is not swapped or set(dict(answer)) == {"plain"}


def test_samples_that_were_replaced_at_equal_size_are_not_valid(folder: RunFolder) -> None:
    path = folder.cell_path("plain") / "samples.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:-20] + bytes(byte ^ 1 for byte in data[-20:]))
    (run,) = read_catalogue([folder.path], index=False).runs
    assert {cell.id: (cell.valid, cell.samples, cell.altered) for cell in run.cells}["plain"] == (
        False,
        False,
        True,
    )


def rewritten(file: Path, select: str) -> None:
    duckdb.execute(f"CREATE OR REPLACE TABLE t AS SELECT * FROM read_parquet('{file}')")
    duckdb.execute(f"COPY ({select}) TO '{file}' (FORMAT parquet)")
    reseal(file.parent)


OTHER_VALUES = {
    "nothing": "NULL::{kind}",
    "nothing in one row": "CASE WHEN row_number() OVER () = 1 THEN NULL ELSE {name} END",
    "text": "'x'",
    "a list": "[{name}]",
    "a fraction": "{name} + 0.5::DOUBLE",
}


def columns_of(file: Path) -> dict[str, str]:
    return {row[0]: row[1] for row in duckdb.execute(f"DESCRIBE SELECT * FROM '{file}'").fetchall()}


def each_of(file: Path, value: str, step: int) -> list[tuple[str, str]]:
    """Every so many of the columns, others for the next value."""
    return list(columns_of(file).items())[list(OTHER_VALUES.values()).index(value) % step :: step]


STEPS = pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.sweep)])


@STEPS
@pytest.mark.parametrize("value", OTHER_VALUES.values(), ids=OTHER_VALUES)
@pytest.mark.parametrize("table", ["trace_cases", "trace_events"])
def test_a_trace_of_other_types_is_damaged(folder: RunFolder, table: str, value: str, step: int) -> None:
    """In whichever of the columns that are read."""
    file = folder.cell_path("traced") / f"{table}.parquet"
    before = file.read_bytes()
    for name, kind in each_of(file, value, step):
        if name not in (*trace._CASES, *trace._EVENTS):
            continue
        file.write_bytes(before)
        rewritten(file, f"SELECT * REPLACE ({value.format(name=name, kind=kind)} AS {name}) FROM t")
        with pytest.raises(DamagedError):
            trace_of(folder.files("traced"))


@STEPS
@pytest.mark.parametrize("value", OTHER_VALUES.values(), ids=OTHER_VALUES)
@pytest.mark.parametrize("table", ["samples", "cpus", "loads"])
def test_tables_of_other_types_are_no_traceback(folder: RunFolder, table: str, value: str, step: int) -> None:
    cell = folder.cell_path("plain")
    file = cell / f"{table}.parquet"
    if table == "cpus":
        rows = "0 AS cpu, 5::BIGINT AS time_ns, 1 AS busy_permille, 0 AS steal_permille, 0 AS smi_count"
    else:
        rows = "0 AS load, 5::BIGINT AS time_ns, 1::BIGINT AS cpu_ns, 0::BIGINT AS units"
    if table != "samples":
        duckdb.execute(f"COPY (SELECT {rows} FROM range(3)) TO '{file}' (FORMAT parquet)")
    (cell / "bins.json").unlink()
    before = file.read_bytes()
    for name, kind in each_of(file, value, step):
        file.write_bytes(before)
        rewritten(file, f"SELECT * REPLACE ({value.format(name=name, kind=kind)} AS {name}) FROM t")
        read: tuple[Callable[[], Any], ...] = (
            lambda: verified(folder),
            lambda: load_run(folder.path),
            lambda: recorded_activations(folder.files("plain")),
        )
        refused = 0
        for reading in read:
            try:
                reading()
            except (DamagedError, AssertionError, UsageError):
                refused += 1
        assert refused or name == "response_ns", name  # all 0: it is not measured


LINKS = ["finished.txt", "cells/plain/checksums.json", "cells/plain/summary.json", "cells/plain/cell.json"]


@pytest.mark.parametrize("file", LINKS)
def test_a_link_that_leads_nowhere_is_no_file_that_is_missing(folder: RunFolder, file: str) -> None:
    path = folder.path / file
    path.unlink()
    path.symlink_to("/nonexistent/x")
    try:
        assert load_run(folder.path).gone == ("plain",)
    except DamagedError as problem:
        assert "symbolic link" in english(problem.statement)


def test_a_run_json_that_is_a_pipe_is_named(folder: RunFolder) -> None:
    (folder.path / "run.json").unlink()
    os.mkfifo(folder.path / "run.json")
    with pytest.raises(DamagedError) as caught:
        RunFolder.open(folder.path)
    assert caught.value.statement.rule == "model.remedied" or "regular" in english(caught.value.statement)


@pytest.mark.parametrize("name", ["cells", "kernels", "pictures"])
def test_a_link_that_the_user_names_may_have_any_name(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).symlink_to("run")
    assert len(load_run(Path(name)).cells) == 2


@pytest.mark.parametrize("name", ["~", "~root", "a*b", "a?b", "[a]", "{a,b}", "a'b"])
def test_no_sign_in_a_folders_name_leads_elsewhere(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    a_folder(home, {"plain": stream([7, 7]), "traced": stream([7])})
    folder.path.rename(name)
    run = Path(name)
    assert find_format("csv").write(RunFolder.open(run), Path("out.csv"), ("plain",)) == 3
    known = read_catalogue([run], index=False).runs
    query = "SELECT cell, count(*) FROM samples WHERE cell = 'plain' GROUP BY cell"
    assert ask(query, known).rows == [("plain", 3)]


@pytest.mark.parametrize("file", ["run.json", "finished.txt", "cells/plain/summary.json", "cells/new.html"])
def test_no_output_replaces_what_howlate_keeps(folder: RunFolder, tmp_path: Path, file: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder.path / file)
    for out in (folder.path / file, link):
        with pytest.raises(UsageError) as caught:
            spare(out, "--out")
        assert caught.value.statement.rule == "store.runs-own"
    for free in (folder.path / "report.html", folder.path / "junit.xml", tmp_path / "run.json"):
        spare(free, "--out")


def test_a_planned_cell_may_be_missing(folder: RunFolder) -> None:
    """Only what is there is held against the plan."""
    run: Run = folder.read_run()
    shorter = replace(run.plan, cells=run.plan.cells[:1])
    folder.write_run(replace(run, plan=shorter))
    with pytest.raises(DamagedError):
        folder.whole_cells()
    folder.write_run(run)
    shutil.rmtree(folder.cell_path("plain"))
    assert folder.whole_cells() == ["traced"]
