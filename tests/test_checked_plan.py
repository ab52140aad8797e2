"""The plan asks the probe of its target about every point, before anything is measured or written."""

from collections.abc import Sequence

import pytest

from fakes import FakeLab, FakeTarget, study
from howlate.errors import REMEDIED, NotPossibleError, UsageError
from howlate.measure.prepare import RunRequest, prepare
from howlate.model.answer import Answer, Command


class Picky(FakeTarget):
    """Refuses by load, and is asked once."""

    def __init__(self, **answers: Answer) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[Sequence[Command]] = []

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        self.asked.append(commands)
        own = [("cpu" if any("cpu" in word for word in command) else "none") for command in commands]
        return [
            self.answers.get(load, said) for load, said in zip(own, super().answer(commands), strict=True)
        ]


NO_MODULE = "no module can be loaded. Use the test cyclic"
PERHAPS = "perhaps nothing is watched"


def test_wrong_usage_is_raised_with_its_place() -> None:
    target = Picky(
        cpu=Answer(
            refusal=UsageError(
                REMEDIED(problem="a period of 1us is not possible", remedy="choose --period from 20us to 1h")
            )
        )
    )
    with pytest.raises(UsageError) as caught:
        prepare(RunRequest(study()), target)
    assert caught.value.message == "made, load = cpu:50: a period of 1us is not possible"
    assert caught.value.remedy == "choose --period from 20us to 1h"


def test_what_is_not_possible_there_is_told_with_the_plan_and_the_rest_goes_on() -> None:
    target = Picky(
        cpu=Answer(
            refusal=NotPossibleError(
                REMEDIED(problem="no module can be loaded", remedy="use the test cyclic")
            )
        ),
        none=Answer(warnings=(PERHAPS,)),
    )
    prepared = prepare(RunRequest(study(), ("order.repetitions=3",)), target)
    cells = prepared.run.plan.cells
    assert {cell.impossible for cell in cells if cell.labels["load"] == "cpu:50"} == {NO_MODULE}
    assert {cell.impossible for cell in cells if cell.labels["load"] == "none"} == {""}
    assert prepared.notes == (PERHAPS,)
    assert len(cells) == 6 and [len(commands) for commands in target.asked] == [
        2
    ]  # one call, each point once


def test_what_every_point_gets_wrong_is_said_of_the_study() -> None:
    with pytest.raises(UsageError) as caught:
        prepare(RunRequest(study(), ("period=1us",)), FakeTarget())
    assert caught.value.message == "made: a period of 1us is not possible"


def test_kernels_that_did_not_answer_are_not_possible() -> None:
    target = FakeLab(
        ("6.1", "6.1-rt"),
        answers={"6.1-rt": NotPossibleError(REMEDIED(problem="no boot", remedy=""))},
    )
    cells = prepare(RunRequest(study(), seeds=2), target).run.plan.cells
    assert {cell.impossible for cell in cells if cell.machine == "6.1-rt"} == {"no boot"}
