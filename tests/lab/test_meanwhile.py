"""What happens to a machine while it is measured, in guests: the kernel really takes the CPU offline, and really
suspends (devices, timekeeping and the other CPUs are down, only the firmware's part is left out: pm_test)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from howlate import __main__ as entry
from howlate.lab.bench import Bench
from howlate.model.summary import CellSummary
from howlate.store.run_folder import RunFolder
from lab.equipped import Guest
from lab.guests import RT, bench, cell, stream_of, with_cpus

POWER = "/sys/power"
SUSPEND = (
    *("20", "/sys/module/suspend/parameters/pm_test_delay", "1"),
    *("1", f"{POWER}/pm_test", "core"),
    *("1", f"{POWER}/mem_sleep", "deep"),
    *("1", f"{POWER}/state", "mem"),
)
OFFLINE = ("40", "/sys/devices/system/cpu/cpu1/online", "0")
AND_ONLINE = (*OFFLINE, "20", "/sys/devices/system/cpu/cpu1/online", "1")


def measured(
    on: Bench, folder: Path, meanwhile: tuple[str, ...], *words: str, count: int = 300
) -> CellSummary:
    folder.mkdir()
    line = cell(count, *words)
    data = stream_of(on, ["/bin/meanwhile", *meanwhile, "--", *line] if meanwhile else line)
    (folder / "guest.stream").write_bytes(data)
    assert entry.main(["import", str(folder / "guest.stream"), "--out", str(folder / "run")]) in (0, 5)
    (summary,) = RunFolder.open(folder / "run").summaries()
    return summary


def verdict(folder: Path, deadline: str) -> int:
    return entry.main(["verdict", str(folder / "run"), "--deadline", deadline])


def check(name: str, rule: str, summary: CellSummary, folder: Path) -> None:
    """The row says so, a bound is withheld, and a miss that was seen is one all the same."""
    assert next(each.rule for each in summary.warnings) == rule, name
    assert not summary.valid
    assert verdict(folder, "10s") == 5
    assert (summary.columns["latency_ns"].max or 0) > 1_000
    assert verdict(folder, "1ns") == 1


@pytest.mark.long
def test_a_suspend_in_mid_run_is_named_and_bounds_are_withheld(tmp_path: Path, equipped: Guest) -> None:
    on = equipped(RT)
    suspended = measured(on, tmp_path / "suspended", SUSPEND)
    check("suspended", "cell.suspended", suspended, tmp_path / "suspended")
    slept_ns = suspended.warnings[0].values["suspended_ns"]
    assert isinstance(slept_ns, int) and 300_000_000 < slept_ns < 3_000_000_000
    calm = measured(on, tmp_path / "calm", ())
    assert calm.valid and "cell.suspended" not in [each.rule for each in calm.warnings]
    assert verdict(tmp_path / "calm", "10s") == 0


@pytest.mark.parametrize(
    ("name", "meanwhile"), [("offline", OFFLINE), pytest.param("back", AND_ONLINE, marks=pytest.mark.sweep)]
)
def test_a_measuring_cpu_that_goes_offline_is_named_and_bounds_are_withheld(
    name: str, meanwhile: tuple[str, ...], tmp_path: Path, booted: Path, programs: Mapping[str, bytes]
) -> None:
    """Also where it comes back before the end: the thread was elsewhere for a while."""
    on = bench(tmp_path / "cache", RT, programs, snapshots=booted, machine=with_cpus(2))
    offline = measured(on, tmp_path / name, meanwhile, "--cpus=1", count=120)
    check(name, "cell.cpu-offline", offline, tmp_path / name)
