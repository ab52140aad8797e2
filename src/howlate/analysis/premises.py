"""What a proof rests on and a guest's own counters tell: whether its CPU was idle, and which tasks stand above the
measuring one (docs/lab/prove.md). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from howlate.words.statement import Statement, rule

ABOVE = rule(
    "proof.above",
    "{name} ({policy}) is above the measuring task (FIFO {measuring})",
)
STOP_RAN = rule(
    "proof.stop-ran",
    "{name}, which is above the measuring task, ran between the fork and the release",
)
GOES_IDLE = rule(
    "proof.goes-idle",
    "the CPU was idle for {idle_ns:exact} of {of_ns:exact}, where the next timer changes tick and idle depth, and "
    "nohz=off is not among the kernel's parameters",
)
OTHER_MACHINE = rule(
    "proof.other-machine",
    "two guests that wait for {first_ns:exact} and {later_ns:exact} were not the same machine {before_ns:exact} "
    "before that; words without an explanation: {places:count}, the first at {place}",
)
NOT_COUNTED = rule("proof.not-counted", "the kernel does not count how long its tasks run")
OUT_OF_ORDER = rule(
    "proof.out-of-order",
    "a release started {excess_ns:exact} later than one that was due after it, and the interrupt and wake-up of a "
    "release make at most {most_ns:exact}",
)

MEASURING = 80
"""The measuring task's priority."""
STOP_THREADS = ("migration/", "stopper/")
"""A CPU's stop thread is above every task. It wakes up to move a task to another CPU, or to change the kernel's
code while nothing else runs. It is accepted where it did not run."""
IDLE_NS = 20_000
"""The guest's sum of CPU times is exact to some microseconds: less is not called idle."""
EXCESS_NS = 20_000
"""Starts that are out of order by more are nothing that a release's own interrupt and wake-up make."""
NO_TICK_CHANGES = frozenset({"nohz=off", "idle=poll"})
"""With one of these parameters the next timer changes nothing in an idle CPU."""
_DEADLINE, _RR = 6, 2


@dataclass(frozen=True)
class RealTimeThread:
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


@dataclass(frozen=True)
class GuestMoment:
    """What the guest says of itself after its measuring task has got the CPU."""

    at_ns: int
    run_ns: int
    """CPU time of all tasks since the boot; -1: not counted."""
    threads: tuple[RealTimeThread, ...]


@dataclass(frozen=True)
class Witness:
    """The stretch from a fork to the latest release of its window, which holds all that is before any release."""

    idle_ns: int | None
    """None: the kernel does not count how long its tasks run."""
    of_ns: int
    above: tuple[RealTimeThread, ...]
    """Those above the measuring task, at either end."""
    ran: tuple[int, ...]
    """How often each of them ran in between; -1: not counted, or not there at both ends."""

    @classmethod
    def between(cls, before: GuestMoment, after: GuestMoment) -> Witness:
        of_ns = after.at_ns - before.at_ns
        counted = min(before.run_ns, after.run_ns) >= 0
        earlier = {thread.pid: thread for thread in before.threads if thread.is_above}
        later = {thread.pid: thread for thread in after.threads if thread.is_above}
        above = tuple((later | earlier).values())
        ran = tuple(_slices(earlier.get(thread.pid), later.get(thread.pid)) for thread in above)
        return cls(of_ns - (after.run_ns - before.run_ns) if counted else None, of_ns, above, ran)

    def objections(self, parameters: Sequence[str]) -> Iterator[Statement]:
        """Why no bound may be claimed of a kernel with these parameters; nothing where all premises hold."""
        for thread, ran in zip(self.above, self.ran, strict=True):
            if not thread.name.startswith(STOP_THREADS) or ran < 0:
                yield ABOVE(name=thread.name, policy=thread.policy_text, measuring=MEASURING)
            elif ran:
                yield STOP_RAN(name=thread.name)
        if NO_TICK_CHANGES & set(parameters):
            return
        if self.idle_ns is None:
            yield NOT_COUNTED()
        elif self.idle_ns > IDLE_NS:
            yield GOES_IDLE(idle_ns=self.idle_ns, of_ns=self.of_ns)


def _slices(earlier: RealTimeThread | None, later: RealTimeThread | None) -> int:
    if earlier is None or later is None or min(earlier.slices, later.slices) < 0:
        return -1
    return later.slices - earlier.slices


@dataclass(frozen=True)
class ComparedPair:
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
    """For `--json` and the cache."""
    above = [{**vars(thread), "ran": ran} for thread, ran in zip(witness.above, witness.ran, strict=True)]
    return {"idle_ns": witness.idle_ns, "of_ns": witness.of_ns, "above": above}


def witness_from_json(value: dict[str, Any]) -> Witness:
    """The inverse; ValueError, KeyError or TypeError where it is none."""
    above = [{key: each for key, each in thread.items() if key != "ran"} for thread in value["above"]]
    return Witness(
        None if value["idle_ns"] is None else int(value["idle_ns"]),
        int(value["of_ns"]),
        tuple(RealTimeThread(**each) for each in above),
        tuple(int(thread["ran"]) for thread in value["above"]),
    )
