"""Two explained latencies side by side: what is in one and not in the other, by causes and by functions."""

from __future__ import annotations

from msgspec import Struct

from howlate.model.cause import Cause, Function, Lateness
from howlate.why.explained_cells import CellCase


class Both(Struct, frozen=True):
    """A time in the one and in the other."""

    one_ns: int
    other_ns: int

    @property
    def more_ns(self) -> int:
        return self.one_ns - self.other_ns


class FunctionPair(Struct, frozen=True):
    """What a function executed in both."""

    name: str
    own: Both
    inclusive: Both


class LatenessPair(Struct, frozen=True):
    """A sample, and another that it is compared with."""

    one: CellCase
    other: CellCase

    @property
    def latency(self) -> Both:
        return Both(self.one.replayed.latency_ns, self.other.replayed.latency_ns)

    @property
    def causes(self) -> tuple[tuple[Cause, Both], ...]:
        """The sum of the parts of each cause that is in either, the largest difference first; they add up to the
        latencies."""
        sums = [(cause, Both(*(_sum_ns(each, cause) for each in self._each))) for cause in Cause]
        both = [(cause, each) for cause, each in sums if each.one_ns or each.other_ns]
        return tuple(sorted(both, key=lambda pair: -abs(pair[1].more_ns)))

    @property
    def functions(self) -> tuple[FunctionPair, ...]:
        """All functions, those first whose own instructions differ most; the own ones add up to the latencies."""
        one, other = ({each.name: each for each in lateness.functions} for lateness in self._each)
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
    def _each(self) -> tuple[Lateness, Lateness]:
        return self.one.replayed, self.other.replayed


def _sum_ns(lateness: Lateness, cause: Cause) -> int:
    return sum(part.ns for part in lateness.parts if part.cause is cause)


def _function_pair(name: str, one: Function, other: Function) -> FunctionPair:
    return FunctionPair(name, Both(one.self_ns, other.self_ns), Both(one.inclusive_ns, other.inclusive_ns))
