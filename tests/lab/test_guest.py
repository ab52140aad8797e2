"""Guests that go wrong, for real: each is told as what it is, and none is left behind."""

import dataclasses
import os
import signal
import subprocess
import sys
import threading
from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import NotPossibleError, TargetError
from howlate.lab.bench import PROBE, check_device
from howlate.lab.guests import snapshot, watch
from howlate.lab.guests.console import (
    HIT_A_BUG,
    KERNEL_REPORT,
    LAST_LINES,
    PANICKED,
    TROUBLE,
    last_lines,
    telling,
    trouble_on,
)
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.watch import Limits
from howlate.store.stream import StreamReader
from lab import guests
from lab.equipped import Guest
from lab.guests import LIMITS, bench, cell, preload, stream_of
from processes import until, with_word

SPINS = [
    PROBE,
    "cyclic",
    "--duration=10h",
    "--first=1h",
    "--period=1ms",
    "--timer=spin",
    "--occupy-all",
    "--stream=stream",
    "--quiet",
]
"""It spins until its first release, and has no result before."""
FOREVER = [PROBE, "cyclic", "--duration=10h", "--period=1s", "--stream=stream", "--quiet"]
RARE = [PROBE, "cyclic", "--duration=10h", "--period=1h", "--stream=stream", "--quiet"]


def qemu_of(place: Path) -> list[int]:
    """Running QEMUs (not their starters) that have to do with a place."""
    return [
        pid
        for pid, line in with_word(str(place)).items()
        if line.split("/")[-1] and "-icount" in line.split()
    ]


def test_a_crash_is_told_with_the_last_lines_and_the_next_cell_is_sound(equipped: Guest) -> None:
    on = equipped(guests.RT)
    with pytest.raises(TargetError) as caught:
        on.run([("/bin/crash",)], LIMITS)
    what, heading, *lines = caught.value.message.splitlines()
    assert "sysrq" in what or "NULL pointer" in what
    assert heading == KERNEL_REPORT
    assert any(line.strip().startswith("sysrq_handle_crash+") for line in lines)
    assert "Call Trace:" in lines
    assert any("write_sysrq_trigger" in line for line in lines)
    assert len(lines) < len(caught.value.console.splitlines())
    assert "Kernel Offset" in caught.value.console
    assert stream_of(on, cell(20))


def test_a_kernel_that_cannot_boot_is_told(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"panicked: .*(mount root|No working init)") as caught:
        bench(tmp_path, f"{guests.RT}[rdinit=/nothing]").run([cell(20)], LIMITS)
    assert KERNEL_REPORT in caught.value.message
    assert not with_word(str(tmp_path))


def test_a_guest_that_never_ends_is_ended_and_told(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, snapshots=booted)
    stream_of(on, cell(20))  # booted, so that the limit is the cell's alone
    with pytest.raises(TargetError, match=r"did not end \(no result in 2 s of CPU time\)"):
        on.run([SPINS], Limits(2.0))
    assert not with_word(str(tmp_path))


@pytest.mark.parametrize(("line", "virtual_s"), [(SPINS, 0.5), (RARE, 20.0)])
def test_a_guest_is_ended_by_its_own_clock(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], virtual_s: float
) -> None:
    """One that executes and one that idles, whose clock runs faster than the host's."""
    on = bench(tmp_path, snapshots=booted)
    stream_of(on, cell(20))
    monkeypatch.setattr(watch, "ASKED_S", 0.5)
    monkeypatch.setattr(watch, "ASKED_SHARE", 0.0)
    said = r"did not end \(no result in .* s of its clock and .* s of CPU time: .*\)"
    used: list[float] = []
    with pytest.raises(TargetError, match=said):
        on.run([line], replace(LIMITS, virtual_s=virtual_s), used.append)
    assert not used or used[-1] < 30  # of the 600 s of CPU time that it might have used
    assert not with_word(str(tmp_path))


def test_a_qemu_that_is_killed_is_told(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, snapshots=booted)
    stream_of(on, cell(20))

    def kill(_: float) -> None:
        for pid in qemu_of(tmp_path):
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(TargetError, match="ended by SIGKILL"):
        on.run([FOREVER], LIMITS, kill)


def test_a_qemu_that_sleeps_where_it_should_end_takes_no_result_along(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = bench(tmp_path, snapshots=booted)
    ended = stream_of(guest, cell(20))
    monkeypatch.setattr(watch, "STILL_S", 2.0)
    monkeypatch.setenv("LD_PRELOAD", str(preload(tmp_path, "asleep.c")))
    assert stream_of(bench(tmp_path / "asleep", snapshots=booted), cell(20)) == ended


def test_a_qemu_that_cannot_start_is_told_with_its_words(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, snapshots=booted)
    broken = replace(on.machine.architecture, machine="no-such-machine")
    with pytest.raises(TargetError, match=r"exit code 1: .*machine type"):
        replace(on, machine=dataclasses.replace(on.machine, architecture=broken)).run([cell(20)], LIMITS)


def test_an_interrupt_ends_every_guest(tmp_path: Path, booted: Path) -> None:
    stop = threading.Event()
    on = bench(tmp_path, stop=stop, snapshots=booted)
    stream_of(on, cell(20))
    with pytest.raises(KeyboardInterrupt):
        on.run([FOREVER], LIMITS, lambda _: stop.set())
    assert not with_word(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        on.run([cell(21)], LIMITS)


def test_guests_end_with_howlate_however_it_dies(tmp_path: Path, booted: Path) -> None:
    stream_of(bench(tmp_path, snapshots=booted), cell(20))
    script = f"""
from pathlib import Path
from lab.equipped import Guest
from lab.guests import LIMITS, bench
on = bench(Path({str(tmp_path)!r}), snapshots=Path({str(booted)!r}))
on.run([{FOREVER!r}], LIMITS, lambda _: print("runs", flush=True))
"""
    paths = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=paths)
    assert child.stdout is not None
    assert child.stdout.readline() == b"runs\n"
    assert qemu_of(tmp_path)
    child.kill()
    child.wait()
    child.stdout.close()
    assert until(lambda: not with_word(str(tmp_path)))


def test_a_cell_that_is_in_the_cache_starts_no_guest(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stream_of(bench(tmp_path, snapshots=booted), cell(20))
    monkeypatch.setattr("howlate.lab.guests.guest.Guest.started", None)
    assert stream_of(bench(tmp_path, snapshots=booted), cell(20)) == first
    with pytest.raises(TypeError):
        stream_of(bench(tmp_path, snapshots=booted), cell(21))


@pytest.mark.parametrize(
    ("load", "first"), [("disk", "module"), ("network:100", "module"), ("cpu:50,cpus=0", ""), ("none", "")]
)
def test_a_load_has_what_it_needs(tmp_path: Path, booted: Path, load: str, first: str) -> None:
    on = bench(tmp_path, snapshots=booted)
    before = on.lines_for([load])
    assert (before[0][0] if before else "") == first
    stream = StreamReader(BytesIO(stream_of(on, cell(30, f"--load={load}"), before)))
    assert list(stream.batches())
    assert stream.trailer is not None
    others = stream.trailer["others"]  # nobody but the probe, its loads and the kernel runs in a guest
    assert (others["user_ns"], others["unseen_ns"], others["alone"]) == (0, 0, True)
    assert others["precise"]


def test_real_time_says_why_it_is_not_possible(tmp_path: Path) -> None:
    with pytest.raises(NotPossibleError, match="does not exist"):
        check_device(tmp_path / "kvm")
    if os.geteuid() != 0:
        (tmp_path / "kvm").touch(0o000)
        with pytest.raises(NotPossibleError, match="cannot be opened"):
            check_device(tmp_path / "kvm")


def test_real_time_is_tried_before_it_is_promised(tmp_path: Path) -> None:
    on = replace(bench(tmp_path), machine=Machine.of("amd64", "real"))
    try:
        on.try_real_time()
    except NotPossibleError as problem:
        assert "/dev/kvm" in problem.message + problem.remedy
        assert "`" in problem.remedy
    else:
        assert on.run([(PROBE, "--version")], LIMITS)[0].stdout


def test_the_first_trouble_on_a_console_is_what_is_told() -> None:
    console = "fine\r\n\x1b[2J[    1.5] BUG: kernel NULL pointer\n[    1.6] Oops: 0\n"
    console += "[    1.7] Kernel panic - not syncing: x\n"
    first = trouble_on(console)
    assert first is not None and first.values["what"] == HIT_A_BUG
    assert trouble_on("all is well\n") is None
    begun = "Booting from ROM..\x1bc[    1.54] Kernel panic - not syncing: x\n"
    assert trouble_on(begun) == TROUBLE(what=PANICKED, line="Kernel panic - not syncing: x")
    assert last_lines(console, 2) == ["Oops: 0", "Kernel panic - not syncing: x"]


OOPS = """[    1.5] BUG: kernel NULL pointer dereference, address: 0000000000000000
[    1.5] #PF: supervisor write access in kernel mode
[    1.5] Oops: 0002 [#1] PREEMPT SMP NOPTI
[    1.5] CPU: 0 PID: 71 Comm: insmod Tainted: G           OE      6.1.0-56-amd64 #1  Debian 6.1.192-2
[    1.5] RIP: 0010:expired+0x5/0x10 [broken]
[    1.5] RSP: 0018:ffffc90000003f00 EFLAGS: 00010046
[    1.5] Call Trace:
[    1.5]  <IRQ>
[    1.5]  ? __die_body.cold+0x1a/0x1f
[    1.5]  __hrtimer_run_queues+0x10f/0x2b0
[    1.5]  hrtimer_interrupt+0xf4/0x210
[    1.5]  </IRQ>
[    1.5] Modules linked in: broken(OE)
[    1.5] CR2: 0000000000000000
[    1.6] Kernel panic - not syncing: Fatal exception in interrupt
"""


def test_of_an_oops_the_lines_that_tell_are_shown() -> None:
    told = [
        KERNEL_REPORT,
        "BUG: kernel NULL pointer dereference, address: 0000000000000000",
        "Oops: 0002 [#1] PREEMPT SMP NOPTI",
        "CPU: 0 PID: 71 Comm: insmod Tainted: G           OE      6.1.0-56-amd64 #1  Debian 6.1.192-2",
        "RIP: 0010:expired+0x5/0x10 [broken]",
        "Call Trace:",
        "  __hrtimer_run_queues+0x10f/0x2b0",
        "  hrtimer_interrupt+0xf4/0x210",
        "Modules linked in: broken(OE)",
        "Kernel panic - not syncing: Fatal exception in interrupt",
    ]
    assert telling(OOPS) == told
    quiet = "".join(f"line {n}\n" for n in range(20))
    assert telling(quiet) == [LAST_LINES, *(f"line {n}" for n in range(8, 20))]
    assert telling("") == []


def test_a_kernel_that_hangs_in_boot_is_ended_by_its_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs in its first second, so a shorter limit shows the same."""
    monkeypatch.setattr(snapshot, "BOOT_CPU_S", 5.0)
    said: list[str] = []
    on = replace(bench(tmp_path, f"{guests.STANDARD.split('[')[0]}[mem=8M]"), say=said.append)
    with pytest.raises(
        TargetError,
        match=r"did not boot \(no result in \d+.* s of its clock and .*\)",
    ) as caught:
        on.run([cell(20)], LIMITS)
    assert "Booting from ROM" in caught.value.console
    assert said == [f"booting {on.label}"]
    assert not with_word(str(tmp_path))
