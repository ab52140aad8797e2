"""The published studies as they stand in studies/: the cells of the originals, each once, and the names of their
references."""

from collections import Counter
from typing import Any

import pytest

from fakes import FakeTarget, make_plan
from howlate.measure.prepare import RunRequest, prepare
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Plan
from howlate.model.study import Study
from howlate.plan.changes import with_shared
from howlate.plan.options import load_specs
from howlate.published.load import find_reference
from howlate.studies import find_study
from howlate.system.paths import probe_path
from howlate.targets.local import LocalTarget
from howlate.words.say import english

PUBLISHED = ("rts7751-2007", "sh7780-2008", "toshiba-2010", "toshiba-mem-2010", "tut-2017")
GROUPS = ("1", "2", "4", "6", "10", "15", "20", "30", "40")
MODELS = ("none", "full", "rt")


@pytest.fixture(scope="module")
def can() -> Capabilities:
    return LocalTarget(probe_path()).capabilities()


def planned(name: str, can: Capabilities) -> tuple[Study, Plan]:
    study = with_shared(find_study(name), can.takes)
    return study, make_plan(study, can)


def shortened(
    name: str, can: Capabilities, scale: float, *changes: str
) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    """The parameters of each part's first cell, and what the run says of its scale."""

    class Here(FakeTarget):
        def capabilities(self, machine: str = "") -> Capabilities:
            return can

    run = prepare(RunRequest(find_study(name), changes, scale), Here()).run
    first: dict[str, dict[str, Any]] = {}
    for cell in run.plan.cells:
        first.setdefault(cell.labels.get("part", ""), dict(cell.parameters))
    return first, tuple(map(english, run.warnings))


def labels(plan: Plan, *names: str) -> Counter[tuple[str, ...]]:
    return Counter(tuple(cell.labels.get(name, "") for name in names) for cell in plan.cells)


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_names_its_figures_and_its_kernels_and_keeps_its_period(name: str, can: Capabilities) -> None:
    study, plan = planned(name, can)
    assert study.reference == name
    assert len(study.kernels) >= 2 and study.kernels[-1].endswith("-rt")
    assert not any("dither" in cell.parameters for cell in plan.cells)
    assert len({(cell.test, tuple(sorted(cell.labels.items()))) for cell in plan.cells}) == len(plan.cells)


def test_toshiba_2010_has_its_nine_tables_by_both_late_policies(can: Capabilities) -> None:
    _, plan = planned("toshiba-2010", can)
    found = labels(plan, "load", "period", "late-policy")
    periods = ("1ms", "500us", "300us", "100us")
    tables = {(load, period) for load in ("cpu:100+disk:max", "none") for period in periods} | {
        ("cpu:50", "300us")
    }
    assert set(found) == {(*table, policy) for table in tables for policy in ("skip", "as-published")}
    assert set(found.values()) == {1}
    assert {(c.parameters["timer"], c.parameters["activations"]) for c in plan.cells} == {
        ("setitimer", "1000000")
    }


def test_toshiba_mem_2010_measures_its_row_without_load_once(can: Capabilities) -> None:
    _, plan = planned("toshiba-mem-2010", can)
    kinds = ("cpu", "memory-alloc", "memory-fault", "memory-access")
    loads = {"none", *(f"{kind}:{share}" for kind in kinds for share in (50, 100))}
    expected = {
        (load, period, timer)
        for load in loads
        for period in ("300us", "500us", "1ms")
        for timer in ("setitimer", "clock_nanosleep")
    }
    found = labels(plan, "load", "period", "timer")
    assert set(found) == expected and set(found.values()) == {1}
    assert {c.parameters["activations"] for c in plan.cells} == {"100000"}


def test_tut_2017_has_the_settings_of_its_listing(can: Capabilities) -> None:
    _, plan = planned("tut-2017", can)
    by_part: dict[str, list[dict[str, Any]]] = {}
    for cell in plan.cells:
        by_part.setdefault(cell.labels["part"], []).append(dict(cell.parameters))
    counts = {"preemption": "100000"} | dict.fromkeys(
        ("clock", "switch", "timer-absolute", "timer-relative"), "1000000"
    )
    for part, points in counts.items():
        assert [its["points"] for its in by_part[part]] == [points] * 2
        assert {its.get("load", ()) for its in by_part[part]} == {(), ("cpu:100,nice=10,cpus=other",)}
    preemption, (smi,) = by_part["preemption"][0], by_part["smi"]
    assert (preemption["sleep"], preemption["high"], preemption["low"]) == ("200us", "80", "70")
    assert [smi[name] for name in ("duration", "threshold", "window", "width")] == [
        "30min",
        "10us",
        "1s",
        "500ms",
    ]
    assert (smi["cpus"], smi["each-cpu"]) == ("all", True)  # the study's detector held every CPU
    assert by_part["switch"][0]["switches-per-point"] == "1000"
    assert [by_part[f"timer-{way}"][0]["timer"] for way in ("absolute", "relative")] == [
        "clock_nanosleep",
        "clock_nanosleep-relative",
    ]


def test_what_set_asks_of_a_part_stays_and_the_others_are_scaled(can: Capabilities) -> None:
    first, (said,) = shortened("tut-2017", can, 0.002, "switch.points=40", "smi.duration=4s")
    assert (first["switch"]["points"], first["smi"]["duration"]) == ("40", "4s")
    assert first["clock"]["points"] == "2000"
    assert said.endswith("; switch, smi: as --set says")


def test_sh7780_2008_has_every_figure(can: Capabilities) -> None:
    _, plan = planned("sh7780-2008", can)
    found = labels(plan, "part", "load", "period")
    loads = {f"hackbench:{groups}" for groups in GROUPS}
    assert {load for part, load, _ in found if part == "time"} == loads
    assert {load for part, load, period in found if (part, period) == ("latency", "1ms")} == loads
    assert [row for row in found if row[0] == "course"] == [("course", "hackbench:30", "10ms")]


def test_rts7751_2007_has_its_rows_of_load_and_policy(can: Capabilities) -> None:
    _, plan = planned("rts7751-2007", can)
    found = {(load, policy) for part, load, policy in labels(plan, "part", "load", "policy") if part == "uio"}
    assert found == {(load, policy) for load in ("none", "network:flood") for policy in ("other", "fifo:80")}


def test_rts7751_2007_asks_of_a_call_that_offers_the_cpu_and_of_one_that_does_not(can: Capabilities) -> None:
    _, plan = planned("rts7751-2007", can)
    assert {its for part, its in labels(plan, "part", "long-call") if part == "syscall"} == {"read", "poll"}


def test_rts7751_2007_asks_of_slices_of_shares_and_of_sleepers(can: Capabilities) -> None:
    _, plan = planned("rts7751-2007", can)
    asked: dict[str, set[tuple[str, ...]]] = {}
    for cell in plan.cells:
        of = cell.parameters
        row = tuple(str(of.get(name, "")) for name in ("question", "policy", "tasks", "nice"))
        asked.setdefault(cell.labels.get("part", ""), set()).add(row)
    assert {row[:2] for row in asked["quantum"]} == {("slice", "rr:80")}
    assert {row[:3] for row in asked["slice"]} == {("slice", "other", tasks) for tasks in ("1", "4", "16")}
    assert {(row[0], row[3]) for row in asked["shares"]} == {
        ("shares", n) for n in ("0", "1", "5", "10", "19")
    }
    assert {row[:3] for row in asked["sleeper"]} == {("sleeper", p, "4") for p in ("other", "fifo:80")}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_row_that_can_be_measured_is(name: str, can: Capabilities) -> None:
    """Study and reference are written apart: parts, loads and periods have one spelling in both. A row of a timer of
    its own is measured with `--set timer=`: the plain probe has none of a real-time core's."""
    _, plan = planned(name, can)
    reference = find_reference(name)
    cells = [cell.to_json() for cell in plan.cells]
    own = {timer for table in reference.tables for row in table.rows for timer in row.match.get("timer", ())}
    cells += [{**cell, "labels": {**cell["labels"], "timer": timer}} for cell in cells for timer in own]
    met = {
        (table.id, row.label)
        for table in reference.tables
        for cell in cells
        for model in (*MODELS, "voluntary", "cobalt")
        for row in table.rows_for(cell, model)
    }
    missing = [
        f"{table.id}/{row.label}"
        for table in reference.tables
        if not table.why
        for row in table.rows
        if row.measurable and (table.id, row.label) not in met
    ]
    assert not missing


def test_loads_are_what_the_probe_knows(can: Capabilities) -> None:
    known = {load.name for load in can.loads}
    for name in PUBLISHED:
        for piece in find_study(name).pieces():
            for value in piece.axes.get("load", ()):
                assert {spec.split(":")[0] for spec in load_specs(value)} <= known
