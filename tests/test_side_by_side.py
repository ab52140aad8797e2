"""Several machines and seeds: cells at once, one bad one alone, an interrupt in order, going on."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes import FakeLab, FakeTarget, ProbeLab, study
from heard import Heard
from howlate.errors import REMEDIED, ExitCode, NotPossibleError, TargetError, UsageError
from howlate.measure.execute import Tally, execute
from howlate.measure.prepare import RunRequest, prepare, requested_kernels
from howlate.measure.session import Session, begin
from howlate.model.run import Run
from howlate.model.study import Order
from howlate.store.run_folder import RunFolder
from howlate.targets import Target
from lacks import skip
from processes import until, with_word

STUDY = study({"activations": "50", "dither": True}, {"load": ("none", "cpu:50")})
ASKED = RunRequest(STUDY, seeds=3)


def run(target: Target, out: Path, asked: RunRequest = ASKED) -> tuple[Session, Tally, Heard]:
    prepared, heard = prepare(asked, target), Heard()
    session = begin(prepared, out)
    tally = execute(session.folder, session.run.plan, session.cells, target, heard, prepared.broken)
    return session, tally, heard


def test_cells_are_measured_at_once_and_every_one_becomes_whole(tmp_path: Path) -> None:
    lab = FakeLab(behaviours={"6.1": ["together"] * 6, "6.1-rt": ["together"] * 6})
    session, tally, heard = run(lab, tmp_path / "r")
    assert tally == Tally(12, ())
    assert lab.most == 2
    assert all(name.startswith("howlate-cell") for name in lab.threads)
    assert sorted(heard.made) == sorted(c.id for c in session.run.plan.cells)
    assert heard.started == [c.id for c in session.run.plan.cells]
    assert session.run.clock == "virtual"
    assert list(session.run.machines) == ["6.1", "6.1-rt"]
    assert not list((tmp_path / "r" / "cells").glob(".*"))
    assert Run.from_text((tmp_path / "r" / "run.json").read_text()) == session.run


def test_the_order_of_ending_changes_nothing(tmp_path: Path) -> None:
    one, _, _ = run(FakeLab(), tmp_path / "two")
    other, _, _ = run(FakeLab(parallel=1), tmp_path / "one")
    assert [s.to_json() for s in one.folder.summaries()] == [s.to_json() for s in other.folder.summaries()]


def test_one_at_a_time_is_the_main_thread(tmp_path: Path) -> None:
    lab = FakeLab(parallel=1)
    run(lab, tmp_path / "r")
    assert lab.threads == {"MainThread"}


def test_one_bad_cell_does_not_cost_the_others(tmp_path: Path) -> None:
    out = tmp_path / "r"
    _, tally, _ = run(FakeLab(behaviours={"6.1": ["panic", "refused", "broken"]}), out)
    assert tally.whole == 9
    codes = {f.message.splitlines()[0].split()[-1]: f.exit_code for f in tally.failures}
    assert codes == {
        "panicked": ExitCode.BROKEN,
        "cannot": ExitCode.NOT_POSSIBLE,
        "gone": ExitCode.BROKEN,
    }
    assert tally.exit_code is ExitCode.BROKEN
    kept = RunFolder.open(out).failed_cells().values()
    assert any("Kernel panic" in str(error["message"]) for error in kept)
    lab = FakeLab()
    _, tally, _ = run(lab, out)
    assert tally == Tally(12, ())
    assert len(lab.measured) == 3


def test_an_interrupt_stops_all_in_order_and_keeps_what_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "r"
    lab = FakeLab(behaviours={"6.1": ["whole", "whole", "hang", "interrupt"]})
    with pytest.raises(KeyboardInterrupt):
        run(lab, out)
    assert lab.stopped.is_set()
    folder = RunFolder.open(out)
    failed = folder.failed_cells()
    assert {cell.id for cell in lab.measured[-2:]} <= set(failed)
    measured = {cell for cell, error in failed.items() if error.pop("measured", False)}
    assert list(failed.values()) == [
        {"exit_code": 5, "message": "interrupted", "rule": "run.interrupted", "values": {}}
    ] * len(failed)
    for cell in failed:  # the interrupt may have come amid the statistics of one
        kept = {p.name for p in folder.part_path(cell).iterdir()}
        assert kept & ({"stream", "cell.json"} if cell in measured else {"stream"})
    again = FakeLab()
    _, tally, _ = run(again, out)
    assert tally == Tally(12, ())
    assert {c.id for c in again.measured} >= set(failed) - measured
    assert not {c.id for c in again.measured} & measured


def test_a_kernel_that_does_not_boot_costs_its_own_cells(tmp_path: Path) -> None:
    out = tmp_path / "r"
    answers = {
        "6.1": TargetError(REMEDIED(problem="6.1 did not boot\nKernel panic", remedy="")),
        "5.10": NotPossibleError(REMEDIED(problem="no such QEMU here", remedy="")),
    }
    kernels = ("6.1", "5.10", "6.1-rt")
    session, tally, _ = run(FakeLab(kernels, answers=answers), out)
    assert tally.whole == 6
    assert sorted({(f.cell.machine, int(f.exit_code)) for f in tally.failures}) == [("5.10", 3), ("6.1", 4)]
    assert tally.exit_code is ExitCode.BROKEN
    assert list(session.run.machines) == ["6.1-rt"]
    session, tally, _ = run(FakeLab(kernels), out)
    assert tally == Tally(18, ())
    assert list(session.folder.read_run().machines) == list(kernels)
    with pytest.raises(TargetError, match="did not boot"):
        prepare(ASKED, FakeLab(("6.1",), answers=answers))


def test_a_timer_that_a_kernel_lacks_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    asked = RunRequest(study({"activations": "50"}, {"timer": ("clock_nanosleep", "spin")}), seeds=2)
    session, tally, _ = run(FakeLab(("5.10", "6.1")), tmp_path / "r", asked)
    assert tally.whole == 6
    assert tally.exit_code is ExitCode.DONE
    assert {(f.cell.machine, f.message.partition(":")[0]) for f in tally.failures} == {("5.10", "spin")}
    assert {c.machine for c in session.cells} == {"5.10", "6.1"}


def test_other_kernels_builds_and_seeds_do_not_go_on_there(tmp_path: Path) -> None:
    out = tmp_path / "r"
    run(FakeLab(), out)
    for asked, lab in (
        (ASKED, FakeLab(("6.1",))),
        (replace(ASKED, seeds=4), FakeLab()),
        (replace(ASKED, seeds=0), FakeLab(clock="real")),
    ):
        with pytest.raises(UsageError, match="holds another plan"):
            begin(prepare(asked, lab), out)
    newer = FakeLab()
    facts = newer.facts("6.1")
    facts["values"]["kernel.version"] = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.2-1"
    newer.facts = lambda machine="": facts if machine == "6.1" else FakeLab().facts(machine)  # type: ignore[method-assign]
    with pytest.raises(
        UsageError, match=r"on another version of the kernel 6\.1: .*6\.1\.1-1.* then, .*6\.1\.2-1.* now"
    ):
        begin(prepare(ASKED, newer), out)


def test_seeds_are_for_virtual_time_alone() -> None:
    with pytest.raises(UsageError, match="seeds are for virtual time"):
        prepare(ASKED, FakeTarget())
    with pytest.raises(UsageError, match="would be identical"):
        prepare(RunRequest(STUDY, ("order.repetitions=3",)), FakeLab())
    assert {c.repetition for c in prepare(RunRequest(STUDY), FakeLab()).run.plan.cells} == set(range(1, 9))
    repeated = replace(STUDY, order=Order(repetitions=2))
    plan = prepare(RunRequest(repeated), FakeLab(clock="real")).run.plan
    assert {c.repetition for c in plan.cells} == {1, 2}
    assert not any("first" in c.parameters for c in plan.cells)


def test_kernels_of_the_study_need_the_lab() -> None:
    asked = RunRequest(study(axes={"kernel": ("6.1", "6.1-rt")}))
    assert requested_kernels(asked) == ("6.1", "6.1-rt")
    assert requested_kernels(replace(asked, changes=("kernel=7.2",))) == ("7.2",)
    assert requested_kernels(RunRequest(STUDY, ("kernel=7.2",))) == ("7.2",)
    with pytest.raises(UsageError, match="compares kernels") as caught:
        prepare(asked, FakeTarget())
    assert caught.value.remedy.startswith("`howlate lab ")
    assert {c.machine for c in prepare(asked, FakeLab(("6.12",))).run.plan.cells} == {"6.12"}


def test_findings_are_about_kernels_and_say_which() -> None:
    findings = prepare(ASKED, FakeLab()).run.findings
    about = {(f["check"], tuple(f["machines"])) for f in findings}
    assert ("preemption", ("6.1",)) in about
    assert ("preemption", ("6.1-rt",)) in about
    assert {check for check, _ in about}.isdisjoint(
        {"hypervisor", "steal", "limit_rtprio", "governor", "swap"}
    )


def test_equal_configurations_are_stored_once(tmp_path: Path) -> None:
    session, _, _ = run(FakeLab(("6.1[preempt=none]", "6.1[preempt=full]", "6.1-rt")), tmp_path / "r")
    configs = session.run.configs
    assert configs["6.1[preempt=none]"] == configs["6.1[preempt=full]"] == "kernels/6.1-preempt-none.config"
    assert "CONFIG_PREEMPT_RT=y" in session.folder.config(configs["6.1-rt"])
    assert len(list((tmp_path / "r" / "kernels").iterdir())) == 2


def probes() -> ProbeLab:
    try:
        return ProbeLab()
    except TargetError as problem:
        skip(f"the probe ({problem.message})", "./dev probe")


REAL = study({"activations": "200", "period": "1ms", "policy": "other", "dither": True}, {"load": ("none",)})


def test_the_real_probe_measures_on_several_machines_at_once(tmp_path: Path) -> None:
    session, tally, _ = run(probes(), tmp_path / "r", RunRequest(REAL, seeds=2))
    assert tally == Tally(4, ())
    parameters = [
        json.loads((p / "cell.json").read_text())["header"]["parameters"]
        for p in (session.folder.cell_path(c.id) for c in session.run.plan.cells)
    ]
    assert [(p["seed"], p["first"]) for p in parameters[:2]] == [
        (p["seed"], p["first"]) for p in parameters[2:]
    ]
    assert parameters[0]["first"] != parameters[1]["first"]


def test_real_probes_are_stopped_together(tmp_path: Path) -> None:
    lab, out = probes(), tmp_path / "stopped"

    class Interrupts(Heard):
        def progress(self, *args: object) -> None:
            raise KeyboardInterrupt

    long = replace(REAL, settings={**REAL.settings, "activations": "10000000"})
    prepared = prepare(RunRequest(long, seeds=1), lab)
    session = begin(prepared, out)
    with pytest.raises(KeyboardInterrupt):
        execute(session.folder, session.run.plan, session.cells, lab, Interrupts())
    assert until(lambda: not with_word("--activations=10000000"))
    assert [e["message"] for e in session.folder.failed_cells().values()] == ["interrupted", "interrupted"]
