"""What `howlate why RUN --try` flips: the knobs of the causes that were found, beside the worst cell."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.model.run import Run
from howlate.system.paths import probe_path
from howlate.targets.local import LocalTarget
from howlate.why.cli.why import _trial
from howlate.why.explained_cells import ExplainedCell
from howlate.why.flow import ExplainedRun
from howlate.why.remedy_trial import is_elsewhere, target_of, trial_of
from made_sides import Made, at, real_run
from made_trace import IDLE, OWN, MadeTrace

PARAMETERS = {
    "period": "1ms",
    "explain": True,
    "explain-worst": "20",
    "knob": ("timer_migration=off",),
    "load": ("disk",),
}


def idle(ns: int) -> MadeTrace:
    """Late because the CPU left an idle state."""
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1).timer(ns, ns + 400, ns + 900)
    return made.add(ns + 1_000, "cpu_idle", a=-1, b=1).switch(ns + 2_000, OWN, 0)


def idle_loop(ns: int) -> MadeTrace:
    """Late because the idle loop had interrupts off."""
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1).add(-10, "cpu_idle", a=-1, b=1)
    return made.timer(ns, ns + 400, ns + 900).switch(ns + 2_000, OWN, 0)


def blocked(ns: int) -> MadeTrace:
    """Late because the task waited for a lock."""
    return MadeTrace().asleep().waking(ns - 2_000, flags=0).switch(ns, OWN, 0)


def explained(*traces: MadeTrace) -> ExplainedRun:
    """A run of two cells, the second of which is the later one, with these late samples."""
    content = real_run(
        {at(load="none"): [Made(maximum=50)], at(load="disk"): [Made(maximum=500)]}, settings=PARAMETERS
    )
    cases = tuple(trace.explained(100_000) for trace in traces)
    cell = ExplainedCell(content.cells[0].summary.id, "none", {}, cases, 1000)
    return ExplainedRun(content, (cell,) if cases else ())


def test_the_knobs_of_the_causes_are_tried_beside_the_cell_with_the_largest_latency() -> None:
    trial = trial_of(explained(idle(60_000)), pairs=8)
    assert trial.request.knobs == "c_states,cpu_dma_latency"
    assert {str(cause): knobs for cause, knobs in trial.causes.items()} == {
        "idle": ("c_states", "cpu_dma_latency")
    }
    assert trial.cell.labels["load"] == "disk"
    assert trial.request.measuring.loads == ("disk",)
    assert trial.request.measuring.settings == {
        "activations": "1000", "period": "1ms", "knob": ("timer_migration=off",),
    }  # fmt: skip
    assert trial.request.pairs == 8


def test_the_knobs_of_idle_states_are_tried_though_the_worst_sample_was_in_the_idle_loop() -> None:
    found = explained(*(idle(60_000) for _each in range(19)), idle_loop(61_000))
    assert trial_of(found, pairs=8).request.knobs == "c_states,cpu_dma_latency"


@pytest.mark.parametrize(
    ("found", "error", "says"),
    [
        (explained(), UsageError, "no cause"),
        (explained(blocked(60_000)), NotPossibleError, "no knob changes"),
        (explained(idle(5_000)), NotPossibleError, "no knob changes what made this run late"),
        (explained(idle_loop(60_000)), NotPossibleError, "no knob changes"),
    ],
)
def test_where_no_knob_follows_from_the_causes_that_is_said(
    found: ExplainedRun, error: type[HowlateError], says: str
) -> None:
    with pytest.raises(error, match=says) as refused:
        trial_of(found, pairs=12)
    assert "howlate advise" in refused.value.remedy


def test_a_run_of_this_machine_is_tried_here_and_one_of_another_kernel_is_not() -> None:
    trial = trial_of(explained(idle(60_000)), pairs=12)
    with pytest.raises(NotPossibleError) as refused:
        target_of(trial, lambda _text: None)
    assert refused.value.statement.values.keys() == {"before", "now"}


def with_facts(run: Run, facts: dict[str, object]) -> Run:
    return replace(run, facts={"facts": 1, "values": facts, "missing": {}})


def test_a_run_whose_facts_do_not_contradict_is_tried_here() -> None:
    trial = trial_of(explained(idle(60_000)), pairs=12)
    target = target_of(replace(trial, run=with_facts(trial.run, {})), lambda _text: None)
    assert target.name == "local"


def test_the_command_of_a_trial_is_given_where_the_run_was_measured() -> None:
    """As `target_of` decides, which asks the machine."""
    run = explained(idle(60_000)).content.run
    assert is_elsewhere(run)
    here = LocalTarget(probe_path()).facts()["values"]
    own = {key: here[key] for key in ("kernel.release", "cpu.model") if key in here}
    for facts in ({}, own):
        assert not is_elsewhere(with_facts(run, facts))
    for key in own:
        assert is_elsewhere(with_facts(run, {**own, key: "another"}))
        assert not is_elsewhere(replace(with_facts(run, {key: "another"}), target="ssh:host"))
    there = explained(idle(60_000))
    assert _trial(there, Path("r"), "") == ""
    content = replace(there.content, run=with_facts(run, dict(own)))
    assert _trial(replace(there, content=content), Path("r"), "").endswith("why --try r")


def test_no_knob_of_idle_states_is_tried_where_the_kernel_has_none() -> None:
    run = explained(idle(60_000))
    bare = replace(run, cells=tuple(replace(cell, has_idle_states=False) for cell in run.cells))
    with pytest.raises(NotPossibleError, match="no knob changes"):
        trial_of(bare, pairs=8)
