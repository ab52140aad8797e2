"""A running guest: QEMU as a child process that ends with howlate, however that dies; and the messages about
one that went wrong."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import REMEDIED, DamagedError, GuestError, TargetError
from howlate.lab.cache import storing
from howlate.lab.guests import window
from howlate.lab.guests.console import RESTARTS, console_of, telling, trouble_on
from howlate.lab.guests.machine import Machine, Places
from howlate.lab.guests.monitor import TOO_LATE, GoneError, LateError, Monitor
from howlate.lab.guests.watch import Limits, Standstill, Watch, used_by
from howlate.lab.kernels.kernel import VMLINUX
from howlate.lab.problems import guest_failed, not_installed, qemu_failed
from howlate.model.guest_cpus import MOST_MIPS
from howlate.model.run import VIRTUAL
from howlate.system.paths import emulator_clock_path
from howlate.words.statement import Statement, message

INTERRUPTS_OFF = "it runs with interrupts off"
LOOPS = "it is in an endless loop with interrupts on"
LOST_TIMER = "its CPU is idle, and its timer or wake-up was lost"
LOOPS_OR_WAITS = "it is in an endless loop with interrupts on, or its timer or wake-up was lost"
"""With several CPUs none is ever idle."""

IDLE_RATE = 5.0
"""A guest of 1,000 MIPS whose clock goes on by more seconds in one of the host's CPU time is idle. One that
executes goes on by 0.04 to 0.6, and one that idles by tens."""
LOOKS, LOOK_AGAIN_S, LOOK_CPU_S = 16, 0.05, 3.0
"""How often its CPUs are looked at, how long after each other, and the CPU time in which QEMU answers such a
question. It does between two turns, and a turn ends with the next timer. Interrupts that are off make a turn longer:
the timer's interrupt stays pending."""
_X86_CPU = re.compile(r"\bRFL=([0-9a-f]+)")
_ARM_CPU = re.compile(r"\bPSTATE=([0-9a-f]+)")
_X86_ON, _ARM_OFF = 1 << 9, 1 << 7
"""The interrupt flag; the mask of interrupts."""


def with_interrupts_off(text: str) -> tuple[bool, ...]:
    """Of each CPU, in what QEMU prints of their registers."""
    x86 = [not int(word, 16) & _X86_ON for word in _X86_CPU.findall(text)]
    arm = [bool(int(word, 16) & _ARM_OFF) for word in _ARM_CPU.findall(text)]
    return tuple(x86 or arm)


def what_it_does(rate: float, looks: Sequence[tuple[bool, ...]], cpus: int) -> str:
    """`rate`: by how many seconds its clock goes on in one of CPU time, at 1,000 MIPS. `looks`: of each CPU, whether
    its interrupts were off; empty if no turn of the guest ended."""
    if rate > IDLE_RATE:
        return LOST_TIMER
    if not looks or any(map(all, zip(*looks, strict=True))):
        return INTERRUPTS_OFF
    return LOOPS if cpus == 1 else LOOPS_OR_WAITS


WITH_CONSOLE = message("lab.with-console", "{problem}\n{console}")
"""What happened, and below it the lines of the console that explain it."""
NO_FURTHER = "QEMU stopped before the guest was ready"
NO_END = "the guest did not end"
STUCK = message(
    "lab.stuck",
    "{what} ({reason}) and was killed",
    remedy="leave out what is new in this guest: a module, a load, a boot parameter",
)

Tick = Callable[[float], None]
"""Receives, about once a second, how much CPU time a guest has used."""
NO_LIMIT = float("inf")
NO_LIMITS = Limits()

_LOOK_S = 0.2
"""How often a wait checks for an interrupt; the guest's end wakes it at once."""
_START_S = 60.0
_ANSWER_S, TURN_CPU_S = 600.0, 10.0
"""QEMU answers a question between two turns of the guest; a turn ends with the guest's next timer at the
latest. A question that has not been answered by then is given up; a guest whose turn takes this much CPU time
is stuck."""
# Started by QEMU's parent only: one that was killed in between leaves nothing behind.
_WITH_PARENT = '[ "$PPID" = "$0" ] && exec "$@"'


class Boot(Struct, frozen=True):
    machine: Machine
    kernel: Path
    initramfs: Path
    command_line: str

    @property
    def is_unpacked(self) -> bool:
        return self.kernel.name == VMLINUX

    @property
    def shift(self) -> int:
        """Until the guest waits for its job, an instruction takes 2**shift ns. A kernel that the host cannot look
        into may measure its clocks, which is exact only at 1 ns."""
        return self.machine.architecture.boot_shift if self.is_unpacked else 0


class StuckError(TargetError):
    """The guest makes no more progress."""


class Guest:
    """One QEMU and its folder. The window may be there, of a guest that has ended: QEMU writes all of it when it
    loads a machine. `stop`, once set, ends it with KeyboardInterrupt."""

    def __init__(self, boot: Boot, folder: Path, stop: threading.Event) -> None:
        self._boot = boot
        self._stop = stop
        self.window = folder / "window"
        self.console = folder / "console"
        self._errors = folder / "errors"
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: Watch | None = None
        self._stuck = False
        self._query_s: float | None = None
        """The CPU time at which a question was asked that is not answered yet."""
        self._turn_cpu_s = TURN_CPU_S
        """The CPU time within which such a question is answered."""
        self._began: tuple[float, float] | None = None
        """When the guest continued, and how far the host's clock was ahead of its clock then."""
        self.monitor: Monitor | None = None
        with storing(self.window):
            if not self.window.exists():
                window.create(self.window)

    def give(self, job: bytes) -> None:
        with storing(self.window):
            window.put_job(self.window, job)

    @contextlib.contextmanager
    def started(
        self, *more: str, monitored: bool = True, limits: Limits = NO_LIMITS, boot_shift: int | None = None
    ) -> Iterator[Guest]:
        """QEMU runs until the block ends at the latest. With a monitor the guest waits for `go_on`. `limits`
        apply to virtual time, in which an instruction of a boot takes 2**`boot_shift` ns."""
        self.check()
        boot = self._boot
        places = Places(str(boot.kernel), str(boot.initramfs), str(self.window), str(self.console))
        argv = [
            *boot.machine.program(),
            *boot.machine.arguments(places, boot.command_line, boot_shift),
            *more,
        ]
        with contextlib.ExitStack() as stack:
            theirs: socket.socket | None = None
            if monitored:
                ours, theirs = socket.socketpair()
                stack.callback(theirs.close)
                stack.callback(ours.close)
                argv += [
                    "-S",
                    "-chardev",
                    f"socket,id=monitor,fd={theirs.fileno()}",
                    "-mon",
                    "chardev=monitor,mode=control",
                ]
            errors = stack.enter_context(self._errors.open("wb"))
            stack.callback(self._end)
            handles = [theirs.fileno()] if theirs else []
            clock: int | None = None
            if boot.machine.clock == VIRTUAL:
                clock = os.open(emulator_clock_path(), os.O_RDONLY)
                stack.callback(os.close, clock)
            process = self._process = _start(argv, errors.fileno(), handles, clock)
            if theirs is not None:
                theirs.close()
                self.monitor = Monitor(ours, self.check)
                stack.callback(self.monitor.close)
                with self.explained():
                    self.monitor.connect(time.monotonic() + _START_S)
            if boot.machine.clock == VIRTUAL:
                self._watch = Watch(
                    lambda: used_by(process.pid),
                    limits,
                    self._virtual_s,
                    lambda: window.read_results(self.window),
                )
            yield self

    def go_on(self, deadline: float) -> None:
        """Let the guest execute, and note when its clock starts."""
        assert self.monitor is not None
        with contextlib.suppress(
            TargetError
        ):  # a QEMU that does not say it bounds the guest by CPU time alone
            ahead_s = self.monitor.ahead_s(min(deadline, time.monotonic() + _START_S))
            self._began = (time.monotonic(), ahead_s)
        self.monitor.go_on(deadline)

    def has_stopped(self) -> None:
        """The guest's clock stands from now on and is not read again, because the host's clock runs while the
        guest is saved."""
        self._began = None

    def _virtual_s(self) -> float | None:
        """How far the guest's clock has advanced since `go_on`; None if that cannot be known."""
        if self._began is None or self.monitor is None:
            return None
        went_on, ahead_s = self._began
        self._query_s = self.cpu_s
        try:
            now_ahead_s = self.monitor.ahead_s(time.monotonic() + _ANSWER_S)
        except (GoneError, StuckError):
            raise
        except TargetError:
            self._began = None
            return None
        finally:
            self._query_s = None
        return time.monotonic() - went_on - (now_ahead_s - ahead_s)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the end of QEMU into an explanation."""
        try:
            yield
        except LateError:
            raise self.failure(qemu_failed("it did not answer in time")) from None
        except StuckError as problem:
            raise self.stuck(NO_FURTHER, problem) from None
        except GoneError:
            self.wait(time.monotonic() + _START_S)
            raise self.failure(qemu_failed("it ended before the guest was ready")) from None

    def check(self) -> None:
        """Raise if the guest should end, or has ended."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        if self._process is not None and self._process.poll() is not None:
            raise GoneError(qemu_failed("it has ended"))
        if self._watch is None:
            return
        trouble: str | Standstill | None
        if self._query_s is not None:  # by the watch itself
            turn_s = self._watch.read().cpu_s - self._query_s
            trouble = INTERRUPTS_OFF if turn_s > self._turn_cpu_s else None
        else:
            trouble = self._watch.trouble()
        if isinstance(trouble, Standstill):
            trouble = self._problem_of(trouble)
        if trouble:
            self._stuck = True
            raise StuckError(REMEDIED(problem=trouble, remedy=""))

    def _problem_of(self, standstill: Standstill) -> str:
        machine = self._boot.machine
        rate = standstill.rate * machine.mips / MOST_MIPS
        return standstill.problem(what_it_does(rate, self._looks(), machine.cpus))

    def _looks(self) -> list[tuple[bool, ...]]:
        """Of each CPU whether its interrupts are off, several times; nothing if no turn of the guest ends."""
        assert self.monitor is not None and self._watch is not None
        self._query_s, self._turn_cpu_s = self.cpu_s, LOOK_CPU_S
        looks = []
        try:
            for _ in range(LOOKS):
                text = self.monitor.registers(time.monotonic() + _ANSWER_S)
                looks.append(with_interrupts_off(text))
                self._stop.wait(LOOK_AGAIN_S)
                self._query_s = self._watch.read().cpu_s
        except StuckError:
            return []
        finally:
            self._query_s, self._turn_cpu_s = None, TURN_CPU_S
        return looks

    @property
    def cpu_s(self) -> float:
        """The CPU time that it had used when it was last observed."""
        return self._watch.cpu_s if self._watch is not None else 0.0

    def wait(self, deadline: float, tick: Tick = lambda _: None) -> None:
        """Wait until QEMU has ended; LateError after the deadline, StuckError if it makes no more progress."""
        assert self._process is not None
        if self._process.poll() is not None:
            return
        handle = os.pidfd_open(self._process.pid)
        try:
            poll, ticked = select.poll(), time.monotonic()
            poll.register(handle, select.POLLIN)
            while not poll.poll(_LOOK_S * 1000):
                with contextlib.suppress(GoneError):
                    self.check()
                now = time.monotonic()
                if now > deadline:
                    raise LateError(qemu_failed(TOO_LATE))
                if now - ticked >= 1:
                    ticked = now
                    tick(self.cpu_s)
        finally:
            os.close(handle)
        if self._watch is not None:
            self._watch.read()  # all that it used: it has ended, and is not reaped yet
            tick(self.cpu_s)
        self._process.wait()

    def finish(self, limit_s: float, tick: Tick) -> None:
        """Wait for the guest's end, and report one that never ends. In real time it has `limit_s`."""
        virtual = self._watch is not None
        try:
            self.wait(NO_LIMIT if virtual else time.monotonic() + limit_s, tick)
        except StuckError as problem:
            if RESTARTS not in self.console_text():
                raise self.stuck(NO_END, problem) from None
            self._end()  # one QEMU in many thousands sleeps where it should end; the guest has
        except LateError:
            raise self.failure(
                guest_failed(f"it did not end within {limit_s:.0f} s of the host's time")
            ) from None

    def stuck(self, what: str, problem: StuckError) -> GuestError:
        return self.failure(STUCK(what=what, reason=problem.statement))

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def answer(self) -> bytes:
        """The guest's result; GuestError with an explanation if there is none."""
        try:
            result = window.read_answer(self.window)
        except DamagedError as problem:
            raise self.failure(problem.statement) from None
        if result.state is window.State.FAILED:
            raise self.failure(guest_failed(result.data.decode("utf-8", "replace").strip()))
        if result.state is not window.State.RESULT:
            raise self.failure(guest_failed("it ended without a result"))
        trouble = trouble_on(self.console_text())
        if trouble:
            raise self.failure(trouble)
        return result.data

    def failure(self, otherwise: Statement) -> GuestError:
        """What happened, from the console and QEMU's own output, with the lines of the console that explain
        it."""
        text = self.console_text()
        errors = self._errors.read_text("utf-8", "replace").strip() if self._errors.exists() else ""
        code = self._process.poll() if self._process is not None else None
        what = trouble_on(text) or otherwise
        if code is not None and code < 0 and not self._stuck:
            with contextlib.suppress(ValueError):
                what = qemu_failed(f"ended by {signal.Signals(-code).name}")
        elif code and code > 0:
            words = next((line for line in errors.splitlines() if "warning:" not in line), "nothing")
            what = qemu_failed(f"exit code {code}: {words}")
        lines = telling(text)
        return GuestError(WITH_CONSOLE(problem=what, console="\n".join(lines)) if lines else what, text)

    def console_text(self) -> str:
        return console_of(self.console)


def _start(
    argv: list[str], errors: int, handles: Sequence[int], clock: int | None
) -> subprocess.Popen[bytes]:
    """`clock`: the opened library that stands in for the host's clock; its path may have characters that end one."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise not_installed("setpriv", "util-linux")
    with_parent = [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", _WITH_PARENT, str(os.getpid())]
    environment = dict(os.environ)
    if clock is not None:
        others = environment.get("LD_PRELOAD", "")
        environment["LD_PRELOAD"] = f"/proc/self/fd/{clock} {others}".rstrip()
    try:
        # A process group of its own: Ctrl-C reaches howlate alone, which ends its guests in order.
        return subprocess.Popen(
            [*with_parent, *argv],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=(*handles, *([clock] if clock is not None else [])),
            env=environment,
            process_group=0,
        )
    except OSError as problem:
        raise TargetError(qemu_failed(problem.strerror)) from None
