"""The modules of the real-time cores beside Linux: loaded and unloaded, used as nobody should, stopped while they
serve, held up, and made to leave their stage. lab/core_guests.py says what this needs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from howlate.lab.bench import PROBE, Bench
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.watch import Limits
from lab.core_guests import HANDLER, THREAD, bench_of, given
from lab.equipped import HOLDING, compiled
from lab.guests import LIMITS, with_cpus

CORES = ("cobalt", "evl")
TIMES = 50
USES = ("waits", "storms", "counts", "refuses")
"""What core_user.c does: two of them kill users that are served, with SIGKILL."""
CYCLIC = [PROBE, "cyclic", "--policy=fifo:80", "--quiet", "--json"]
STALL_NS = 2_500_000


def user_bench(core: str, folder: Path, machine: Machine, boot: str = "") -> Bench:
    programs = {"core_user": compiled(folder, "core_user")}
    on, _ = bench_of(core, folder / "cache", machine, boot=boot, programs=programs)
    return on


def warned(log: bytes) -> list[str]:
    """What the kernel said in earnest, beside that a module is from outside of the tree."""
    rows = [row for row in log.decode().splitlines() if row]
    return [row for row in rows if int(row[0]) <= 4 and "loading out-of-tree module" not in row]


def run_well(on: Bench, lines: list[list[str]], limits: Limits = LIMITS) -> Mapping[str, bytes]:
    files = on.files(lines, limits)
    bad = [
        (number, line, files[f"{number}/stderr"].decode())
        for number, line in enumerate(lines)
        if files[f"{number}/status"] != b"0\n"
    ]
    assert bad == []
    return files


@pytest.mark.parametrize("core", CORES)
def test_a_cores_module_is_loaded_and_unloaded_many_times_while_its_users_are_killed(
    tmp_path: Path, core: str
) -> None:
    module = f"howlate_{core}"
    lines: list[list[str]] = []
    for turn in range(TIMES):
        use = USES[turn % len(USES)]
        lines += [["module", module], ["/bin/core_user", module, use], ["unload", module]]
    on = user_bench(core, tmp_path, Machine.of("amd64"))
    files = run_well(on, lines, Limits(LIMITS.cpu_s + 10 * TIMES))
    assert warned(files["kernel.log"]) == []


@pytest.mark.parametrize("core", CORES)
def test_a_handler_that_runs_on_another_cpu_is_over_when_it_is_stopped(tmp_path: Path, core: str) -> None:
    """A stop that does not wait for it frees what the handler still uses: the kernel dies of that on EVL."""
    given(core)  # before a QEMU with several CPUs is fetched for it
    module = f"howlate_{core}"
    on = user_bench(core, tmp_path, with_cpus(2), boot=" maxcpus=2")
    stop = ["/bin/core_user", module, "stops"]
    files = run_well(on, [["module", module], stop, stop, ["unload", module]])
    assert warned(files["kernel.log"]) == []


def told(line: Any) -> dict[str, Any]:
    assert line.status == "0", line.stderr
    (found,) = json.loads(line.stdout)["cells"]
    return dict(found)


@pytest.mark.parametrize("core", CORES)
def test_what_passed_in_a_stall_is_accounted_for_in_kernel_mode(tmp_path: Path, core: str) -> None:
    """A module holds the CPU with its own interrupts off for 2.5 ms of each 10, which holds the core as well. In each
    stall two or three releases are due, and the first of them is the latest."""
    on, before = bench_of(core, tmp_path / "cache", Machine.of("amd64"), folders=[HOLDING])
    asked = [(timer, policy) for timer in (THREAD[core], HANDLER[core]) for policy in ("skip", "backlog")]
    lines = [
        [*CYCLIC, "--period=1ms", "--duration=100ms", f"--timer={timer}", f"--late-policy={policy}"]
        for timer, policy in asked
    ]
    before = [*before, ["module", "core_off", f"hold_us={STALL_NS // 1000}"]]
    done = on.run([*before, *lines], LIMITS)[len(before) :]
    for (timer, policy), line in zip(asked, done, strict=True):
        found = told(line)
        account, (thread,) = found["accounting"], found["threads"]
        print(timer, policy, account, thread["latency_ns_max"])
        assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"] == 100
        assert account["dropped"] == 0
        passed = account["overruns" if policy == "skip" else "late_starts"]
        assert 9 <= passed <= 2 * 11, "ten stalls or so, in each of which one or two pass after the first"
        assert account["late_starts" if policy == "skip" else "overruns"] == 0
        assert STALL_NS - 1_000_000 < thread["latency_ns_max"] < STALL_NS + 100_000
        assert thread.get("stage_switches") == (None if timer == HANDLER[core] else 0)


@pytest.mark.parametrize("core", CORES)
def test_a_run_fails_whose_planned_releases_pass_in_stalls_before_its_end(tmp_path: Path, core: str) -> None:
    """1,189 releases are planned for 1,000 activations. They are due within 24 ms, of which stalls take 18, and
    nothing is planned for the rest of the second."""
    on, before = bench_of(core, tmp_path / "cache", Machine.of("amd64"), folders=[HOLDING])
    ours = ["--period=20us", "--activations=1000", "--duration=1s", f"--timer={THREAD[core]}"]
    done = on.run([*before, ["module", "core_off", "hold_us=9000"], [*CYCLIC, *ours]], LIMITS)
    assert done[-1].status == "4", done[-1].stdout
    assert b"the planned ones did not suffice" in done[-1].stderr


@pytest.mark.parametrize("core", CORES)
def test_a_kernel_thread_that_leaves_its_stage_is_counted_and_makes_the_cell_invalid(
    tmp_path: Path, core: str
) -> None:
    on, _ = bench_of(core, tmp_path / "cache", Machine.of("amd64"))
    ours = [*CYCLIC, "--period=1ms", "--activations=40", f"--timer={THREAD[core]}"]
    module = f"howlate_{core}"
    lines = [["module", module, "leave_before=20"], ours, ["unload", module], ["module", module], ours]
    done = on.run(lines, LIMITS)
    left, stayed = told(done[1]), told(done[-1])
    assert (left["threads"][0]["stage_switches"], left["valid"]) == (1, False)
    assert (stayed["threads"][0]["stage_switches"], stayed["valid"]) == (0, True)
