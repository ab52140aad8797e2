"""Guests whose kernel really hangs, in each of four ways: each is ended soon, and what it does is named. One that
is only slow goes on."""

import time
from pathlib import Path

import pytest

from howlate.errors import TargetError
from howlate.lab.archive.apt import AptArchive
from howlate.lab.bench import PROBE, Bench
from howlate.lab.guests import guest, watch
from howlate.lab.guests.guest import (
    INTERRUPTS_OFF,
    LOOPS,
    LOOPS_OR_WAITS,
    LOST_TIMER,
    what_it_does,
    with_interrupts_off,
)
from howlate.lab.guests.watch import ASLEEP, Limits
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.lab.needed import built
from lab.guests import KERNELS, RT, bench

HANGING = Path(__file__).parent / "hanging"
LIMITS = Limits(40.0, 10.0, 1.0)
"""Those of a small cell of the usual guest (plan/cost.py)."""
SHORT = Limits(3.0, 5.0, 0.1)
MOST_CPU_S = 60.0
CELL = (PROBE, "cyclic", "--policy=fifo:80", "--period=1ms", "--duration=10h", "--stream=stream", "--quiet")
HANGS = [("irqs_off", INTERRUPTS_OFF), ("loop", LOOPS), ("lost_timer", LOST_TIMER), ("asleep", ASLEEP)]


def hanging(tmp_path: Path, booted: Path, name: str = RT) -> Bench:
    """A guest that can hang."""
    archive = AptArchive(KERNELS / "apt")
    label = Label.parse(name)
    bench(tmp_path, name, snapshots=booted)
    found = built([HANGING], label, get(label, archive, KERNELS), archive, KERNELS, lambda _: None)
    return bench(tmp_path, name, found.files, snapshots=booted)


def ended(on: Bench, how: str, limits: Limits) -> tuple[str, float]:
    """What is said of a guest that hangs 300 ms after its module was loaded, while it is measured, and the CPU time
    that it has used."""
    used: list[float] = []
    with pytest.raises(TargetError) as caught:
        on.run([("module", "hangs", f"how={how}", "after_ms=300"), CELL], limits, used.append)
    print(how, used[-1:], caught.value.message.splitlines()[0])
    return caught.value.message, used[-1]


@pytest.mark.parametrize(
    ("how", "what"),
    [pytest.param(*hang, marks=[pytest.mark.sweep] * (hang[1] in (LOOPS, LOST_TIMER))) for hang in HANGS],
)
def test_a_kernel_that_hangs_is_ended_and_named(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, how: str, what: str
) -> None:
    for name, seconds in (("ASKED_S", 0.5), ("STANDS_CPU_S", 1.0), ("STILL_S", 3.0)):
        monkeypatch.setattr(watch, name, seconds)
    monkeypatch.setattr(guest, "TURN_CPU_S", 1.0)
    said, _ = ended(hanging(tmp_path, booted), how, SHORT)
    assert what in said


@pytest.mark.long
@pytest.mark.parametrize(("how", "what"), HANGS)
def test_a_kernel_that_hangs_is_ended_soon(tmp_path: Path, booted: Path, how: str, what: str) -> None:
    """With the limits that a cell has. Of one that sleeps it is the time of the host."""
    on = hanging(tmp_path, booted)
    on.run([(PROBE, "--version")], LIMITS)  # booted
    began = time.monotonic()
    said, cpu_s = ended(on, how, LIMITS)
    assert what in said
    assert (time.monotonic() - began if what is ASLEEP else cpu_s) < MOST_CPU_S


def test_a_guest_goes_on_as_long_as_results_come(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It uses many times what it may use without a result, of CPU time and of its own."""
    monkeypatch.setattr(watch, "ASKED_S", 0.0)
    used: list[float] = []
    line = (
        PROBE,
        "cyclic",
        "--period=1ms",
        "--timer=spin",
        "--occupy-all",
        "--duration=1s",
        "--stream=stream",
    )
    (done,) = bench(tmp_path, snapshots=booted).run([line], Limits(0.5, 0.25, 0.25), used.append)
    assert done.status == "0" and done.files["stream"]
    assert used[-1] > 1.0


ON, OFF = (False,), (True,)


@pytest.mark.parametrize(
    ("rate", "looks", "cpus", "what"),
    [
        (80.0, [ON, OFF, ON], 1, LOST_TIMER),
        (0.3, [OFF, OFF, OFF], 1, INTERRUPTS_OFF),
        (0.3, [ON, OFF, ON], 1, LOOPS),
        (0.3, [], 1, INTERRUPTS_OFF),
        (0.3, [(False, True), (True, True)], 2, INTERRUPTS_OFF),
        (0.3, [(False, True), (True, False)], 2, LOOPS_OR_WAITS),
    ],
)
def test_what_a_guest_does_is_told_by_its_clock_and_its_interrupts(
    rate: float, looks: list[tuple[bool, ...]], cpus: int, what: str
) -> None:
    assert what_it_does(rate, looks, cpus) == what


def test_whether_interrupts_are_off_is_read_of_each_cpu() -> None:
    amd64 = "CPU#0\nRIP=ffff RFL={} [D------] CPL=0 II=0 A20=1 SMM=0 HLT=0\n"
    assert with_interrupts_off(amd64.format("00000246") + amd64.format("00000046")) == (False, True)
    arm64 = "CPU#0\n PC=ffff8000 X00=0000\nPSTATE={} -ZC- EL1h\n"
    assert with_interrupts_off(arm64.format("60000005")) == (False,)
    assert with_interrupts_off(arm64.format("600003c5")) == (True,)
