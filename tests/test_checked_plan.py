"""The plan asks the probe of its target about every point, before anything is measured or written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes import FakeLab, FakeTarget, study
from howlate.errors import NotPossibleError, UsageError
from howlate.model.plan import Cell
from howlate.prepare import Asked, prepare
from howlate.targets import Checked


class Picky(FakeTarget):
    """Refuses by load, and is asked once."""

    def __init__(self, **answers: Checked) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[str] = []

    def checked(self, cells: Sequence[Cell]) -> list[Checked]:
        self.asked += [cell.id for cell in cells]
        return [self.answers.get(cell.labels["load"].partition(":")[0], Checked()) for cell in cells]


def test_wrong_usage_is_raised_with_its_place() -> None:
    target = Picky(
        cpu=Checked(UsageError("a period of 1us is not possible", "choose --period from 20us to 1h"))
    )
    with pytest.raises(UsageError) as caught:
        prepare(Asked(study()), target)
    assert caught.value.message == "made, load = cpu:50: a period of 1us is not possible"
    assert caught.value.remedy == "choose --period from 20us to 1h"


def test_what_is_not_possible_there_is_told_with_the_plan_and_the_rest_goes_on() -> None:
    target = Picky(
        cpu=Checked(NotPossibleError("no module can be loaded", "use the test cyclic")),
        none=Checked(None, ("perhaps nothing is watched",)),
    )
    prepared = prepare(Asked(study(), ("order.repetitions=3",)), target)
    cells = prepared.run.plan.cells
    assert {cell.impossible for cell in cells if cell.labels["load"] == "cpu:50"} == {
        "no module can be loaded; use the test cyclic"
    }
    assert {cell.impossible for cell in cells if cell.labels["load"] == "none"} == {""}
    assert prepared.notes == ("perhaps nothing is watched",)
    assert len(cells) == 6 and len(target.asked) == 2  # each point once


def test_kernels_that_did_not_answer_are_not_asked() -> None:
    class Lab(FakeLab):
        def checked(self, cells: Sequence[Cell]) -> list[Checked]:
            assert {cell.machine for cell in cells} == {"6.1"}
            return super().checked(cells)

    target = Lab(("6.1", "6.1-rt"), answers={"6.1-rt": NotPossibleError("it does not boot")})
    cells = prepare(Asked(study(), seeds=2), target).run.plan.cells
    assert {cell.impossible for cell in cells if cell.machine == "6.1-rt"} == {"it does not boot"}
