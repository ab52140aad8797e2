"""Whether the studies' conclusion holds that RT is steadier over all."""

from collections.abc import Mapping

import pytest

from compare.test_conclusions import PREEMPT_RT, STANDARD, of_rule, rules_of, seeds, side, stated, texts
from howlate.compare.compare import compare
from howlate.compare.conclusions import conclusions, conclusions_json
from howlate.compare.topics import topics_of
from howlate.model.loaded import RunContent
from howlate.model.study import Study
from howlate.published.steadier import ANSWERS, EXCEPTIONS, OVER_ALL
from made_sides import RT, Points, at, lab_run, real_run

STUDY = Study("made", "Made", "Which is steadier?", "cyclic", reference="toshiba-2010")


def study_run(kernels: Mapping[str, Points]) -> RunContent:
    """A run of a study that names a published one."""
    return lab_run(kernels, study=STUDY)


CASES = [
    # Without load, under cpu:50, under memory-alloc:100: maxima, a tenth of which is the deviation. At how many
    # points RT is smaller, larger, not distinguishable; the points against the answer.
    ((8, 100, 560), (8, 9, 8), "confirmed", (2, 0, 1), []),
    ((5, 100, 560), (20, 9, 8), "confirmed", (2, 1, 0), ["without load"]),
    ((20, 9, 8), (5, 100, 560), "contradicted", (1, 2, 0), ["without load"]),
    ((8, 9, 8), (8, 100, 560), "contradicted", (0, 2, 1), []),
    ((8, 9, 8), (8, 9, 8), "neither", (0, 0, 3), []),
    # At two points a little steadier, at one far less: the count and the mean do not agree.
    ((10, 10, 10), (8, 8, 1000), "neither", (2, 1, 0), []),
    # As far ahead at one point as behind at another.
    ((10, 10, 100), (10, 100, 10), "neither", (1, 1, 1), []),
]


@pytest.mark.parametrize(("standard", "rt", "answered", "counts", "contrary"), CASES)
def test_what_studies_conclude_of_rt_is_confirmed_contradicted_or_neither(
    standard: tuple[float, ...],
    rt: tuple[float, ...],
    answered: str,
    counts: tuple[int, ...],
    contrary: list[str],
) -> None:
    """Whichever side comes first."""
    points = [
        side(**dict(zip(("none", "cpu50", "memory"), maxima, strict=True))) for maxima in (standard, rt)
    ]
    for kernels in ({"6.1": points[0], "6.1-rt": points[1]}, {"6.1-rt": points[1], "6.1": points[0]}):
        statements = stated(study_run(kernels))
        (values,) = of_rule(statements, OVER_ALL)
        assert values["answer"] == ANSWERS[answered]
        assert (values["a"], values["b"], values["points"]) == ("6.1-rt", "6.1", 3)
        assert values["low"] <= values["ratio"] <= values["high"]
        assert (values["smaller"], values["larger"], values["undecided"]) == counts
        against = [texts(against["places"]) for against in of_rule(statements, EXCEPTIONS)]
        assert against == ([contrary] if contrary else [])


def test_nothing_is_concluded_of_rt_where_it_is_not_or_no_pairs_are() -> None:
    few = {at(load="none"): seeds(5, count=5)}
    for runs in (
        [study_run({"6.1": STANDARD, "6.12": PREEMPT_RT})],
        [real_run(STANDARD, study=STUDY), real_run(PREEMPT_RT, RT, "run-b", study=STUDY)],
        [study_run({"6.1": few, "6.1-rt": few})],
    ):
        assert rules_of(stated(*runs), "over-all") == []


def test_the_json_says_by_which_rule() -> None:
    concluded = conclusions(compare([study_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})]))
    assert "over all" in {entry["rule"] for entry in conclusions_json(concluded)}


def test_a_run_beside_one_of_the_study_is_not_of_it() -> None:
    of_study = real_run(STANDARD, study=STUDY)
    other = real_run(PREEMPT_RT, RT, "run-b")
    topics = topics_of(compare([of_study, other]))
    assert topics and not any(topic.is_published for topic in topics)
