"""How QEMU shares out the virtual clock among the CPUs of a guest (rr_cpu_thread_fn, accel/tcg/tcg-accel-ops-rr.c of
QEMU 10.0).

The CPUs execute one at a time. The next timer of the virtual clock is a number of instructions away; each CPU is
lent that number divided by the number of CPUs. When a timer has expired, QEMU asks every CPU to leave what it
executes. A CPU that is asked so while it does not execute leaves at its next turn before it has begun, and then what
is left is divided anew: the first CPU has its whole share, the next one a share of the rest, and so on. What remains
after that is divided evenly, until it is less than an instruction for each; that remainder is the first CPU's, and
where the timer expires thereby the next one is asked in vain, so that the one after it is first.

The shares are therefore not equal by themselves. With two CPUs they were 5/8 and 3/8; they are equal if QEMU counts a
third, which never starts. With three and four they depend on the length of the interval. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

_STRETCHES = 60
"""The order in which the CPUs come recurs after one or two of them."""
_SHORTEST = 0.75
"""A share of the requested turn."""
_NS_PER_US = 1000


class Turns(Struct, frozen=True):
    """What a guest's CPUs take turns by."""

    counted: int
    """The CPUs that QEMU counts; those beyond the guest's own never start."""
    interval_ns: int
    """From one timer to the next, in virtual time."""
    shares: tuple[float, ...]
    """Of the instructions of the whole guest, for each of its CPUs."""

    @property
    def spread(self) -> float:
        """The largest difference of two CPUs' speeds, as a share of their mean."""
        return (max(self.shares) - min(self.shares)) * len(self.shares)


@cache
def turns_of(cpus: int, turn_ns: int, shift: int) -> Turns:
    """For turns of `turn_ns` at most, each instruction taking 2**shift ns. Timers expire at whole microseconds; among
    intervals that are at most a quarter shorter, it is the longest of those whose shares differ least."""
    counted = 3 if cpus == 2 else cpus
    longest_us = turn_ns * counted // _NS_PER_US
    shortest_us = max(int(longest_us * _SHORTEST), 1)
    candidates = [
        Turns(counted, us * _NS_PER_US, _shares(cpus, counted, us * _NS_PER_US >> shift))
        for us in range(longest_us, shortest_us - 1, -max(longest_us // 100, 1))
    ]
    return min(candidates, key=lambda turns: round(turns.spread, 2))


def _shares(cpus: int, counted: int, instructions: int) -> tuple[float, ...]:
    executed = [0] * cpus
    for cpu, took in _stretches(cpus, counted, instructions):
        executed[cpu] += took
    return tuple(count / sum(executed) for count in executed)


def _stretches(cpus: int, counted: int, instructions: int) -> Iterator[tuple[int, int]]:
    """One CPU after the other, and how many instructions it executes."""
    left, turn, expired = 0, 0, 0
    asked = [True] * counted
    while expired <= _STRETCHES:
        if not left:
            left, expired = instructions, expired + 1
            asked = [True] * counted
        lent = left // counted or left
        while turn < counted and not asked[turn]:
            if not left:  # the timer expires while this one is lent nothing, and it leaves at once
                left, expired = instructions, expired + 1
                asked = [other != turn or other >= cpus for other in range(counted)]
            elif turn < cpus:
                took = min(left, lent)
                yield turn, took
                left -= took
            turn += 1
        if turn == counted:
            turn = 0
        else:
            asked[turn] = False
