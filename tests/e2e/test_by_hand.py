"""What was measured by hand becomes a run: streams and jobs that the real probe measured, whole and cut."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from cli.commands import Run
from e2e.commands import PROBE, STUDY
from howlate.errors import DamagedError, UsageError
from howlate.imports.flow import as_run
from howlate.imports.formats import RunImporter, find_importer
from howlate.imports.formats._by_hand import with_kernel
from howlate.measure.prepare import RunRequest, prepare
from howlate.model.plan import Length
from howlate.plan.machines import kernels_of
from howlate.store.frames import MAGIC
from howlate.store.stream import StreamReader
from howlate.studies import find_study, studies
from howlate.targets import open_by_hand
from howlate.targets.local import LocalTarget
from processes import completed, until

Typed = Callable[..., tuple[int, str, str]]
SHORT = ("--period=1ms", "--activations=40", "--policy=other")


@pytest.fixture
def howlate(howlate: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """With the real probe, in the folder of the test."""
    monkeypatch.setenv("HOWLATE_PROBE", PROBE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)

    def typed(*words: str) -> tuple[int, str, str]:
        said = howlate(*words)
        return said.code, said.out, said.err

    return typed


def probe(*words: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    argv = [PROBE, *map(str, words)]
    return completed(argv, cwd=folder, timeout=120)


def measured(file: Path, *more: str, test: str = "cyclic") -> Path:
    own = SHORT if test == "cyclic" else ("--points=50", "--policy=other")
    done = probe(test, *own, *more, f"--stream={file}", "--quiet")
    assert done.returncode == 0, done.stderr
    return file


def run_json(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


def cells_of(howlate: Typed, run: str = "r", ends_with: int = 0) -> list[dict[str, Any]]:
    """Those of the run; the code is 5 where a planned one was not measured."""
    code, out, err = howlate("show", run, "--json")
    assert code == ends_with, err
    found: list[dict[str, Any]] = json.loads(out)["cells"]
    return found


def test_a_stream_becomes_a_run(tmp_path: Path, howlate: Typed) -> None:
    """With tables, report, checksums and export, and the samples of the stream to the last digit."""
    file = measured(tmp_path / "board.stream", "--load=cpu:5")
    before = file.read_bytes()
    code, out, err = howlate("import", "board.stream", "--out", "r", "--label", "kernel=vendor")
    assert code == 0, err
    assert "r/report.html" in out.splitlines() and out.split()[-1] == "r"
    assert file.read_bytes() == before
    (cell,) = cells_of(howlate)
    assert {n: cell["labels"][n] for n in ("kernel", "load", "period", "timer", "policy")} == {
        "kernel": "vendor",
        "load": "cpu:5",
        "period": "1ms",
        "timer": "clock_nanosleep",
        "policy": "other",
    }
    with StreamReader.open(file) as stream:
        latencies = [
            int(v) for b in stream.batches() if b.table.name == "samples" for v in b.columns["latency_ns"]
        ]
    parquet = tmp_path / "r" / "cells" / cell["id"] / "samples.parquet"
    rows = duckdb.execute(f"SELECT latency_ns FROM '{parquet}' ORDER BY release").fetchall()
    assert [row[0] for row in rows] == latencies and len(latencies) == 40
    assert howlate("show", "r", "--verify")[0] == 0
    code, _, err = howlate("export", "r", "--format", "csv", "-o", "t.csv")
    assert code == 0 and len((tmp_path / "t.csv").read_text().splitlines()) == 41, err
    assert (
        "facts.json" in run_json(tmp_path / "r")["warnings"][0] and not run_json(tmp_path / "r")["findings"]
    )


def test_several_streams_become_cells(tmp_path: Path, howlate: Typed) -> None:
    """What differs is an axis; equal parameters are repetitions in the order of their times, not of their names."""
    first = measured(tmp_path / "b.stream")
    second = measured(tmp_path / "a.stream")
    measured(tmp_path / "c.stream", "--timer=timerfd")
    (tmp_path / "facts.json").write_text(probe("facts", "--json").stdout)
    code, out, err = howlate("import", "a.stream", "b.stream", "c.stream", "--out", "r")
    assert code == 0, err
    run = run_json(tmp_path / "r")
    assert run["study"]["axes"] == {"timer": ["clock_nanosleep", "timerfd"]}
    assert [cell["repetition"] for cell in run["plan"]["cells"]] == [1, 2, 1]
    for cell, file in zip(run["plan"]["cells"], (first, second), strict=False):
        with StreamReader.open(file) as stream:
            header = json.loads((tmp_path / "r" / "cells" / cell["id"] / "cell.json").read_text())["header"]
            assert header["t0_ns"] == stream.header.t0_ns
    assert run["facts"]["values"]["cpu.model"] and run["findings"] and not run["warnings"]
    assert "timerfd" in out
    again, _, err = howlate("import", "a.stream", "b.stream", "c.stream", "--out", "r")
    assert again == 0, err
    assert len(cells_of(howlate)) == 3
    code, _, err = howlate("import", "a.stream", "--out", "r")
    assert code == 2 and "holds another plan" in err


def test_streams_of_several_tests_become_parts(tmp_path: Path, howlate: Typed) -> None:
    measured(tmp_path / "a.stream")
    measured(tmp_path / "b.stream", test="clock")
    code, _, err = howlate("import", "a.stream", "b.stream", "--out", "r")
    assert code == 0, err
    assert [cell["labels"]["part"] for cell in cells_of(howlate)] == ["cyclic", "clock"]


def test_what_cannot_be_one_run_is_refused(tmp_path: Path, howlate: Typed) -> None:
    measured(tmp_path / "a.stream")
    shutil.copyfile(tmp_path / "a.stream", tmp_path / "same.stream")
    for files, more, said in (
        (("a.stream", "same.stream"), (), "are the same measurement"),
        (("a.stream",), ("--label", "period=2ms"), '"period" cannot be a label'),
        (("a.stream",), ("--label", "board"), "is not NAME=VALUE"),
        (("a.stream",), ("-o", "x.toml"), "Leave -o out"),
        (("nothing.stream",), (), "does not exist"),
        (("tiny.toml",), (), "format is unknown"),
    ):
        code, _, err = howlate("import", *files, *more, "--out", "r")
        assert (code, "Traceback" in err) == (2, False) and said in err, err
    assert not (tmp_path / "r").exists()
    assert howlate("import", "a.stream", "--out", "made")[0] == 0
    code, _, err = howlate("import", "made")
    assert code == 2 and "it is a run" in err.lower()
    for command in ("show", "report", "compare"):
        code, _, err = howlate(command, "a.stream")
        assert code == 2 and "howlate import a.stream" in err, err


@pytest.fixture(scope="module")
def whole() -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        yield measured(Path(folder) / "s").read_bytes()


def imported(file: Path, folder: Path) -> tuple[int, bool, bool]:
    """Samples, whether the cell is valid, and whether the import says that the stream is cut."""
    importer = find_importer(file)
    assert isinstance(importer, RunImporter)
    found = importer.read([file], {})
    session, tally = as_run(found, folder)
    assert tally.whole == 1
    (summary,) = session.folder.summaries()
    return summary.accounting.recorded, summary.valid, any("is cut at byte" in note for note in found.notes)


@settings(max_examples=25)
@given(share=st.floats(0, 1))
def test_a_stream_cut_anywhere_gives_its_whole_batches(whole: bytes, share: float) -> None:
    """Or a sentence with a remedy, where there is no sample in it; then no run is begun."""
    at = int(share * (len(whole) - 1))
    with TemporaryDirectory() as folder:
        file, run = Path(folder) / "cut.stream", Path(folder) / "r"
        file.write_bytes(whole[:at])
        try:
            with StreamReader.open(file) as stream:
                rows = sum(b.rows for b in stream.batches() if b.table.name == "samples")
        except DamagedError:
            rows = 0
        if rows:
            assert imported(file, run) == (rows, False, True)
            return
        with pytest.raises(UsageError if at < len(MAGIC) else DamagedError) as problem:
            imported(file, run)
        assert "cut.stream" in problem.value.message and problem.value.remedy
        assert not run.exists()


def test_a_cut_and_a_damaged_stream_are_told(tmp_path: Path, howlate: Typed, whole: bytes) -> None:
    (tmp_path / "cut.stream").write_bytes(whole[:-8])
    code, _, err = howlate("import", "cut.stream", "--out", "r")
    assert code == 5 and "cut.stream is cut" in err, err
    assert "invalid" in howlate("show", "--all", "r")[1]
    last = whole.rindex(b'"stop_reason"')
    changed = bytearray(whole)
    changed[last] ^= 1
    (tmp_path / "changed.stream").write_bytes(changed)
    code, _, err = howlate("import", "changed.stream", "--out", "c")
    assert code == 4 and "changed.stream is damaged" in err, err
    assert "invalid" in howlate("show", "--all", "c")[1]
    assert cells_of(howlate, "c")[0]["accounting"]["recorded"] == 40
    changed[30] ^= 1
    (tmp_path / "head.stream").write_bytes(changed)
    code, _out, err = howlate("import", "head.stream", "--out", "h")
    assert code == 4 and "measure it again" in err.lower() and not (tmp_path / "h").exists(), err


def test_an_emitted_job_gives_the_run_that_run_makes(tmp_path: Path, howlate: Typed) -> None:
    code, out, err = howlate("run", "tiny.toml", "--emit-job", "j")
    assert (code, out) == (0, "j\n"), err
    assert len((tmp_path / "j" / "README.txt").read_text().splitlines()) == 3
    assert not (tmp_path / "runs").exists()
    code, _, err = howlate("import", "j")
    assert code == 2 and "README.txt" in err
    done = subprocess.run(
        ["./howlate-probe", "job", "cells.job", "--out", "results"],
        cwd=tmp_path / "j",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    code, out, err = howlate("import", "j", "--out", "job")
    assert (code, out.split()[-1]) == (0, "job"), err
    code, _, err = howlate("run", "tiny.toml", "--out", "run")
    assert code == 0, err
    job, run = run_json(tmp_path / "job"), run_json(tmp_path / "run")
    same = ("study", "plan", "knobs", "versions", "changes", "scale", "settings", "clock", "machines")
    assert {name: job[name] for name in same} == {name: run[name] for name in same}
    assert job["facts"]["values"]["kernel.boot_id"] == run["facts"]["values"]["kernel.boot_id"]
    assert {f["check"] for f in job["findings"]} == {f["check"] for f in run["findings"]}
    names = ("id", "test", "labels")
    ours, theirs = (
        sorted([{n: c[n] for n in names} for c in cells_of(howlate, run)], key=lambda c: str(c["id"]))
        for run in ("job", "run")
    )
    assert ours == theirs
    assert howlate("compare", "job", "run")[0] == 0
    facts = tmp_path / "j" / "results" / "0" / "stdout"
    said = json.loads(facts.read_text())
    for key, value, code in (("kernel.boot_id", "other", 0), ("kernel.release", "0.1", 2)):
        said["values"][key] = value
        facts.write_text(json.dumps(said))
        got, _, err = howlate("import", "j", "--out", key)
        assert got == code, err
        shown = " ".join(howlate("show", "--all", key)[1].split())
        assert ("2 boots of" in shown) == (code == 0)
    assert 'facts.json "0.1"' in err
    facts.write_text("{}")
    code, out, err = howlate("import", "j", "--out", "without")
    shown = " ".join(howlate("show", "--all", "without")[1].split())
    assert code == 0 and "No machine facts" in shown, err
    code, _, err = howlate("show", "j")
    assert code == 2 and "howlate import j" in err


@pytest.mark.parametrize("study", sorted(studies()))
def test_a_study_is_planned_as_it_is_where_it_is_measured(study: str) -> None:
    """Every built-in one: the same cells with the same names and labels, once the machine has said its kernel."""
    asked = RunRequest(find_study(study), given=study)
    if kernels_of(asked.study):
        with pytest.raises(UsageError):
            prepare(asked, open_by_hand(Path(PROBE)))
        return
    ours, theirs = prepare(asked, open_by_hand(Path(PROBE))), prepare(asked, LocalTarget(Path(PROBE)))
    kernel = str(theirs.run.facts["values"]["kernel.release"])
    # How many CPUs "all" is, and so how much their streams hold, only the machine knows.
    assert [replace(with_kernel(cell, kernel), length=Length()) for cell in ours.run.plan.cells] == [
        replace(cell, impossible="", length=Length()) for cell in theirs.run.plan.cells
    ]


def test_a_job_that_was_ended_goes_on_with_what_is_missing(tmp_path: Path, howlate: Typed) -> None:
    """What was not reached is missing and not failed; emitted again with --out the job has only these."""
    assert howlate("run", "tiny.toml", "--emit-job", "j")[0] == 0
    lines = (tmp_path / "j" / "cells.job").read_text().splitlines()
    (tmp_path / "j" / "two.job").write_text("\n".join(lines[:3]) + "\n")
    assert probe("job", "two.job", "--out", "results", folder=tmp_path / "j").returncode == 0
    (tmp_path / "j" / "results" / "2" / "status").write_text("signal 9\n")
    (tmp_path / "j" / "results" / "2" / "stderr").write_text("")
    code, _out, err = howlate("import", "j", "--out", "r")
    shown = howlate("show", "--all", "r")[1]
    assert code == 4 and "SIGKILL" in shown and "not measured yet" in shown, err
    assert len(cells_of(howlate, ends_with=5)) == 1
    code, _, err = howlate("run", "tiny.toml", "--emit-job", "rest", "--out", "r")
    assert code == 0, err
    assert len((tmp_path / "rest" / "cells.job").read_text().splitlines()) == 1 + 3
    assert probe("job", "cells.job", "--out", "results", folder=tmp_path / "rest").returncode == 0
    code, _, err = howlate("import", "rest/results", "--out", "r")
    assert code == 0, err
    assert len(cells_of(howlate)) == 4
    code, _, err = howlate("run", "tiny.toml", "--emit-job", "more", "--out", "r")
    assert code == 2 and "already has all 4 cells" in err


def test_a_job_of_many_options_is_believed_as_the_probe_spells_them(tmp_path: Path, howlate: Typed) -> None:
    """CPUs that the probe lists, a seed that it draws, times in other units, two loads, and what it leaves out; and
    none of these streams is believed under another cell's name."""
    sets = (
        "activations=5",
        "period=1500us,2ms",
        "cpus=all",
        "dither=true",
        "load=none,cpu:20+cpu:10,nice=5",
        "deadline=0.5ms",
        "order.repetitions=1",
    )
    words = [word for text in sets for word in ("--set", text)]
    code, _, err = howlate("run", "tiny.toml", *words, "--emit-job", "j")
    assert code == 0, err
    job = tmp_path / "j"
    assert probe("job", "cells.job", "--out", "results", folder=job).returncode == 0
    code, out, err = howlate("import", "j", "--out", "r")
    assert "another measurement" not in out + err
    cells = run_json(job)["job"]["cells"]
    assert {cell["id"] for cell in cells_of(howlate)} == set(cells[1:])
    for line in range(1, len(cells)):
        shutil.copyfile(
            job / "results" / str(line % (len(cells) - 1) + 1) / "stream", tmp_path / f"{line}.stream"
        )
    for line in range(1, len(cells)):
        shutil.copyfile(tmp_path / f"{line}.stream", job / "results" / str(line) / "stream")
    code, out, err = howlate("import", "j", "--out", "turned")
    said = " ".join(howlate("show", "--all", "turned")[1].split())
    named = set(re.findall(r"j/results/(\d+)/stream is of another cell", said))
    assert code == 4 and named == set(map(str, range(1, len(cells)))), out + err


def interrupted(job: Path, results: str) -> None:
    """The job, whose first cell would never end, interrupted while that is measured."""
    lines = (job / "cells.job").read_text().splitlines()
    endless = [word for word in json.loads(lines[1]) if not word.startswith("--activations=")]
    lines[1] = json.dumps([*endless, "--duration=1h"])
    (job / "endless.job").write_text("\n".join(lines) + "\n")
    with subprocess.Popen([PROBE, "job", "endless.job", "--out", results], cwd=job) as running:
        stream = job / results / "1" / "stream"
        assert until(lambda: stream.is_file() and stream.stat().st_size > 0)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=120) == 5
    status = [(job / results / str(number) / "status").read_text().strip() for number in (1, 2)]
    assert status == ["0", "not run"]


def cell_of(howlate: Typed, run: str, cell: str, ends_with: int = 0) -> dict[str, Any]:
    return next(one for one in cells_of(howlate, run, ends_with) if one["id"] == cell)


def test_an_interrupted_job_takes_nothing_from_an_earlier_one(tmp_path: Path, howlate: Typed) -> None:
    """And the cell that it ended is missing, not failed, where no other job has it, whichever came first."""
    assert howlate("run", "tiny.toml", "--emit-job", "j")[0] == 0
    job = tmp_path / "j"
    interrupted(job, "results-2")
    code, out, err = howlate("import", "j", "--out", "alone")
    assert code == 5 and "interrupted" in out and "not measured yet" in out, out + err
    code, _, err = howlate("run", "tiny.toml", "--emit-job", "rest", "--out", "alone")
    assert code == 0 and len((tmp_path / "rest" / "cells.job").read_text().splitlines()) == 1 + 4, err
    assert probe("job", "cells.job", "--out", "results", folder=job).returncode == 0
    status = job / "results" / "0" / "status"
    interrupted_at_ns = (job / "results-2" / "0" / "status").stat().st_mtime_ns
    for name, moved_s in (("later", 3600), ("earlier", -3600)):
        at_ns = interrupted_at_ns + moved_s * 1_000_000_000
        os.utime(status, ns=(at_ns, at_ns))
        code, out, err = howlate("import", "j", "--out", name)
        assert code == 0, out + err
        assert [cell["accounting"]["recorded"] for cell in cells_of(howlate, name)] == [300] * 4


def test_a_cut_stream_takes_nothing_from_a_whole_one(tmp_path: Path, howlate: Typed) -> None:
    """A later copy that is not whole; alone it gives its whole batches. A line that was stopped before it measured
    anything (exit code 5, or SIGTERM) is an interrupted one."""
    assert howlate("run", "tiny.toml", "--emit-job", "j")[0] == 0
    job = tmp_path / "j"
    for results in ("results", "results-2"):
        assert probe("job", "cells.job", "--out", results, folder=job).returncode == 0
    stream = job / "results-2" / "1" / "stream"
    stream.write_bytes(stream.read_bytes()[:-8])
    (job / "results-2" / "2" / "status").write_text("signal 15\n")
    (job / "results-2" / "3" / "status").write_text("5\n")
    code, out, err = howlate("import", "j", "--out", "both")
    cut = run_json(job)["job"]["cells"][1]
    assert code == 0 and len(cells_of(howlate, "both")) == 4, out + err
    assert cell_of(howlate, "both", cut)["stop_reason"] == "activations"
    shutil.rmtree(job / "results")
    code, out, err = howlate("import", "j", "--out", "one")
    assert code == 5 and "interrupted" in out, out + err
    assert len(cells_of(howlate, "one", ends_with=5)) == 2
    assert cell_of(howlate, "one", cut, ends_with=5)["stop_reason"] == "killed"


def test_what_the_machine_refuses_is_not_possible_there(tmp_path: Path, howlate: Typed) -> None:
    """A plan may name a CPU that this machine does not have: the machine that is measured says whether it has it."""
    code, _, err = howlate("run", "tiny.toml", "--set", "cpus=0,4095", "--emit-job", "j")
    assert code == 0, err
    probe("job", "cells.job", "--out", "results", folder=tmp_path / "j")
    code, _out, err = howlate("import", "j", "--out", "r")
    assert len(cells_of(howlate)) == 4
    run = run_json(tmp_path / "r")
    assert [c["labels"]["cpus"] for c in run["plan"]["cells"] if c["impossible"]] == ["4095"] * 4
    assert code == 0 and "CPU 4095 is" in howlate("show", "--all", "r")[1], err


def test_emit_job_is_refused_where_it_makes_no_sense(tmp_path: Path, howlate: Typed) -> None:
    for words, said in (
        (("--emit-job", "j", "--target", "local"), "Leave --target out"),
        (("--emit-job", "j", "--target-arch", "arm64"), '"aarch64"'),
        (("--target-arch", "aarch64"), "Leave --target-arch out"),
        (("--emit-job", "j", "--set", "period=1us"), "period"),
        (("--emit-job", "."), "exists already"),
    ):
        code, _, err = howlate("run", "tiny.toml", *words)
        assert code == 2 and said in err, err
    assert not (tmp_path / "j").exists()


def test_a_table_of_samples_says_what_they_were_measured_under(tmp_path: Path, howlate: Typed) -> None:
    measured(tmp_path / "a.stream", "--dither")
    measured(tmp_path / "b.stream", test="clock")
    assert howlate("import", "a.stream", "b.stream", "--out", "r")[0] == 0
    code, _, err = howlate("export", "r", "--format", "csv", "--with-parameters", "-o", "t.csv")
    assert code == 0, err
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, last = rows[0], rows[-1]
    assert (first["activations"], first["dither"], first["warm-up"]) == ("40", "on", "100ms")
    assert (last["points"], first["points"], last["dither"]) == ("50", "nan", "nan")
    assert int(first["latency_ns"]) >= 0 and first["kernel"] == last["kernel"]
    assert not {"stream", "quiet", "json", "progress"} & first.keys()
    code, _, err = howlate("export", "r", "--format", "text3", "--with-parameters")
    assert code == 2 and "--with-parameters" in err
