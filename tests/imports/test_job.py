"""What a job's folder holds is believed only where it is what the job asked for."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from fakes import command_of
from howlate.errors import DamagedError, ExitCode, UsageError
from howlate.imports.flow import as_run
from howlate.imports.formats import Measured, RunImporter, find_importer
from howlate.measure.execute import Tally
from howlate.measure.session import Session
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import Study, Value
from howlate.store import elsewhere
from howlate.store.elsewhere import JOB
from howlate.store.job_folder import JobFolder
from store.streams import stream
from swept import crossed

DEFAULTS = {
    "timer": "clock_nanosleep",
    "period": "1ms",
    "policy": "fifo:80",
    "cpus": "",
    "threshold": "",
    "warm-up": "100ms",
    "record": "stream",
    "late-policy": "skip",
}
FACTS = {
    "kernel.release": "6.1",
    "kernel.version": "#1",
    "kernel.machine": "riscv64",
    "cpu.online": "0-3",
    "kernel.boot_id": "b",
}
BRIEF = {"kernel_release": "6.1", "kernel_version": "#1", "machine": "riscv64", "cpus_online": "0-3"}
PERIODS = ("1ms", "2ms")
OLDER_PROBE = {"given": None}
"""Its stream does not say which options were given."""


def cell(period: str, repetition: int) -> Cell:
    parameters: dict[str, Value] = {"period": period, "activations": "3", "load": ()}
    return Cell(f"{period}-{repetition}", "cyclic", parameters, {"period": period}, repetition, 0.1)


CELLS = tuple(cell(period, repetition) for period in PERIODS for repetition in (1, 2))
NAMES = [one.id for one in CELLS]


def measured(one: Cell, t0_ns: int, head: Mapping[str, Any] | None = None, **changed: Any) -> bytes:
    """What the probe writes for a cell; `changed`: parameters that were otherwise."""
    asked = {name: list(its) if isinstance(its, tuple) else its for name, its in one.parameters.items()}
    chosen = {
        "cpus": "1",
        "policy": "fifo:80",
        "stream": "stream",
        "quiet": True,
        "dither": False,
        "knob": [],
    }
    parameters = {
        **DEFAULTS,
        **chosen,
        **asked,
        **{name.replace("_", "-"): its for name, its in changed.items()},
    }
    told = {name: value for name, value in parameters.items() if value != ""}
    given = [*asked, "stream", "quiet", *(name.replace("_", "-") for name in changed)]
    return stream(
        [1, 2, 3],
        header_changes={
            "parameters": told,
            "given": given,
            "t0_ns": t0_ns,
            "facts": BRIEF,
            **(head or {}),
        },
    )


class Job(Struct):
    """A folder that `--emit-job` wrote and that was measured."""

    path: Path

    def put(self, line: int, data: bytes, results: str = "results", status: str = "0") -> Path:
        folder = self.path / results / str(line)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "status").write_text(f"{status}\n")
        (folder / "stdout").write_bytes(b"")
        (folder / "stream").write_bytes(data)
        return folder / "stream"

    def facts(self, results: str = "results", at_s: int = 0) -> None:
        folder = self.path / results / "0"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stdout").write_text(json.dumps({"facts": 1, "values": FACTS}))
        (folder / "status").write_text("0\n")
        os.utime(folder / "status", (at_s, at_s))

    def read(self) -> Measured:
        importer = find_importer(self.path)
        assert isinstance(importer, RunImporter) and importer.name == "job"
        return importer.read([self.path], {})

    def taken(self, name: str = "run") -> tuple[Session, Tally]:
        return as_run(self.read(), self.path.parent / name)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    study = Study("tiny", "Tiny", "How late?", "cyclic", axes={"period": PERIODS})
    run = Run("id", "2026-01-02T03:04:05Z", study, Plan(CELLS), "by hand", versions={"probe": "0.1.0"})
    lines = [(one, ["howlate-probe", *command_of(one)]) for one in CELLS]
    JobFolder.write(tmp_path / "job", run, lines, DEFAULTS, None, "read me", {"cyclic": DEFAULTS})
    made = Job(tmp_path / "job")
    made.facts()
    for line, one in enumerate(CELLS, 1):
        made.put(line, measured(one, 1000 * line))
    return made


def said(tally: Tally) -> dict[str, str]:
    return {failure.cell.id: failure.message for failure in tally.failures}


def test_what_the_job_asked_for_is_believed(job: Job) -> None:
    session, tally = job.taken()
    assert session.folder.whole_cells() == NAMES
    assert (tally.exit_code, job.read().notes, job.read().run.warnings) == (ExitCode.DONE, (), ())


HEADS: dict[str, dict[str, Any]] = {
    "told": {},
    "untold": OLDER_PROBE,
    "told in part": {"given": ["period", "activations"]},
}
OTHERWISE: dict[str, dict[str, Any]] = {
    "period 5ms instead of 1ms": {"period": "5ms"},
    "activations 300 instead of 3": {"activations": "300"},
    "load cpu:50 instead of none": {"load": ["cpu:50"]},
    "timer timerfd instead of clock_nanosleep": {"timer": "timerfd"},
    "dither on instead of off": {"dither": True},
    "threshold 100us instead of none": {"threshold": "100us"},
    "policy fifo:20 instead of fifo:80": {"policy": "fifo:20"},
    "knob thp=never instead of none": {"knob": ["thp=never"]},
    "warm-up 9ms instead of 100ms": {"warm_up": "9ms"},
}


@pytest.mark.parametrize(("head", "why"), crossed(["told", "untold"], [*OTHERWISE]))
def test_a_stream_that_was_measured_otherwise_is_not_believed(job: Job, head: str, why: str) -> None:
    """The cell is missing, with a sentence and a remedy; the others are there."""
    job.put(1, measured(CELLS[0], 77, HEADS[head], **OTHERWISE[why]))
    session, tally = job.taken()
    assert session.folder.whole_cells() == NAMES[1:]
    assert tally.exit_code is ExitCode.BROKEN
    assert set(said(tally)) == {NAMES[0]} and said(tally)[NAMES[0]].endswith(why)
    assert "--emit-job" in tally.failures[0].remedy


SPELT = {
    "period": "1000us",
    "cpus": "0-3",
    "policy": "other",
    "record": "memory",
    "seed": "4711",
    "duration": "10s",
    "new_option": "of a later probe",
}


@pytest.mark.parametrize(("head", "option"), crossed(["told in part", "untold"], [*SPELT]))
def test_what_the_probe_chooses_or_spells_otherwise_is_believed(job: Job, head: str, option: str) -> None:
    job.put(1, measured(CELLS[0], 77, HEADS[head], **{option: SPELT[option]}))
    assert job.taken()[0].folder.whole_cells() == NAMES


def test_a_choice_of_the_probes_is_not_believed_where_somebody_else_made_it(job: Job) -> None:
    job.put(1, measured(CELLS[0], 77, policy="other"))
    assert "policy other instead" in said(job.taken()[1])[NAMES[0]]


def test_a_stream_of_another_test_is_not_believed(job: Job) -> None:
    job.put(2, measured(CELLS[1], 77, {"test": "clock"}))
    session, tally = job.taken()
    assert session.folder.whole_cells() == [NAMES[0], *NAMES[2:]]
    assert "test clock instead" in said(tally)[NAMES[1]]


def test_a_copied_stream_is_one_measurement(job: Job) -> None:
    """Under a repetition's name nothing but the measurement itself tells; the first cell keeps it."""
    path = job.put(2, (job.path / "results" / "1" / "stream").read_bytes())
    session, tally = job.taken()
    assert session.folder.whole_cells() == [NAMES[0], *NAMES[2:]]
    assert set(said(tally)) == {NAMES[1]} and NAMES[0] in said(tally)[NAMES[1]]
    assert str(path) in said(tally)[NAMES[1]]
    assert tally.exit_code is ExitCode.BROKEN


def test_a_copied_stream_is_not_believed_in_a_later_import_either(job: Job) -> None:
    job.put(2, b"", status="not run")
    assert job.taken()[1].exit_code is not ExitCode.DONE
    job.put(1, b"", status="not run")
    job.put(2, measured(CELLS[0], 1000))
    session, tally = job.taken()
    assert session.folder.whole_cells() == [NAMES[0], *NAMES[2:]]
    assert NAMES[0] in said(tally)[NAMES[1]]


def test_what_is_not_believed_takes_nothing_from_other_results(job: Job) -> None:
    """Neither a stream with another period nor a copy; a note says that they were left out."""
    job.facts("results-2", at_s=99)
    for line, data in ((1, measured(CELLS[0], 77, period="5ms")), (2, measured(CELLS[1], 1000))):
        job.put(line, data, "results-2")
    session, tally = job.taken()
    assert (session.folder.whole_cells(), tally.exit_code) == (NAMES, ExitCode.DONE)
    other, copy = job.read().notes
    assert "period 5ms instead of 1ms" in other and NAMES[0] in copy


def test_a_cut_and_an_altered_stream_are_told(job: Job) -> None:
    whole = measured(CELLS[0], 77)
    job.put(1, whole[:-8])
    altered = bytearray(measured(CELLS[1], 78))
    altered[altered.rindex(b"stop_reason")] ^= 1
    job.put(2, bytes(altered))
    found = job.read()
    assert found.damaged
    assert ["is cut" in found.notes[0], "is damaged" in found.notes[1]] == [True, True]
    session, _tally = job.taken()
    assert [summary.valid for summary in session.folder.summaries()] == [False, False, True, True]
    job.put(2, b"no stream at all")
    assert NAMES[1] in said(job.taken("other")[1])


def test_streams_of_another_machine_are_refused(job: Job) -> None:
    for name, value, words in (
        ("machine", "aarch64", 'architecture "aarch64", facts.json "riscv64"'),
        ("kernel_version", "#2", 'build of the kernel "#2"'),
    ):
        job.put(1, measured(CELLS[0], 77, {"facts": {**BRIEF, name: value}}))
        with pytest.raises(UsageError, match=words):
            job.read()


def test_a_cpu_that_was_parked_in_between_costs_no_cell(job: Job) -> None:
    job.put(1, measured(CELLS[0], 77, {"facts": {**BRIEF, "cpus_online": "0-1"}}))
    found = job.read()
    values = found.run.warnings[0].values
    assert (values["value"], values["before"]) == ("0-1", "0-3")
    assert CELLS[0].id in found.streams


def test_another_version_of_the_probe_is_mentioned(job: Job) -> None:
    job.put(1, measured(CELLS[0], 77, {"probe": "0.0.9"}))
    (warning,) = job.read().run.warnings
    assert (warning.values["value"], warning.values["before"]) == ("0.0.9", "0.1.0")


def test_a_job_of_an_older_howlate_has_the_defaults_of_one_test(job: Job) -> None:
    file = job.path / "run.json"
    value = json.loads(file.read_text())
    del value["checksum"], value["job"]["defaults_by_test"]
    file.write_text(json.dumps(value))
    job.put(1, measured(CELLS[0], 77, timer="timerfd"))
    assert "timer timerfd instead" in said(job.taken()[1])[NAMES[0]]


def test_an_altered_plan_is_not_believed(job: Job) -> None:
    file = job.path / "run.json"
    file.write_text(file.read_text().replace("2ms", "3ms"))
    with pytest.raises(DamagedError, match="changed after howlate wrote it") as caught:
        job.read()
    assert "--emit-job" in caught.value.remedy


def test_symbolic_links_are_not_followed(job: Job, tmp_path: Path) -> None:
    """A folder that came from elsewhere may not name files of this machine."""
    stream_file = job.path / "results" / "1" / "stream"
    shutil.move(stream_file, tmp_path / "secret")
    stream_file.symlink_to(tmp_path / "secret")
    stderr = job.path / "results" / "2" / "stderr"
    (tmp_path / "words").write_text("secret words")
    stderr.symlink_to(tmp_path / "words")
    (job.path / "results" / "2" / "status").write_text("4\n")
    _session, tally = job.taken()
    assert set(said(tally)) == set(NAMES[:2])
    assert all(text.endswith("is a symbolic link") for text in said(tally).values())
    shutil.move(job.path / "results", tmp_path / "outside")
    (job.path / "results").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match=r"no results; .*symbolic link"):
        job.read()


def test_what_is_ignored_in_the_folder_is_said(job: Job) -> None:
    (job.path / "notes").mkdir()
    job.put(99, measured(CELLS[0], 77))
    notes, line = job.read().notes
    assert str(job.path / "notes") in notes and str(job.path / "results" / "99") in line


def test_a_job_that_is_not_whole_says_what_is_missing(job: Job) -> None:
    (job.path / JOB).unlink()
    with pytest.raises(UsageError, match=r"cells\.job is missing") as caught:
        find_importer(job.path)
    assert "the whole folder" in caught.value.remedy
    (job.path / "run.json").unlink()
    importer = find_importer(job.path)
    assert isinstance(importer, RunImporter) and importer.name == "stream"
    found = importer.read([job.path / "results"], {})
    assert len(found.streams) == 4
    assert "cells.job" in found.notes[-1]


# Folders of streams


def folder_of(path: Path, **streams: bytes) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, data in streams.items():
        (path / f"{name}.stream").write_bytes(data)
    return path


def test_only_folders_of_a_job_are_looked_into(tmp_path: Path) -> None:
    """Names with spaces and letters of any script; what is left out is said."""
    top = folder_of(tmp_path / "Messung März 測定", idle=measured(CELLS[0], 1))
    folder_of(top / "deep" / "deeper", far=measured(CELLS[0], 2))
    (top / "results" / "1").mkdir(parents=True)
    (top / "results" / "1" / "stdout").write_text("")
    (top / "processes" / "1").mkdir(parents=True)
    (top / "processes" / "1" / "status").write_text("as in /proc")
    folder_of(top / "7", far=measured(CELLS[0], 4))
    (top / "results" / "1" / "stream").write_bytes(measured(CELLS[0], 3))
    (top / "notes.txt").write_text("mine")
    (top / "latest").symlink_to(top / "idle.stream")
    (top / "home").symlink_to("/")
    importer = find_importer(top)
    assert isinstance(importer, RunImporter) and importer.name == "stream"
    found = importer.read([top], {})
    assert sorted(path.name for path in found.streams.values() if isinstance(path, Path)) == [
        "idle.stream",
        "stream",
    ]
    folders, file, links = sorted(found.notes, key=lambda note: note.count(str(top)), reverse=True)
    assert all(str(top / name) in folders for name in ("deep", "processes", "7"))
    links, file = (file, links) if "latest" in file else (links, file)
    assert str(top / "notes.txt") in file and str(top / "home") in links


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path, **{f"s{number}": measured(CELLS[0], number) for number in range(4)})
    monkeypatch.setattr(elsewhere, "MOST_ENTRIES", 3)
    with pytest.raises(UsageError, match="more than 3 files"):
        find_importer(tmp_path)


def test_what_is_no_measurement_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing.stream").write_bytes(b"")
    (tmp_path / "words").write_text("words")
    folder_of(tmp_path / "outer" / "inner", a=measured(CELLS[0], 1))
    os.mkfifo(tmp_path / "pipe")
    archive = shutil.make_archive(str(tmp_path / "board"), "gztar", tmp_path / "outer")
    plain = shutil.make_archive(str(tmp_path / "board"), "tar", tmp_path / "outer")
    zipped = shutil.make_archive(str(tmp_path / "board"), "zip", tmp_path / "outer")
    for name, words in (
        ("empty", "neither cells.job nor streams"),
        ("outer", r"nor streams of the probe; .*inner"),
        ("nothing.stream", "is empty"),
        ("words", "format is unknown"),
        ("pipe", "is not a regular file"),
        (archive, "is compressed"),
        (plain, "is compressed"),
        (zipped, "is compressed"),
    ):
        with pytest.raises(UsageError, match=words) as caught:
            find_importer(tmp_path / name)
        assert caught.value.remedy
    with pytest.raises(UsageError, match="is not a regular file"):  # and nobody waits for a writer
        find_importer(tmp_path / "pipe", "cyclictest")


def test_the_facts_are_looked_for_once_however_many_lines_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked for beside each line, 1,200 lines took more than a minute."""
    asked: list[Path] = []
    glob = Path.glob

    def counted(path: Path, pattern: str) -> Iterator[Path]:
        asked.append(path)
        return iter(list(glob(path, pattern)))

    results = Job(tmp_path / "job")
    for number in range(20):
        results.put(number, measured(CELLS[0], number))
    importer = find_importer(tmp_path / "job" / "results")
    assert isinstance(importer, RunImporter)
    monkeypatch.setattr(Path, "glob", counted)
    assert len(importer.read([tmp_path / "job" / "results"], {}).streams) == 20
    assert asked == [tmp_path / "job" / "results"]
