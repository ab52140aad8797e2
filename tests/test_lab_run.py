"""A run of the lab where something goes wrong: what is left, what is kept, what is refused before it begins."""

import errno
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes import FACTS, FakeLab, study
from heard import Heard
from howlate import doctor
from howlate.cli._measure import failure_lines
from howlate.errors import REMEDIED, ExitCode, NotPossibleError, StorageError, TargetError, UsageError
from howlate.lab.guests.scratch import scratch
from howlate.lab.guests.snapshot import _disk_full_told
from howlate.measure.execute import Tally, execute
from howlate.measure.machines import NOT_CHECKED, ask_machines
from howlate.measure.prepare import RunRequest, prepare
from howlate.measure.session import begin, reopen
from howlate.model.facts import Aim, Facts
from howlate.model.plan import Cell
from howlate.store.run_folder import RunFolder
from howlate.system.paths import probe_path
from howlate.targets import Outcome, Progress

ASKED = RunRequest(study({"activations": "100", "dither": True}, {"load": ("none",)}), seeds=2)
CONSOLE = "".join(f"line {n}\n" for n in range(100))


class AskedLab(FakeLab):
    """Its kernels boot until they are stopped, each with a folder in memory."""

    def __init__(self, kernels: tuple[str, ...], memory: Path) -> None:
        super().__init__(kernels)
        self.memory = memory
        self.booting = threading.Semaphore(0)

    def facts(self, machine: str = "") -> dict[str, Any]:
        with scratch(1, self.memory, self.memory):
            self.booting.release()
            self.stopped.wait()
            raise KeyboardInterrupt


@pytest.mark.parametrize("kernels", [("6.1", "6.1-rt"), ("6.1", "6.1-rt", "6.12")], ids=["two", "one waits"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_before_the_first_cell_leaves_nothing_in_memory(
    tmp_path: Path, number: int, kernels: tuple[str, ...]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    lab = AskedLab(kernels, tmp_path)

    def end() -> None:
        lab.booting.acquire()
        lab.booting.acquire()
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    before = signal.signal(number, interrupt)
    other = threading.Thread(target=end)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask_machines(lab)
    finally:
        signal.signal(number, before)
        other.join()
    assert list(tmp_path.iterdir()) == []


class CrashingLab(FakeLab):
    """Every cell's kernel crashes, and its console tells how."""

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        raise TargetError(REMEDIED(problem="the guest's kernel oopsed", remedy=""), console=CONSOLE)


def measured(lab: FakeLab, out: Path) -> tuple[Path, Tally]:
    prepared = prepare(ASKED, lab)
    session = begin(prepared, out)
    cells = session.cells
    tally = execute(session.folder, session.run.plan, cells, lab, Heard(), prepared.broken)
    return session.folder.path, tally


def test_the_console_of_a_cell_that_failed_is_kept_whole_and_named(tmp_path: Path) -> None:
    path, tally = measured(CrashingLab(("6.1",)), tmp_path / "r")
    assert len(tally.failures) == 2
    for failure in tally.failures:
        assert (path / failure.console).read_text() == CONSOLE
        assert failure.cell.id in failure.console
    session, again = reopen(RunFolder.open(path))
    assert {f.console for f in again.failures} == {f.console for f in tally.failures}
    lines = failure_lines(again.failures, ("load",), session.folder.path)
    assert f"  the whole console: {path / again.failures[0].console}" in list(lines)


def test_the_console_of_a_kernel_that_did_not_boot_is_kept_once(tmp_path: Path) -> None:
    answers = {"6.1": TargetError(REMEDIED(problem="the guest did not boot", remedy=""), console=CONSOLE)}
    path, tally = measured(FakeLab(answers=answers), tmp_path / "r")
    assert tally.whole == 2
    assert {f.console for f in tally.failures} == {"kernels/6.1.console"}
    assert (path / "kernels" / "6.1.console").read_text() == CONSOLE


UNKNOWN = UsageError(
    REMEDIED(problem="the kernel of 6.1 does not know the parameter nosuch", remedy="leave it out")
)


def test_an_unknown_boot_parameter_costs_its_own_kernel_alone(tmp_path: Path) -> None:
    out = tmp_path / "r"
    path, tally = measured(FakeLab(answers={"6.1": UNKNOWN}), out)
    assert tally.whole == 2
    assert {(f.cell.machine, f.exit_code, f.message, f.remedy) for f in tally.failures} == {
        ("6.1", ExitCode.USAGE, UNKNOWN.message, UNKNOWN.remedy)
    }
    assert tally.exit_code is ExitCode.BROKEN
    assert list(RunFolder.open(path).read_run().machines) == ["6.1-rt"]


def test_where_no_kernel_knows_its_parameters_the_run_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "r"
    with pytest.raises(UsageError, match="does not know the parameter nosuch"):
        measured(
            FakeLab(answers={"6.1": UNKNOWN, "6.1-rt": UsageError(REMEDIED(problem="another", remedy=""))}),
            out,
        )
    assert not out.exists()


def test_a_trace_is_refused_before_a_kernel_is_asked() -> None:
    asked = RunRequest(study({"activations": "100", "threshold": "1ms", "break-trace": True}), seeds=2)
    with pytest.raises(NotPossibleError, match="break-trace is not possible in the lab"):
        prepare(asked, FakeLab(answers={"6.1": TargetError(REMEDIED(problem="it was asked", remedy=""))}))


def test_what_is_not_known_of_a_parameter_is_a_warning_of_the_run() -> None:
    warnings = prepare(ASKED, FakeLab(facts={NOT_CHECKED: "no.thing=1"})).run.warnings
    told = [each.values for each in warnings if each.rule == "lab.in-force-unknown"]
    assert {"label": "6.1", "parameters": ("no.thing=1",)} in told


def test_the_doctor_says_of_guests_what_is_true_of_them() -> None:
    values = {**FACTS["values"], "machine.hypervisor": "TCGTCGTCGTCG", "clock.available": "jiffies"}
    values |= {"kernel.version": "#1 SMP PREEMPT_DYNAMIC Debian", "kernel.cmdline": "preempt=voluntary"}

    def facts(source: str) -> Facts:
        return Facts.from_json({"facts": 1, "values": {**values, "clock.source": source}, "missing": {}})

    findings = doctor.examine_guests(
        {"6.1": facts("tsc"), "6.1[clocksource=jiffies]": facts("jiffies")}, Aim()
    )
    assert "hypervisor" not in {finding.check for finding in findings}
    first, second = findings[:2]
    assert (first.check, first.level, first.machines) == (
        "clock_source",
        "late",
        ("6.1[clocksource=jiffies]",),
    )
    assert "brackets" in first.change
    assert second.check == "preempt_dynamic"
    assert "6.1[preempt=full]" in second.change
    assert not any("/sys/" in f.change or "apt install" in f.change for f in findings)


def test_a_full_disk_is_told_where_a_guest_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howlate.lab.guests.snapshot.free_bytes", lambda _: 4096)
    with (
        pytest.raises(StorageError, match=os.strerror(errno.ENOSPC)) as caught,
        _disk_full_told(tmp_path / "i"),
    ):
        raise TargetError(
            REMEDIED(problem="QEMU could not save the guest's state: Input/output error", remedy="")
        )
    assert str(tmp_path / "i") in caught.value.message
    assert "make room there" in caught.value.remedy
    monkeypatch.setattr("howlate.lab.guests.snapshot.free_bytes", lambda _: 1 << 30)
    with pytest.raises(TargetError, match="Input/output"), _disk_full_told(tmp_path / "i"):
        raise TargetError(
            REMEDIED(problem="QEMU could not save the guest's state: Input/output error", remedy="")
        )


def test_a_spinning_timer_is_not_possible_where_there_is_one_cpu() -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    words = ["cyclic", "--timer=spin", "--policy=other", "--period=1ms", "--activations=1"]
    done = subprocess.run(
        ["taskset", "-c", cpu, str(probe_path()), *words, f"--cpus={cpu}"], capture_output=True, check=False
    )
    assert done.returncode == ExitCode.NOT_POSSIBLE, done.stderr
    assert b"there is only one here" in done.stderr
