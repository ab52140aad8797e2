"""Two explained latencies side by side: what is in one and not in the other, by kinds of parts and by functions."""

from __future__ import annotations

from dataclasses import dataclass

from howlate.replay.lateness import Function, Lateness, PartKind
from howlate.why.replayed.explained import Explained


@dataclass(frozen=True)
class Both:
    """A time in the one and in the other."""

    one_ns: int
    other_ns: int

    @property
    def more_ns(self) -> int:
        """How much more there is in the one."""
        return self.one_ns - self.other_ns


@dataclass(frozen=True)
class FunctionPair:
    """What a function executed in both."""

    name: str
    own: Both
    inclusive: Both


@dataclass(frozen=True)
class LatenessPair:
    """A sample, and another that it is compared with."""

    one: Explained
    other: Explained

    @property
    def latency(self) -> Both:
        return Both(self.one.lateness.latency_ns, self.other.lateness.latency_ns)

    @property
    def kinds(self) -> tuple[tuple[PartKind, Both], ...]:
        """The sum of the parts of each kind that is in either; they add up to the latencies."""
        sums = [(kind, Both(*(_sum_ns(each.lateness, kind) for each in self._each))) for kind in PartKind]
        return tuple((kind, both) for kind, both in sums if both.one_ns or both.other_ns)

    @property
    def functions(self) -> tuple[FunctionPair, ...]:
        """All functions, those first whose own instructions differ most; the own ones add up to the latencies."""
        one, other = ({each.name: each for each in found.lateness.functions} for found in self._each)
        nothing = Function("", 0, 0)
        pairs = (
            _function_pair(name, one.get(name, nothing), other.get(name, nothing))
            for name in {**one, **other}
        )
        return tuple(sorted(pairs, key=lambda each: (-abs(each.own.more_ns), -abs(each.inclusive.more_ns))))

    @property
    def only(self) -> tuple[tuple[FunctionPair, ...], tuple[FunctionPair, ...]]:
        """The functions that are in the one alone, and those in the other alone, the longest first."""
        functions = self.functions
        return (
            tuple(each for each in functions if not each.inclusive.other_ns),
            tuple(each for each in functions if not each.inclusive.one_ns),
        )

    @property
    def _each(self) -> tuple[Explained, Explained]:
        return self.one, self.other


def _sum_ns(lateness: Lateness, kind: PartKind) -> int:
    return sum(part.ns for part in lateness.parts if part.kind is kind)


def _function_pair(name: str, one: Function, other: Function) -> FunctionPair:
    return FunctionPair(name, Both(one.self_ns, other.self_ns), Both(one.inclusive_ns, other.inclusive_ns))
