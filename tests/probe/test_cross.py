"""The test `cross` on the real system: each kind, its interrupts counted by the kernel, and a known delay."""

import ctypes
import os
from pathlib import Path
from typing import Any

import pytest

from lacks import KERNEL, MACHINE, lack, needs_two_cpus, skip
from probe.drive import cell, read_stream, run

CPUS = sorted(os.sched_getaffinity(0))
ASKED, ASKING = CPUS[0], CPUS[-1]
across = needs_two_cpus
POINTS = 200


def _cross(*words: str | Path) -> Any:
    places = ("--asked", str(ASKED), "--pause", "50us", "--points", str(POINTS))
    return cell(run("cross", *places, *words, "--json"))


def _interrupts(name: str) -> int:
    """How many interrupts of a kind the asked CPU has had; the kernel's own names."""
    lines = Path("/proc/interrupts").read_text().splitlines()
    place = lines[0].split().index(f"CPU{ASKED}")
    row = next((line.split() for line in lines if line.split()[0] == f"{name}:"), None)
    if row is None:
        skip(f"a row {name} in /proc/interrupts", KERNEL)
    return int(row[1 + place])


@across
@pytest.mark.parametrize("kind", ["wake", "membarrier", "lock", "shootdown", "migrate"])
def test_each_question_is_a_point_of_the_cpu_that_was_asked(probe: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "stream"
    done = _cross("--kind", kind, "--stream", path)
    assert done["accounting"]["recorded"] == POINTS
    assert (done["labels"]["kind"], done["labels"]["asked"]) == (kind, str(ASKED))
    assert done["threads"][0]["minor_faults"] == 0 and done["threads"][0]["major_faults"] == 0
    samples = read_stream(path).columns[0]
    assert set(samples["asked"]) == {ASKED}
    assert (samples["answer_ns"] > 0).all()
    begun = samples["time_ns"]
    assert (begun[1:] >= begun[:-1] + samples["answer_ns"][:-1]).all()


@across
@pytest.mark.parametrize(("kind", "interrupt"), [("membarrier", "CAL"), ("shootdown", "TLB")])
def test_every_question_interrupts_the_cpu_that_is_asked(probe: Path, kind: str, interrupt: str) -> None:
    before = _interrupts(interrupt)
    done = _cross("--kind", kind)
    assert _interrupts(interrupt) - before >= POINTS
    assert done["outcomes"]["alone_ns"] < done["columns"]["answer_ns"]["min"]


@across
def test_work_of_known_size_before_the_woken_threads_time_stamp_is_found_again(probe: Path) -> None:
    least = [_cross("--work", work)["columns"]["answer_ns"]["min"] for work in ("0ns", "500us")]
    assert 0.8 * 500_000 <= least[1] - least[0] <= 1.5 * 500_000


@across
def test_a_migration_is_the_kernels_too(probe: Path) -> None:
    """There and back, for each point."""
    (thread,) = _cross("--kind", "migrate")["threads"]
    assert thread["migrations"] >= 2 * POINTS or thread["migrations"] == -1


@pytest.mark.parametrize("kind", ["wake", "membarrier", "lock", "shootdown", "migrate"])
def test_one_cpu_has_no_other_to_ask(probe: Path, kind: str) -> None:
    done = run("cross", "--kind", kind, before=("taskset", "-c", str(ASKING)))
    assert done.returncode == 3
    assert "one CPU only" in done.stderr and "lab run --guest-cpus 2" in done.stderr


class _Filter(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Filter)))


MEMBARRIER = {"x86_64": 324, "aarch64": 283}.get(os.uname().machine)


def _without_membarrier() -> None:
    """From now on this process and its children are on a kernel without it, as far as they can tell: ENOSYS."""
    load_number, jump_if_equal, give_back = 0x20, 0x15, 0x06
    allow, errno_38 = 0x7FFF0000, 0x00050026
    rules = (_Filter * 4)(
        _Filter(load_number, 0, 0, 0),
        _Filter(jump_if_equal, 0, 1, MEMBARRIER),
        _Filter(give_back, 0, 0, errno_38),
        _Filter(give_back, 0, 0, allow),
    )
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert library.prctl(set_seccomp, by_filter, ctypes.byref(_Program(4, rules)), 0, 0) == 0


@across
@pytest.mark.skipif(
    MEMBARRIER is None, reason=lack("the number of membarrier(2) on this architecture", MACHINE)
)
def test_a_kernel_without_membarrier_is_named_with_a_remedy(probe: Path) -> None:
    done = run("cross", "--kind", "membarrier", prepared=_without_membarrier)
    assert done.returncode == 3
    assert "no expedited membarrier(): Function not implemented" in done.stderr
    assert "CONFIG_MEMBARRIER" in done.stderr
    other = run("cross", "--kind", "lock", "--points", "5", "--quiet", prepared=_without_membarrier)
    assert other.returncode == 0, other.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kind", "ask"], "wake"),
        (["--pause", "1us"], "10us"),
        (["--work", "1s"], "10ms"),
        (["--work", "1us", "--kind", "lock"], "wakes none"),
        (["--asked", str(ASKING), "--cpus", str(ASKING)], "cannot be asked"),
    ],
)
@across
def test_what_makes_no_sense_is_refused(probe: Path, words: list[str], says: str) -> None:
    done = run("cross", *words)
    assert done.returncode == 2
    assert says in done.stderr
