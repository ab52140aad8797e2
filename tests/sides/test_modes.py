"""Rows of user space and of the kernel are told apart wherever they stand together."""

import sys

import pytest
from msgspec.structs import replace

from howlate.compare.compare import compare
from howlate.compare.document import of_block
from howlate.document.pictures import figures_of
from howlate.document.side_charts import side_subjects
from howlate.document.text import every_note, virtual_note
from howlate.model.loaded import RunContent
from howlate.sides.cell_labels import labels_of
from howlate.sides.join import join
from howlate.sides.side_names import IN_MODE
from howlate.system.paths import ROOT
from howlate.verdict.charts import matrix
from howlate.words.say import say, text_of
from howlate.words.statement import Listed
from made_sides import Machine, Made, at, lab_run, real_run

sys.path.insert(0, str(ROOT / "tools"))

from markdown_tables import Wanted, sheet_markdown, table

LOADS = ("none", "disk")
CORE = Machine("6.6.0", "#1 SMP PREEMPT_DYNAMIC IRQ_PIPELINE", "full")


def linux() -> RunContent:
    """Cells of Linux's own timers have no mode."""
    points = {at(load=load, timer="clock_nanosleep"): [Made()] for load in LOADS}
    return real_run(points, run_id="linux")


def core() -> RunContent:
    """As the plan labels the cells of a core's timers."""
    modes = {"cobalt": "user", "cobalt-kernel-task": "kernel"}
    points = {
        at(load=load, timer=timer, mode=mode): [Made(maximum=1)]
        for load in LOADS
        for timer, mode in modes.items()
    }
    return real_run(points, CORE, "core")


def of_study(content: RunContent, name: str) -> RunContent:
    return replace(content, run=replace(content.run, study=replace(content.run.study, reference=name)))


def modes(*contents: RunContent) -> list[str | None]:
    return [own.get("mode") for own in labels_of(contents, None)]


def test_linux_alone_has_no_mode_and_beside_a_core_it_is_of_user_space() -> None:
    assert modes(linux()) == [None, None]
    assert modes(linux(), core()) == ["user", "user", "user", "kernel", "user", "kernel"]
    assert {place.labels.get("mode") for place in join([linux()]).places} == {None}
    assert {(p.labels["timer"], p.labels["mode"]) for p in join([linux(), core()]).places} == {
        ("clock_nanosleep", "user"),
        ("cobalt", "user"),
        ("cobalt-kernel-task", "kernel"),
    }


@pytest.mark.parametrize(("study", "mode"), [("toshiba-2010", "user"), ("toshiba-mem-2010", None)])
def test_a_study_whose_document_has_both_says_it_of_linux_alone(study: str, mode: str | None) -> None:
    assert modes(of_study(linux(), study)) == [mode, mode]


def test_a_test_without_timers_has_no_mode_beside_a_core_either() -> None:
    other = real_run({at(load="none"): [Made(column="cs1_ns")]}, run_id="other")
    assert modes(other, core())[0] is None


def test_every_point_of_the_picture_names_its_mode() -> None:
    figure = matrix.draw(side_subjects([linux(), core()], join([linux(), core()])))
    assert figure is not None
    (panel,) = figure.panels
    rows = [text_of(note.text) for note in panel.picture.notes if note.classes == "row"]
    rows += [text_of(name) for name in panel.picture.x.names]
    named = [row for row in rows if "timer" in row]
    assert len(named) == 6
    assert [("mode kernel" in row) == ("cobalt-kernel-task" in row) for row in named] == [True] * 6
    assert all("mode " in row for row in named)


def test_pictures_whose_points_share_the_mode_have_it_in_their_note() -> None:
    shared = labels_of([of_study(linux(), "toshiba-2010")], None)
    both = Listed((IN_MODE(mode="user"), virtual_note(virtual=True)), "; ")
    assert every_note(virtual=True, labels=shared, gravity=None) == both
    assert every_note(virtual=False, labels=shared, gravity=None) == IN_MODE(mode="user")
    assert text_of(
        every_note(virtual=True, labels=labels_of([linux(), core()], None), gravity=None)
    ).startswith("virtual time")
    assert every_note(virtual=False, labels=labels_of([linux()], None), gravity=None) == ""
    assert dict(figures_of([of_study(linux(), "toshiba-2010")])), "there are pictures to put it under"


def test_a_comparison_says_the_mode_at_every_table() -> None:
    kernels = {kernel: {at(load="none", timer="setitimer"): [Made()]} for kernel in ("6.1", "6.1-rt")}
    found = compare([of_study(lab_run(kernels), "toshiba-2010")])
    assert say(IN_MODE(mode="user")) in text_of(of_block(found, found.blocks[0], 0).caution)
    head, _rule, *rows = sheet_markdown(table(found, Wanted("latency_ns", ("load",), ("mean",))))
    assert head == "| load | kernel | mode | mean, us |"
    assert [row.split(" | ")[2] for row in rows] == ["user", "user"]
    mixed = compare([linux(), core()])
    assert all("mode " in block.title for block in mixed.blocks)
