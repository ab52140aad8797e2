"""Single releases in forks of real guests: a stop before the release changes nothing, and what keeps the CPU for a
known time is found and bounded."""

import random
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError, UsageError
from howlate.lab.bench import PROBE, Bench
from howlate.lab.kernels.label import Label
from howlate.prove.flow import Prober, prove
from howlate.prove.forked_part import LEAST_LEAD_NS
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.proof import Landscape, Proof, ProofRuling, above_bound
from howlate.words.say import english
from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD, bench

WINDOW = ReleaseWindow(0, 6_000_000)
FIRST_NS = 20_000_000
MANY_TASKS_NS = 100_000_000
"""Before its stop the guest lists its tasks."""
HOLD_NS = 500_000


@pytest.fixture(autouse=True)
def few_pairs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring eps takes most of a small proof's probes."""
    if not request.node.get_closest_marker("sweep"):
        monkeypatch.setattr("howlate.prove.flow.PAIRS", 3)


def single(on: Bench, load: str, first_ns: int = FIRST_NS) -> list[list[str]]:
    """The job of a single release, so long after its start."""
    cell = [PROBE, "cyclic", "--single", "--policy=fifo:80", "--activations=1", f"--first={first_ns}ns"]
    return [*map(list, on.lines_for([load])), [*cell, f"--load={load}", "--stream=stream", "--quiet"]]


def proved(on: Bench, lines: list[list[str]], goal: Goal, checks: int, window: ReleaseWindow) -> Proof:
    of = Landscape(str(on.label), "load", FIRST_NS, on.label.parameters)
    with Prober(on, lambda _: lines, window, 1, fresh=True) as prober:
        return prove(of, goal, checks, prober)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "load", "many"),
    [
        (STANDARD, "memory-alloc:100", 4),
        (RT, "cpu:100", 3),
        pytest.param(STANDARD, "memory-alloc:100", 100, marks=pytest.mark.sweep),
        pytest.param("6.1[preempt=full]", "hackbench:10", 100, marks=pytest.mark.sweep),
        pytest.param(RT, "memory-alloc:100", 100, marks=pytest.mark.sweep),
        pytest.param("6.12@arm64", "memory-alloc:100", 100, marks=pytest.mark.sweep),
        pytest.param("6.12-rt@arm64", "cpu:100", 100, marks=pytest.mark.sweep),
    ],
)
def test_a_probe_of_a_fork_is_the_release_of_a_guest_that_was_never_stopped(
    tmp_path: Path, booted: Path, name: str, load: str, many: int
) -> None:
    """All words are equal: the clock, the latency, and when the instant was read and the timer armed."""
    on = bench(tmp_path / str(Label.parse(name)), name, snapshots=booted)
    lines = single(on, load, MANY_TASKS_NS if "hackbench" in load else FIRST_NS)
    draws = random.Random(many)
    with on.forked(lines, LIMITS) as fork:
        assert fork.words.planned_ns - fork.words.stopped_ns >= LEAST_LEAD_NS
        for _ in range(many):
            instant_ns = fork.words.planned_ns + draws.randrange(WINDOW.end_ns)
            assert fork.probe(instant_ns) == on.direct(lines, instant_ns, LIMITS)


SECTION = ReleaseWindow(0, 2_600_000)
"""Each of them has one that is whole."""
PREEMPT_OFF = ["module", "preempt_off", f"hold_us={HOLD_NS // 1000}"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "module"),
    [
        (STANDARD, ["module", "irqs_off", f"hold_us={HOLD_NS // 1000}", "rest_us=2000"]),
        ("6.1[preempt=full]", PREEMPT_OFF),
    ],
)
def test_a_section_of_known_length_is_found_and_bounded_and_named(
    guest: Guest, name: str, module: list[str]
) -> None:
    """A module keeps interrupts off, or preemption, for 500 us, about every 2.5 ms."""
    on = guest(name)
    proof = proved(on, [module, *single(on, "cpu:100")], Goal(within=0.1), 5, SECTION)
    print(english(proof.sentence()), proof.holder, proof.eps_parts)
    assert proof.ruling is ProofRuling.CONDITIONAL and not proof.above
    assert 0.9 * HOLD_NS < proof.latest.latency_ns < HOLD_NS + 30_000
    assert HOLD_NS < proof.bound_ns <= 1.1 * (HOLD_NS + 30_000)
    assert proof.why is not None
    inclusive_ns = {each.name: each.inclusive_ns for each in proof.why.functions}
    assert inclusive_ns[f"{module[1]}_hold [{module[1]}]"] > 0.95 * proof.latest.latency_ns


@pytest.mark.long
def test_an_interrupt_at_an_absolute_instant_inside_a_section_is_bounded_on_both_sides(guest: Guest) -> None:
    """It comes 250 us after the section's begin, takes 30 us, and makes the section longer by that."""
    on = guest("6.1[preempt=full]")
    lines = [[*PREEMPT_OFF, "handler_us=30"], *single(on, "cpu:100")]
    of = Landscape(str(on.label), "load", FIRST_NS, on.label.parameters)
    with Prober(on, lambda _: lines, SECTION, 1, fresh=True) as prober:
        proof = prove(of, Goal(within=0.1), 5, prober)
        came = [
            (probe.at_ns + each.from_ns, each.ns)
            for probe in proof.probes
            for each in (probe.path.interruptions if probe.path else ())
            if each.name == "preempt_off_interrupt [preempt_off]" and each.from_ns > 0
        ]
        at_ns, took_ns = max(came)
        sides = prober.all((at_ns + off_us * 1_000 for off_us in range(-50, 80, 10)), logged=False)
    print(english(proof.sentence()), proof.eps_parts)
    assert proof.ruling is ProofRuling.CONDITIONAL
    assert 30_000 < took_ns < 35_000
    assert HOLD_NS + took_ns < proof.bound_ns <= 1.1 * (HOLD_NS + took_ns + 30_000)
    assert sides[0].latency_ns > HOLD_NS // 2 > sides[-1].latency_ns
    search = Search(SECTION, proof.goal, proof.eps_ns, proof.tiles, list(proof.probes))
    assert above_bound(search, sides) == []


@pytest.mark.long
def test_a_deadline_that_is_missed_has_an_example_that_can_be_played_again(guest: Guest) -> None:
    on = guest(STANDARD)
    hold = ["module", "irqs_off", f"hold_us={HOLD_NS // 1000}", "rest_us=2000"]
    lines = [hold, *single(on, "cpu:100")]
    proof = proved(on, lines, Goal(deadline_ns=100_000), 0, WINDOW)
    assert proof.ruling is ProofRuling.MISSED
    with on.forked(lines, LIMITS) as fork:
        again = fork.probe(fork.words.planned_ns + proof.latest.at_ns)
    assert again.latency_ns == proof.latest.latency_ns > 100_000


KERNELS = (STANDARD, "6.1[preempt=full]", RT, "6.12-rt", "6.12@arm64", "6.12-rt@arm64")
LOADS = ("memory-alloc:100", "cpu:100", "hackbench:10")


def question(name: str, load: str) -> tuple[Goal, int, int]:
    """What is asked of a landscape, how many check instants, and the window's length: the shorter its teeth are, the
    more probes it takes. What an instant is bounded by is the next probe, so few probes test as much as many."""
    if load == "memory-alloc:100" and "-rt" not in name:
        return Goal(within=0.05), 560, 20_000_000
    return Goal(within=0.5), 560, 1_500_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "load", "goal", "checks", "length_ns"),
    [
        ("6.1[preempt=none]", "memory-alloc:100", Goal(within=1.0), 10, 400_000),
        *(
            pytest.param(
                *(name, load, *question(name, load)),
                marks=[pytest.mark.sweep, pytest.mark.timeout(3600)],
            )
            for name in KERNELS
            for load in LOADS
        ),
    ],
)
def test_no_release_at_a_random_instant_is_above_the_bound(
    tmp_path: Path, booted: Path, name: str, load: str, goal: Goal, checks: int, length_ns: int
) -> None:
    """The sweep's are 10,080 instants. What was found is found again in another copy of its fork."""
    on = bench(tmp_path / str(Label.parse(name)), name, snapshots=booted)
    first_ns = MANY_TASKS_NS if "hackbench" in load else FIRST_NS
    proof = proved(on, single(on, load, first_ns), goal, checks, ReleaseWindow(0, length_ns))
    print(english(proof.sentence()), proof.eps_parts)
    assert proof.above == ()
    assert proof.why is not None and proof.why.latency_ns == proof.latest.latency_ns
    assert [pair.unexplained for pair in proof.pairs] == [()]


def test_probes_are_kept_and_answer_a_second_question(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path / str(Label.parse(RT)), RT, snapshots=booted)
    lines = single(on, "cpu:100")
    with Prober(on, lambda _: lines, WINDOW, 1, fresh=False) as prober:
        first, said = prober.all([1_000, 2_000]), prober.witnesses()
        assert prober.made == 2
    with Prober(on, lambda _: lines, WINDOW, 1, fresh=False) as prober:
        assert (prober.all([1_000, 2_000]), prober.witnesses()) == (first, said)
        assert prober.made == 0
    longer = ReleaseWindow(0, 2 * WINDOW.end_ns)  # it begins with the same fork
    with Prober(on, lambda _: lines, longer, 1, fresh=False) as prober:
        (to_its_end,) = prober.witnesses()
        assert to_its_end.of_ns - said[0].of_ns > WINDOW.length_ns - 1_000_000
    assert list(said[0].objections(())) == []
    assert said[0].idle_ns is not None and -5_000 < said[0].idle_ns < 5_000
    assert {thread.name for thread in said[0].above} == {"migration/0"}


def test_what_a_guest_refuses_is_said_in_its_own_words(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path / str(Label.parse(RT)), RT, snapshots=booted)
    with pytest.raises(UsageError, match="nonsense"), on.forked(single(on, "nonsense"), LIMITS):
        pass
    absent = [["module", "absent"], *single(on, "cpu:100")]
    with pytest.raises(NotPossibleError, match="absent"), on.forked(absent, LIMITS):
        pass


@pytest.mark.long
def test_a_task_above_the_measuring_one_and_an_idle_cpu_withhold_the_bound(
    tmp_path: Path, booted: Path
) -> None:
    """One guest breaks both premises: a load of priority 90 that leaves the CPU idle for most of the time."""
    on = bench(tmp_path / str(Label.parse(RT)), RT, snapshots=booted)
    window = ReleaseWindow(0, 60_000)
    proof = proved(on, single(on, "cpu:5,policy=fifo:90"), Goal(within=1.0), 0, window)
    assert proof.ruling is ProofRuling.WITHHELD
    said = proof.to_json()
    assert said["bound_ns"] is None and said["witnesses"][0]["idle_ns"] > 1_000_000
    assert said["probes"] == 0
    assert "(FIFO 90) is above" in said["sentence"]
    assert "CPU was idle" in said["sentence"]


@pytest.mark.long
def test_a_load_that_reacts_to_the_release_is_noticed(guest: Guest) -> None:
    """A module, which never sleeps, looks how far off the CPU's next timer is, and turns interrupts off in every
    other 100 us if it is within 20 us."""
    on = guest(STANDARD)
    react = ["module", "reacts", f"hold_us={HOLD_NS // 1000}"]
    proof = proved(on, [react, *single(on, "none")], Goal(within=1.0), 20, ReleaseWindow(0, 400_000))
    assert proof.ruling in (ProofRuling.WITHHELD, ProofRuling.BROKEN) and proof.probes
    assert proof.to_json()["bound_ns"] is None


@pytest.mark.long
def test_parts_of_a_window_have_forks_of_their_own(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each release is as late as one of its own fork."""
    monkeypatch.setattr("howlate.prove.flow.TILE_NS", 1_000_000)
    on = bench(tmp_path / str(Label.parse(RT)), RT, snapshots=booted)

    def lines(at_ns: int) -> list[list[str]]:
        return single(on, "cpu:100", FIRST_NS + at_ns)

    with Prober(on, lines, ReleaseWindow(0, 2_000_000), 1, fresh=True) as prober:
        first, second = prober.all([999_999, 1_000_000])
        assert [part.fork().words.planned_ns for part in prober.parts] == [
            prober.parts[0].fork().words.planned_ns + at_ns for at_ns in (0, 1_000_000)
        ]
    with on.forked(lines(1_000_000), LIMITS) as fork:
        assert fork.probe(fork.words.planned_ns).latency_ns == second.latency_ns
    assert first.latency_ns > 0


def test_a_check_above_its_bound_takes_the_claim_back() -> None:
    """Pure: a load that reacts to the release makes one instant late that its neighbour on the right does not see."""
    search = Search(ReleaseWindow(0, 1_000), Goal(within=0.5), 10)
    while not search.is_over:
        for at_ns in search.propose():
            search.add(Probed(at_ns, 100))
    of = Landscape("6.1", "reacts", 0)
    assert Proof.of_search(of, search, [Probed(500, 101)]).ruling is ProofRuling.CONDITIONAL
    broken = Proof.of_search(of, search, [Probed(500, 5_000)])
    assert broken.ruling is ProofRuling.BROKEN and broken.to_json()["bound_ns"] is None
    assert "premise" in broken.to_json()["sentence"]
