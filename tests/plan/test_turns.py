"""A threshold that the turns of a guest's other CPUs exceed is said before anything is measured."""

import pytest

from fakes import LIST, param
from howlate.model.capabilities import Capabilities
from howlate.model.guest_cpus import USUAL, GuestCpus
from howlate.model.plan import Cell
from howlate.plan.turns import turns_as_gaps

GAPS = {**LIST["tests"][0], "name": "hardware-gap", "params": [param("threshold", "duration", "10us")]}
CAN = Capabilities.from_json({**LIST, "tests": [GAPS]})
TWO, FOUR = GuestCpus(2, turn_ns=5_000), GuestCpus(4, turn_ns=5_000)


def cell(guest: GuestCpus, threshold: str = "", test: str = "hardware-gap", part: str = "") -> Cell:
    labels = {**guest.labels(), **({"part": part} if part else {})}
    return Cell("x-1", test, {"threshold": threshold} if threshold else {}, labels, 1, 1.0)


@pytest.mark.parametrize(
    ("guest", "threshold", "warned"),
    [
        (TWO, "6us", False),
        (TWO, "5us", True),
        (GuestCpus(2, turn_ns=20_000), "6us", True),
        (GuestCpus(2, turn_ns=20_000), "21us", False),
        (TWO, "", False),
        (FOUR, "", True),
        (FOUR, "15us", True),
        (FOUR, "16us", False),
        (USUAL, "1us", False),
    ],
)
def test_a_threshold_is_above_the_turns_of_all_other_cpus_or_a_warning_says_so(
    guest: GuestCpus, threshold: str, warned: bool
) -> None:
    assert bool(turns_as_gaps([cell(guest, threshold)], CAN)) == warned


def test_a_threshold_of_latencies_is_no_such_case() -> None:
    assert turns_as_gaps([cell(TWO, "1us", test="cyclic")], CAN) == ()


def test_the_warning_is_said_once_and_its_remedy_is_enough() -> None:
    twenty = GuestCpus(2, turn_ns=20_000)
    (warning,) = turns_as_gaps([cell(twenty, "6us", part="interrupted")] * 3, CAN)
    assert (warning.rule, warning.values) == (
        "turns.are-gaps",
        {"option": "interrupted.threshold", "threshold": "6us", "turns": "20us", "longer": "21us"},
    )
    assert turns_as_gaps([cell(twenty, "21us", part="interrupted")], CAN) == ()
