"""Run folders: whole cells stay whole at any crash, and what cannot be read is a sentence."""

import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from howlate.errors import DamagedError, StorageError, UsageError
from howlate.store.files import read_json, write_json, write_text, written_beside, written_output
from howlate.store.run_folder import RunFolder
from howlate.store.summarise import bins_of
from lacks import MACHINE, needs_root, skip

from .runs import a_folder, a_run
from .streams import stream


def test_a_run_is_read_back(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "deep" / "run", a_run("x"))
    assert RunFolder.open(tmp_path / "deep" / "run").read_run() == a_run("x")
    assert folder.whole_cells() == []


def test_cells_come_in_the_order_of_the_plan(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"z": stream([1]), "m": stream([2]), "a": stream([3])})
    assert folder.whole_cells() == ["z", "m", "a"]
    assert [summary.columns["latency_ns"].max for summary in folder.summaries()] == [1, 2, 3]
    folder.write_run(a_run("a", "m", "z"))
    assert folder.whole_cells() == ["a", "m", "z"]


def test_a_cell_is_whole_only_after_its_rename(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", a_run("c"))
    part = folder.start_cell("c")
    assert not folder.is_whole("c")
    with pytest.raises(DamagedError, match=r"no summary\.json"):
        folder.finish_cell("c")
    write_json(part / "summary.json", {})
    assert not folder.is_whole("c")
    folder.finish_cell("c")
    assert folder.is_whole("c")
    assert folder.whole_cells() == ["c"]


def test_a_new_attempt_removes_what_the_failed_one_left(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", a_run("c"))
    (folder.start_cell("c") / "stream").write_bytes(b"x")
    folder.fail_cell("c", {"message": "why"})
    assert folder.failed_cells() == {"c": {"message": "why"}}
    assert (folder.part_path("c") / "stream").exists()
    assert list(folder.start_cell("c").iterdir()) == []
    assert folder.failed_cells() == {}


@pytest.mark.parametrize("name", ["", ".", "..", ".x.part", "a/b", "a\0", "x" * 201, "é"])
def test_an_id_that_is_no_folder_name_is_refused(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path)
    for use in (folder.cell_path, folder.part_path, folder.is_whole):
        with pytest.raises(UsageError, match="is not the id of a cell"):
            use(name)


def test_folders_that_are_no_runs_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, rule in (
        (tmp_path / "missing", "decode.no-file"),
        (tmp_path, "store.no-run-json"),
        (tmp_path / "file", "store.no-run-json"),
    ):
        with pytest.raises(UsageError) as caught:
            RunFolder.open(path)
        assert (caught.value.statement.rule, caught.value.statement.values["path"]) == (rule, str(path))
    RunFolder.create(tmp_path / "run", a_run())
    for taken in (tmp_path, tmp_path / "file", tmp_path / "run"):
        with pytest.raises(UsageError) as caught:
            RunFolder.create(taken, a_run())
        assert (caught.value.statement.rule, "--out" in caught.value.remedy) == ("store.there", True)


@needs_root
@pytest.mark.parametrize("inodes", range(2, 7))
def test_once_there_is_room_a_run_is_made_where_a_full_disk_prevented_it(tmp_path: Path, inodes: int) -> None:
    """Full after each of its steps: a folder, a file and its name take an inode or a page each."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size=64k,nr_inodes={inodes}", "howlate-test", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        skip("a file system that can be mounted", MACHINE)
    try:
        with suppress(StorageError):
            RunFolder.create(disk / "run", a_run("c"))
            (disk / "run" / "run.json").unlink()  # there was room for all
        subprocess.run(["mount", "-o", "remount,nr_inodes=100", str(disk)], check=True)
        RunFolder.create(disk / "run", a_run("c"))
        assert RunFolder.open(disk / "run").read_run() == a_run("c")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("left", [".run.json.new", ".run.json.x7Qd", "cells"])
def test_what_a_kill_left_of_making_a_run_does_not_prevent_it(tmp_path: Path, left: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / left).mkdir() if left == "cells" else (run / left).write_text("{")
    RunFolder.create(run, a_run("c"))
    (tmp_path / "other" / "cells" / "c").mkdir(parents=True)
    with pytest.raises(UsageError):
        RunFolder.create(tmp_path / "other", a_run("c"))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 99}', "\xff", '{"schema": 1}'])
def test_a_damaged_run_json_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DamagedError) as caught:
        RunFolder.open(tmp_path)
    assert caught.value.remedy


def test_a_damaged_summary_is_a_sentence(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"c": stream([1])})
    file = folder.cell_path("c") / "summary.json"
    value = json.loads(file.read_text())
    for key in value.keys() - {"schema"}:
        for other in (None, "absent"):
            altered = {k: v for k, v in value.items() if k != key}
            if other is None:
                altered[key] = None
            file.write_text(json.dumps(altered))
            with pytest.raises(DamagedError, match=re.escape(str(file))) as caught:
                folder.summary("c")
            assert caught.value.remedy


def test_missing_bins_are_made_again(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"c": stream(list(range(1000)))})
    bins = bins_of(folder.files("c"))
    assert bins == folder.files("c").bins()
    file = folder.cell_path("c") / "bins.json"
    for damage in ("{}", "not JSON"):
        file.write_text(damage)
        assert bins_of(folder.files("c")) == bins
    file.unlink()
    assert bins_of(folder.files("c")) == bins


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "old")
    with pytest.raises(RuntimeError), written_beside(tmp_path / "f") as beside:
        beside.write_text("half")
        raise RuntimeError
    assert (tmp_path / "f").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_full_disk_is_a_sentence() -> None:
    """/dev/full answers as a full disk does."""
    with (
        pytest.raises(StorageError, match="No space left") as caught,
        written_output(Path("/dev/full")) as place,
    ):
        place.write_text("x")
    assert "room" in caught.value.remedy


def test_a_folder_in_the_way_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "x").touch()
    with pytest.raises(StorageError, match="could not be written"):
        write_json(tmp_path / "f", {})
    with pytest.raises(DamagedError, match="cannot be read"):
        read_json(tmp_path / "f")


CRASHES = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from howlate.store.run_folder import RunFolder
from howlate.store.ingest import ingest
from howlate.store.summarise import summarise

calls = 0

def killing_at(name, which):
    call = getattr(os, name)
    def counted(*arguments, **named):
        global calls
        calls += 1
        if calls == which:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    setattr(os, name, counted)

def make(which):
    for name in ("mkdir", "rename", "fsync", "unlink", "rmdir"):
        killing_at(name, which)
    folder = RunFolder(Path(sys.argv[1]))
    part = folder.start_cell("c")
    ingest(Path(sys.argv[2]), part)
    summarise(part, "c", {})
    folder.finish_cell("c")

which = 0
status = 1
while status != 0:
    which += 1
    child = os.fork()
    if child == 0:
        make(which)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), status
    cells = Path(sys.argv[1]) / "cells"
    if (cells / "c").exists():
        (cells / "c").rename(Path(sys.argv[1]) / f"whole-{which}")
print(which)
"""


def test_a_kill_at_any_step_leaves_no_half_cell(tmp_path: Path) -> None:
    """The making of a cell is killed before each of its file operations in turn, the leavings of one attempt
    being the next one's beginning: what stands under the final name is always whole."""
    folder = RunFolder.create(tmp_path / "run", a_run("c"))
    (tmp_path / "stream").write_bytes(stream(list(range(2000))))
    command = [
        sys.executable,
        "-c",
        CRASHES,
        str(folder.path),
        str(tmp_path / "stream"),
        *filter(None, sys.path),
    ]
    steps = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120).stdout)
    assert steps > 20
    kept = sorted(folder.path.glob("whole-*"), key=lambda path: int(path.name.split("-")[1]))
    assert kept[-1].name == f"whole-{steps}"
    assert len(kept) < steps / 2
    for path in kept:
        path.rename(folder.cell_path("c"))
        assert folder.summary("c").columns["latency_ns"].count == 2000
        assert sum(folder.files("c").bins().histogram.counts) == 2000
        assert duckdb.execute(
            f"SELECT count(*) FROM '{folder.cell_path('c') / 'samples.parquet'}'"
        ).fetchall() == [(2000,)]
        folder.cell_path("c").rename(path)


def test_a_run_without_readable_cells_is_damaged_and_not_empty(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", a_run("c"))
    folder.cells_path.rmdir()
    with pytest.raises(DamagedError, match="cells cannot be read"):
        RunFolder.open(folder.path)
    folder.cells_path.write_text("")
    with pytest.raises(DamagedError, match="cells cannot be read"):
        RunFolder.open(folder.path)
