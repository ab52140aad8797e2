"""A bound to which a witness objects is not searched for; a missed deadline and late releases are."""

import pytest
from msgspec.structs import replace

from howlate.figures.strip import plain
from howlate.prove.document import page, to_json_value
from howlate.prove.flow import prove
from howlate.prove.lab.prove import exit_code
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.proof import Landscape, ProofRuling
from howlate.prove.screen import prove_screen
from howlate.replay.premises import RealTimeThread, Throttling, Witness
from howlate.replay.release_path import ReleasePath
from made_prober import BUSY, STOPPER, WINDOW, MadeProber, tooth
from prove.test_again import KeepingProber
from screens import fits

ABOVE = RealTimeThread(90, "exe", 1, 90, 1_000, 4)
STOPPED = Throttling("", 950_000, 1_000_000, False)
OBJECTING = {
    "exe (FIFO 90) is above": Witness(0, 10**6, (STOPPER, ABOVE), (0, 0)),
    "it ran 2 times": Witness(0, 10**6, (STOPPER,), (2,)),
    "the CPU was idle for 30.000 µs": Witness(30_000, 10**6, (), ()),
    "the kernel does not count": Witness(None, 10**6, (), ()),
    "real-time tasks (cpu:50,policy=rr:1)": replace(
        BUSY, throttling=replace(STOPPED, load="cpu:50,policy=rr:1")
    ),
    "used 500.000000 ms": replace(BUSY, real_time_ns=5 * 10**8, throttling=STOPPED),
}
REASONS = pytest.mark.parametrize("reason", OBJECTING)
BOUNDS = pytest.mark.parametrize("goal", [Goal(within=0.1), Goal(within_ns=900)])
OF = Landscape("6.1", "made", 100_000)
LAST_NS = WINDOW.end_ns - 1


@REASONS
@BOUNDS
def test_a_bound_that_a_witness_withholds_costs_no_probe(reason: str, goal: Goal) -> None:
    """What is said is what the witness's own release shows, in all places."""
    begun: list[Search] = []
    prober = MadeProber(tooth, OBJECTING[reason])
    proof = prove(OF, goal, 60, prober, begun.append, begun.append)
    assert prober.asked == [] and begun == []
    assert proof.ruling is ProofRuling.WITHHELD and exit_code([proof]) == 5
    assert exit_code([replace(proof, accepted=True)]) == 5
    assert proof.latest == Probed(LAST_NS, tooth(LAST_NS)) and proof.why is not None

    (said,) = to_json_value([proof])["landscapes"]
    searched = prove(OF, goal, 60, MadeProber(tooth, OBJECTING[reason]), late=True)
    (as_searched,) = to_json_value([searched])["landscapes"]
    assert said.keys() == as_searched.keys()
    for name in ("ruling", "objections", "bound_ns", "conditional_bound_ns", "witnesses"):
        assert said[name] == as_searched[name]
    assert said["sentence"].count(reason) == 1
    assert "4.000 µs late, at 499.999 µs" in said["sentence"]
    assert (said["probes"], said["checks"], said["compared_beside"]) == (0, 0, 0)
    assert said["uncovered_ns"] == WINDOW.length_ns
    shown = " ".join(line.strip() for line in fits(prove_screen([proof]), 80))
    assert plain(reason)[:60] in shown and reason in page([proof])


@BOUNDS
@pytest.mark.parametrize(
    ("said", "parameters"),
    [(BUSY, ()), (Witness(30_000, 10**6, (), ()), ("nohz=off",)), (replace(BUSY, throttling=STOPPED), ())],
)
def test_a_bound_to_which_no_witness_objects_is_searched_for(
    said: Witness, parameters: tuple[str, ...], goal: Goal
) -> None:
    prober = MadeProber(tooth, said)
    proof = prove(replace(OF, parameters=parameters), goal, 60, prober)
    assert proof.ruling is ProofRuling.CONDITIONAL and len(prober.asked) > 60


@REASONS
@pytest.mark.parametrize(
    ("deadline_ns", "ruling", "code"),
    [(53_000, ProofRuling.MISSED, 1), (60_000, ProofRuling.WITHHELD, 5)],
)
def test_a_deadline_is_searched_for_a_release_that_misses_it_whoever_objects(
    reason: str, deadline_ns: int, ruling: ProofRuling, code: int
) -> None:
    """The witness's own release keeps it: the probes are those of a search to which nothing objects."""
    prober, other = MadeProber(tooth, OBJECTING[reason]), MadeProber(tooth)
    goal = Goal(deadline_ns=deadline_ns)
    proof = prove(OF, goal, 60, prober)
    prove(OF, goal, 60, other)
    assert tooth(LAST_NS) < deadline_ns
    assert (proof.ruling, exit_code([proof])) == (ruling, code)
    assert prober.asked == other.asked and prober.asked


@REASONS
def test_late_releases_that_are_wanted_themselves_are_searched_for(reason: str) -> None:
    prober, other = MadeProber(tooth, OBJECTING[reason]), MadeProber(tooth)
    proof = prove(OF, Goal(within=0.1), 60, prober, late=True)
    found = prove(OF, Goal(within=0.1), 60, other).latest
    assert proof.ruling is ProofRuling.WITHHELD and proof.latest == found
    assert prober.asked == other.asked


def test_what_is_kept_counts_as_found_and_is_compared_with_no_bound_of_a_search_that_was_not_made() -> None:
    """Of two releases that are kept the one is above what the other would bound it by, with an eps of 0."""
    prober = KeepingProber(tooth, OBJECTING["the kernel does not count"])
    prober.note(Probed(30_000, 4_000, ReleasePath(3_000, 1_000, (), "work")))
    prober.note(Probed(29_000, 90_000))
    proof = prove(OF, Goal(within=0.1), 60, prober)
    assert proof.ruling is ProofRuling.WITHHELD and prober.asked == []
    assert proof.latest.at_ns == 29_000 and [probe.at_ns for probe in proof.probes] == [30_000]
    again = prober.again(1)
    again.said = prober.said
    assert prove(OF, Goal(within=0.1), 60, again).to_json() == proof.to_json() and again.asked == []


def test_a_search_for_a_deadline_leaves_what_it_found_to_a_bound_that_is_withheld() -> None:
    prober = KeepingProber(tooth, OBJECTING["the kernel does not count"])
    missed = prove(OF, Goal(deadline_ns=50_000), 60, prober)
    asked = len(prober.asked)
    withheld = prove(OF, Goal(within=0.1), 60, prober)
    assert (missed.ruling, withheld.ruling) == (ProofRuling.MISSED, ProofRuling.WITHHELD)
    assert withheld.latest == missed.latest and len(prober.asked) == asked > 0


def test_the_landscape_of_a_window_of_one_instant_is_its_witness() -> None:
    prober = MadeProber(tooth, OBJECTING["the kernel does not count"], window=ReleaseWindow(0, 1))
    assert prove(OF, Goal(within=0.1), 60, prober).latest == Probed(0, tooth(0))
