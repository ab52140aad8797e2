"""Both stages of `howlate advise` on a made machine whose knobs do what the test says, into real run folders."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes import LIST, FakeLab, FakeTarget, command_of
from heard import Heard
from howlate.errors import ExitCode, NotPossibleError, UsageError
from howlate.measure.execute import Tally, execute
from howlate.measure.prepare import PlannedRun
from howlate.measure.session import Session, begin
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell
from howlate.model.study import Value
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from howlate.targets import Outcome, Progress
from howlate.why.advise.advice import INCOMPLETE, Advice, Standing, advice_of
from howlate.why.advise.flip import AGAIN, START, TOGETHER, Flip, knobs_of
from howlate.why.advise.flips import Measuring
from howlate.why.advise.flow import AdviceRequest, Advised, first_stage, measured, measuring_of
from howlate.words.say import english
from store.streams import stream as made_stream

KNOBS = ("cpu_dma_latency", "thp", "timer_migration", "nmi_watchdog")
CAN = Capabilities.from_json({**LIST, "knobs": [{"name": name} for name in KNOBS]})
FACTS: dict[str, Any] = {
    "kernel.release": "6.1.0-test",
    "kernel.boot_id": "b",
    "cpu.online": "0-1",
    "memory.thp": "[always] madvise never",
}
MEASURING = Measuring("cyclic", {"activations": "1200", "period": "1ms", "policy": "other"}, ("none",))
ASKED = AdviceRequest(MEASURING, knobs="cpu_dma_latency,thp", pairs=8)


@pytest.fixture(autouse=True)
def _database_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of it is in the way of what is made up, and to open it for each of 40 cells takes a second."""
    monkeypatch.setattr("howlate.store.duck.close_idle", lambda: None)


class KnobMachine(FakeTarget):
    """Its latencies are multiplied by the factors of the knobs that are set."""

    def __init__(self, factors: Mapping[str, float], kills: int = 0) -> None:
        super().__init__()
        self.factors = factors
        self.draws = random.Random(1)
        self.kills = kills
        """How many cells are measured until the user interrupts; 0: never."""
        self.applied: list[tuple[str, ...]] = []

    def facts(self, machine: str = "") -> dict[str, Any]:
        return {"facts": 1, "values": FACTS, "missing": {}}

    def capabilities(self, machine: str = "") -> Capabilities:
        return CAN

    def answer(self, commands: Any) -> Any:
        """Of this machine's probe, which need not have these knobs: asked without them."""
        bare = [tuple(word for word in command if not word.startswith("--knob")) for command in commands]
        return super().answer(bare)

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        self.measured.append(cell.id)
        if len(self.measured) == self.kills:
            raise KeyboardInterrupt
        knobs = knobs_of(cell.parameters)
        self.applied.append(knobs)
        factor = self.draws.lognormvariate(0, 0.05)
        for knob in knobs:
            factor *= self.factors.get(knob, 1.0)
        stream.write_bytes(made_stream([round((10_000 + n) * factor) for n in range(1200)]))
        return Outcome(ExitCode.DONE)


def by_executing(prepared: PlannedRun, session: Session) -> Tally:
    return execute(session.folder, session.run.plan, session.cells, prepared.target, Heard(), prepared.broken)


def advise(target: Any, folder: Path, asked: AdviceRequest = ASKED) -> Advised:
    stage = first_stage(asked, target)
    return measured(stage, target, begin(stage.planned_run, folder, more_points=True), by_executing)


def parts(target: KnobMachine) -> set[str]:
    return {cell.split("-other")[0].split("-none-")[0] for cell in target.measured}


def test_what_helps_is_found_and_measured_once_more_beside_a_start_of_its_own(tmp_path: Path) -> None:
    target = KnobMachine({"thp=never": 0.5})
    found = advise(target, tmp_path / "r")
    assert found.exit_code == ExitCode.DONE
    assert {k.names[0]: k.standing for k in found.advice.knobs} == {
        "thp=never": Standing.HELPS,
        "cpu_dma_latency=0": Standing.NOTHING,
    }
    assert found.advice.together is not None
    assert found.advice.together.flips == (Flip("thp", "never"),)
    assert 0.45 < found.advice.together.best < 0.55
    assert parts(target) == {START, "thp-never", "cpu-dma-latency-0", AGAIN, TOGETHER}
    assert len(target.measured) == 8 * 5


def test_where_nothing_helps_every_turn_measures_every_side_once_in_an_order_of_its_own(
    tmp_path: Path,
) -> None:
    """And nothing is measured together."""
    target = KnobMachine({"thp=never": 2.0})
    found = advise(target, tmp_path / "r")
    assert found.advice.together is None and found.advice.helping == ()
    assert found.advice.knobs[-1].standing is Standing.HARMS
    turns = [target.measured[at : at + 3] for at in range(0, len(target.measured), 3)]
    assert len(turns) == 8
    assert all(len({cell.rsplit("-", 1)[0] for cell in turn}) == 3 for turn in turns)
    assert all(len({cell.rsplit("-", 1)[1] for cell in turn}) == 1 for turn in turns)
    orders = {tuple(cell.rsplit("-", 1)[0] for cell in turn) for turn in turns}
    assert len(orders) > 1


@pytest.mark.parametrize("kills", [24 + 3, pytest.param(5, marks=pytest.mark.sweep)])
def test_an_interrupted_call_is_continued_in_either_stage(tmp_path: Path, kills: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        advise(KnobMachine({"thp=never": 0.5}, kills), tmp_path / "r")
    before = set(RunFolder.open(tmp_path / "r").whole_cells())
    assert len(before) == kills - 1
    target = KnobMachine({"thp=never": 0.5})
    found = advise(target, tmp_path / "r")
    assert found.advice.together is not None
    assert not before & set(target.measured)
    assert len(before) + len(target.measured) == 8 * 5
    again = KnobMachine({"thp=never": 0.5})
    assert advise(again, tmp_path / "r").advice == found.advice
    assert again.measured == []


def interrupted_at(folder: Path, cell: int) -> Advice:
    """What is said of a run in which the user interrupted that cell."""
    with pytest.raises(KeyboardInterrupt):
        advise(KnobMachine({"thp=never": 0.5}, cell), folder)
    return advice_of(load_run(folder))


def test_nothing_is_concluded_from_a_part_of_the_turns(tmp_path: Path) -> None:
    """Seven turns would be enough, and an interrupted cell is recorded as failed."""
    found = interrupted_at(tmp_path / "r", 3 * 7 + 2)
    assert (found.missing, found.planned, found.helping) == (2, 24, ())
    assert {knob.standing for knob in found.knobs} == {Standing.UNMEASURED}
    (said,) = found.statements()
    assert said == INCOMPLETE(count=2, cells=24)
    assert found.to_json()["missing"] == 2


def test_what_helps_together_is_not_concluded_from_a_part_either(tmp_path: Path) -> None:
    found = interrupted_at(tmp_path / "r", 24 + 2 * 7 + 2)
    assert found.missing == 0 and found.helping == (Flip("thp", "never"),)
    assert found.together is not None and found.together.standing is Standing.UNMEASURED
    (together,) = (each for each in found.statements() if each.rule == "advice.unmeasured")
    assert together.values["why"] == INCOMPLETE(count=1, cells=16)


def test_another_request_does_not_go_on_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        advise(KnobMachine({}, 2), tmp_path / "r")
    with pytest.raises(UsageError, match="another plan"):
        advise(KnobMachine({}), tmp_path / "r", AdviceRequest(MEASURING, "nmi_watchdog", 8))


def test_knobs_of_the_run_itself_stay_in_force_on_every_side(tmp_path: Path) -> None:
    measuring = Measuring("cyclic", {**MEASURING.settings, "knob": ("timer_migration=off",)}, ("none",))
    target = KnobMachine({"thp=never": 0.5})
    found = advise(target, tmp_path / "r", AdviceRequest(measuring, "thp", 8))
    assert all("timer_migration=off" in knobs for knobs in target.applied)
    assert found.advice.helping == (Flip("thp", "never"),)


def test_a_machine_on_which_nothing_can_be_flipped_says_why_for_each() -> None:
    class Fixed(KnobMachine):
        def capabilities(self, machine: str = "") -> Capabilities:
            knobs = [{"name": name, "available": False, "reason": "no right."} for name in KNOBS]
            return Capabilities.from_json({**LIST, "knobs": knobs})

    with pytest.raises(NotPossibleError) as refused:
        first_stage(AdviceRequest(MEASURING, pairs=12), Fixed({}))
    reasons = refused.value.statement.values["reasons"]
    assert {each.values["knob"] for each in reasons} == set(KNOBS)
    assert {english(each.values["reason"]) for each in reasons} == {"no right"}
    assert refused.value.exit_code == ExitCode.NOT_POSSIBLE and refused.value.remedy


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (AdviceRequest(MEASURING, pairs=6), "among 8 comparisons"),
        (AdviceRequest(MEASURING, figures=("0.999",)), "0.999 quantile"),
        (AdviceRequest(MEASURING, knobs="thq"), 'no knob "thq"'),
    ],
)
def test_a_request_that_could_show_nothing_is_refused_before_anything_is_measured(
    asked: AdviceRequest, says: str
) -> None:
    target = KnobMachine({})
    with pytest.raises(UsageError, match=says) as refused:
        first_stage(asked, target)
    assert refused.value.remedy and target.measured == []


def test_a_cell_of_a_run_is_measured_again_as_it_was() -> None:
    parameters: dict[str, Value] = {
        "load": ("cpu:50", "disk"),
        "period": "1ms",
        "knob": ("thp=always",),
        "dither": True,
    }
    cell = Cell("x-3", "cyclic", {**parameters, "seed": "3", "first": "2ms"}, {}, 3, 1.0)
    real = measuring_of(cell, virtual=False)
    assert real.loads == ("cpu:50+disk",)
    assert real.settings == {name: value for name, value in cell.parameters.items() if name != "load"}
    assert set(real.settings) - set(measuring_of(cell, virtual=True).settings) == {"seed", "first"}


def test_in_virtual_time_pairs_are_seeds_and_one_knob_that_helps_is_not_measured_again(
    tmp_path: Path,
) -> None:
    class KnobLab(FakeLab):
        def capabilities(self, machine: str = "") -> Capabilities:
            return CAN

        def answer(self, commands: Any) -> Any:
            bare = [tuple(word for word in command if not word.startswith("--knob")) for command in commands]
            return super().answer(bare)

        def latencies(self, cell: Cell) -> list[int]:
            factor = 0.5 if "thp=always" in knobs_of(cell.parameters) else 1.0
            return [round((10_000 + n) * factor) for n in range(1200)]

    target = KnobLab(("6.1",), facts={"cpu.online": "0-1", "memory.thp": "always madvise [never]"})
    measuring = Measuring("cyclic", {**MEASURING.settings, "dither": True}, ("none",))
    found = advise(target, tmp_path / "r", AdviceRequest(measuring, "cpu_dma_latency,thp", 8))
    assert found.advice.helping == (Flip("thp", "always"),)
    assert found.advice.together is None
    assert len(target.measured) == 8 * 3
    assert {cell.parameters["seed"] for cell in target.measured} == {str(seed) for seed in range(1, 9)}


def test_the_study_is_the_same_for_the_same_request() -> None:
    first, second = (first_stage(ASKED, KnobMachine({})).planned_run.run.plan for _ in range(2))
    assert [command_of(cell) for cell in first.cells] == [command_of(cell) for cell in second.cells]
