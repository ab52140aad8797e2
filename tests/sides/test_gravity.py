"""By how much a core's latencies are smaller is stated wherever they stand beside others."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.compare.compare import compare, to_json
from howlate.compare.document import of_block
from howlate.document.pictures import write_pictures
from howlate.model.loaded import RunContent
from howlate.model.preemption import CORES
from howlate.model.summary import DeadlineSummary
from howlate.sides.gravity import ALIKE, ANTICIPATED, BESIDE_PUBLISHED, DIFFERS, OF
from howlate.sides.join import join
from howlate.verdict.document import junit, markdown, opening
from howlate.verdict.judge import on_own_deadlines
from howlate.verdict.ruling import Question, Verdict
from howlate.verdict.verdict import verdict
from howlate.verdict.verdict_json import verdict_json
from howlate.words.say import english, text_of
from howlate.words.statement import Statement
from made_evidence import made_evidence, quiet
from made_sides import Machine, Made, at, real_run

LOADS = ("none", "disk")
TASK, HANDLER = "cobalt-kernel-task", "cobalt-kernel-timer"


def side(name: str, timers: dict[str, int]) -> RunContent:
    """A run of these timers on a kernel of its own, each with its gravity; only a core has one."""
    points = {
        at(load=load, period="1ms", timer=timer): [Made(maximum=1, gravity_ns=gravity)]
        for load in LOADS
        for timer, gravity in timers.items()
    }
    core = name.lower() if name.lower() in CORES else ""
    return replace(real_run(points, Machine(f"6.6.0-{name}", core=core), name), name=name)


def linux() -> RunContent:
    return side("Linux", {"clock_nanosleep": 0})


def of_rule(warnings: tuple[Statement, ...], beginning: str = "gravity") -> list[Statement]:
    return [warning for warning in warnings if warning.rule.startswith(beginning)]


def test_without_a_core_nothing_is_said_of_gravity() -> None:
    assert of_rule(compare([linux(), replace(linux(), name="again")]).joined.warnings) == []


def test_sides_of_unlike_gravity_are_not_to_be_compared_as_they_stand() -> None:
    cobalt, evl = side("Cobalt", {"cobalt": 2000}), side("EVL", {"evl": 3000})
    (said,) = of_rule(join([linux(), cobalt, evl]).warnings)
    gravities = ((0, "Linux"), (2000, "Cobalt"), (3000, "EVL"))
    assert said == DIFFERS(values=tuple(OF(gravity_ns=ns, names=(name,)) for ns, name in gravities))


def test_sides_of_one_gravity_are_smaller_by_it_and_may_be_compared() -> None:
    (said,) = of_rule(join([side("A", {"cobalt": 2000}), side("B", {"cobalt": 2000})]).warnings)
    assert said == ALIKE(values=(OF(gravity_ns=2000, names=("A", "B")),))


def test_a_side_with_several_gravities_says_which_timer_has_which() -> None:
    (said,) = of_rule(join([side("A", {"cobalt": 2000, HANDLER: 0}), side("B", {"cobalt": 2000})]).warnings)
    assert english(said).endswith(f"2.00 µs (A, timer cobalt, B); 0 ns (A, timer {HANDLER})")


@given(st.lists(st.sampled_from([0, 1, 2000, 3000]), min_size=1, max_size=9))
def test_every_side_is_named_once_with_its_own_gravity(gravities: list[int]) -> None:
    runs = [side(f"side-{i}", {"cobalt": gravity}) for i, gravity in enumerate(gravities)]
    said = of_rule(join(runs).warnings)
    assert [statement.rule for statement in said] == (
        [] if not any(gravities) else [(DIFFERS if len(set(gravities)) > 1 else ALIKE).id]
    )
    for statement in said:
        held = [(v.values["gravity_ns"], v.values["names"]) for v in statement.values["values"]]
        pairs = sorted((name, gravity) for gravity, names in held for name in names)
        assert pairs == [(f"side-{i}", gravity) for i, gravity in enumerate(gravities)]


def of_study(content: RunContent) -> RunContent:
    return replace(
        content, run=replace(content.run, study=replace(content.run.study, reference="toshiba-2010"))
    )


@pytest.mark.parametrize(("timer", "gravity"), [(TASK, 2000), (TASK, 0), ("cobalt", 2000)])
def test_published_figures_beside_a_core_s_are_not_to_be_compared_as_they_stand(
    timer: str, gravity: int
) -> None:
    """Only of cells beside which a row of the document stands, and which have a gravity."""
    found = compare([of_study(side("Cobalt", {timer: gravity}))])
    said = of_rule(found.joined.warnings, BESIDE_PUBLISHED.id)
    assert bool(said) == (timer == TASK and gravity > 0)
    assert any(block.published for block in found.blocks) == (timer == TASK)
    gravity_of = (OF(gravity_ns=gravity, names=("Cobalt",)),)
    assert all(each == BESIDE_PUBLISHED(values=gravity_of) for each in said)


def test_each_table_has_the_gravity_of_its_own_sides() -> None:
    found = compare([linux(), side("Cobalt", {"cobalt": 2000, "clock_nanosleep": 0})])
    cautions = {block.labels["timer"]: text_of(of_block(found, block, 0).caution) for block in found.blocks}
    assert "2.00 µs (Cobalt)" in cautions["cobalt"]
    assert "gravity" not in cautions["clock_nanosleep"]


def test_the_json_has_the_gravity_of_each_row_and_the_statement() -> None:
    value = json.loads(json.dumps(to_json(compare([linux(), side("Cobalt", {"cobalt": 2000})]))))
    rows = {(row["side"], row["gravity_ns"]) for table in value["tables"] for row in table["rows"]}
    assert rows == {("Linux", 0), ("Cobalt", 2000)}
    (said,) = (statement for statement in value["statements"] if statement["rule"] == DIFFERS.id)
    assert said["text"] in value["warnings"]


def test_the_picture_of_the_matrix_says_the_gravity_in_its_reading(tmp_path: Path) -> None:
    for runs, said in (([linux(), side("Cobalt", {"cobalt": 2000})], True), ([linux()] * 2, False)):
        write_pictures(runs, tmp_path, "svg", only={"matrix"})
        reading = (tmp_path / "matrix.svg").read_text()
        assert ("0 ns (Linux); 2.00" in " ".join(reading.split())) == said
        assert ("gravity" in reading) == said


# --- Verdicts ---


def ruled(content: RunContent, deadline_ns: int) -> list[Verdict]:
    held = DeadlineSummary(deadline_ns, 1000)
    summaries = [replace(cell.summary, deadline=held) for cell in content.cells]
    question = Question(deadline_ns)
    return [row.verdict for row in on_own_deadlines(content, summaries, question)]


def test_a_verdict_says_by_how_much_the_core_is_ahead_in_text_and_json() -> None:
    """EVL at 1 us passed, with no word of the 3 us by which its timers are ahead."""
    verdicts = ruled(side("EVL", {"evl": 3000}), 1_000)
    assert len(verdicts) == len(LOADS)
    (said,) = [told for told in opening(verdicts) if told.rule == ANTICIPATED.id]
    assert (said.values["gravity_ns"], said.values["from_timer_ns"]) == (3000, 4000)
    for each in verdicts:
        told = verdict_json(each)
        assert told["gravity_ns"] == 3000
        assert ANTICIPATED.id in [statement["rule"] for statement in told["statements"]]
    assert english(said) in markdown("run", verdicts)
    assert junit("made", ["a", "b"], verdicts).count("gravity") == 2


def test_rows_of_unlike_gravity_are_named_with_theirs() -> None:
    verdicts = ruled(side("Cobalt", {TASK: 2000, HANDLER: 0}), 5_000)
    (said,) = [told for told in opening(verdicts) if told.rule == ANTICIPATED.id]
    assert said.values["gravity_ns"] == 2000
    assert len(said.values["rows"]) == len(LOADS) and all(TASK in row for row in said.values["rows"])


def test_a_verdict_without_a_core_says_nothing_of_gravity() -> None:
    for each in (*ruled(linux(), 5_000), verdict(made_evidence(10_000, quiet()), Question(10_000))):
        assert verdict_json(each)["gravity_ns"] == 0
        assert "gravity" not in " ".join(map(english, opening([each])))
