"""Forks: a guest in the middle of a cell, saved, from which probes go on with another instant each
(docs/lab/prove.md).

A fork is the guest as it is at one instruction, with its clock exact: a saved guest whose clock QEMU has moved on
(snapshot.py, `set_clock`) is thrown away and made again, because a correction would make another landscape of it.
"""

from __future__ import annotations

import itertools
import mmap
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, field

from howlate.errors import ExitCode, TargetError, UnfitKernelError, UsageError
from howlate.lab.cache import storing
from howlate.lab.guests import qcow2, window
from howlate.lab.guests.execution_log import LOG_BYTES, LogFiles
from howlate.lab.guests.guest import NO_LIMIT, Boot, Guest
from howlate.lab.guests.machine_state import MachineState
from howlate.lab.guests.monitor import GoneError
from howlate.lab.guests.scratch import scratch
from howlate.lab.guests.single import SingleState, SingleWords, put_instant, read_moment, read_single
from howlate.lab.guests.snapshot import Snapshot, begin_anew, saved_clock_ns, saved_instructions
from howlate.lab.guests.watch import Limits
from howlate.lab.problems import UNUSABLE, guest_failed
from howlate.model.guest_cpus import SHIFTS
from howlate.replay.log import ExecutionLog, LogPlan
from howlate.replay.premises import GuestMoment, Witness

STOPPED_ELSEWHERE = "it stopped neither before its release nor after it"

FORK_FORMAT = 2
"""Counted up when the host's steps from a fork to a probe's latency change."""
_TRIES = 5
STOPS_WITHIN_NS = 4_000
"""From the plugin's look at the clock to the stop are some 20 instructions of at most 8 ns; on arm64 some 1,400 of
1 ns, because the first write to a page is a fault. The plugin's own timer, to which QEMU may move the clock, is as
late as this (probe/emulator/trace.cpp)."""
STATE_BYTES = 1 << 28
"""Room for a saved machine."""
_SAVE_S = _LOAD_S = 300.0
_STATE, _IMAGE = "fork", "image"


class Fork(Struct, frozen=True):
    """A guest that stands before its one release."""

    boot: Boot
    saved: Path
    words: SingleWords
    before: GuestMoment
    otherwise: Path
    stop: threading.Event
    limits: Limits
    cleanup: ExitStack
    spare: list[Path] = field(default_factory=list)
    """Folders of copies that have ended."""

    def probe(self, instant_ns: int) -> SingleWords:
        """The release at `instant_ns` of the guest's CLOCK_MONOTONIC; ends with the guest stopped behind its
        latency."""
        with self._released(instant_ns) as (_, words):
            return words

    def witness(self, instant_ns: int) -> tuple[SingleWords, Witness]:
        """The same, and what the guest says of the time between the fork and this release."""
        with self._released(instant_ns, witness=True) as (guest, words):
            after = read_moment(guest.window)
        return words, Witness.between(self.before, after)

    def logged(self, instant_ns: int, plan: LogPlan) -> tuple[SingleWords, ExecutionLog]:
        """The same, and what the guest executed in the window of a plan, to its end or to the guest's."""
        with self._place() as folder:
            files = LogFiles(folder)
            with self._released_in(folder, instant_ns, files.arguments(plan)) as (guest, words):
                assert guest.monitor is not None
                guest.monitor.quit(time.monotonic() + _SAVE_S)
                guest.wait(time.monotonic() + _SAVE_S)
            (log,) = files.read()
            return words, log

    def state(self, instant_ns: int, at_ns: int) -> tuple[SingleWords, MachineState]:
        """The machine that waits for the release at `instant_ns`, stopped at `at_ns`, both of the guest's
        CLOCK_MONOTONIC, and what it had said by then."""
        with scratch(window.SIZE + STATE_BYTES, self.otherwise) as folder:
            plan, image = LogPlan((), pauses_ns=self.machine_ns(at_ns)), folder / _IMAGE
            with storing(image):
                qcow2.create(image)
            with self._loaded_in(folder, LogFiles(folder).arguments(plan)) as guest:
                assert guest.monitor is not None
                with guest.explained():
                    put_instant(guest.window, instant_ns)
                    guest.go_on(NO_LIMIT)
                    guest.monitor.wait_for_stop()
                    guest.has_stopped()
                    words = read_single(guest.window)
                    guest.monitor.save(image, time.monotonic() + _SAVE_S)
                with storing(image), image.open("rb") as source:
                    return words, MachineState.of(b"".join(qcow2.saved_machine(source)))

    def machine_ns(self, instant_ns: int) -> int:
        """The machine's clock at an instant of the guest's CLOCK_MONOTONIC, within a microsecond."""
        return instant_ns - self.words.stopped_ns + self.words.clock_ns

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """A folder for a copy. Those of others are used again: a window takes a seventh of a probe's CPU time to make
        and to remove."""
        try:
            folder = self.spare.pop()
        except IndexError:  # also where another thread has just taken the last one
            folder = self.cleanup.enter_context(scratch(window.SIZE + LOG_BYTES, self.otherwise))
        yield folder
        self.spare.append(folder)

    @contextmanager
    def _released(self, instant_ns: int, *, witness: bool = False) -> Iterator[tuple[Guest, SingleWords]]:
        with (
            self._place() as folder,
            self._released_in(folder, instant_ns, witness=witness) as released,
        ):
            yield released

    @contextmanager
    def _released_in(
        self, folder: Path, instant_ns: int, more: Sequence[str] = (), *, witness: bool = False
    ) -> Iterator[tuple[Guest, SingleWords]]:
        with self._loaded_in(folder, more) as guest:
            with guest.explained():
                put_instant(guest.window, instant_ns, witness=witness)
                words = _until_latency(guest, instant_ns)
            yield guest, words

    @contextmanager
    def _loaded_in(self, folder: Path, more: Sequence[str]) -> Iterator[Guest]:
        """A copy of it that does not execute yet."""
        with self.saved.open("rb") as state:
            guest = Guest(self.boot, folder, self.stop)
            with guest.started("-incoming", "defer", *more, limits=self.limits):
                assert guest.monitor is not None
                with guest.explained():
                    guest.monitor.load(state.fileno(), time.monotonic() + _LOAD_S)
                yield guest


def direct(saved: Snapshot, job: bytes, instant_ns: int, otherwise: Path, limits: Limits) -> SingleWords:
    """The same release without a stop before it: the guest executes the same instructions, and goes on where QEMU
    would stop it."""
    with scratch(window.SIZE, otherwise) as folder, _own(saved) as state:
        guest = Guest(saved.boot, folder, threading.Event())
        with guest.started("-incoming", "defer", "-action", "panic=none", limits=limits):
            assert guest.monitor is not None
            with guest.explained():
                guest.monitor.load(state, time.monotonic() + _LOAD_S)
                guest.give(job)
                put_instant(guest.window, instant_ns)
                guest.go_on(NO_LIMIT)
            guest.finish(limits.cpu_s, lambda _: None)
        return _checked(read_single(guest.window), instant_ns, guest)


@contextmanager
def forked(
    saved: Snapshot, stops_at: int, job: bytes, otherwise: Path, stop: threading.Event, limits: Limits
) -> Iterator[Fork]:
    """The guest of a job, at the stop before its release."""
    with scratch(window.SIZE * 8, otherwise) as folder, ExitStack() as held:
        for attempt in range(_TRIES):
            beside = folder / str(attempt)
            beside.mkdir()
            moment = _save(saved, stops_at, job, beside, otherwise, stop, limits)
            if moment is not None:
                yield Fork(saved.boot, beside / _STATE, *moment, otherwise, stop, limits, held)
                return
        reason = f"QEMU moved its clock in each of {_TRIES} attempts to save it"
        hint = "call the command again, with less other work on this machine"
        raise TargetError(UNUSABLE(what="the guest", reason=reason, hint=hint))


def _save(
    saved: Snapshot,
    stops_at: int,
    job: bytes,
    beside: Path,
    otherwise: Path,
    stop: threading.Event,
    limits: Limits,
) -> tuple[SingleWords, GuestMoment] | None:
    """What the guest says if its clock was saved as it was; None if QEMU had moved it."""
    image, path = beside / _IMAGE, beside / _STATE
    with storing(image):
        qcow2.create(image)
    with scratch(window.SIZE, otherwise) as folder, _own(saved) as state:
        guest = Guest(saved.boot, folder, stop)
        looks = LogFiles(folder)
        with guest.started(
            "-incoming", "defer", *looks.arguments(LogPlan((), stops=stops_at)), limits=limits
        ):
            assert guest.monitor is not None
            with guest.explained():
                guest.monitor.load(state, time.monotonic() + _LOAD_S)
                guest.give(job)
                guest.go_on(NO_LIMIT)
                _wait_for_stop(guest)
                guest.has_stopped()
                words = read_single(guest.window)
                if words.state != SingleState.STOPPED_BEFORE:
                    raise guest.failure(guest_failed(STOPPED_ELSEWHERE))
                before = read_moment(guest.window)
                guest.monitor.save(image, time.monotonic() + _SAVE_S)
                guest.monitor.quit(time.monotonic() + _SAVE_S)
            guest.wait(time.monotonic() + _SAVE_S)
        looked_ns, instructions = looks.clock_before_stop()
    with storing(path), image.open("rb") as source, path.open("xb") as file:
        for piece in qcow2.saved_machine(source):
            file.write(piece)
    image.unlink()
    return (words, before) if _begins_exactly(path, saved.boot, looked_ns, instructions) else None


def _begins_exactly(path: Path, boot: Boot, looked_ns: int, instructions: int) -> bool:
    """Set a saved machine's clock to what it was at its stop, which follows from a look at it some instructions
    before; False if QEMU had moved it: then the machine is removed."""
    shift = SHIFTS[boot.machine.mips]
    with path.open("r+b") as whole, mmap.mmap(whole.fileno(), 0) as data:
        clock_ns = looked_ns + (saved_instructions(data) - instructions << shift)
        moved_ns = saved_clock_ns(data, shift) - clock_ns
        begin_anew(data, clock_ns)
    if 0 <= clock_ns - looked_ns <= STOPS_WITHIN_NS and 0 <= moved_ns <= STOPS_WITHIN_NS:
        return True
    path.unlink()
    return False


def _wait_for_stop(guest: Guest) -> None:
    """A guest that ends instead has refused a line of its job: the error has that line's own words."""
    assert guest.monitor is not None
    try:
        guest.monitor.wait_for_stop()
    except GoneError:
        guest.wait(NO_LIMIT)
        _refuse(window.decode_tree(guest.answer()))
        raise


def _refuse(files: Mapping[str, bytes]) -> None:
    """UsageError or UnfitKernelError if a line of a job failed: the first one's last message."""
    for number in itertools.count():
        status = files.get(f"{number}/status", b"").decode("ascii", "replace").strip()
        if not status:
            return
        if status != "0":
            stderr = files.get(f"{number}/stderr", b"").decode("utf-8", "replace").strip()
            reason = stderr.rpartition("\n")[2].removeprefix("howlate-probe: ") or status
            is_usage = status == str(int(ExitCode.USAGE))
            raise (UsageError if is_usage else UnfitKernelError)(
                guest_failed(f"it refused a line of its job: {reason}")
            )


def _until_latency(guest: Guest, instant_ns: int) -> SingleWords:
    assert guest.monitor is not None
    guest.go_on(NO_LIMIT)
    guest.monitor.wait_for_stop()
    return _checked(read_single(guest.window), instant_ns, guest)


def _checked(words: SingleWords, instant_ns: int, guest: Guest) -> SingleWords:
    if words.state != SingleState.HAS_LATENCY:
        raise guest.failure(guest_failed(STOPPED_ELSEWHERE))
    if words.instant_ns != instant_ns:
        raise TargetError(guest_failed(f"it waited for {words.instant_ns} ns instead of {instant_ns} ns"))
    return words


@contextmanager
def _own(saved: Snapshot) -> Iterator[int]:
    """The saved guest as a file of one's own: two that read it at once do not share a place in it."""
    handle = os.open(f"/proc/self/fd/{saved.state.fileno()}", os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
