"""The cells of several runs as one set: sides, the places that they measured, and what each measured there
(docs/compare.md, "What is joined").

A *place* is a point of the matrix without its kernel: test, part and every other label. A *side* is where it
was measured: a machine under one kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from howlate.model.capabilities import MODE
from howlate.model.run import Run
from howlate.model.summary import CellSummary
from howlate.sides.side_names import Side
from howlate.statistics.groups import Group
from howlate.statistics.load_reached import NOT_LOADED
from howlate.words.statement import Statement

KERNEL, PART, TEST = "kernel", "part", "test"
OF_THE_SEED = ("first", "seed")
"""Parameters that distinguish repetitions in virtual time."""


class Member(Struct, frozen=True):
    """A place's repetitions on one side."""

    group: Group
    run: int
    parameters: Mapping[int, Mapping[str, str]]
    """The requested parameters, by repetition, as in the plan."""

    @property
    def by_repetition(self) -> dict[int, CellSummary]:
        """The valid repetitions."""
        return {cell.repetition: cell for cell in self.group.counted}

    @property
    def not_loaded(self) -> tuple[float, ...]:
        """If no repetition is valid because a load was not there: what the loads achieved."""
        without = [
            cell for cell in self.group.cells if cell.warnings and cell.warnings[0].rule == NOT_LOADED.id
        ]
        if self.group.counted or len(without) < len(self.group.cells):
            return ()
        return self.group.load_shares


class MatrixPlace(Struct, frozen=True):
    """A point of the matrix without its kernel, and the sides that measured it."""

    test: str
    labels: Mapping[str, str]
    members: Mapping[int, Member]
    """By the position of the side."""


class Joined(Struct, frozen=True, dict=True):
    """All cells of all runs."""

    runs: tuple[Run, ...]
    sides: tuple[Side, ...]
    places: tuple[MatrixPlace, ...]
    warnings: tuple[Statement, ...]
    by: str = KERNEL
    """The label whose values are the sides."""

    @property
    def virtual(self) -> bool:
        return self.runs[0].virtual

    @property
    def changes_nothing(self) -> frozenset[str]:
        """Parameters that change nothing of what is measured: a deadline only says which latencies are counted. In
        virtual time that count takes instructions."""
        return frozenset(() if self.virtual else ("deadline",))

    @cached_property
    def modes(self) -> tuple[Mapping[str, str], ...]:
        """Each mode of the places once; every table asks for them."""
        return tuple(
            {MODE: mode} for mode in dict.fromkeys(place.labels.get(MODE, "") for place in self.places)
        )

    @property
    def matched(self) -> tuple[MatrixPlace, ...]:
        """The places that at least two sides have."""
        return tuple(place for place in self.places if len(place.members) > 1)


def described(place: MatrixPlace, names: Sequence[str]) -> str:
    """A place by these labels: "load none, period 1ms"."""
    labels = [f"{name} {place.labels[name]}" for name in names if name in place.labels]
    test = f"test {place.test}"
    return ", ".join([test, *labels] if TEST in names else labels) or test


def labels_that_vary(places: Sequence[MatrixPlace]) -> tuple[str, ...]:
    """The labels that distinguish places: test and part first."""
    names = dict.fromkeys(name for place in places for name in place.labels)
    vary = [n for n in names if len({place.labels.get(n) for place in places}) > 1]
    test = [TEST] if len({place.test for place in places}) > 1 else []
    return (*test, *sorted(vary, key=lambda name: name != PART))


def parameters_of(member: Member) -> dict[str, str]:
    """The parameters that all repetitions share; "1ms / 2ms" if they differ."""
    known = [parameters for parameters in member.parameters.values() if parameters]
    names = dict.fromkeys(name for parameters in known for name in parameters if name not in OF_THE_SEED)
    return {name: alternatives(parameters.get(name, "") for parameters in known) for name in names}


def alternatives(texts: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(texts))
