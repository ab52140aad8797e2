"""Many runs at once: what is known of them is what their folders hold now, and few files are opened for it."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.history import catalogue
from howlate.history.catalogue import INDEX, read_catalogue
from howlate.words.say import english
from store.runs import a_folder, a_run
from store.streams import stream

OPENED: list[str] = []
WATCHING: list[bool] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if WATCHING and event == "open":
        OPENED.append(str(arguments[0]))


sys.addaudithook(_note)


@contextmanager
def opened() -> Iterator[list[str]]:
    """The files that are opened inside."""
    OPENED.clear()
    WATCHING.append(True)
    try:
        yield OPENED
    finally:
        WATCHING.clear()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, whose files count as older than the index needs them to be."""
    monkeypatch.setattr(catalogue, "SETTLED_NS", 0)
    place = tmp_path / "runs"
    for name, latency in (("a", 5), ("b", 7)):
        a_folder(place / name, {"none": stream([latency, 1]), "cpu-50": stream([2 * latency, 1])})
    return place


def largest(place: Path, index: bool = True) -> list[int | float | None]:
    known = read_catalogue([place], index=index)
    return [cell.columns["latency_ns"].figures["max"] for run in known.runs for cell in run.cells]


def change_latency(cell: Path, latency_ns: int) -> None:
    """As a cell that was measured again: its files are replaced."""
    again = a_folder(cell.parent.parent.parent / ".again", {cell.name: stream([latency_ns, 1])})
    for name in ("summary.json", "checksums.json", "samples.parquet", "bins.json", "cell.json"):
        (again.cell_path(cell.name) / name).replace(cell / name)


def test_cells_are_known_in_the_order_of_the_plan(runs: Path) -> None:
    known = read_catalogue([runs], index=False)
    assert [Path(run.folder).name for run in known.runs] == ["a", "b"]
    assert [cell.id for cell in known.runs[0].cells] == ["none", "cpu-50"]
    assert largest(runs) == [5, 10, 7, 14]


def test_a_run_folder_and_the_folder_that_holds_it_are_one_run(runs: Path) -> None:
    assert len(read_catalogue([runs, runs / "a"]).runs) == 2
    assert len(read_catalogue([runs / "a"]).runs) == 1


def test_few_files_are_opened_of_a_run(runs: Path) -> None:
    """And three for each cell, of the samples only the end; no bins."""
    with opened() as files:
        largest(runs, index=False)
    mine = [file for file in files if file.endswith((".json", ".parquet"))]
    assert sorted(mine) == sorted(
        2 * (["run.json"] + 2 * ["summary.json", "checksums.json", "samples.parquet"])
    )


def test_with_the_index_no_file_of_a_run_is_opened(runs: Path) -> None:
    before = largest(runs)
    with opened() as files:
        assert largest(runs) == before
    assert [file for file in files if file.endswith((".json", ".parquet", INDEX))] == [INDEX]


def test_the_index_is_never_stale(runs: Path) -> None:
    assert largest(runs) == [5, 10, 7, 14]
    change_latency(runs / "a" / "cells" / "none", 9)
    assert largest(runs) == [9, 10, 7, 14]
    (runs / "a").rename(runs / "z")
    assert sorted(filter(None, largest(runs))) == [7, 9, 10, 14]
    (runs / "b" / "run.json").unlink()
    assert largest(runs) == [9, 10]


def test_a_file_that_was_changed_a_moment_ago_is_not_kept(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "SETTLED_NS", 10**18)
    largest(runs)
    assert not (runs / INDEX).exists()


@pytest.mark.parametrize("what", ["cut", "altered", "not ours"])
def test_an_index_that_is_damaged_is_made_anew(runs: Path, what: str) -> None:
    before = largest(runs)
    whole = (runs / INDEX).read_bytes()
    at = whole.index(b"latency_ns")
    damaged = {
        "cut": whole[: len(whole) // 2],
        "altered": whole[:at] + b"LATENCY_NS" + whole[at + 10 :],
        "not ours": b"index",
    }
    (runs / INDEX).write_bytes(damaged[what])
    assert largest(runs) == before
    assert (runs / INDEX).read_bytes() == whole


def test_the_index_moves_with_the_runs(runs: Path) -> None:
    before = largest(runs)
    moved = runs.rename(runs.parent / "moved")
    with opened() as files:
        assert largest(moved) == before
    assert [file for file in files if file.endswith((".json", ".parquet", INDEX))] == [INDEX]


def test_without_the_index_none_is_written(runs: Path) -> None:
    largest(runs, index=False)
    assert not (runs / INDEX).exists()


def test_what_is_damaged_is_named_and_left_out(runs: Path) -> None:
    (runs / "a" / "run.json").write_text("{")
    summary = runs / "b" / "cells" / "none" / "summary.json"
    summary.write_text(summary.read_text().replace('"max": 7', '"max": 6'))
    for _ in range(2):  # the index keeps neither
        known = read_catalogue([runs])
        assert [cell.id for run in known.runs for cell in run.cells] == ["cpu-50"]
        said = {left_out.place.name: english(left_out.reason) for left_out in known.left_out}
        assert set(said) == {"a", "none"}
        assert "is not JSON" in said["a"] and "was changed" in said["none"]


def test_samples_of_another_length_make_a_cell_invalid(runs: Path) -> None:
    samples = runs / "a" / "cells" / "none" / "samples.parquet"
    samples.write_bytes(samples.read_bytes() + b"x")
    (runs / "b" / "cells" / "none" / "samples.parquet").unlink()
    first, _, third, last = (cell for run in read_catalogue([runs]).runs for cell in run.cells)
    assert (first.valid, first.samples) == (False, False)
    assert (third.valid, third.samples) == (last.valid, False)


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no run in .*nothing"):
        read_catalogue([tmp_path / "nothing"])


def test_a_summary_without_checksums_is_held_against_itself(runs: Path) -> None:
    cell = runs / "a" / "cells" / "none"
    (cell / "checksums.json").unlink()
    value = json.loads((cell / "summary.json").read_text())
    value["columns"]["latency_ns"]["mean"] = 10**6
    (cell / "summary.json").write_text(json.dumps(value))
    assert [left_out.place.name for left_out in read_catalogue([runs]).left_out] == ["none"]


def test_a_run_without_any_cell_is_known(tmp_path: Path) -> None:
    a_folder(tmp_path / "runs" / "empty", {})
    assert read_catalogue([tmp_path / "runs"]).runs[0].id == a_run().id
