"""Which samples of a run are explained."""

from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from fakes import FakeLab, study
from heard import Heard
from howlate.errors import UsageError
from howlate.measure.execute import execute
from howlate.measure.prepare import RunRequest, prepare
from howlate.measure.session import begin
from howlate.model.plan import Plan
from howlate.model.run import Run
from howlate.store.run_folder import RunFolder
from howlate.why.replayed.flow import can_be_replayed, choose, choose_against, explain_all

Measured = tuple[RunFolder, Run]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Two kernels, two loads, two seeds; every kernel has its own latencies."""
    asked = RunRequest(study({"activations": "100"}, {"load": ("none", "cpu:50")}), seeds=2)
    lab = FakeLab()
    prepared = prepare(asked, lab)
    session = begin(prepared, tmp_path_factory.mktemp("run") / "r")
    execute(session.folder, session.run.plan, session.cells, lab, Heard(), prepared.broken)
    return session.folder, session.folder.read_run()


def test_the_worst_samples_are_those_with_the_largest_latencies(measured: Measured) -> None:
    folder, run = measured
    found = choose(folder, run, "", 3)
    wanted = [each.latency_ns for chosen in found for each in chosen.to_explain]
    everything = [each.latency_ns for chosen in choose(folder, run, "", 10_000) for each in chosen.to_explain]
    assert sorted(wanted) == sorted(everything)[-3:]


@pytest.mark.parametrize(("kernel", "other"), [("6.1", "6.1-rt"), ("6.1-rt", "6.1")])
@pytest.mark.parametrize("load", ["none", "cpu-50"])
def test_a_sample_is_put_beside_one_that_differs_in_its_kernel_alone(
    measured: Measured, kernel: str, other: str, load: str
) -> None:
    folder, run = measured
    (one,) = choose(folder, run, load, 1, without=other)
    against = choose_against(folder, run, one.cell, other)
    assert (one.cell.machine, against.cell.machine) == (kernel, other)
    assert {**one.cell.labels, "kernel": other} == against.cell.labels
    assert len(one.to_explain) == len(against.to_explain) == 1


def test_a_kernel_that_was_not_measured_is_refused_with_the_nearest(measured: Measured) -> None:
    folder, run = measured
    (one,) = choose(folder, run, "6.1-rt", 1)
    with pytest.raises(UsageError, match=r'"6\.1-r"'):
        choose_against(folder, run, one.cell, "6.1-r")
    with pytest.raises(UsageError, match="no whole cell"):
        choose(folder, run, "6.1-rt", 1, without="6.1-rt")


class _Source:
    """Debug information of the kernels whose images it names."""

    def __init__(self, *images: bytes) -> None:
        self.path, self.build_id, self.images = Path("a-dbg.deb"), "ab12", images

    def is_of(self, image: bytes) -> bool:
        return image in self.images


class _Target(FakeLab):
    def kernel_image(self, machine: str) -> bytes:
        return machine.encode()


def test_debug_information_of_another_kernel_is_refused_before_anything_is_played(measured: Measured) -> None:
    folder, run = measured
    chosen = choose(folder, run, "6.1-rt", 1)

    def explained(source: _Source) -> None:
        explain_all(folder, run, chosen, lambda *_: cast(Any, _Target()), lambda _: None, [cast(Any, source)])

    with pytest.raises(UsageError, match=r"a-dbg.deb .* build id ab12 .* than 6\.1-rt"):
        explained(_Source(b"6.1"))


def test_runs_of_the_lab_are_played_again_where_that_can_be_done(measured: Measured) -> None:
    _folder, run = measured
    assert can_be_replayed(run, "") and can_be_replayed(run, "cpu-50") and not can_be_replayed(run, "absent")
    others = [replace(cell, test="switch") for cell in run.plan.cells]
    assert not can_be_replayed(replace(run, plan=Plan(tuple(others))), "")
    assert can_be_replayed(replace(run, plan=Plan((*others, run.plan.cells[0]))), "")
    assert not can_be_replayed(replace(run, clock="real"), "")
    assert not can_be_replayed(replace(run, machines={}), "")


@pytest.mark.parametrize("cpus", [2, "two", None, 0, -1, 1.5, [], "1"])
def test_what_a_guest_s_facts_say_of_its_cpus_need_be_no_number(measured: Measured, cpus: object) -> None:
    _folder, run = measured
    facts = {"facts": 1, "values": {"lab.cpus": cpus}, "missing": {}}
    machines = dict.fromkeys(run.machines, facts)
    assert can_be_replayed(replace(run, machines=machines), "") is (cpus != 2)
