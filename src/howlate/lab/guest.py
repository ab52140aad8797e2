"""A running guest: QEMU as a child that ends with howlate, however that dies; and what is told of one that went
wrong."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from howlate.errors import DamagedError, NotPossibleError, TargetError
from howlate.lab import window
from howlate.lab.cache import storing
from howlate.lab.console import console_of, telling, trouble_on
from howlate.lab.machine import Machine, Places
from howlate.lab.monitor import GoneError, LateError, Monitor
from howlate.lab.watch import Limits, Watch, used_by
from howlate.model.run import VIRTUAL

Tick = Callable[[float], None]
"""Is told about once a second how much CPU time a guest has used."""
NO_LIMIT = float("inf")
NO_LIMITS = Limits()

_LOOK_S = 0.2
"""How often a wait looks for an interrupt; the guest's end wakes it at once."""
_START_S = 60.0
_ANSWER_S, TURN_CPU_S = 600.0, 30.0
"""QEMU answers a question between two turns of the guest; one turn ends with the guest's next timer at the latest. A
question that has not been answered by then is given up; a guest whose turn takes so much CPU time is stuck."""
# Started by QEMU's parent only: one that was killed in between leaves nothing behind.
_WITH_PARENT = '[ "$PPID" = "$0" ] && exec "$@"'


@dataclass(frozen=True)
class Boot:
    """What is booted."""

    machine: Machine
    kernel: Path
    initramfs: Path
    command_line: str


class StuckError(TargetError):
    """The guest will not get any further."""


class Guest:
    """One QEMU and its folder. `stop`, once set, ends it with KeyboardInterrupt."""

    def __init__(self, boot: Boot, folder: Path, stop: threading.Event) -> None:
        self._boot = boot
        self._stop = stop
        self.window = folder / "window"
        self.console = folder / "console"
        self._errors = folder / "errors"
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: Watch | None = None
        self._stuck = False
        self._asked_at_s: float | None = None
        """The CPU time at which a question was asked that is not answered yet."""
        self._began: tuple[float, float] | None = None
        """When the guest went on, and how far the host's clock was ahead of its clock then."""
        self.monitor: Monitor | None = None
        with storing(self.window):
            window.create(self.window)

    def give(self, job: bytes) -> None:
        """Puts its job into the window."""
        with storing(self.window):
            window.put_job(self.window, job)

    @contextlib.contextmanager
    def started(self, *more: str, monitored: bool = True, limits: Limits = NO_LIMITS) -> Iterator[Guest]:
        """QEMU runs until the block ends at the latest. With a monitor the guest waits for `go_on`. `limits` are
        those of virtual time."""
        self.check()
        boot = self._boot
        places = Places(str(boot.kernel), str(boot.initramfs), str(self.window), str(self.console))
        argv = [str(boot.machine.emulator()), *boot.machine.arguments(places, boot.command_line), *more]
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
            process = self._process = _start(argv, errors.fileno(), handles)
            if theirs is not None:
                theirs.close()
                self.monitor = Monitor(ours, self.check)
                stack.callback(self.monitor.close)
                with self.explained():
                    self.monitor.connect(time.monotonic() + _START_S)
            if boot.machine.clock == VIRTUAL:
                self._watch = Watch(lambda: used_by(process.pid), limits, self._virtual_s)
            yield self

    def go_on(self, deadline: float) -> None:
        """Lets the guest execute, and notes from when on its clock counts."""
        assert self.monitor is not None
        with contextlib.suppress(
            TargetError
        ):  # a QEMU that does not say it bounds the guest by CPU time alone
            ahead_s = self.monitor.ahead_s(min(deadline, time.monotonic() + _START_S))
            self._began = (time.monotonic(), ahead_s)
        self.monitor.go_on(deadline)

    def has_stopped(self) -> None:
        """Its clock stands from now on, and is not asked again: the host's goes on while the guest is saved."""
        self._began = None

    def _virtual_s(self) -> float | None:
        """By how much the guest's clock has gone on since `go_on`; None if it cannot be known."""
        if self._began is None or self.monitor is None:
            return None
        went_on, ahead_s = self._began
        self._asked_at_s = self.cpu_s
        try:
            now_ahead_s = self.monitor.ahead_s(time.monotonic() + _ANSWER_S)
        except (GoneError, StuckError):
            raise
        except TargetError:
            self._began = None
            return None
        finally:
            self._asked_at_s = None
        return time.monotonic() - went_on - (now_ahead_s - ahead_s)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turns the end of QEMU into what can be known of it."""
        try:
            yield
        except LateError:
            raise self.failure("QEMU did not answer in time") from None
        except StuckError as problem:
            raise self.stuck("QEMU did not get any further", problem) from None
        except GoneError:
            self.wait(time.monotonic() + _START_S)
            raise self.failure("QEMU ended before the guest was ready") from None

    def check(self) -> None:
        """Raises if the guest should end, or has."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        if self._process is not None and self._process.poll() is not None:
            raise GoneError("QEMU has ended")
        if self._watch is None:
            return
        if self._asked_at_s is not None:  # by the watch itself
            turn_s = self._watch.read().cpu_s - self._asked_at_s
            trouble = "it executes, and comes to none of its timers" if turn_s > TURN_CPU_S else ""
        else:
            trouble = self._watch.trouble()
        if trouble:
            self._stuck = True
            raise StuckError(trouble)

    @property
    def cpu_s(self) -> float:
        """The CPU time that it was last seen to have used."""
        return self._watch.cpu_s if self._watch is not None else 0.0

    def wait(self, deadline: float, tick: Tick = lambda _: None) -> None:
        """Until QEMU has ended; LateError after the deadline, StuckError where it gets no further."""
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
                    raise LateError("it took too long")
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
        """Waits for the guest's end; one that never ends is told as that. In real time it has `limit_s`."""
        virtual = self._watch is not None
        try:
            self.wait(NO_LIMIT if virtual else time.monotonic() + limit_s, tick)
        except StuckError as problem:
            raise self.stuck("the guest did not end", problem) from None
        except LateError:
            raise self.failure(
                f"the guest did not end within {limit_s:.0f} s of the host's time, so it was ended"
            ) from None

    def stuck(self, what: str, problem: StuckError) -> TargetError:
        """The failure of a guest that got no further."""
        remedy = "a task that holds the CPU with interrupts off, or an endless loop in the kernel, does this"
        return self.failure(f"{what} ({problem.message}), so it was ended", remedy)

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def answer(self) -> bytes:
        """The result that the guest left; TargetError with what is known if there is none."""
        try:
            found = window.read_answer(self.window)
        except DamagedError as problem:
            raise self.failure(problem.message) from None
        if found.state is window.State.FAILED:
            raise self.failure(f"the guest failed: {found.data.decode('utf-8', 'replace').strip()}")
        if found.state is not window.State.RESULT:
            raise self.failure("the guest ended without a result")
        trouble = trouble_on(self.console_text())
        if trouble:
            raise self.failure(trouble)
        return found.data

    def failure(self, otherwise: str, remedy: str = "") -> TargetError:
        """What happened, from the console and QEMU's own words, with the lines of the console that tell it."""
        text = self.console_text()
        said = self._errors.read_text("utf-8", "replace").strip() if self._errors.exists() else ""
        code = self._process.poll() if self._process is not None else None
        what = trouble_on(text) or otherwise
        if code is not None and code < 0 and not self._stuck:
            with contextlib.suppress(ValueError):
                what = f"QEMU was ended by {signal.Signals(-code).name}"
        elif code and code > 0:
            words = next((line for line in said.splitlines() if "warning:" not in line), "nothing")
            what = f"QEMU ended with exit code {code} and said: {words}"
        return TargetError("\n".join([what, *telling(text)]), remedy, text)

    def console_text(self) -> str:
        """What the guest wrote on its console."""
        return console_of(self.console)


def _start(argv: list[str], errors: int, handles: Sequence[int]) -> subprocess.Popen[bytes]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise NotPossibleError("there is no setpriv on this machine", "install the package util-linux")
    with_parent = [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", _WITH_PARENT, str(os.getpid())]
    try:
        # A process group of its own: Ctrl-C reaches howlate alone, which ends its guests in order.
        return subprocess.Popen(
            [*with_parent, *argv],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=tuple(handles),
            process_group=0,
        )
    except OSError as problem:
        raise TargetError(f"QEMU could not be started: {problem.strerror}") from None
