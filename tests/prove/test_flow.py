"""Proofs of made landscapes: the whole question is asked, and no guest is needed."""

import dataclasses
import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.lab.cache import read_sealed, write_sealed
from howlate.model.facts import Facts
from howlate.prove.flow import loads_of, prove
from howlate.prove.forked_part import AROUND_NS, KeptProbes
from howlate.prove.lab.prove import exit_code
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.proof import Landscape, ProofRuling
from howlate.replay.premises import (
    ComparedPair,
    GuestMoment,
    RealTimeThread,
    Throttling,
    Witness,
    in_force,
)
from howlate.replay.release_path import Interruption, ReleasePath
from howlate.studies import find_study
from made_prober import BUSY, EQUAL, STOPPER, WINDOW, MadeProber, proved, tooth


def test_a_landscape_without_surprises_is_bounded_and_a_deadline_is_kept_or_missed() -> None:
    """Only by the word of the caller: what it rests on was sampled."""
    every = [
        proved(tooth, goal) for goal in (Goal(within=0.1), Goal(deadline_ns=60_000), Goal(deadline_ns=50_000))
    ]
    accepted = [replace(each, accepted=True) for each in every]
    within, kept, missed = (ProofRuling.WITHIN, ProofRuling.MET, ProofRuling.MISSED)
    assert [each.ruling for each in every] == [ProofRuling.CONDITIONAL, ProofRuling.CONDITIONAL, missed]
    assert [each.ruling for each in accepted] == [within, kept, missed]
    assert [exit_code([each]) for each in every] == [5, 5, 1]
    assert [exit_code([each]) for each in accepted] == [0, 0, 1]
    assert exit_code([accepted[1], every[2], accepted[0]]) == 1
    assert exit_code([accepted[0], every[1]]) == 5


@pytest.mark.parametrize("goal", [Goal(within=0.1), Goal(deadline_ns=60_000)])
@pytest.mark.parametrize("accepted", [False, True])
def test_what_is_said_names_each_premise_that_was_sampled_and_whose_word_the_bound_is(
    goal: Goal, accepted: bool
) -> None:
    said = replace(proved(tooth, goal), accepted=accepted).to_json()
    assert len(said["sampled_premises"]) == 3
    for premise in (*said["sampled_premises"], "sampled, not watched"):
        assert premise in said["sentence"]
    assert "found" in said["sentence"]
    assert ("--accept-sampled-premises" in said["sentence"]) is accepted
    assert said["premises_accepted_by"] == ("--accept-sampled-premises" if accepted else None)
    assert said["bound_ns"] == (said["conditional_bound_ns"] if accepted else None)
    assert said["conditional_bound_ns"] >= said["found_ns"]
    for claim in ("none is later", "none misses", "no release is later", "proof", "proved"):
        assert claim not in said["sentence"]


@pytest.mark.parametrize(
    ("said", "above"), [(Witness(0, 10**6, (), (), 0, None), True), (Witness(30_000, 10**6, (), ()), False)]
)
def test_a_premise_that_was_seen_to_fail_is_not_accepted_by_anybodys_word(said: Witness, above: bool) -> None:
    proof = proved(tooth, Goal(within=0.1), said)
    broken = replace(proof, accepted=True, above=(Probed(1, 90_000),) if above else ())
    assert broken.ruling is (ProofRuling.BROKEN if above else ProofRuling.WITHHELD)
    assert exit_code([broken]) == 5 and broken.to_json()["bound_ns"] is None


def test_two_guests_that_are_not_the_same_machine_withhold_the_bound() -> None:
    unlike = ComparedPair(
        1_000, 1_101, 5_000, ("pc.ram 0x10 (jiffies+0x0): 0x1 against 0x2", "cpu/eip: 0x0 against 0x4")
    )
    prober = MadeProber(tooth, pair=unlike)
    proof = prove(Landscape("6.1", "made", 100_000), Goal(within=0.1), 60, prober)
    assert proof.ruling is ProofRuling.WITHHELD
    (objection,) = proof.objections
    assert objection.values["places"] == 2 and "jiffies+0x0" in objection.values["place"]
    assert proof.to_json()["pairs"][0]["first_ns"] == 101_000


@pytest.mark.hypothesis
@settings(max_examples=20)
@given(st.integers(60, 10_000), st.integers(2, 50))
def test_a_load_that_reacts_to_the_release_never_leaves_a_bound_below_what_it_does(
    reaction_us: int, every: int
) -> None:
    """It holds the CPU where the release is in one of `every` stretches of 1 us."""

    def reacting(at_ns: int) -> int:
        return 4_000 + (reaction_us * 1_000 if at_ns // 1_000 % every == 0 else 0)

    proof = proved(reacting, Goal(within=0.05))
    if proof.is_bounded:
        assert proof.bound_ns >= reaction_us * 1_000


def test_a_window_is_probed_from_its_first_instant_to_its_last() -> None:
    """Else the first stretch has no left neighbour whose interruptions could be compared."""
    proof = proved(tooth, Goal(within=0.1))
    assert {WINDOW.first_ns, WINDOW.end_ns - 1} <= {probe.at_ns for probe in proof.probes}


def test_the_share_that_check_instants_leave_is_stated_where_they_say_anything() -> None:
    said = proved(tooth, Goal(within=0.1)).to_json()
    assert said["share_above_at_most"] == 3 / 60
    assert "less than 0.05" in said["sentence"]
    few = prove(Landscape("6.1", "made", 0), Goal(within=0.1), 3, MadeProber(tooth)).to_json()
    assert few["share_above_at_most"] is None
    assert "less than" not in few["sentence"]


def test_of_what_other_code_kept_the_latencies_alone_are_taken(tmp_path: Path) -> None:
    path = ReleasePath(90, 10, (Interruption("tick", 5, 9, 4),), "work")
    kept = KeptProbes(tmp_path / "kept.json", 7, {3: 100}, {3: path}, {3: BUSY}, EQUAL, {2: 48}, 130)
    kept.write()
    assert KeptProbes.read(kept.path, fresh=False) == kept
    assert KeptProbes.read(kept.path, fresh=True) == KeptProbes(kept.path)
    value = json.loads(read_sealed(kept.path))
    write_sealed(kept.path, json.dumps({**value, "format": "before"}).encode())
    assert KeptProbes.read(kept.path, fresh=False) == KeptProbes(kept.path, 7, {3: 100})


def test_before_the_search_its_least_number_of_probes_is_told_once() -> None:
    told: list[int] = []
    prober = MadeProber(tooth)
    proof = prove(
        Landscape("6.1", "made", 0),
        Goal(within=0.1),
        60,
        prober,
        begins=lambda search: told.append(len(search.probes)),
    )
    assert len(told) == 1
    assert 0 < told[0] < len(proof.probes)


@pytest.mark.parametrize("said", [BUSY, Witness(30_000, 10**6, (), ())])
@pytest.mark.parametrize(("deadline_ns", "probes"), [(3_999, 0), (4_000, 6)])
def test_a_deadline_that_is_missed_before_the_search_is_missed_and_no_search_is_told_of(
    said: Witness, deadline_ns: int, probes: int
) -> None:
    """By the witness's own release, or by one of the first probes."""
    begun: list[Search] = []
    prober = MadeProber(tooth, said)
    proof = prove(Landscape("6.1", "made", 0), Goal(deadline_ns=deadline_ns), 60, prober, begins=begun.append)
    assert (proof.ruling, exit_code([proof])) == (ProofRuling.MISSED, 1)
    assert begun == [] and len(prober.asked) == probes == len(proof.probes)


def test_starts_far_out_of_order_withhold_the_bound() -> None:
    """Every other 100 us the load sees the release come, and holds the CPU for 300 us."""
    prober = MadeProber(lambda at_ns: 304_000 if at_ns // 100_000 % 2 else 4_000)
    proof = prove(Landscape("6.1", "made", 0), Goal(within=0.05), 0, prober)
    assert proof.ruling is ProofRuling.WITHHELD
    assert [each.rule for each in proof.objections] == ["proof.out-of-order"]
    assert exit_code([proof]) == 5


def test_an_interrupt_at_an_absolute_instant_is_part_of_the_landscape() -> None:
    """It comes at 80 us in every 100 and takes 15 us, whoever waits."""

    def interrupted(at_ns: int) -> int:
        free_ns = at_ns + tooth(at_ns)
        until_ns = free_ns // 100_000 * 100_000 + 95_000
        return (until_ns if until_ns - 15_000 <= free_ns < until_ns else free_ns) - at_ns

    proof = proved(interrupted, Goal(within=0.1))
    assert proof.ruling is ProofRuling.CONDITIONAL
    assert proof.bound_ns >= max(map(interrupted, range(WINDOW.first_ns, WINDOW.end_ns, 10)))


ABOVE = RealTimeThread(90, "exe", 1, 90, 1_000, 4)
DEADLINE = RealTimeThread(91, "dl", 6, 0, 1_000, 4)


@pytest.mark.parametrize(
    ("said", "parameters", "reason"),
    [
        (Witness(0, 10**6, (STOPPER, ABOVE), (0, 0)), (), "exe (FIFO 90) is above"),
        (Witness(0, 10**6, (DEADLINE,), (0,)), (), "dl (DEADLINE) is above"),
        (Witness(0, 10**6, (STOPPER,), (2,)), (), "it ran 2 times"),
        (Witness(0, 10**6, (STOPPER,), (-1,)), (), "migration/0 (FIFO 99) is above"),
        (Witness(30_000, 10**6, (), ()), (), "the CPU was idle for 30.000 µs of 1.000000 ms"),
        (Witness(30_000, 10**6, (), ()), ("nohz=off",), ""),
        (Witness(-1_000_000, 10**6, (), ()), (), ""),
        (Witness(-2_000, 10**6, (STOPPER,), (0,)), (), ""),
    ],
)
def test_a_broken_premise_withholds_the_bound_and_names_what_broke_it(
    said: Witness, parameters: tuple[str, ...], reason: str
) -> None:
    proof = proved(tooth, Goal(within=0.1), said, *parameters)
    assert proof.ruling is (ProofRuling.WITHHELD if reason else ProofRuling.CONDITIONAL)
    assert reason in proof.to_json()["sentence"]
    assert (proof.to_json()["conditional_bound_ns"] is None) is bool(reason)


@pytest.mark.parametrize(
    ("parameters", "arch", "not_checked", "lifts"),
    [
        (("nohz=off",), "amd64", (), True),
        (("nohz=off",), "arm64", (), True),
        (("nohz=off", "nohz=on"), "amd64", (), False),  # the kernel takes the last
        (("nohz=on", "quiet", "nohz=off"), "amd64", (), True),
        (("nohz=off",), "amd64", ("nohz=off",), False),  # nobody knows whether it is in force
        (("idle=poll",), "amd64", (), True),
        (("idle=poll",), "arm64", (), False),  # of x86 alone
    ],
)
def test_only_a_parameter_that_is_in_force_lifts_the_objection_to_an_idle_cpu(
    parameters: tuple[str, ...], arch: str, not_checked: tuple[str, ...], lifts: bool
) -> None:
    idle = Witness(30_000, 10**6, (), ())
    assert (not list(idle.objections(in_force(parameters, arch, not_checked)))) is lifts


OFF = {"sched.rt_runtime_us": -1, "sched.rt_period_us": 1_000_000}
ON = {**OFF, "sched.rt_runtime_us": 950_000}
SERVER = {"sched.fair_server": [{"cpus": "0", "runtime_ns": 50_000_000, "period_ns": 1_000_000_000}]}
NO_SERVER = {"sched.fair_server": [{"cpus": "0", "runtime_ns": 0, "period_ns": 1_000_000_000}]}
OLD, NEW = {"kernel.release": "6.1.0"}, {"kernel.release": "6.12.9"}
FIFO = "none+cpu:50,policy=fifo:50"


@pytest.mark.parametrize(
    ("load", "facts", "used_ns", "reason"),
    [
        ("cpu:50", {**OLD, **ON}, 10**7, ""),
        (FIFO, {**OLD, **ON}, 10**7, "950000 µs of 1000000 µs"),
        ("cpu:50,policy=rr:1", {**OLD, **ON}, 0, "tasks (cpu:50,policy=rr:1)"),
        (FIFO, {**OLD, **OFF}, 10**9, ""),
        (FIFO, OLD, 0, "limit unknown"),
        (FIFO, {**NEW, **OFF, **SERVER}, 0, "fair server"),
        (FIFO, {**NEW, **OFF}, 0, "fair server"),  # whether it is off could not be read
        (FIFO, {**NEW, **OFF, **NO_SERVER}, 0, ""),
        ("cpu:50", {**NEW, **ON, **SERVER}, 10**7, ""),
        ("cpu:50", {**OLD, **ON}, 5 * 10**8, "used 500.000000 ms"),
    ],
)
def test_real_time_tasks_that_the_kernel_may_stop_withhold_the_bound(
    tmp_path: Path, load: str, facts: dict[str, Any], used_ns: int, reason: str
) -> None:
    throttling = Throttling.of(load, Facts(facts))
    said = Witness(0, 10**6, (), (), used_ns, throttling)
    proof = proved(tooth, Goal(within=0.1), said)
    assert proof.ruling is (ProofRuling.WITHHELD if reason else ProofRuling.CONDITIONAL)
    assert reason in proof.to_json()["sentence"]
    kept = KeptProbes(tmp_path / "kept.json", witnesses={3: said})
    kept.write()
    assert KeptProbes.read(kept.path, fresh=False) == kept


def test_the_cpu_time_of_real_time_tasks_is_that_of_all_that_are_there_at_the_end() -> None:
    before, after = (GuestMoment(at, 0, (STOPPER, ABOVE)) for at in (0, 1_000))
    assert Witness.between(before, after).real_time_ns == STOPPER.run_ns + ABOVE.run_ns
    not_counted = replace(ABOVE, run_ns=-1)
    assert Witness.between(before, replace(after, threads=(not_counted,))).real_time_ns == 0


def test_idle_time_is_what_no_task_ran_and_a_task_that_came_is_above_as_one_that_stayed() -> None:
    later = RealTimeThread(16, "migration/0", 1, 99, 1_500, 5)
    before = GuestMoment(1_000, 50_000, (STOPPER,))
    between = Witness.between(before, GuestMoment(11_000, 57_000, (later, ABOVE)))
    assert (between.idle_ns, between.of_ns, between.above, between.ran) == (
        3_000,
        10_000,
        (STOPPER, ABOVE),
        (2, -1),
    )
    assert Witness.between(before, GuestMoment(11_000, -1, ())).idle_ns is None


def test_the_loads_of_a_study_are_those_of_its_axis() -> None:
    assert loads_of(find_study("preemption-models")) == ("none", "memory-alloc:100", "hackbench")
    with pytest.raises(UsageError, match="cyclic"):
        loads_of(find_study("scheduler-tasks"))


class TickingProber(MadeProber):
    """The instants that may have a tick have one, which takes 2 us; all others are interrupted much later."""

    def ask(self, at_ns: int, logged: bool = True) -> Future[Probed]:
        probe = super().ask(at_ns).result()
        from_ns = 0 if at_ns % 1_000_000 < 2_000 and at_ns < 2_900_000 else 1_000
        came = (Interruption("tick", from_ns, from_ns + 2_000, 2_000),)
        answer: Future[Probed] = Future()
        answer.set_result(dataclasses.replace(probe, path=ReleasePath(0, probe.latency_ns, came, "work")))
        return answer


def test_ticks_are_met_on_purpose_and_what_they_move_is_part_of_eps() -> None:
    prober = TickingProber(lambda _: 4_000, window=ReleaseWindow(0, 4_000_000), shifted_ns=48)
    proof = prove(Landscape("6.1", "made", 0), Goal(deadline_ns=9_000_000), 4, prober)
    assert {tick_ns + around_ns for tick_ns in (1_000_000, 2_000_000) for around_ns in AROUND_NS} <= set(
        prober.asked
    )
    assert proof.eps_parts.ticks_ns == 48 <= proof.eps_ns
    assert proof.ticks_met == 2
    none = TickingProber(lambda _: 4_000, window=ReleaseWindow(0, 900_000), shifted_ns=48)
    assert prove(Landscape("6.1", "made", 0), Goal(deadline_ns=9_000_000), 4, none).eps_parts.ticks_ns == 0
