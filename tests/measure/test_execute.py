"""Executing a plan: whole cells stay whole, failed ones are repeated, a full disk loses nothing."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import FakeTarget, study
from heard import Heard
from howlate.cli._progress import described
from howlate.errors import REMEDIED, DamagedError, ExitCode, StorageError, TargetError, UsageError
from howlate.measure.execute import (
    PREFIX,
    Failure,
    Tally,
    execute,
    labels_in_force,
    stream_place,
)
from howlate.measure.prepare import RunRequest, prepare
from howlate.measure.session import Session, begin, ended_early, newest_unfinished, reopen
from howlate.model.facts import Aim
from howlate.model.plan import Cell, Plan
from howlate.model.run import NOT_EXPLAINED
from howlate.model.study import Order, Value
from howlate.plan.aim import aim_of
from howlate.store import ingest as ingesting
from howlate.store import summarise as summarising
from howlate.store.loaded import load_run
from howlate.store.lock import locked
from howlate.store.run_folder import RunFolder
from howlate.system.scratch import remove_stale
from howlate.targets import Outcome, Progress
from howlate.words.say import english
from howlate.words.statement import Statement
from rights import without_rights
from swept import crossed

ASKED = RunRequest(study(axes={"load": ("none", "cpu:50", "cpu:100")}, order=Order("interleaved", 0, 2)))


def run(target: FakeTarget, out: Path, asked: RunRequest = ASKED) -> tuple[Session, Tally, Heard]:
    prepared, heard = prepare(asked, target), Heard()
    session = begin(prepared, out)
    tally = execute(session.folder, session.run.plan, session.cells, target, heard)
    return session, tally, heard


def test_a_whole_run(tmp_path: Path) -> None:
    session, tally, heard = run(FakeTarget(), tmp_path / "r")
    assert tally == Tally(6, ())
    assert tally.exit_code is ExitCode.DONE
    assert heard.made == [c.id for c in session.run.plan.cells] == session.folder.whole_cells()
    summary = session.folder.summaries()[0]
    assert summary.labels["kernel"] == "6.1.0-test"
    assert summary.columns["latency_ns"].count == 100
    assert (
        len(heard.left) >= 6 and min(heard.left) >= 0
    )  # how it falls: test_cost.py, with a clock of its own
    assert not list((tmp_path / "r" / "cells").glob(".*"))


def test_a_run_that_ends_with_the_first_late_cell_is_whole(tmp_path: Path) -> None:
    target = FakeTarget({"none": ["broken"], "cpu:50": ["late"]})
    prepared, heard = prepare(ASKED, target), Heard()
    session = begin(prepared, tmp_path / "r")
    tally = execute(session.folder, session.run.plan, session.cells, target, heard, ends_early=True)
    assert (tally.whole, tally.exceeded, len(tally.failures)) == (1, 1, 1)
    assert heard.started == target.measured == [cell.id for cell in session.cells[:2]]
    before = session.run.plan.cells
    session = ended_early(session)
    assert session.run.plan.cells == before[:2]
    assert load_run(session.folder.path).run == session.run
    (note,) = set(session.run.warnings) - set(prepared.run.warnings)
    assert (note.rule, note.values) == ("run.ended-at-threshold", {"cells": 2, "planned": 6})
    assert not reopen(session.folder)[0].cells[1:]  # the broken one alone is still to be measured
    assert ended_early(session) is session


def test_what_fails_is_kept_apart_and_repeated_alone(tmp_path: Path) -> None:
    out = tmp_path / "r"
    _, tally, _ = run(FakeTarget({"cpu:50": ["broken", "whole"], "cpu:100": ["garbage", "impossible"]}), out)
    assert tally.whole == 3
    assert [f.exit_code for f in tally.failures] == [ExitCode.BROKEN, ExitCode.BROKEN, ExitCode.NOT_POSSIBLE]
    assert tally.exit_code is ExitCode.BROKEN
    folder = RunFolder.open(out)
    assert len(folder.failed_cells()) == 3
    assert all((folder.part_path(f.cell.id) / "stream").exists() for f in tally.failures[:2])
    before = {
        cell: (folder.cell_path(cell) / "summary.json").stat().st_mtime_ns for cell in folder.whole_cells()
    }
    _, seen = reopen(folder)
    assert {f.message for f in seen.failures} == {f.message for f in tally.failures}

    target = FakeTarget()
    session, tally, _ = run(target, out)
    assert sorted(target.measured) == sorted(c.id for c in session.cells)
    assert not set(target.measured) & set(before)
    assert tally == Tally(6, ())
    for cell, time in before.items():
        assert (folder.cell_path(cell) / "summary.json").stat().st_mtime_ns == time
    assert folder.failed_cells() == {}
    assert any("continued at" in english(w) for w in session.run.warnings)


def test_nothing_possible_and_nothing_left(tmp_path: Path) -> None:
    never = {load: ["impossible"] * 2 for load in ("none", "cpu:50", "cpu:100")}
    _, tally, _ = run(FakeTarget(never), tmp_path / "r")
    assert tally.exit_code is ExitCode.NOT_POSSIBLE
    run(FakeTarget(), tmp_path / "r")
    target = FakeTarget()
    _, tally, _ = run(target, tmp_path / "r")
    assert target.measured == []
    assert tally.exit_code is ExitCode.DONE


def test_an_impossible_timer_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    asked = RunRequest(study(axes={"timer": ("io_uring", "spin")}))
    _, tally, heard = run(FakeTarget(), tmp_path / "r", asked)
    assert [f.message.partition(":")[0] for f in heard.failures] == ["io_uring"]
    assert tally.whole == 1
    assert tally.exit_code is ExitCode.DONE


def test_an_interrupted_cell_is_not_whole(tmp_path: Path) -> None:
    out = tmp_path / "r"
    with pytest.raises(KeyboardInterrupt):
        run(FakeTarget({"cpu:50": ["interrupt"]}), out)
    folder = RunFolder.open(out)
    assert len(folder.whole_cells()) == 1
    (failed,) = folder.failed_cells().values()
    assert failed == {"exit_code": 5, "message": "interrupted", "rule": "run.interrupted", "values": {}}
    _, tally, _ = run(FakeTarget(), out)
    assert tally == Tally(6, ())


def test_a_remedy_is_kept_told_and_shown(tmp_path: Path) -> None:
    class Silent(FakeTarget):
        def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
            raise TargetError(REMEDIED(problem="the probe has said nothing", remedy="see `howlate doctor`"))

    session, tally, _ = run(Silent(), tmp_path / "r", RunRequest(study(axes={"load": ("none",)})))
    _, seen = reopen(session.folder)
    assert tally.failures == seen.failures
    assert [f.remedy for f in tally.failures] == ["see `howlate doctor`"]
    assert "has said nothing. See `howlate doctor`" in described(tally.failures[0], ("load",))
    (error,) = load_run(session.folder.path).failed.values()
    assert (error["message"], error["remedy"]) == (tally.failures[0].message, "see `howlate doctor`")


def test_an_exceeded_threshold_is_a_whole_cell_and_code_one_also_when_nothing_is_left_to_measure(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        _, tally, _ = run(FakeTarget({"cpu:50": ["late"]}), tmp_path / "r")
        assert tally == Tally(6, (), 1)
        assert tally.exit_code is ExitCode.FAILED
    _, tally, _ = run(FakeTarget({"cpu:50": ["late"], "none": ["broken"]}), tmp_path / "other")
    assert tally.exit_code is ExitCode.BROKEN


def test_a_full_disk_ends_the_run_and_keeps_what_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(stream: Path, folder: Path) -> None:
        raise StorageError(
            REMEDIED(
                problem=f"{folder} could not be written: No space left on device", remedy="make room there"
            )
        )

    out, real, calls = tmp_path / "r", ingesting.ingest, iter(range(100))
    monkeypatch.setattr(ingesting, "ingest", lambda s, f: real(s, f) if next(calls) < 2 else full(s, f))
    with pytest.raises(StorageError, match="No space left"):
        run(FakeTarget(), out)
    assert len(RunFolder.open(out).whole_cells()) == 2


@pytest.mark.parametrize(
    ("step", "end", "place"),
    crossed(
        ["ingest", "summarise"],
        [KeyboardInterrupt(), StorageError(REMEDIED(problem="the disk is full", remedy=""))],
        ["memory", "disk"],
    ),
)
def test_what_was_measured_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, end: BaseException, place: str
) -> None:
    """An end amid a cell's statistics: the next call makes these, of the same samples."""
    out, of = tmp_path / "r", {"ingest": ingesting, "summarise": summarising}[step]
    monkeypatch.setattr("howlate.measure.execute.stream_place", lambda expected: place)
    real, calls = getattr(of, step), iter(range(100))

    def ended(*arguments: Any, **named: Any) -> Any:
        if next(calls) == 2:
            raise end
        return real(*arguments, **named)

    first, second = FakeTarget(), FakeTarget()
    with monkeypatch.context() as patch:
        patch.setattr(of, step, ended)
        with pytest.raises(type(end)):
            run(first, out)
    folder = RunFolder.open(out)
    (failed,) = folder.failed_cells()
    assert failed == first.measured[-1]
    _, tally, heard = run(second, out)
    assert tally == Tally(6, ())
    assert len(first.measured) == len(second.measured) == 3
    assert not set(first.measured) & set(second.measured)
    assert heard.made[0] == failed
    assert not list((out / "cells").glob(".*"))
    assert {p.name for p in folder.cell_path(failed).iterdir()} == {
        p.name for p in folder.cell_path(first.measured[0]).iterdir()
    }


def test_a_kill_amid_the_statistics_does_not_lose_the_samples(tmp_path: Path) -> None:
    session, _, _ = run(FakeTarget(), tmp_path / "r")
    folder, target = session.folder, FakeTarget()
    cells = folder.whole_cells()
    for cell in cells[:3]:
        folder.cell_path(cell).rename(folder.part_path(cell))
        (folder.part_path(cell) / "summary.json").unlink()
        (folder.part_path(cell) / ".spill").mkdir()
    (folder.part_path(cells[1]) / "cell.json").unlink()
    (folder.part_path(cells[2]) / "samples.parquet").write_bytes(b"PAR1")
    _, tally, _ = run(target, tmp_path / "r")
    assert tally == Tally(6, ())
    assert target.measured == cells[1:3]
    assert not list((tmp_path / "r" / "cells").glob("**/.*"))


def test_other_plans_targets_and_kernels_do_not_go_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "r"
    run(FakeTarget(), out)
    for asked in (replace(ASKED, changes=("activations=50",)), replace(ASKED, scale=0.5)):
        with pytest.raises(UsageError, match="holds another plan"):
            begin(prepare(asked, FakeTarget()), out)
    facts = {"facts": 1, "values": {"kernel.release": "6.2"}, "missing": {}}
    monkeypatch.setattr(FakeTarget, "facts", lambda self, machine="": facts)
    with pytest.raises(UsageError, match=r"on another kernel: 6\.1\.0-test then"):
        begin(prepare(ASKED, FakeTarget()), out)


MACHINE = {
    "kernel.release": "6.1.0-test",
    "kernel.version": "#1 SMP",
    "kernel.cmdline": "quiet",
    "kernel.boot_id": "b",
    "cpu.model": "A",
    "cpu.online": "0-3",
}


def on_machine(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    values = MACHINE | {name.replace("_", ".", 1): value for name, value in changes.items()}
    facts = {"facts": 1, "values": values, "missing": {}}
    monkeypatch.setattr(FakeTarget, "facts", lambda self, machine="": facts)


def test_a_run_goes_on_on_the_same_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_machine(monkeypatch)
    run(FakeTarget({"cpu:50": ["broken"]}), tmp_path / "r")
    for change in ({"cpu_model": "B"}, {"cpu_online": "0-1"}, {"kernel_cmdline": "quiet isolcpus=3"}):
        on_machine(monkeypatch, **change)
        with pytest.raises(UsageError, match=rf"was measured .* then, {next(iter(change.values()))} now"):
            begin(prepare(ASKED, FakeTarget()), tmp_path / "r")
    on_machine(monkeypatch, kernel_boot_id="c")
    session, tally, _ = run(FakeTarget(), tmp_path / "r")
    assert tally == Tally(6, ())
    assert [w for w in session.run.warnings if "rebooted" in english(w)]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError):
        run(FakeTarget(), tmp_path)
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").write_text("{")
    with pytest.raises(DamagedError):
        run(FakeTarget(), tmp_path / "r")


@pytest.mark.parametrize("closed", ["above", "above/r"])
def test_a_folder_that_may_not_be_searched_is_not_gone_on_with(tmp_path: Path, closed: str) -> None:
    out = tmp_path / "above" / "r"
    run(FakeTarget(), out)
    prepared = prepare(ASKED, FakeTarget())
    with without_rights(tmp_path / closed), pytest.raises(StorageError, match="Permission denied"):
        begin(prepared, out)
    assert begin(prepared, out).cells == ()


def test_one_howlate_at_a_time_measures_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with (
        locked(tmp_path / "a"),
        pytest.raises(UsageError, match="another howlate is measuring"),
        locked(tmp_path / "a"),
    ):
        pass
    with locked(tmp_path / "a"):
        pass


def test_resume_finds_the_newest_unfinished_run_of_the_study(tmp_path: Path) -> None:
    run(FakeTarget(), tmp_path / "whole")
    run(FakeTarget({"cpu:50": ["broken"]}), tmp_path / "older")
    run(FakeTarget({"cpu:50": ["broken"]}), tmp_path / "newer")
    run(FakeTarget({"none": ["broken"]}), tmp_path / "other", RunRequest(study(id="other")))
    for day, name in enumerate(("older", "newer", "whole", "other"), 1):
        folder = RunFolder.open(tmp_path / name)
        folder.write_run(replace(folder.read_run(), started=f"2026-01-0{day}T00:00:00Z"))
        os.utime(tmp_path / name, (10_000 - day, 10_000 - day))  # a report was made in the older one
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    assert newest_unfinished("made", tmp_path) == tmp_path / "newer"
    with pytest.raises(UsageError, match="no unfinished run of absent"):
        newest_unfinished("absent", tmp_path)


def test_where_rights_are_missing_the_policy_falls_back_and_says_so() -> None:
    asked = RunRequest(study({"policy": "fifo:80", "activations": "100"}), without_rights=True)
    run_ = prepare(asked, FakeTarget(not_permitted=["fifo:80"])).run
    assert {c.labels["policy"] for c in run_.plan.cells} == {"other"}
    assert (run_.warnings[0].rule, run_.warnings[0].values["policy"]) == ("run.without-right", "fifo:80")
    assert run_.changes == {"policy": "other"}
    run_ = prepare(asked, FakeTarget()).run
    assert {c.labels["policy"] for c in run_.plan.cells} == {"fifo:80"}
    assert run_.warnings == ()
    run_ = prepare(asked, FakeTarget(not_permitted=["fifo:80", "other"])).run
    assert {c.labels["policy"] for c in run_.plan.cells} == {"fifo:80"}


@pytest.mark.parametrize(
    ("not_permitted", "policy", "explained"),
    [
        ([], "fifo:80", True),
        (["explain"], "fifo:80", False),
        (["fifo:80"], "other", True),
        (["fifo:80", "explain"], "other", False),
        (["fifo:80", "other"], "fifo:80", True),
    ],
)
def test_late_samples_are_explained_where_that_is_possible_whatever_the_policy(
    not_permitted: list[str], policy: str, explained: bool
) -> None:
    settings = {"policy": "fifo:80", "activations": "100"}
    asked = RunRequest(study(settings), without_rights=True, explain=True)
    run_ = prepare(asked, FakeTarget(not_permitted=not_permitted)).run
    assert {c.labels["policy"] for c in run_.plan.cells} == {policy}
    assert {c.parameters.get("explain", False) for c in run_.plan.cells} == {explained}
    said = [english(warning) for warning in run_.warnings if warning.rule == NOT_EXPLAINED.id]
    assert bool(said) is not explained
    assert run_.changes == ({"policy": "other"} if policy == "other" else {})


def test_what_a_user_says_about_explaining_stays() -> None:
    asked = RunRequest(study({"activations": "100", "explain": False}), explain=True)
    run_ = prepare(asked, FakeTarget(not_permitted=["explain"])).run
    assert not any(c.parameters.get("explain") for c in run_.plan.cells) and run_.warnings == ()


def test_streams_go_to_memory_while_they_fit(tmp_path: Path) -> None:
    assert stream_place(10 * 2**30) == "disk"
    assert stream_place(1, tmp_path / "absent") == "disk"


def test_memory_of_a_killed_howlate_is_freed_and_of_a_living_one_is_not(tmp_path: Path) -> None:
    for name in ("howlate-old", "howlate-used", "howlate-new", "else"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stream").write_bytes(b"x")
        if name != "howlate-new":
            os.utime(tmp_path / name, (1, 1))
    used = os.open(tmp_path / "howlate-used", os.O_RDONLY)
    fcntl.flock(used, fcntl.LOCK_EX)
    remove_stale(tmp_path, PREFIX)
    os.close(used)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["else", "howlate-new", "howlate-used"]


def test_memory_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / "howlate-anothers").mkdir()
    with without_rights(tmp_path / "howlate-anothers"):
        remove_stale(Path(), PREFIX)
    assert (tmp_path / "howlate-anothers").exists()


def test_labels_say_what_was_in_force() -> None:
    threads = [{"cpu": 1, "policy": "other"}, {"cpu": 3, "policy": "other"}]
    labels = labels_in_force({"policy": "fifo:80", "load": "none"}, {"in_force": {"threads": threads}})
    assert labels == {"policy": "other", "load": "none", "cpu": "1,3"}
    headers: list[object] = [None, [], {"in_force": 5}, {"in_force": {"threads": [None, {"cpu": "x"}]}}]
    for header in headers:
        assert labels_in_force({"load": "none"}, header) == {"load": "none"}


NOTHING = Statement.verbatim("")


def test_exit_codes_of_a_run() -> None:
    cell = prepare(ASKED, FakeTarget()).run.plan.cells[0]

    def code(whole: int, *failures: ExitCode) -> ExitCode:
        return Tally(whole, tuple(Failure(cell, f, NOTHING) for f in failures)).exit_code

    no, wrong, broken = ExitCode.NOT_POSSIBLE, ExitCode.USAGE, ExitCode.BROKEN
    assert code(3) is code(1, no) is ExitCode.DONE
    assert code(0, no, no) is no
    assert code(0, wrong, no) is wrong
    assert Tally(2, (), 0, 1).exit_code is ExitCode.INCONCLUSIVE
    assert Tally(2, (Failure(cell, no, NOTHING),), 0, 1).exit_code is ExitCode.INCONCLUSIVE
    assert Tally(2, (), 1, 1).exit_code is ExitCode.FAILED
    assert Tally(2, (Failure(cell, broken, NOTHING),), 0, 1).exit_code is broken
    assert code(1, wrong) is code(0, wrong, broken) is code(2, broken) is broken


@pytest.mark.parametrize(
    ("settings", "aim"),
    [
        ({}, Aim()),
        ({"cpus": "0-1", "policy": "rr:7"}, Aim((0, 1), "rr", 7)),
        ({"cpus": "all"}, Aim(every=True)),
        ({"policy": "other"}, Aim((), "other", 0)),
        ({"policy": "deadline:1ms:2ms:2ms"}, Aim((), "deadline", 0, every=True)),
        ({"policy": "deadline:1ms:2ms:2ms", "knob": ("cpuset=1-2",)}, Aim((1, 2), "deadline", 0)),
        ({"knob": ("cpuset=1-2",)}, Aim()),
    ],
)
def test_the_doctor_judges_the_task_that_the_study_measures(settings: dict[str, Value], aim: Aim) -> None:
    cell = Cell("c", "cyclic", settings, {}, 1, 1.0)
    assert aim_of(Plan((cell,)), {"cpus": "", "policy": "fifo:80"}) == aim


def test_a_run_without_a_valid_cell_is_inconclusive(tmp_path: Path) -> None:
    from store.runs import a_folder
    from store.streams import stream

    folder = a_folder(
        tmp_path / "run", {"a": stream(list(range(100, 300))), "b": stream(list(range(100, 300)))}
    )
    assert Tally.of(folder.summaries(), ()).exit_code is ExitCode.DONE
    valid, other = folder.summaries()
    for found, code in (((valid, replace(other, valid=False)), 0), ((replace(other, valid=False),), 5)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(folder), "summaries", lambda _self, found=found: list(found))
            assert Tally.of(folder.summaries(), ()).exit_code == code
