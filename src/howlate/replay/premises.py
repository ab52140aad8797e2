"""What a proof rests on and a guest's own counters and facts tell: whether its CPU was idle, which tasks rank above
the measuring one, and whether the kernel may keep the CPU from real-time tasks (docs/lab/prove.md). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.decode import members
from howlate.model.facts import Facts
from howlate.model.preemption import kernel_version
from howlate.settings.fair_server import FACT as FAIR_SERVER
from howlate.settings.rt_throttling import PERIOD, RUNTIME
from howlate.words.statement import Statement, message

HOLDER = message(
    "proof.premise-holder",
    "whatever occupies the CPU runs in the same way whether or not a task waits",
)
INDEPENDENT = message("proof.premise-independent", "nothing before a release depends on when the release is")
SUPREMUM = message(
    "proof.premise-eps", "no release differs from its neighbours by more than eps, the most that was seen"
)
ABOVE = message(
    "proof.above",
    "{name} ({policy}) is above the measuring task (FIFO {measuring}); it ran {ran} times before the release",
)
GOES_IDLE = message(
    "proof.goes-idle",
    "the CPU was idle for {idle_ns:exact} of {of_ns:exact}, where the next timer changes tick and idle depth, and "
    "nohz=off is not among the kernel's parameters",
)
OTHER_MACHINE = message(
    "proof.other-machine",
    "two guests that wait for {first_ns:exact} and {later_ns:exact} were not the same machine {before_ns:exact} "
    "before that; words without an explanation: {places:count}, the first at {place}",
)
NOT_COUNTED = message("proof.not-counted", "the kernel does not count how long its tasks run")
OUT_OF_ORDER = message(
    "proof.out-of-order",
    "a release started {excess_ns:exact} later than one that was due after it, and the interrupt and wake-up of a "
    "release make at most {most_ns:exact}",
)
REAL_TIME = message(
    "proof.real-time",
    "real-time tasks ({load}) have used {used_ns:exact} of CPU time since the boot, and the kernel may stop them for "
    "others ({limit})",
)

SAMPLED = (HOLDER(), INDEPENDENT(), SUPREMUM())
"""What every bound rests on and no probe watches: the probes, pairs of guests and check instants sample it."""
MEASURING = 80
"""The measuring task's priority."""
STOP_THREADS = ("migration/", "stopper/")
"""A CPU's stop thread is above every task. It wakes up to move a task to another CPU, or to change the kernel's
code while nothing else runs. It is accepted where it did not run."""
IDLE_NS = 20_000
"""The guest's sum of CPU times is exact to some microseconds: less is not called idle."""
EXCESS_NS = 20_000
"""Starts that are out of order by more are nothing that a release's own interrupt and wake-up make."""
NO_TICK_CHANGES = {"nohz=off": ("amd64", "arm64"), "idle=poll": ("amd64",)}
"""With one of these parameters the next timer changes nothing in an idle CPU, on these architectures."""
LEAST_BUDGET_NS = 400_000_000
"""Real-time tasks that have used less in all cannot have used up the 950 ms that they have in each second, nor kept
the others from the CPU for long enough to start the fair server."""
_DEADLINE, _RR = 6, 2


_FAIR_SERVER_SINCE = (6, 12)
_REAL_TIME = re.compile(r"\bpolicy=(fifo|rr|deadline)\b")


def in_force(parameters: Sequence[str], arch: str, not_checked: Collection[str] = ()) -> tuple[str, ...]:
    """The parameters of a kernel that may lift an objection: of each name the last, whose value the kernel takes;
    without those that it may not know, and those that mean nothing on this architecture."""
    last = {word.partition("=")[0]: word for word in parameters}
    return tuple(
        word
        for word in last.values()
        if word not in not_checked and arch in NO_TICK_CHANGES.get(word, (arch,))
    )


class Throttling(Struct, frozen=True):
    """What the kernel does where real-time tasks leave the others no CPU time, as the guest's facts say it."""

    load: str
    """The load, if it is real-time; else ""."""
    runtime_us: int | None
    period_us: int | None
    has_fair_server: bool

    @classmethod
    def of(cls, load: str, facts: Facts) -> Throttling:
        """A fair server that nothing is known of is there."""
        version, servers = kernel_version(facts), facts.table(FAIR_SERVER)
        is_older = version is not None and version < _FAIR_SERVER_SINCE
        is_off = servers is not None and not any(server.get("runtime_ns") for server in servers)
        runtime_us, period_us = facts.integer(RUNTIME), facts.integer(PERIOD)
        is_real_time = _REAL_TIME.search(load) is not None
        return cls(load if is_real_time else "", runtime_us, period_us, not (is_older or is_off))

    @property
    def limit(self) -> str:
        """What keeps real-time tasks from the CPU; "" if nothing does."""
        if self.has_fair_server:
            return "fair server"
        if self.runtime_us is None or self.period_us is None:
            return "limit unknown"
        throttles = 0 <= self.runtime_us < self.period_us
        return f"after {self.runtime_us} µs of {self.period_us} µs" if throttles else ""

    def objections(self, used_ns: int) -> Iterator[Statement]:
        """By the CPU time that real-time tasks have used since the boot. Those of a load may have ended, so that
        their time is in no list."""
        if self.limit and (self.load or used_ns >= LEAST_BUDGET_NS):
            yield REAL_TIME(load=self.load or "any", used_ns=used_ns, limit=self.limit)


class RealTimeThread(Struct, frozen=True):
    """A thread that is served before all ordinary ones."""

    pid: int
    name: str
    policy: int
    """As the kernel numbers them."""
    priority: int
    run_ns: int
    slices: int
    """How often it ran; -1: not counted."""

    @property
    def is_above(self) -> bool:
        return self.policy == _DEADLINE or self.priority > MEASURING

    @property
    def policy_text(self) -> str:
        if self.policy == _DEADLINE:
            return "DEADLINE"
        return f"{'RR' if self.policy == _RR else 'FIFO'} {self.priority}"


class GuestMoment(Struct, frozen=True):
    """What the guest says of itself after its measuring task has got the CPU."""

    at_ns: int
    run_ns: int
    """CPU time of all tasks since the boot; -1: not counted."""
    threads: tuple[RealTimeThread, ...]
    ahead_ns: int | None = None
    """How long before the first release that there can be it had read the instant of its own, to arm the timer; None
    before the fork."""


class Witness(Struct, frozen=True):
    """The stretch from a fork to the latest release of its window, which holds all that is before any release."""

    idle_ns: int | None
    """None: the kernel does not count how long its tasks run."""
    of_ns: int
    above: tuple[RealTimeThread, ...]
    """Those above the measuring task, at either end."""
    ran: tuple[int, ...]
    """How often each of them ran in between; -1: not counted, or not there at both ends."""
    real_time_ns: int = 0
    """CPU time since the boot of all real-time tasks that are there, the measuring one among them, as far as it is
    counted."""
    throttling: Throttling | None = None
    """Looked at where a bound may be claimed."""
    ahead_ns: int | None = None
    """How long before the first instant of the part's window a copy has read the instant of its release."""

    @classmethod
    def between(cls, before: GuestMoment, after: GuestMoment) -> Witness:
        of_ns = after.at_ns - before.at_ns
        counted = min(before.run_ns, after.run_ns) >= 0
        earlier = {thread.pid: thread for thread in before.threads if thread.is_above}
        later = {thread.pid: thread for thread in after.threads if thread.is_above}
        above = tuple((later | earlier).values())
        ran = tuple(_slices(earlier.get(thread.pid), later.get(thread.pid)) for thread in above)
        idle_ns = of_ns - (after.run_ns - before.run_ns) if counted else None
        real_time_ns = sum(max(0, thread.run_ns) for thread in after.threads)
        return cls(idle_ns, of_ns, above, ran, real_time_ns, ahead_ns=after.ahead_ns)

    def objections(self, parameters: Sequence[str]) -> Iterator[Statement]:
        """Why no bound may be claimed of a kernel with these parameters (`in_force`); nothing where all premises
        hold."""
        for thread, ran in zip(self.above, self.ran, strict=True):
            if ran or not thread.name.startswith(STOP_THREADS):
                times = ran if ran >= 0 else "?"
                yield ABOVE(name=thread.name, policy=thread.policy_text, measuring=MEASURING, ran=times)
        if self.throttling is not None:
            yield from self.throttling.objections(self.real_time_ns)
        if NO_TICK_CHANGES.keys() & set(parameters):
            return
        if self.idle_ns is None:
            yield NOT_COUNTED()
        elif self.idle_ns > IDLE_NS:
            yield GOES_IDLE(idle_ns=self.idle_ns, of_ns=self.of_ns)


def _slices(earlier: RealTimeThread | None, later: RealTimeThread | None) -> int:
    if earlier is None or later is None or min(earlier.slices, later.slices) < 0:
        return -1
    return later.slices - earlier.slices


class ComparedPair(Struct, frozen=True):
    """Two guests of one fork that waited for different releases, stopped at one instant before both, and compared
    word by word. Instants in ns since the window's origin."""

    first_ns: int
    later_ns: int
    before_ns: int
    """So long before the first release they were stopped."""
    unexplained: tuple[str, ...]
    """The words that differ, and not by what the instants explain."""

    def objections(self, origin_ns: int) -> Iterator[Statement]:
        """That they were two machines; the window's origin is so long after the cell's start."""
        if self.unexplained:
            yield OTHER_MACHINE(
                first_ns=origin_ns + self.first_ns,
                later_ns=origin_ns + self.later_ns,
                before_ns=self.before_ns,
                places=len(self.unexplained),
                place=self.unexplained[0],
            )


def of_order(excess_ns: int) -> Iterator[Statement]:
    """An objection where the starts of probes are further out of order than a release can make them."""
    if excess_ns > EXCESS_NS:
        yield OUT_OF_ORDER(excess_ns=excess_ns, most_ns=EXCESS_NS)


def witness_to_json(witness: Witness) -> dict[str, Any]:
    above = [{**asdict(thread), "ran": ran} for thread, ran in zip(witness.above, witness.ran, strict=True)]
    return {
        **members(witness, "idle_ns", "of_ns"),
        "above": above,
        "real_time_ns": witness.real_time_ns,
        "throttling": asdict(witness.throttling) if witness.throttling else None,
        "ahead_ns": witness.ahead_ns,
    }
