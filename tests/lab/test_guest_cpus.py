"""A guest's CPUs and speed as a property of its cells: labelled, stored, and never mixed with others."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from howlate.compare.compare import compare
from howlate.errors import NotPossibleError, UsageError
from howlate.lab.guests.machine import NAMED, Machine
from howlate.lab.targets.lab import open_lab
from howlate.model.guest_cpus import GUEST, SHIFTS, USUAL, GuestCpus
from howlate.model.plan import Cell, Length
from howlate.model.run import REAL
from howlate.plan.cost import CELL_S, cell_cost_s, kind_of, virtual_limit_s
from howlate.sides.join import join
from howlate.targets import LabOptions
from made_sides import Made, at, lab_run

SLOW, TWO = GuestCpus(1, 250), GuestCpus(2, 1000, 5_000)


@pytest.mark.parametrize(
    ("cpus", "text"),
    [
        (USUAL, "1 CPU of 1000 MIPS"),
        (SLOW, "1 CPU of 250 MIPS"),
        (TWO, "2 CPUs of 500 MIPS in turns of 5us"),
        (GuestCpus(4, 500, 2_500), "4 CPUs of 125 MIPS on average in turns of 2500ns"),
    ],
)
def test_a_label_states_speed_and_turn_and_is_read_back(cpus: GuestCpus, text: str) -> None:
    assert str(cpus) == text
    assert GuestCpus.parse(text) == cpus
    assert GuestCpus.of_facts(cpus.facts()) == cpus


@pytest.mark.parametrize("mips", SHIFTS)
@pytest.mark.parametrize("cpus", range(1, 5))
def test_every_label_is_read_back(cpus: int, mips: int) -> None:
    guest = GuestCpus(cpus, mips, 5_000 if cpus > 1 else 0)
    assert GuestCpus.parse(str(guest)) == guest


def test_the_usual_guest_has_no_label_and_an_older_run_had_it() -> None:
    assert USUAL.labels() == {}
    assert GuestCpus.of_facts({}) == GuestCpus.parse("") == USUAL
    assert SLOW.labels() == {GUEST: "1 CPU of 250 MIPS"}


@pytest.mark.parametrize("mips", SHIFTS)
def test_a_speed_is_the_length_of_an_instruction_and_the_boot_has_its_own(mips: int) -> None:
    machine = Machine.of("amd64", mips=mips)
    assert f"shift={SHIFTS[mips]},sleep=off" in " ".join(machine.arguments(NAMED, ""))
    assert "shift=3,sleep=off" in " ".join(machine.arguments(NAMED, "", 3))
    assert 1000 / mips == 2 ** SHIFTS[mips]


@pytest.mark.parametrize(("cpus", "counted"), [(2, 3), (4, 4)])
def test_several_cpus_are_under_a_record_and_take_turns(cpus: int, counted: int) -> None:
    machine = Machine.of("amd64", cpus=cpus, turn_ns=10_000)
    line = " ".join(machine.arguments(NAMED, ""))
    assert f"-smp 1,maxcpus={counted}," in line
    assert line.count("-device qemu64-v1-x86_64-cpu,") == counted - 1
    assert "rr=record" in line
    assert machine.command_line([]).endswith(f" nr_cpus={cpus}")
    assert f"interval={10 * counted} " in line
    assert "turn" not in " ".join(Machine.of("amd64").arguments(NAMED, ""))


def test_what_cannot_be_is_refused_with_the_reason() -> None:
    with pytest.raises(NotPossibleError, match="several CPUs in virtual time"):
        Machine.of("arm64", cpus=2)
    for wrong, reason in (
        ({"cpus": 5}, "cannot have 5 CPUs"),
        ({"cpus": 0}, "cannot have 0 CPUs"),
        ({"mips": 333}, "333 MIPS"),
        ({"turn_ns": 5_000}, "turns of one CPU"),
        ({"cpus": 2, "turn_ns": 1_500}, "turns of 1500 ns"),
        ({"cpus": 2, "turn_ns": 2_000_000}, "turns of 2000000 ns"),
        ({"clock": REAL, "mips": 500}, "a speed or turn"),
        ({"clock": REAL, "cpus": 2, "turn_ns": 5_000}, "a speed or turn"),
    ):
        with pytest.raises(UsageError, match=reason):
            Machine.of("amd64", **wrong)
    assert Machine.of("arm64", REAL, 4).turn_ns == 0


def _labelled(content: Any, cpus: GuestCpus) -> Any:
    """A run as it would be in such a guest."""
    cells = tuple(
        replace(c, summary=replace(c.summary, labels={**c.summary.labels, **cpus.labels()}))
        for c in content.cells
    )
    planned = tuple(replace(c, labels={**c.labels, **cpus.labels()}) for c in content.run.plan.cells)
    return replace(
        content, run=replace(content.run, plan=replace(content.run.plan, cells=planned)), cells=cells
    )


def test_cells_of_two_speeds_are_compared_only_along_that_axis() -> None:
    cells = {at(load="none", period="1ms"): [Made()]}
    usual, slow = lab_run({"6.1": cells}), _labelled(lab_run({"6.1": cells}, id="slow"), SLOW)
    assert join([usual, slow]).matched == ()
    with pytest.raises(UsageError, match=rf"unlike guests \({USUAL}, {SLOW}\)") as refused:
        compare([usual, slow])
    assert "--by guest" in refused.value.remedy
    other = _labelled(lab_run({"6.1-rt": cells}, id="slow"), SLOW)
    with pytest.raises(UsageError, match="unlike guests"):  # also where there are two sides
        compare([usual, other])
    along = join([usual, slow], GUEST)
    assert [side.name for side in along.sides] == [str(USUAL), str(SLOW)]
    assert len(along.matched) == 1
    both = _labelled(lab_run({"6.1-rt": cells}, id="other"), SLOW)
    assert len(join([slow, both]).matched) == 1


def _cell(cpus: GuestCpus, load: str = "cpu:100") -> Cell:
    labels = {"load": load, "period": "1ms", **cpus.labels()}
    return Cell("x-1", "cyclic", {"load": (load,)}, labels, 1, 1.0, length=Length(10.0))


def test_a_slow_guest_costs_less_and_busy_ones_more_and_each_has_time() -> None:
    usual, slow, two = (cell_cost_s(_cell(cpus)) - CELL_S for cpus in (USUAL, SLOW, TWO))
    assert slow < 0.4 * usual
    assert two > usual
    assert virtual_limit_s(_cell(SLOW)) > virtual_limit_s(_cell(USUAL))
    assert len({kind_of(_cell(cpus)) for cpus in (USUAL, SLOW, TWO)}) == 3
    assert kind_of(_cell(USUAL)) == "cyclic cpu:100"


def test_a_turn_without_several_cpus_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one CPU"):
        open_lab("6.1", LabOptions(turn_ns=5_000), cache=tmp_path)


def test_an_impossible_guest_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    monkeypatch.setattr("howlate.lab.targets.lab.make_ready", built.append)
    with pytest.raises(NotPossibleError, match="on arm64"):
        open_lab("6.12@arm64", LabOptions(cpus=2), cache=tmp_path)
    assert built == []
