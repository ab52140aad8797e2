"""A run is loaded once: every file of its folder is opened at most once."""

import collections
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate.model.loaded import RunContent
from howlate.store.checksums import write_checksums
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from processes import completed
from store.runs import a_folder
from store.streams import stream

COUNTING = """
import json, os, sys

opened = []
sys.addaudithook(lambda event, args: opened.append((str(args[0]), args[2])) if event == "open" else None)
sys.addaudithook(lambda event, args: opened.append((args[0], 0)) if event == "howlate.open" else None)
from howlate.__main__ import main

code = main(sys.argv[2:])
with os.fdopen(int(sys.argv[1]), "w") as out:
    json.dump([path for path, flags in opened if not flags & (os.O_WRONLY | os.O_RDWR | os.O_DIRECTORY)], out)
sys.exit(code)
"""


def times_read(run: Path, *command: str) -> collections.Counter[str]:
    """How often the command opened each file of the run to read it."""
    reader, writer = os.pipe()
    with os.fdopen(reader) as answer:
        argv = [sys.executable, "-c", COUNTING, str(writer), *command]
        done = subprocess.run(
            argv, pass_fds=(writer,), capture_output=True, text=True, timeout=60, check=False
        )
        os.close(writer)
        assert done.returncode == 0, done.stderr
        opened = [Path(path) for path in json.load(answer)]
    files = [path for path in opened if path.is_relative_to(run) and path.is_file()]
    return collections.Counter(str(path.relative_to(run)) for path in files)


@pytest.mark.parametrize("command", [["show"], ["show", "--json"], ["show", "--cells"], ["report"]])
def test_each_file_is_read_once(tmp_path: Path, command: list[str]) -> None:
    folder = a_folder(tmp_path / "run", {"a": stream(list(range(100, 300))), "b": stream([7, 9, 8])})
    counts = times_read(folder.path, command[0], str(folder.path), *command[1:])
    assert {"run.json", "cells/a/summary.json", "cells/b/cell.json"} <= counts.keys()
    assert set(counts.values()) == {1}, counts


@pytest.mark.parametrize("options", [[], ["--json"], ["--cells"], ["--all"], ["--brief"]])
def test_show_asks_no_database(tmp_path: Path, options: list[str]) -> None:
    """What it shows of cells that have their summaries is in JSON: no sample is read, and nothing that could do it is
    imported; nor what judges, compares or measures, of a run that has nothing of it."""
    trailer_changes = {"frequency_khz": [{"cpu": 1, "before": 0, "after": 0}]}
    path = a_folder(
        tmp_path / "run", {"a": stream(list(range(100, 3000)), trailer_changes=trailer_changes)}
    ).path
    code = (
        "import sys; from howlate.__main__ import main; main(sys.argv[1:]); "
        "late = 'duckdb numpy howlate.verdict.judge howlate.compare.compare howlate.measure.session tomllib '"
        "'howlate.why.explained_cells howlate.document.meaning'.split(); "
        "sys.exit(', '.join(name for name in late if name in sys.modules) or 0)"
    )
    argv = [sys.executable, "-c", code, "show", str(path), *options]
    done = completed(argv, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_loaded_value_holds_what_the_folder_has(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"a": stream([1, 2, 3]), "b": stream([7, 9, 8])})
    folder.fail_cell("c", {"exit_code": 4, "message": "broken"})
    content = load_run(folder.path)
    assert content.run == folder.read_run()
    assert list(content.summaries) == folder.summaries()
    assert [cell.header for cell in content.cells] == [folder.cell(c)["header"] for c in ("a", "b")]
    assert [cell.bins for cell in content.cells] == [folder.files(c).bins() for c in ("a", "b")]
    assert content.failed == {"c": {"exit_code": 4, "message": "broken"}}


def test_without_bins_everything_else_is_the_same(tmp_path: Path) -> None:
    path = a_folder(tmp_path / "run", {"a": stream([1, 2, 3])}).path
    with_bins, without = load_run(path), load_run(path, bins=False)
    assert without.cells[0].bins is None
    assert isinstance(without, RunContent)
    assert without.summaries == with_bins.summaries
    assert RunFolder.open(path).whole_cells() == ["a"]


def test_intervals_are_made_where_a_run_is_read_and_stored_nowhere(tmp_path: Path) -> None:
    """The summaries of older runs have none, and theirs are verified with the same figures."""
    values = [5_000 + (7_919 * i) % 1_000 for i in range(2_000)]
    folder = a_folder(tmp_path / "run", {"a": stream(values)})
    stored = json.loads((folder.path / "cells/a/summary.json").read_text())
    assert "intervals" not in stored["columns"]["latency_ns"]
    for content in (load_run(folder.path), load_run(folder.path, bins=False, intervals=True)):
        column = content.summaries[0].columns["latency_ns"]
        assert column.intervals["0.5"].low < (column.quantiles["0.5"] or 0) < column.intervals["0.5"].high


def test_intervals_need_no_checksums(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"a": stream(list(range(5_000, 7_000)))})
    before = load_run(folder.path, bins=False, intervals=True)
    (folder.path / "cells/a/checksums.json").unlink()
    assert load_run(folder.path, bins=False, intervals=True) == before


@pytest.mark.parametrize("damage", [Path.unlink, Path.mkdir, Path.touch])
def test_intervals_are_those_of_the_samples_where_the_bins_are_lost(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = a_folder(tmp_path / "run", {"a": stream(list(range(5_000, 7_000)))})
    before = load_run(folder.path, bins=False, intervals=True)
    (folder.path / "cells/a/bins.json").unlink()
    if damage is not Path.unlink:
        damage(folder.path / "cells/a/bins.json")
    assert load_run(folder.path, bins=False, intervals=True) == before


@pytest.mark.parametrize("samples", ["gone", "changed"])
def test_a_cell_that_lost_bins_and_samples_takes_no_other_cell_with_it(tmp_path: Path, samples: str) -> None:
    folder = a_folder(tmp_path / "run", {name: stream(list(range(5_000, 7_000))) for name in "ab"})
    (folder.path / "cells/a/bins.json").unlink()
    file = folder.path / "cells/a/samples.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 1
    file.unlink() if samples == "gone" else file.write_bytes(data)
    a, b = load_run(folder.path, bins=False, intervals=True).summaries
    assert b.valid and b.columns["latency_ns"].intervals and not b.warnings
    assert a.columns["latency_ns"].max == 6_999 and not a.columns["latency_ns"].intervals
    assert [warning.rule for warning in a.warnings] == ["cell.unchecked"] and a.valid is (samples == "gone")


def test_the_samples_are_not_read_for_intervals_where_there_never_were_bins(tmp_path: Path) -> None:
    """An older howlate made none."""
    folder = a_folder(tmp_path / "run", {"a": stream(list(range(5_000, 7_000)))})
    (folder.path / "cells/a/bins.json").unlink()
    write_checksums(folder.path / "cells/a", folder.read_run().token)
    (content,) = load_run(folder.path, bins=False, intervals=True).cells
    assert content.bins is None and content.summary.columns["latency_ns"].intervals == {}
