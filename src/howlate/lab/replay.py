"""A cell of the lab played again, with what the guest executes logged around some of its samples. It is the
same cell: the same machine, the same job, the same bytes; a replay in which one sample differs is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from howlate.analysis.execution import Execution
from howlate.analysis.instructions import AMD64, Kind
from howlate.analysis.symbols import USER_TOP, Symbols
from howlate.errors import NotPossibleError, TargetError
from howlate.lab.bench import PROBE, Bench
from howlate.lab.cache import storing
from howlate.lab.watch import Limits
from howlate.model.activation import Activation, Activations
from howlate.model.execution import ExecutionLog, Integers, LogPlan, Stretch
from howlate.model.guest_cpus import SHIFTS
from howlate.model.run import VIRTUAL
from howlate.store.activations import streamed_activations
from howlate.words.statement import rule

ONE_CPU_ALONE = rule(
    "lab.replay-one-cpu",
    "what a guest of several CPUs executes is not logged",
    remedy="measure it with one CPU",
)
IN_REAL_TIME = rule(
    "lab.replay-real-time",
    "a cell in real time cannot be played again",
    remedy="measure it in virtual time (--clock virtual)",
)
OTHER_SAMPLES = rule(
    "lab.replay-other",
    "played again, {cell} has other samples: release {release} is {replayed_ns:time} late, not {recorded_ns:time}",
    remedy="measure it again with this howlate, this QEMU and this kernel, and ask again",
)
OTHER_NUMBER = rule(
    "lab.replay-other-number",
    "played again, {cell} has {replayed} samples, not {recorded}",
    remedy="measure it again with this howlate, this QEMU and this kernel, and ask again",
)
STAMP_NOT_FOUND = rule(
    "lab.replay-no-stamp",
    "the time stamps of {cell} were not found in what the guest executed",
    remedy="report it with the run: this is a defect of howlate",
)

LEAD_NS, TAIL_NS = 200_000, 20_000
"""What is logged before a release, so that callers are known that called before it, and after a time stamp."""
_CHECKS = 2
"""So many samples beside the wanted ones are found in the log as well: all must have the same distance to the
clock."""
_NEAR_NS = TAIL_NS // 2
"""How far the guest's clock may have moved against the machine's since the guest was calibrated."""
_CALIBRATION = [PROBE, "cyclic", "--policy=fifo:80", "--period=1ms", "--activations=8"]
_STREAM = ("--stream=stream", "--record=memory", "--quiet")
_CLOCKS = "clocks"
_EVER = 1 << 62
_LIMITS = Limits(600.0)
_CLOCK_STEPS_NS = {AMD64: 1, "arm64": 16}


@dataclass(frozen=True)
class RecordedCell:
    """A cell as it was measured."""

    id: str
    before: Sequence[Sequence[str]]
    """The lines of its job that prepare it."""
    line: Sequence[str]
    """The line that measures it."""
    activations: Activations


@dataclass(frozen=True)
class ReplayedActivation:
    """An activation, and what was executed around it."""

    activation: Activation
    execution: Execution = field(repr=False)
    release_ns: int
    """By the machine's clock."""
    stamp: int
    """The instruction that read the clock, by its number."""


def replay(
    bench: Bench, cell: RecordedCell, wanted: Sequence[Activation], limits: Limits
) -> list[ReplayedActivation]:
    """Play a cell again with a log of what is executed around some of its activations."""
    if bench.machine.clock != VIRTUAL:
        raise NotPossibleError(IN_REAL_TIME())
    if bench.machine.cpus > 1:
        raise NotPossibleError(ONE_CPU_ALONE())
    symbols = _symbols(bench, cell.before)
    begin_ns = cell.activations.t0_ns - _ahead_ns(bench, symbols)
    checked = [*wanted, *_checks(cell.activations.each, wanted)]
    stretches = [
        _around(each, begin_ns, LEAD_NS + each.latency_ns if number < len(wanted) else TAIL_NS)
        for number, each in enumerate(checked)
    ]
    plan = LogPlan(
        _joined(stretches),
        switches=symbols.address("__switch_to"),
        counts=_counts(symbols) if bench.kernel.arch == AMD64 else (0, 0),
    )
    lines, logs = bench.logged([*cell.before, cell.line], limits, plan)
    _must_be_equal(cell, streamed_activations(lines[-1].files.get("stream", b"")))
    executions = [_execution(bench, symbols, log) for log in logs]
    found = [_within(executions, begin_ns + _stamp_ns(each), cell) for each in checked]
    off_ns = [
        _clock_reads(execution)[1] - (begin_ns + _stamp_ns(each))
        for execution, each in zip(found, checked, strict=True)
    ]
    moved_ns = _moved_ns(off_ns, _CLOCK_STEPS_NS[bench.kernel.arch])
    if moved_ns is None:
        raise TargetError(STAMP_NOT_FOUND(cell=cell.id))
    return [
        _replayed(each, execution, begin_ns + moved_ns + _stamp_ns(each))
        for execution, each in zip(found, wanted, strict=False)
    ]


def _replayed(activation: Activation, execution: Execution, stamp_ns: int) -> ReplayedActivation:
    places, times_ns = _clock_reads(execution)
    at = int(np.searchsorted(times_ns, stamp_ns, side="left"))
    return ReplayedActivation(activation, execution, stamp_ns - activation.latency_ns, int(places[at]))


def _must_be_equal(cell: RecordedCell, again: Activations) -> None:
    recorded, replayed = cell.activations.each, again.each
    if len(recorded) != len(replayed):
        raise TargetError(OTHER_NUMBER(cell=cell.id, replayed=len(replayed), recorded=len(recorded)))
    for one, other in zip(recorded, replayed, strict=True):
        if one != other:
            raise TargetError(
                OTHER_SAMPLES(
                    cell=cell.id,
                    release=one.release,
                    replayed_ns=other.latency_ns,
                    recorded_ns=one.latency_ns,
                )
            )


def _stamp_ns(activation: Activation) -> int:
    return activation.release_ns + activation.latency_ns


def _around(activation: Activation, begin_ns: int, lead_ns: int) -> Stretch:
    stamp_ns = begin_ns + _stamp_ns(activation)
    return Stretch(stamp_ns - lead_ns, stamp_ns + TAIL_NS)


def _joined(wanted: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """In order; those that meet are one."""
    found: list[Stretch] = []
    for stretch in sorted(wanted, key=lambda each: each.from_ns):
        if found and stretch.from_ns <= found[-1].to_ns:
            found[-1] = Stretch(found[-1].from_ns, max(found[-1].to_ns, stretch.to_ns))
        else:
            found.append(stretch)
    return tuple(found)


def _checks(recorded: Sequence[Activation], wanted: Sequence[Activation]) -> list[Activation]:
    """Samples elsewhere in the cell."""
    others = [each for each in recorded if each not in wanted]
    return (
        [others[len(others) * (number + 1) // (_CHECKS + 2)] for number in range(_CHECKS)] if others else []
    )


def _within(executions: Sequence[Execution], instant_ns: int, cell: RecordedCell) -> Execution:
    for execution in executions:
        if execution.log.anchors[0][1] <= instant_ns <= execution.log.anchors[-1][1]:
            return execution
    raise TargetError(STAMP_NOT_FOUND(cell=cell.id))


def _clock_reads(execution: Execution) -> tuple[Integers, Integers]:
    """The numbers of the instructions with which a program read the clock, and when."""
    is_read = (execution.kinds == Kind.CLOCK) & (execution.addresses < USER_TOP)
    places = np.nonzero(is_read)[0].astype(np.int64)
    return places, execution.times_ns[places]


def _moved_ns(off_ns: Sequence[Integers], step_ns: int) -> int | None:
    """The one distance at which all expected time stamps have an instruction that read the clock: it shows the
    whole step that was over. Of several the smallest; None if there is none."""
    candidates = [int(off) for off in off_ns[0] if abs(off) <= _NEAR_NS]
    for candidate in sorted(candidates, key=abs):
        near = [off[(off >= candidate - step_ns + 1) & (off <= candidate + step_ns - 1)] for off in off_ns]
        if all(len(off) for off in near):
            lowest = min(int(off.min()) for off in near)
            if all((int(off.max()) - lowest) < max(step_ns, 2) for off in near):
                return lowest
    return None


def _symbols(bench: Bench, before: Sequence[Sequence[str]]) -> Symbols:
    text = bench.run([*before, ("copy", "/proc/kallsyms")], _LIMITS)[-1].stdout
    return Symbols.of(text.decode("ascii", "replace"), bench.probe)


def _counts(symbols: Symbols) -> tuple[int, int]:
    """Where the preemption count is."""
    place = symbols.address("__preempt_count") or (
        symbols.address("pcpu_hot") and symbols.address("pcpu_hot") + 8
    )
    return symbols.address("__per_cpu_offset"), place


def _execution(bench: Bench, symbols: Symbols, log: ExecutionLog) -> Execution:
    return Execution(bench.kernel.arch, log, symbols, 1 << SHIFTS[bench.machine.mips])


def _ahead_ns(bench: Bench, symbols: Symbols) -> int:
    """How far the guest's CLOCK_MONOTONIC is ahead of the machine's clock: once for each guest, from a short
    cell that is logged from its first instruction to its last."""
    place = bench.cache / _CLOCKS / f"{bench.key}.json"
    with suppress(OSError, ValueError, KeyError):
        return int(json.loads(place.read_text())["ahead_ns"])
    lines, logs = bench.logged([[*_CALIBRATION, *_STREAM]], _LIMITS, LogPlan((Stretch(0, _EVER),), 10_000))
    calibrating = streamed_activations(lines[-1].files.get("stream", b""))
    wanted = [calibrating.t0_ns + _stamp_ns(each) for each in calibrating.each]
    reads_ns = _clock_reads(_execution(bench, symbols, logs[0]))[1]
    step_ns = _CLOCK_STEPS_NS[bench.kernel.arch]
    for first in reads_ns:
        ahead_ns = wanted[0] - int(first)
        expected = np.array(wanted) - ahead_ns
        places = np.minimum(np.searchsorted(reads_ns, expected - step_ns), len(reads_ns) - 1)
        if all(abs(reads_ns[places] - expected) <= max(step_ns, 2)):
            _keep(place, {"ahead_ns": ahead_ns})
            return ahead_ns
    raise TargetError(STAMP_NOT_FOUND(cell=bench.label))


def _keep(place: Path, values: Mapping[str, int]) -> None:
    with storing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(values))
