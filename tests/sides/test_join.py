"""Several runs as one set of cells: what matches, who is a side, and what is said of the rest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.compare.equal import EQUAL, equal_sides
from howlate.errors import UsageError
from howlate.model.plan import Plan
from howlate.model.preemption import preemption_of
from howlate.model.run import VIRTUAL
from howlate.sides.join import join
from howlate.sides.join_warnings import (
    IN_FORCE_DIFFERS,
    MACHINES,
    MADE_WITH,
    ONE_SIDED,
    SETTING,
    VALUE_OF,
)
from howlate.words.say import english
from howlate.words.statement import Caption, Statement
from made_sides import NONE, RT, Machine, Made, at, lab_run, real_run

ONE = {at(load="none", period="1ms"): [Made()], at(load="cpu:50", period="1ms"): [Made()]}


def test_runs_on_two_kernels_of_one_machine_have_the_same_places() -> None:
    joined = join([real_run(ONE), real_run(ONE, RT, "run-b")])
    assert [side.name for side in joined.sides] == ["6.1.0 (preempt=none)", "6.1.0-rt (rt)"]
    assert len(joined.places) == len(joined.matched) == 2
    assert joined.warnings == ()


def test_the_preemption_model_tells_one_release_from_itself() -> None:
    joined = join([real_run(ONE), real_run(ONE, replace(NONE, preempt="full"), "run-b")])
    assert [side.name for side in joined.sides] == ["6.1.0 (preempt=none)", "6.1.0 (preempt=full)"]


def test_a_run_with_a_kernel_axis_is_its_own_sides() -> None:
    joined = join([lab_run({"6.1": ONE, "6.1-rt": ONE})])
    assert [side.name for side in joined.sides] == ["6.1", "6.1-rt"]
    assert [side.preemption for side in joined.sides] == ["none", "rt"]
    assert len(joined.matched) == 2


def test_two_runs_of_the_same_kernel_and_places_stay_apart() -> None:
    joined = join([real_run(ONE), real_run(ONE, NONE, "run-b")])
    assert [side.name for side in joined.sides] == ["run-a", "run-b"]
    same = join([real_run(ONE), real_run(ONE)])
    assert [side.name for side in same.sides] == ["run 1", "run 2"]


def test_a_side_is_called_as_the_user_calls_its_run() -> None:
    before, after = replace(real_run(ONE), name="before"), replace(real_run(ONE, NONE, "run-b"), name="after")
    assert [side.name for side in join([before, after]).sides] == ["before", "after"]
    lab = replace(lab_run({"6.1": ONE, "6.1-rt": ONE}), name="lab")
    assert [side.name for side in join([lab]).sides] == ["lab: 6.1", "lab: 6.1-rt"]


def test_sides_with_the_same_samples_are_equal_to_the_last_digit() -> None:
    runs = [lab_run({"6.1": ONE}), lab_run({"6.1": ONE}, id="run-b")]
    joined = join(runs)
    (equal,) = equal_sides(joined, lambda run, cell: f"hash of {cell}")
    assert equal == EQUAL(first="lab-run", second="run-b", cells=2)
    assert equal_sides(joined, lambda run, cell: f"hash of {cell} in {run}") == []
    last = [cell.summary.id for cell in runs[1].cells][-1]
    assert equal_sides(joined, lambda run, cell: f"{cell}{run if cell == last else 0}") == []
    assert (
        equal_sides(joined, lambda run, cell: "" if cell == last else cell) == []
    )  # its samples are missing
    assert equal_sides(join([real_run(ONE), real_run(ONE, NONE, "b")]), lambda run, cell: "same") == []


def test_runs_of_one_machine_that_measured_different_places_are_one_side() -> None:
    first, second = {at(load="none"): [Made()]}, {at(load="disk"): [Made()]}
    joined = join(
        [real_run(first), real_run(second, NONE, "run-b"), real_run({**first, **second}, RT, "run-c")]
    )
    assert [side.name for side in joined.sides] == ["6.1.0 (preempt=none)", "6.1.0-rt (rt)"]
    assert len(joined.matched) == 2


def test_cells_of_several_studies_join_where_they_are_the_same() -> None:
    other = real_run({at(load="none", period="1ms"): [Made()]}, RT, "run-b")
    other = replace(other, run=replace(other.run, study=replace(other.run.study, id="another")))
    joined = join([real_run(ONE), other])
    assert len(joined.matched) == 1
    assert ONE_SIDED(sides=("6.1.0 (preempt=none)",), count=1, places=("load cpu:50",)) in joined.warnings


def test_an_axis_here_is_a_setting_there() -> None:
    axis = real_run({at(load="none", timer="timerfd"): [Made()], at(load="none", timer="futex"): [Made()]})
    fixed = real_run({at(load="none"): [Made()]}, RT, "run-b", settings={"timer": "futex"})
    joined = join([axis, fixed])
    assert [place.labels["timer"] for place in joined.matched] == ["futex"]


def test_another_test_or_part_is_another_place() -> None:
    part = {at(load="none", part="low"): [Made()], at(load="none", part="high"): [Made()]}
    joined = join([real_run(part), real_run({at(load="none", part="low"): [Made()]}, RT, "run-b")])
    assert [place.labels["part"] for place in joined.matched] == ["low"]
    other = join([real_run(ONE), real_run(ONE, RT, "run-b", test="irq")])
    assert other.matched == ()


def test_what_was_not_alike_is_named() -> None:
    other = real_run(
        ONE, replace(RT, cpu="Another processor"), "run-b", settings={"activations": "5000"}, scale=0.5
    )
    cells = [
        replace(c, summary=replace(c.summary, clocksource={"before": "hpet", "after": "hpet"}))
        for c in other.cells
    ]
    joined = join([real_run(ONE), replace(other, cells=tuple(cells))])
    setting, clock, machines, scales = joined.warnings
    sides = (("6.1.0 (preempt=none)",), ("6.1.0-rt (rt)",))

    def values(*texts: str) -> tuple[Statement, ...]:
        return tuple(VALUE_OF(value=text, sides=of) for text, of in zip(texts, sides, strict=True))

    assert setting == SETTING(name="activations", points=2, of=2, values=values("1000", "5000"))
    assert clock == IN_FORCE_DIFFERS(
        name=Caption("clock source"), points=2, of=2, values=values("tsc", "hpet")
    )
    processors = values("An ordinary processor", "Another processor")
    assert machines == MACHINES(what=Caption("CPU"), values=processors)
    assert scales == MADE_WITH(what=Caption("scales (--scale)"), values=("1", "0.5"))


def test_a_deadline_is_no_setting_that_differs_but_in_virtual_time() -> None:
    """A deadline only says which latencies are counted; in virtual time the count takes instructions."""
    plain, judged = real_run(ONE), real_run(ONE, RT, "run-b", settings={"deadline": "300us"})
    assert SETTING.id not in {warning.rule for warning in join([plain, judged]).warnings}
    virtual = [replace(content, run=replace(content.run, clock=VIRTUAL)) for content in (plain, judged)]
    (named,) = [warning for warning in join(virtual).warnings if warning.rule == SETTING.id]
    assert named.values["name"] == "deadline"


def test_a_policy_that_was_not_granted_is_named() -> None:
    run = real_run({at(load="none", policy="fifo:80"): [Made()]}, RT, "run-b")
    fallen = [
        replace(c, summary=replace(c.summary, labels={**c.summary.labels, "policy": "other"}))
        for c in run.cells
    ]
    joined = join(
        [real_run({at(load="none", policy="fifo:80"): [Made()]}), replace(run, cells=tuple(fallen))]
    )
    assert len(joined.matched) == 1
    (differs,) = joined.warnings
    assert (differs.rule, differs.values["name"]) == (IN_FORCE_DIFFERS.id, "policy")
    assert english(differs.values["values"][0]) == "fifo:80 (6.1.0 (preempt=none))"


def test_virtual_and_real_time_are_never_joined() -> None:
    with pytest.raises(UsageError, match="two clocks"):
        join([real_run(ONE), lab_run({"6.1": ONE})])
    with pytest.raises(UsageError, match="no run"):
        join([])


def test_sides_may_be_another_axis() -> None:
    timers = {at(load="none", timer="futex"): [Made()], at(load="none", timer="timerfd"): [Made()]}
    joined = join([real_run(timers)], "timer")
    assert [side.name for side in joined.sides] == ["futex", "timerfd"]
    assert len(joined.matched) == 1
    both = join([lab_run({"6.1": timers, "6.1-rt": timers})], "timer")
    assert [side.name for side in both.sides] == [
        "futex, 6.1",
        "timerfd, 6.1",
        "futex, 6.1-rt",
        "timerfd, 6.1-rt",
    ]
    with pytest.raises(UsageError, match='no cell has a label "tiemr"'):
        join([real_run(timers)], "tiemr")


def test_cells_that_no_label_tells_apart_are_all_kept() -> None:
    run = real_run({at(load="none", work=work): [Made()] for work in ("1us", "2us")})
    bare = [replace(c, summary=replace(c.summary, labels={"load": "none"})) for c in run.cells]
    unplanned = replace(run, cells=tuple(bare), run=replace(run.run, plan=Plan(())))
    joined = join([unplanned, real_run({at(load="none"): [Made()]}, RT, "run-b")])
    assert sorted(len(place.members) for place in joined.places) == [1, 2]


@settings(max_examples=20)
@given(
    st.sets(st.sampled_from(["none", "disk", "cpu:50", "cpu:100"]), min_size=1),
    st.sets(st.sampled_from(["none", "disk", "network"]), min_size=1),
)
def test_the_order_of_runs_changes_who_comes_first_and_nothing_else(mine: set[str], its: set[str]) -> None:
    one = real_run({at(load=load): [Made()] for load in sorted(mine)})
    other = real_run({at(load=load): [Made()] for load in sorted(its)}, RT, "run-b")
    here, there = join([one, other]), join([other, one])
    assert {place.labels["load"] for place in here.matched} == mine & its
    assert {place.labels["load"] for place in here.places} == mine | its
    assert {place.labels["load"] for place in there.matched} == mine & its
    assert [side.name for side in here.sides] == [side.name for side in there.sides][::-1]
    assert bool(here.warnings) == (mine != its)


@pytest.mark.parametrize(
    ("machine", "model"),
    [
        (NONE, "none"),
        (RT, "rt"),
        (Machine(preempt="full"), "full"),
        (Machine(preempt="lazy"), "lazy"),
        (Machine(preempt="voluntary"), "voluntary"),
    ],
)
def test_a_kernel_is_told_by_what_it_is(machine: Machine, model: str) -> None:
    assert preemption_of(machine.facts()) == model


def test_a_guests_model_comes_from_its_configuration() -> None:
    facts = {"facts": 1, "values": {"kernel.version": "#1 SMP", "kernel.cmdline": "quiet"}, "missing": {}}
    assert preemption_of(facts) == ""
    assert preemption_of(facts, {"PREEMPT_VOLUNTARY": "y", "PREEMPT_DYNAMIC": "y"}) == "voluntary"
    assert preemption_of(facts, {"PREEMPT_RT": "y"}) == "rt"
    asked = {**facts, "values": {"kernel.cmdline": "quiet preempt=full"}}
    assert preemption_of(asked, {"PREEMPT_VOLUNTARY": "y", "PREEMPT_DYNAMIC": "y"}) == "full"
    assert preemption_of({}) == ""
