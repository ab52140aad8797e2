"""How a run goes on: from what it notes, unless that says nothing that can be."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from cli.commands import Run as Command
from howlate.model.run import Run
from howlate.store.continued import ROUNDS_APART, UNTIL_CLUSTER, UNTIL_DECIDED, go_on_with
from howlate.verdict.judge import question_of, stated
from howlate.verdict.ruling import Question
from howlate.words.statement import Statement
from made_runs import five_cells, made_run
from store.runs import a_folder, a_run

SAME = "the same command with --out r"
BY_CHECK = replace(
    a_run("one", parameters={"load": (), "explain": True}),
    study=replace(a_run().study, id="check"),
)
GOOD: dict[str, dict[str, Any]] = {
    ROUNDS_APART: {"every_s": 300.0},
    UNTIL_DECIDED: {"at_most_s": 7200.0, "miss_rate": 0.5, "horizon_s": 60.0, "confidence": 0.95},
    UNTIL_CLUSTER: {"cluster": 4.0},
}
OPTIONS = {
    ROUNDS_APART: "--rounds=1 --every=5min",
    UNTIL_DECIDED: "--until-decided --at-most=2h --miss-rate=0.5 --horizon=1min",
    UNTIL_CLUSTER: "--until-decided --at-most=2h --miss-rate=0.5 --horizon=1min --cluster=4.0",
}
ODD: tuple[Any, ...] = (None, "never", "", True, -1, float("nan"), float("inf"), 1e300, 10**400, [], {})
ALTERED = [
    (rule, values)
    for rule, good in GOOD.items()
    for values in [
        {},
        {"x": 1},
        *({**good, name: odd} for name in good if name != "confidence" for odd in ODD),
    ]
    if not (
        rule == UNTIL_CLUSTER and values.get("cluster") == 1e300
    )  # as many as that may be said to come together
]


def noting(rule: str, values: dict[str, Any]) -> Run:
    notes = {UNTIL_DECIDED: GOOD[UNTIL_DECIDED]} if rule == UNTIL_CLUSTER else {}
    notes[rule] = values
    return replace(BY_CHECK, warnings=tuple(Statement(*note, "x") for note in notes.items()))


@pytest.mark.parametrize("rule", GOOD)
def test_the_rounds_that_a_run_notes_are_options(rule: str) -> None:
    told = go_on_with(noting(rule, GOOD[rule]), Path("r"))
    assert told == f"`howlate run check --out r --set=explain=on {OPTIONS[rule]}`"


@pytest.mark.parametrize(("rule", "values"), ALTERED)
def test_what_it_notes_that_cannot_be_is_no_option(rule: str, values: dict[str, Any]) -> None:
    assert go_on_with(noting(rule, values), Path("r")) == SAME


@pytest.mark.parametrize("rule", GOOD)
def test_a_received_run_without_a_whole_cell_says_so(howlate: Command, rule: str) -> None:
    a_folder(Path("r"), {}, run=noting(rule, {"x": 1}))
    for asked in (["verdict", "--deadline=1ms"], ["why"], ["export", "--format=csv", "-o=x"]):
        done = howlate(*asked, "r")
        assert done.code == 2 and SAME in done.err, done.err


@pytest.mark.parametrize(("rule", "values"), ALTERED)
def test_a_received_run_is_judged_by_no_question_that_cannot_be(rule: str, values: dict[str, Any]) -> None:
    content = made_run(five_cells(2_000))
    odd = Statement(
        rule, {name: values.get(name) for name in GOOD[rule] if values.get(name) != GOOD[rule][name]}
    )
    altered = replace(content, run=replace(content.run, warnings=(odd,)))
    assert question_of(altered) == Question(0)
    assert [row.verdict for row in stated(altered)] == [row.verdict for row in stated(content)]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "check --out r --threshold=200us --set=explain=on"),
        ({"explain": "on"}, "run check --out r --set=threshold=200us --set=explain=on"),
    ],
)
def test_only_a_check_that_chose_to_explain_ends_at_its_threshold(changes: dict[str, str], told: str) -> None:
    run = replace(BY_CHECK, changes={"threshold": "200us", **changes})
    assert go_on_with(run, Path("r")) == f"`howlate {told}`"
