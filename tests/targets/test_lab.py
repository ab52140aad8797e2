"""The lab as a target, where no guest has to run."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import FACTS, LIST, capabilities, make_plan, study
from howlate.errors import NotPossibleError, StorageError, UsageError
from howlate.lab.archive.packages import Package, Say, silent
from howlate.lab.bench import Bench, LineResult
from howlate.lab.guests.watch import Limits
from howlate.lab.targets.lab import LabTarget, available_bytes, guests_at_once, open_lab
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell
from howlate.plan.cost import CELL_S, LIMIT_S, limit_s, start_limit_s
from howlate.plan.matrix import Machines
from howlate.system.paths import probe_path
from howlate.targets import LabOptions
from howlate.targets.local import LocalTarget
from lab.made_archive import bzimage, elf_module


class NoArchive:
    """One that must not be asked."""

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        raise AssertionError("the archive was asked")

    def fetch(self, package: Package, folder: Path) -> Path:
        raise AssertionError("a package was fetched")

    def places(self) -> Sequence[tuple[str, str, Path]]:
        raise AssertionError("the archive was asked")


def own_lab(folder: Path, say: Say = silent, **more: Any) -> LabTarget:
    """The lab with a kernel that nobody boots."""
    file = folder / "bzImage-made"
    file.write_bytes(bzimage("6.9.1"))
    options = LabOptions(own=(file,), **more)
    return open_lab("", options, NoArchive(), say, folder / "cache")


def test_two_files_of_one_name_get_names(tmp_path: Path) -> None:
    files = [tmp_path / tree / "bzImage" for tree in ("a", "b")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_bytes(bzimage(f"6.9.{number}"))

    def lab(*own: str) -> LabTarget:
        options = LabOptions(own=tuple(map(Path, own)))
        return open_lab("", options, NoArchive(), cache=tmp_path / "cache")

    with pytest.raises(UsageError, match='--own-kernel "bzImage"'):
        lab(*map(str, files))
    with pytest.raises(UsageError, match='--own-kernel "same"'):
        lab(f"same={files[0]}", f"same={files[1]}")
    named = (f"old={files[0]}", f"new={files[1]}[quiet]")
    assert lab(*named).machines == ("old", "new[quiet]")


def test_a_kernel_that_lacks_what_a_guest_needs_is_refused_before_it_boots(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("CONFIG_64BIT=y\nCONFIG_PCI=y\n")
    with pytest.raises(NotPossibleError, match="lacks CONFIG_BLK_DEV_INITRD"):
        own_lab(tmp_path)


def test_a_kernel_without_a_config_is_said_to_be_unchecked(tmp_path: Path) -> None:
    said: list[str] = []
    own_lab(tmp_path, say=said.append)
    assert any("is not checked" in text for text in said)


def test_nothing_is_fetched_once_it_is_stopped(tmp_path: Path) -> None:
    target = open_lab("6.1,6.1-rt", archive=NoArchive(), cache=tmp_path)
    target.stop()
    for machine in target.machines:
        with pytest.raises(KeyboardInterrupt):
            target.facts(machine)


def test_a_stream_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [LineResult("0", b"", b"", {"stream": b"x"})]
    monkeypatch.setattr(Bench, "run", lambda *_: left)
    monkeypatch.setattr(LabTarget, "_ask", lambda *_: LIST)
    target = own_lab(tmp_path)
    cell = make_plan(study(axes={"load": ("none",)}), capabilities()).cells[0]
    assert target.run_cell(cell, tmp_path / "stream", lambda _: None).measured
    with pytest.raises(StorageError, match="could not be written"):
        target.run_cell(cell, tmp_path / "absent" / "stream", lambda _: None)


def test_as_many_guests_at_once_as_cores_and_memory_allow(tmp_path: Path) -> None:
    assert guests_at_once(8, 64 << 30) == 8
    assert guests_at_once(8, 2 << 30) == 2
    assert guests_at_once(8, 1 << 20) == 1
    assert guests_at_once(8, None) == 8
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n")
    assert available_bytes(tmp_path / "meminfo") == 2 << 20
    assert available_bytes(tmp_path / "absent") is None


def test_what_a_guest_may_use_without_a_result_does_not_follow_the_length_of_its_cell() -> None:
    """Its expected time is the host's."""
    can = capabilities()
    virtual = Machines({"6.1": can}, {}, 1)
    asked = study({"duration": "1000s"}, {"kernel": ("6.1",)})
    (cell,) = make_plan(asked, can, machines=virtual).cells
    assert (cell.length.measuring_s, cell.length.warm_up_s, cell.length.most_s) == (1000.0, 0.1, 1000.1)
    assert limit_s(cell) < 60 and start_limit_s(cell) < 10
    assert cell.expected_s < 200  # nothing but an idle guest's activations


def short_cell(load: str, can: Capabilities, test: str = "cyclic", kernel: str = "6.1") -> Cell:
    """Of 30 ms, as the lab plans it."""
    length = {"duration": "30ms"} if test == "unmeasured" else {"activations": "30", "period": "1ms"}
    asked = study(length, {"load": (load,), "kernel": (kernel,)})
    machines = Machines({kernel: can}, {}, 1)
    (cell,) = make_plan(replace(asked, test=test), can, machines=machines).cells
    return cell


@pytest.mark.parametrize(
    ("load", "test", "truth_s"),
    [
        ("hackbench:10", "cyclic", 14.5 + 1.13 * 3.7),
        ("hackbench:4", "cyclic", 8.5 + 1.13 * 3.7),
        ("hackbench", "cyclic", 14.5 + 1.13 * 3.7),
        ("disk:max", "cyclic", 1.2 + 0.38 * 3.3),
        ("cpu:100+disk", "cyclic", 1.2 + 0.38 * 2.6),
        ("disk", "cyclic", 1.2 + 0.13 * 1.0),
        ("hackbench:10", "unmeasured", 0.03 * (3.7 - 0.08)),
        ("cpu:100", "cyclic", 0.13 * 1.6),
    ],
)
def test_the_stretch_in_which_the_loads_run_alone_is_in_what_a_cell_costs(
    load: str, test: str, truth_s: float
) -> None:
    """A quarter of a second, with hackbench a whole one, where the probe needs a reference, and what comes with it:
    of a short cell it is nearly all, its warm-up of 100 ms too."""
    cell = short_cell(load, LocalTarget(probe_path()).capabilities(), test)
    activations = 30 if test == "unmeasured" else 130
    assert math.isclose(cell.expected_s - CELL_S, truth_s + activations * 80e-6, rel_tol=0.01)


def test_what_a_short_cell_took_is_learned_and_its_limit_leaves_room_for_the_stretch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Limits] = []

    def run(_self: Bench, _lines: object, limits: Limits, tick: Callable[[float], None]) -> list[LineResult]:
        given.append(limits)
        tick(CELL_S + 2 * (cell.expected_s - CELL_S))
        return [LineResult("0", b"", b"", {"stream": b"x"})]

    can = LocalTarget(probe_path()).capabilities()
    monkeypatch.setattr(Bench, "run", run)
    monkeypatch.setattr(LabTarget, "_ask", lambda *_: LIST)
    target = own_lab(tmp_path)
    cell = short_cell("hackbench:10", can, kernel=target.machines[0])
    target.capabilities(cell.machine)
    assert target.run_cell(cell, tmp_path / "stream", lambda _: None).measured
    again_s = target.cost_s(cell)
    assert math.isclose(again_s - CELL_S, 2 * (cell.expected_s - CELL_S), rel_tol=0.01)
    (limits,) = given  # the probe gives the loads 5 s; up to 25 s for one were seen
    assert limits.cpu_s < 60 and limits.until_first.cpu_s > LIMIT_S + 5 * 25
    assert limits.virtual_s < 60 and 2 * 5 < limits.until_first.virtual_s < 100


def test_a_machine_is_asked_once_also_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answer(*arguments: Any) -> list[LineResult]:
        asked.append(arguments)
        return [LineResult("0", json.dumps(value).encode(), b"", {}) for value in (FACTS, LIST)]

    monkeypatch.setattr(Bench, "run", answer)
    target = own_lab(tmp_path, cached=False)
    for _ in range(2):
        assert target.facts()["values"]["kernel.release"] == "6.1.0-test"
        assert target.capabilities() == capabilities()
    assert len(asked) == 1


def test_modules_of_ones_own_are_in_the_guest_and_loaded_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"first": elf_module({"depends": ""}), "zeroth": elf_module({"depends": ""})}
    files["a"] = elf_module({"depends": "zeroth"})
    for name, data in files.items():
        (tmp_path / f"{name}.ko").write_bytes(data)
    order = [tmp_path / f"{name}.ko" for name in ("a", "first", "zeroth")]
    monkeypatch.setattr("howlate.lab.needed.build_module", lambda *_: tuple(order))
    jobs: list[Any] = []

    def run(bench: Bench, lines: Any, *_: Any) -> list[LineResult]:
        jobs.append((bench, lines))
        return [LineResult("0", json.dumps(LIST).encode(), b"", {"stream": b"x"}) for _ in lines]

    monkeypatch.setattr(Bench, "run", run)
    cell = make_plan(study(axes={"load": ("none",)}), capabilities()).cells[0]
    target = own_lab(tmp_path, modules=[tmp_path])
    assert target.run_cell(cell, tmp_path / "stream", lambda _: None).measured
    bench, lines = jobs[-1]
    assert lines[:-1] == [("module", "zeroth"), ("module", "a"), ("module", "first")]
    assert {name: bench.extra[f"lib/modules/{name}.ko"] for name in files} == files
    plain = own_lab(tmp_path)
    assert plain.run_cell(cell, tmp_path / "stream", lambda _: None).measured
    assert jobs[-1][0].key != bench.key
