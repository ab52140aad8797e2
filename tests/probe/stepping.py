"""What an activation of a periodic task costs in user space, counted by single steps of its thread (ptrace, x86-64).

The tracer steps one thread from system call to system call and attributes each instruction to the program, or to
the vDSO that it reads the clock with. An instruction is counted whatever the machine is doing meanwhile; what a
late activation does more is told apart by how long the thread was awake. A `rep` instruction counts once for each
repetition.
"""

import contextlib
import ctypes
import os
import platform
import re
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from msgspec import Struct

PTRACE_PEEKTEXT, PTRACE_PEEKUSER, PTRACE_SINGLESTEP, PTRACE_DETACH = 1, 3, 9, 17
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000
RAX, RIP = 10 * 8, 16 * 8
WORD = (1 << 64) - 1
SYSCALL = 0x050F  # the instruction's two bytes, read as a number

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
CALLS: dict[int, str] = (
    {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())}
    if HEADER.is_file()
    else {}
)
"""The system calls of x86-64, by number."""

SETTLING = 2
"""Activations that are not counted after the tracer has come: it may have come before the first."""
SLOWEST_NS = 640_000_000
STRAYS = 1
"""Activations that the machine may have disturbed: the kernel moves a locked page too, and the next access faults; a
signal to the tracer interrupts a system call."""

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Activation(Struct, frozen=True):
    """From the return of one sleep to the return of the next."""

    own: int
    """Instructions of the program and its libraries."""
    vdso: int
    """Instructions of the vDSO, which reads the clock."""
    calls: tuple[str, ...]
    """System calls, the one that sleeps last."""
    awake_ns: int
    """How long it was awake, steps included."""
    faults: int
    """Page faults of the thread meanwhile, as the kernel counts them."""


class Steps(Struct, frozen=True, dict=True):
    """The activations that were stepped through."""

    activations: tuple[Activation, ...]
    period_ns: int

    @cached_property
    def punctual(self) -> tuple[Activation, ...]:
        """Those that were over well before the next release."""
        return tuple(each for each in self.activations if each.awake_ns < self.period_ns / 2)

    @cached_property
    def ordinary(self) -> tuple[Activation, ...]:
        """The punctual ones but for those that are later than all before: they read the clock once more."""
        least = min(each.vdso for each in self.punctual)
        return tuple(each for each in self.punctual if each.vdso <= 1.5 * least)

    @property
    def own(self) -> int:
        """Instructions of the path that most ordinary activations took."""
        return statistics.mode(each.own for each in self.ordinary)

    @property
    def vdso(self) -> int:
        return statistics.mode(each.vdso for each in self.ordinary)

    @property
    def calls(self) -> set[tuple[str, ...]]:
        """The system calls of the punctual activations: one element where all make the same ones, but for one that
        stands alone."""
        made = Counter(each.calls for each in self.punctual)
        return {calls for calls, count in made.items() if count > STRAYS}

    @property
    def faults(self) -> int:
        """Page faults of the punctual activations, but for the one that had most."""
        return sum(sorted(each.faults for each in self.punctual)[:-STRAYS])


def possible() -> str:
    """Why stepping is not possible here; empty where it is."""
    if platform.machine() != "x86_64":
        return f"single steps are counted on x86_64 alone, this is {platform.machine()}"
    child = os.fork()
    if child == 0:
        libc.ptrace(0, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    traced = os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    refused = traced and libc.ptrace(PTRACE_DETACH, child, None, None) != 0
    if refused:
        os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)
    return "ptrace is forbidden here (a container's or a sandbox's filter)" if refused else ""


class Tracer:
    """Steps one thread. All calls must come from the thread that made it."""

    def __init__(self, process: int, thread: int) -> None:
        self._pending = 0
        self.process, self.thread = process, thread
        self.vdso = _vdso(process)
        self._is_call: dict[int, bool] = {}
        self._ptrace(PTRACE_SEIZE)
        self._ptrace(PTRACE_INTERRUPT)
        self._wait()
        # Beside the tracer, so that a step is a switch between two threads and nobody comes between.
        os.sched_setaffinity(thread, os.sched_getaffinity(0))
        os.sched_setscheduler(thread, os.sched_getscheduler(0), os.sched_getparam(0))

    def activations(self, last_call: str, count: int, most_ns: int) -> Iterator[Activation]:
        """The next `count` activations, each ended by `last_call`; fewer when one is awake for `most_ns`."""
        faults = self.faults()
        for _ in range(count):
            own = vdso = awake_ns = 0
            calls: list[str] = []
            begun_ns = time.monotonic_ns()
            while last_call not in calls and awake_ns < most_ns:
                rip = self._register(RIP)
                own, vdso = (own, vdso + 1) if rip in self.vdso else (own + 1, vdso)
                if self._calls_the_kernel(rip):
                    calls.append(_named(self._register(RAX)))
                awake_ns = time.monotonic_ns() - begun_ns
                self._step()
            before, faults = faults, self.faults()
            yield Activation(own, vdso, tuple(calls), awake_ns, faults - before)
            if awake_ns >= most_ns:
                return

    def release(self) -> None:
        """Lets the thread run on untraced: a traced one that ends is kept until its tracer has noticed."""
        libc.ptrace(PTRACE_DETACH, self.thread, None, None)

    def faults(self) -> int:
        """Page faults of the thread until now, small and large."""
        fields = Path(f"/proc/{self.process}/task/{self.thread}/stat").read_text().rpartition(")")[2].split()
        return int(fields[7]) + int(fields[9])

    def _step(self) -> None:
        self._ptrace(PTRACE_SINGLESTEP, self._pending)
        self._wait()

    def _wait(self) -> None:
        _, status = os.waitpid(self.thread, WALL)
        if not os.WIFSTOPPED(status):
            raise ProcessLookupError(f"thread {self.thread} ended while it was stepped")
        received = os.WSTOPSIG(status)
        self._pending = 0 if received == signal.SIGTRAP else received

    def _calls_the_kernel(self, rip: int) -> bool:
        if rip not in self._is_call:
            self._is_call[rip] = libc.ptrace(PTRACE_PEEKTEXT, self.thread, rip, None) & 0xFFFF == SYSCALL
        return self._is_call[rip]

    def _register(self, offset: int) -> int:
        return int(libc.ptrace(PTRACE_PEEKUSER, self.thread, offset, None)) & WORD

    def _ptrace(self, request: int, data: int = 0) -> None:
        if libc.ptrace(request, self.thread, None, data) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"ptrace({request:#x}) of thread {self.thread}: {os.strerror(number)}")


def step(command: Callable[[int], Sequence[str | Path]], name: str, last_call: str, count: int = 9) -> Steps:
    """Activations of the thread `name` of a command with this period, which runs until it is stopped. Each ends with
    `last_call`. The period is long enough for most of them to be punctual, however busy the machine is."""
    period_ns = 40_000_000
    while True:
        steps = _step(command(period_ns), name, last_call, period_ns, count)
        if len(steps.punctual) > count / 2:
            return steps
        if period_ns >= SLOWEST_NS:
            raise TimeoutError(
                f"{len(steps.punctual)} of {count} activations were over in {period_ns // 2} ns"
            )
        period_ns *= 2


def _step(command: Sequence[str | Path], name: str, last_call: str, period_ns: int, count: int) -> Steps:
    with _started(command) as process, _ahead_of_others():
        tracer = Tracer(process.pid, _sleeping_thread(process, name, last_call))
        try:
            settled = list(tracer.activations(last_call, SETTLING, SLOWEST_NS))
            if len(settled) < SETTLING or settled[-1].awake_ns >= SLOWEST_NS:
                return Steps((), period_ns)
            return Steps(tuple(tracer.activations(last_call, count, period_ns)), period_ns)
        finally:
            tracer.release()


@contextmanager
def _ahead_of_others() -> Iterator[None]:
    """The tracer on one CPU, at a real-time priority where it has the right to one."""
    policy, parameters, cpus = os.sched_getscheduler(0), os.sched_getparam(0), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cpus)})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)
        os.sched_setaffinity(0, cpus)


@contextmanager
def _started(command: Sequence[str | Path]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _sleeping_thread(process: subprocess.Popen[str], name: str, call: str) -> int:
    """The thread of that name, other than the process's first, once it sleeps in that system call."""
    number = next(f"{number} " for number, known in CALLS.items() if known == call)
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # one that ends meanwhile is another
                named = task.name != str(process.pid) and (task / "comm").read_text().startswith(name)
                if named and (task / "syscall").read_text().startswith(number):
                    return int(task.name)
    said = process.stderr.read() if process.poll() is not None and process.stderr else ""
    raise ProcessLookupError(f"{process.args!r} has no thread {name} that sleeps in {call}: {said}")


def _vdso(process: int) -> range:
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        if line.endswith("[vdso]"):
            first, last = (int(word, 16) for word in line.split()[0].split("-"))
            return range(first, last)
    return range(0)


def _named(number: int) -> str:
    return CALLS.get(number, f"call {number}")
