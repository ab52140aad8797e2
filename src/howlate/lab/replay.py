"""A cell of the lab played again, with what the guest executes logged around some of its samples. It is the
same cell: the same machine, the same job, the same bytes; a replay in which one sample differs is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import product
from statistics import median

import numpy as np
from msgspec import Struct

from howlate.errors import NotPossibleError, TargetError, UnfitKernelError
from howlate.lab.bench import PROBE, Bench, LineResult
from howlate.lab.cache import read_sealed_json, storing, write_sealed_json
from howlate.lab.guests.watch import Limits
from howlate.lab.problems import UNUSABLE
from howlate.model.guest_cpus import SHIFTS
from howlate.model.run import VIRTUAL
from howlate.replay.execution import Execution
from howlate.replay.instructions import AMD64, InstructionKind
from howlate.replay.log import ExecutionLog, Integers, LoggedSpan, LogPlan
from howlate.replay.symbols import USER_TOP, Symbols
from howlate.store.activations import Activation, Activations, streamed_activations
from howlate.targets._target import outcome_of, sentence_of
from howlate.words.statement import message

STAMP_NOT_FOUND = message(
    "lab.replay-no-stamp",
    "the guest of {cell} did not execute the reading of its time stamps",
    remedy="report it with the run: this is a defect of howlate",
)

REFUSED = message(
    "lab.replay-refused",
    "{what} cannot be played again: {reason}",
    remedy="`howlate why RUN --from events` explains it by the events that were recorded",
)

LOG_LEAD_NS, TAIL_NS = 200_000, 20_000
"""What is logged before a release, so that callers are known that called before it, and after a time stamp."""
_NEAR_NS = TAIL_NS // 2
"""How far a guest's clock may move against the machine's in a cell. 2 us were seen."""
_CALIBRATION = [
    PROBE,
    "cyclic",
    "--policy=fifo:80",
    "--period=1ms",
    "--activations=16",
    "--dither",
    "--seed=1",
]
_AGAIN_NS = 50
"""A program that repeats the reading of a clock because of a tick does so within this time."""
_MOST_PPM = 10
"""A kernel that has been idle corrects its clock by up to 4 parts in a million for the next half second
(measured)."""
_STREAM = ("--stream=stream", "--record=memory", "--quiet")
CLOCKS = "clocks"
_EVER = 1 << 62
_LIMITS = Limits(600.0)
CLOCK_STEPS_NS = {AMD64: 1, "arm64": 16}


class RecordedCell(Struct, frozen=True):
    id: str
    before: Sequence[Sequence[str]]
    """The lines of its job that prepare it."""
    line: Sequence[str]
    activations: Activations


class ReplayedActivation(Struct, frozen=True):
    """An activation, and what was executed around it."""

    activation: Activation
    execution: Execution
    release_ns: int
    """By the machine's clock."""
    stamp: int
    """The instruction that read the clock, by its number."""


def replay(
    bench: Bench, cell: RecordedCell, targets: Sequence[Activation], limits: Limits
) -> list[ReplayedActivation]:
    """Play a cell again with a log of what is executed around some of its activations."""
    if bench.machine.clock != VIRTUAL:
        raise _not_replayable("in real time", "in virtual time (--clock virtual)")
    if bench.machine.cpus > 1:
        raise _not_replayable("of several CPUs", "with one CPU")
    symbols = symbols_of(bench, cell.before)
    begin_ns = cell.activations.t0_ns - ahead_ns(bench, symbols)
    near = [_neighbour(cell.activations.each, each) for each in targets]
    expected_ns = [begin_ns + _stamp_ns(each) for each in (*targets, *near)]
    stretches = [
        _around(stamp_ns, LOG_LEAD_NS + each.latency_ns)
        for stamp_ns, each in zip(expected_ns, targets, strict=False)
    ] + [_around(stamp_ns, TAIL_NS) for stamp_ns in expected_ns[len(targets) :]]
    plan = LogPlan(
        _joined(stretches),
        switches=symbols.address("__switch_to"),
        counts=counts_of(symbols) if bench.kernel.arch == AMD64 else (0, 0),
    )
    lines, logs = bench.logged([*cell.before, cell.line], limits, plan)
    _must_be_equal(cell, activations_of(lines, cell.id))
    executions = [execution_of(bench, symbols, log) for log in logs]
    stamps_found = _clock_readings(executions, expected_ns, cell)
    replayed = []
    for each, other, mine, others in zip(
        targets, near, stamps_found, stamps_found[len(targets) :], strict=False
    ):
        apart_ns = _stamp_ns(each) - _stamp_ns(other)
        most_ns = most_off_ns(apart_ns, bench.kernel.arch)
        pairs = (
            one for one, two in product(mine, others) if abs(one.read_ns - two.read_ns - apart_ns) <= most_ns
        )
        stamp = next(pairs, None)
        if stamp is None:
            raise TargetError(STAMP_NOT_FOUND(cell=cell.id))
        replayed.append(_replayed(each, stamp, CLOCK_STEPS_NS[bench.kernel.arch]))
    return replayed


class _ClockReading(Struct, frozen=True):
    """An instruction that read the clock for a time stamp."""

    execution: Execution
    at: int
    read_ns: int


def _clock_readings(
    executions: Sequence[Execution], expected_ns: Sequence[int], cell: RecordedCell
) -> list[list[_ClockReading]]:
    """The candidates for each time stamp, equally far from their due times: another program may have read the clock
    nearer to that."""
    nearest = [_candidates(executions, stamp_ns, cell)[0] for stamp_ns in expected_ns]
    off_ns = round(
        median(each.read_ns - stamp_ns for each, stamp_ns in zip(nearest, expected_ns, strict=True))
    )
    return [_candidates(executions, stamp_ns + off_ns, cell) for stamp_ns in expected_ns]


def _candidates(executions: Sequence[Execution], expected_ns: int, cell: RecordedCell) -> list[_ClockReading]:
    """The one that is nearest to where it should be, and those that may have been read in its place."""
    for execution in executions:
        if execution.log.anchors[0][1] <= expected_ns <= execution.log.anchors[-1][1]:
            places, times_ns = stamps(execution)
            if len(places) and abs(times_ns - expected_ns).min() <= _NEAR_NS:
                first_ns = int(times_ns[np.argmin(np.abs(times_ns - expected_ns))])
                return [
                    _ClockReading(execution, int(place), int(read_ns))
                    for place, read_ns in zip(*readings(execution), strict=True)
                    if first_ns <= read_ns <= first_ns + _AGAIN_NS
                ]
    raise TargetError(STAMP_NOT_FOUND(cell=cell.id))


def _replayed(activation: Activation, stamp: _ClockReading, step_ns: int) -> ReplayedActivation:
    """The clock shows the last step that was over."""
    shown_ns = stamp.read_ns - stamp.read_ns % step_ns
    return ReplayedActivation(activation, stamp.execution, shown_ns - activation.latency_ns, stamp.at)


def _neighbour(all_of_them: Sequence[Activation], activation: Activation) -> Activation:
    """The one after an activation, or before the last, of the same thread: so near that the two clocks agree
    on the time between. The only one is its own."""
    same = [each for each in all_of_them if each.thread == activation.thread]
    place = same.index(activation)
    return same[place + 1] if place + 1 < len(same) else same[max(0, place - 1)]


def activations_of(lines: Sequence[LineResult], what: str) -> Activations:
    """What the last line of a job measured; NotPossibleError if the guest refused one of its lines."""
    for number, line in enumerate(lines, 1):
        if line.status != "0" and not (number == len(lines) and outcome_of(line.code, line.stderr).measured):
            reason = sentence_of(line.stderr, line.code)
            raise NotPossibleError(REFUSED(what=what, reason=reason))
    return streamed_activations(lines[-1].files.get("stream", b""))


def _must_be_equal(cell: RecordedCell, again: Activations) -> None:
    recorded, replayed = cell.activations.each, again.each
    if len(recorded) != len(replayed):
        raise _differs(cell, f"{len(replayed)} samples, not {len(recorded)}")
    for one, other in zip(recorded, replayed, strict=True):
        if one != other:
            late = f"release {one.release} is {other.latency_ns} ns late, not {one.latency_ns} ns"
            raise _differs(cell, late)


def _stamp_ns(activation: Activation) -> int:
    return activation.release_ns + activation.latency_ns


def _around(stamp_ns: int, lead_ns: int) -> LoggedSpan:
    return LoggedSpan(stamp_ns - lead_ns, stamp_ns + TAIL_NS)


def _joined(windows: Iterable[LoggedSpan]) -> tuple[LoggedSpan, ...]:
    """In order; those that meet are one."""
    joined: list[LoggedSpan] = []
    for stretch in sorted(windows, key=lambda each: each.from_ns):
        if joined and stretch.from_ns <= joined[-1].to_ns:
            joined[-1] = LoggedSpan(joined[-1].from_ns, max(joined[-1].to_ns, stretch.to_ns))
        else:
            joined.append(stretch)
    return tuple(joined)


def stamps(execution: Execution) -> tuple[Integers, Integers]:
    """The numbers of the instructions with which a program read the clock first after it came back from the
    kernel, and when."""
    places, times_ns = readings(execution)
    is_program = execution.addresses < USER_TOP
    back = np.nonzero(is_program[1:] & ~is_program[:-1])[0] + 1
    first = np.unique(np.searchsorted(places, back))
    first = first[first < len(places)]
    return places[first], times_ns[first]


def readings(execution: Execution) -> tuple[Integers, Integers]:
    """The numbers of all instructions with which programs read the clock, and when. A program repeats a reading
    that a tick interrupts: the vdso begins again."""
    is_program = execution.addresses < USER_TOP
    places = np.nonzero((execution.kinds == InstructionKind.CLOCK) & is_program)[0].astype(np.int64)
    return places, execution.times_ns[places]


def stamp_readings(execution: Execution) -> tuple[Integers, Integers]:
    """Those of `readings` that may be a time stamp: the first after a program came back from the kernel, and its
    repetition after a tick. Later readings have another purpose."""
    places, times_ns = readings(execution)
    _, first_ns = stamps(execution)
    if not len(first_ns):
        return places[:0], times_ns[:0]
    before = np.searchsorted(first_ns, times_ns, side="right") - 1
    is_near = (before >= 0) & (times_ns - first_ns[before] <= _AGAIN_NS)
    return places[is_near], times_ns[is_near]


def symbols_of(bench: Bench, before: Sequence[Sequence[str]]) -> Symbols:
    """The functions of a guest's kernel, of the modules that these lines load, and of the probe."""
    text = bench.run([*before, ("copy", "/proc/kallsyms")], _LIMITS)[-1].stdout
    symbols = Symbols.of(text.decode("ascii", "replace"), bench.probe)
    if not symbols.address("__switch_to"):
        hint = "build it with CONFIG_KALLSYMS"
        raise UnfitKernelError(UNUSABLE(what=bench.label, reason="it has no symbols", hint=hint))
    return symbols


def counts_of(symbols: Symbols) -> tuple[int, int]:
    """Where the preemption count is."""
    place = symbols.address("__preempt_count") or (
        symbols.address("pcpu_hot") and symbols.address("pcpu_hot") + 8
    )
    return symbols.address("__per_cpu_offset"), place


def execution_of(bench: Bench, symbols: Symbols, log: ExecutionLog) -> Execution:
    return Execution(bench.kernel.arch, log, symbols, 1 << SHIFTS[bench.machine.mips])


def ahead_ns(bench: Bench, symbols: Symbols) -> int:
    """How far a guest's CLOCK_MONOTONIC is ahead of the machine's clock when a cell begins: once for each guest."""
    place = bench.cache / CLOCKS / f"{bench.key}.json"
    stored = read_sealed_json(place, bench.say, "the clocks are compared again")
    with suppress(ValueError, KeyError, TypeError):
        return int(stored["ahead_ns"])
    found_ns = _compared_clocks_ns(bench, symbols)
    with storing(place):
        write_sealed_json(place, {"ahead_ns": found_ns})
    return found_ns


def _compared_clocks_ns(bench: Bench, symbols: Symbols) -> int:
    """The same, from a short cell that is logged from its first instruction to its last."""
    lines, logs = bench.logged([[*_CALIBRATION, *_STREAM]], _LIMITS, LogPlan((LoggedSpan(0, _EVER),), 10_000))
    calibrating = activations_of(lines, str(bench.label))
    stamps_ns = np.array([calibrating.t0_ns + _stamp_ns(each) for each in calibrating.each])
    reads_ns = stamps(execution_of(bench, symbols, logs[0]))[1]
    found_ns = clocks_apart_ns(stamps_ns, reads_ns, bench.kernel.arch)
    if found_ns is None:
        raise TargetError(STAMP_NOT_FOUND(cell=bench.label))
    return found_ns


def clocks_apart_ns(stamps_ns: Integers, reads_ns: Integers, arch: str) -> int | None:
    """How far the clock of the time stamps is ahead of that of the readings; None unless each time stamp has its
    reading. The releases were dithered, so no other readings have the same distances."""
    middle_ns = int(stamps_ns[len(stamps_ns) // 2])
    allowed_ns = np.array([most_off_ns(int(stamp) - middle_ns, arch) for stamp in stamps_ns])
    for first in reads_ns:
        ahead_ns = middle_ns - int(first)
        off_ns = np.abs(reads_ns[:, np.newaxis] - (stamps_ns - ahead_ns)).min(axis=0)
        if np.all(off_ns <= allowed_ns):
            return ahead_ns
    return None


def most_off_ns(apart_ns: int, arch: str) -> int:
    """How far the two clocks may disagree about a duration."""
    return max(CLOCK_STEPS_NS[arch], 2) + abs(apart_ns) * _MOST_PPM // 1_000_000


def _not_replayable(what: str, how: str) -> NotPossibleError:
    return NotPossibleError("a cell {what} cannot be replayed", remedy="measure it {how}", what=what, how=how)


def _differs(cell: RecordedCell, difference: str) -> TargetError:
    return TargetError(
        "the replay of {cell} differs: {difference}",
        remedy="measure it again with this howlate, QEMU and kernel",
        cell=cell.id,
        difference=difference,
    )
