"""The unit tests with the own headers of a real-time core beside Linux ran, or the reason why they could not."""

from pathlib import Path

import pytest

from howlate.system.paths import ROOT
from lacks import KERNEL, skip
from processes import completed

UNITS = [ROOT / "build" / folder / "probe-unit" for folder in ("unit", "probe")]
NEEDS = {
    "cobalt": "Xenomai's headers (sys/cobalt.h, alchemy/task.h): no xeno-config; XENO_CONFIG names one",
    "evl": "libevl's headers (evl/evl.h): pkg-config does not know evl; EVL_PC names its evl.pc",
}


@pytest.mark.parametrize("core", NEEDS)
def test_a_cores_unit_tests_pass_with_its_own_headers(core: str) -> None:
    unit = next(map(str, filter(Path.exists, UNITS)), None)
    if unit is None:
        skip("the unit tests", "./dev test")
    listed = completed([unit, "--list-test-suites"], check=True).stdout
    assert "[doctest]" in listed
    if core not in listed.splitlines():
        skip(NEEDS[core], KERNEL)
    argv = [unit, f"--test-suite={core}"]
    ran = completed(argv, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
