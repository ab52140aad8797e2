"""What `howlate why` says of whole runs of the lab: on four CPUs, and with the kernel's stacks."""

from pathlib import Path
from typing import Any

import pytest

from lab.equipped import modules_for
from lab.guests import RT, STANDARD, printed_by, run_study, warm_cache, with_cpus
from lacks import KERNEL, skip

UNKNOWN = 0.05
"""The largest share of the time that no event may tell the cause of."""
THUNK = "__x86_indirect_thunk"
"""In it the kernel does not find the callers: its stack ends there."""
QUICK = ((RT, "irqs-off"),)
STACKS = ("explain=true", "explain-stacks=true", "explain-worst=20")


def why(folder: Path, kernel: str, *more: str) -> Any:
    """What `howlate why --json` says of the cells of a run of `check`."""
    cache = warm_cache(folder / "cache")
    run_study("check", [kernel], cache, folder, *more)
    return printed_by(("why", "r", "--json"), folder, cache, 120)["cells"]


def settings(*values: str) -> list[str]:
    return [word for value in values for word in ("--set", value)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "loads", "seconds"),
    [
        (RT, "memory-alloc:100", "300ms"),
        *(
            pytest.param(name, "none,cpu:100,memory-alloc:100,disk,hackbench", "2s", marks=pytest.mark.sweep)
            for name in (STANDARD, RT)
        ),
    ],
)
def test_on_four_cpus_the_parts_add_up_and_little_is_unknown(
    tmp_path: Path, kernel: str, loads: str, seconds: str
) -> None:
    with_cpus(4)  # skips where no QEMU can run it
    chosen = settings("explain=true", f"load={loads}", f"duration={seconds}")
    cells = why(tmp_path, kernel, "--guest-cpus=4", *chosen)
    assert len(cells) == len(loads.split(","))
    for cell in cells:
        cases = cell["cases"]
        assert len(cases) == 20 and cell["cases_lost"] == cell["events_lost"] == 0
        for case in cases:
            ends = [0, *(part["from_ns"] + part["ns"] for part in case["parts"])]
            assert [part["from_ns"] for part in case["parts"]] == ends[:-1]
            assert ends[-1] == case["latency_ns"]
        whole_ns = sum(case["latency_ns"] for case in cases)
        parts = [part for case in cases for part in case["parts"]]
        unknown_ns = sum(part["ns"] for part in parts if part["cause"] == "unknown")
        assert unknown_ns < UNKNOWN * whole_ns, cell["labels"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        pytest.param(kernel, kind, marks=[] if (kernel, kind) in QUICK else pytest.mark.sweep)
        for kernel in (STANDARD, RT, "6.12-rt")
        for kind in ("irqs-off", "preempt-off")
    ],
)
def test_stacks_name_the_function_that_kept_the_cpu_and_its_callers(
    tmp_path: Path, kernel: str, kind: str
) -> None:
    """The delays are made in `maker_thread` of the module howlate_inject, a thread of the kernel."""
    if modules_for(kernel).absent:
        skip(modules_for(kernel).absent[0], KERNEL)
    made = (f"inject={kind}", "inject-size=200us-300us", "inject-every=4", "inject-seed=5")
    (cell,) = why(
        tmp_path,
        kernel,
        *settings(*STACKS, *made, "late-policy=backlog", "load=none", "duration=200ms"),
    )
    cause = {"irqs-off": "irq-late", "preempt-off": "not-preemptible"}[kind]
    largest = [max(case["parts"], key=lambda part: part["ns"]) for case in cell["cases"]]
    late = [part for part in largest if part["cause"] == cause and part["ns"] > 20_000]
    chains = [(part["function"], *part["callers"]) for part in late if "callers" in part]
    whole = [chain for chain in chains if "maker_thread" in chain]
    assert len(whole) >= 10
    for chain in whole:
        after = chain[chain.index("maker_thread") + 1 :]
        assert after[:2] == ("kthread", "ret_from_fork"), chain
    assert all(part["function"].startswith(THUNK) for part in late if "maker_thread" not in str(part))
    assert any(" < ".join(chain) in part["text"] for part in late for chain in whole)
