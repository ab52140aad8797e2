"""Warns of cells whose gaps are the turns of a guest's other CPUs: in virtual time the CPUs execute one at a time,
and a test of gaps sees each time in which the others do."""

from __future__ import annotations

from collections.abc import Iterable

from howlate.model.capabilities import Capabilities
from howlate.model.guest_cpus import GUEST, GuestCpus
from howlate.model.plan import Cell
from howlate.model.study import PART, spell
from howlate.model.units import format_duration, parse_duration_ns
from howlate.plan.options import find_test
from howlate.words.statement import Statement, message

TURNS_ARE_GAPS = message(
    "turns.are-gaps",
    "{option}={threshold} counts the turns of the guest's other CPUs as gaps, which are up to {turns} long; "
    "--set {option}={longer} counts only what is longer",
)
TEST, THRESHOLD = "hardware-gap", "threshold"
_STEP_NS = 1_000
"""The threshold is a whole number of microseconds, and the gap includes some of the CPU's own time."""


def turns_as_gaps(cells: Iterable[Cell], can: Capabilities) -> tuple[Statement, ...]:
    """A statement for each threshold that is not above the turns of the other CPUs."""
    warnings = {}
    for cell in cells:
        guest = GuestCpus.parse(cell.labels.get(GUEST, ""))
        turns_ns = (guest.cpus - 1) * guest.turn_ns
        if cell.test != TEST or cell.impossible or not turns_ns:
            continue
        defaults = {param.name: param.default for param in find_test(TEST, can).params}
        threshold = spell(cell.parameters.get(THRESHOLD, defaults[THRESHOLD]))
        if parse_duration_ns(threshold) <= turns_ns:
            part = cell.labels.get(PART, "")
            option = f"{part}.{THRESHOLD}" if part else THRESHOLD
            turns, longer = format_duration(turns_ns), format_duration(turns_ns + _STEP_NS)
            warnings[option, threshold, turns] = TURNS_ARE_GAPS(
                option=option, threshold=threshold, turns=turns, longer=longer
            )
    return tuple(warnings.values())
