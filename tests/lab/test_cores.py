"""The real-time cores beside Linux, on kernels that somebody built: nothing of them is in Debian's archive.

HOWLATE_COBALT_KERNEL=linux/arch/x86/boot/bzImage HOWLATE_COBALT_PROBE=build/probe-cobalt/howlate-probe \\
    HOWLATE_COBALT_TOOL=/usr/xenomai/bin/latency ./dev test tests/lab/test_cores.py
HOWLATE_EVL_KERNEL=... HOWLATE_EVL_PROBE=... HOWLATE_EVL_TOOL=.../latmus
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from howlate.analysis.join import join
from howlate.lab.apt import AptArchive
from howlate.lab.archive import silent
from howlate.lab.bench import PROBE, Bench
from howlate.lab.libraries import guest_libraries
from howlate.lab.machine import Machine
from howlate.lab.needed import needed
from howlate.lab.own import own_kernel
from howlate.lab.results import Results
from howlate.lab.snapshot import Snapshots
from howlate.store.loaded import load_run
from howlate.targets.local import LocalTarget
from lab.guests import KERNELS, LIMITS, with_cpus, with_kernels

TIMERS = {
    "cobalt": ("cobalt", "cobalt-timerfd", "cobalt-kernel-task", "cobalt-kernel-timer"),
    "evl": ("evl", "evl-sleep", "evl-kernel-thread", "evl-kernel-timer"),
}
IN_USER_SPACE = {"cobalt": ("cobalt", "cobalt-timerfd", "alchemy"), "evl": ("evl", "evl-sleep")}
STUDY = """
schema = 1
id = "core"
title = "A core"
question = "How late is a task of the core?"
test = "cyclic"

[settings]
period = "1ms"
activations = "100"
warm-up = "5"
dither = {dither}

[axes]
load = ["none"]
timer = [{timers}]
"""


def named(core: str, what: str) -> Path:
    """A core's kernel, probe or tool; skipped, with the reason, where nobody names it."""
    name = f"HOWLATE_{core.upper()}_{what}"
    if not os.environ.get(name):
        pytest.skip(f"{name} names no {what.lower()} of {core}'s (docs/cores.md)")
    return Path(os.environ[name])


def given(core: str) -> tuple[Path, Path]:
    """The kernel and the probe of a core."""
    return named(core, "KERNEL"), named(core, "PROBE")


def bench_of(
    core: str, cache: Path, machine: Machine, *tools: Path, boot: str = ""
) -> tuple[Bench, list[list[str]]]:
    """The guest of a core's kernel, with its module and these programs in /bin, and the lines that load it."""
    path, probe = given(core)
    label, kernel = own_kernel(f"{path}[tsc=reliable{boot}]", with_kernels(cache))
    cyclic = next(test for test in LocalTarget(probe).capabilities().tests if test.name == "cyclic")
    modules = cyclic.used(cyclic.modules, {"timer": TIMERS[core][-1]})
    found = needed(modules, label, kernel, AptArchive(KERNELS / "apt"), cache, silent)
    assert found.files and not found.absent
    files = dict(found.files)
    for program in (probe, *tools):
        files |= guest_libraries(program)
    files |= {f"bin/{tool.name}": tool.read_bytes() for tool in tools}
    on = Bench(
        label,
        kernel,
        machine,
        probe.read_bytes(),
        cache,
        Snapshots(cache / "snapshots"),
        Results(cache / "results"),
        threading.Event(),
        files,
    )
    return on, [list(line) for line in found.lines]


def measured(folder: Path, core: str, timers: tuple[str, ...], dither: bool = True) -> list[dict[str, Any]]:
    kernel, probe = given(core)
    study, out = folder / "core.toml", folder / "run"
    study.write_text(
        STUDY.format(timers=", ".join(f'"{timer}"' for timer in timers), dither=str(dither).lower())
    )
    argv = [sys.executable, "-m", "howlate", "lab", "run", str(study), "--out", str(out), "--seeds", "1"]
    argv += ["--kernel", f"{core}={kernel}[tsc=reliable]", "--probe", str(probe)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=1200)
    return [json.loads(path.read_text()) for path in sorted(out.glob("cells/*/cell.json"))]


def check(cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        for account in cell["trailer"]["accounting"]:
            assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
            assert account["dropped"] == 0
            assert account["stage_switches"] == 0
            assert account["gravity_ns"] >= 0
            assert account["latency_ns_max"] < 100_000


@pytest.mark.parametrize("core", TIMERS)
def test_every_timer_of_a_core_is_measured_and_accounted_for(tmp_path: Path, core: str) -> None:
    cells = measured(tmp_path, core, TIMERS[core])
    assert len(cells) == len(TIMERS[core])
    check(cells)


def test_alchemy_whose_timer_the_core_repeats_is_accounted_for(tmp_path: Path) -> None:
    (cell,) = measured(tmp_path, "cobalt", ("alchemy",), dither=False)
    check([cell])
    assert all("core_overruns" in account for account in cell["trailer"]["accounting"])


def test_the_core_is_the_preemption_model(tmp_path: Path) -> None:
    measured(tmp_path, "cobalt", ("cobalt",))
    assert {side.preemption for side in join([load_run(tmp_path / "run")]).sides} == {"cobalt"}


# --- Beside the cores' own tools ------------------------------------------------------------------------------

PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "cobalt": {
        "cobalt-timerfd": ("-t0",),
        "cobalt-kernel-task": ("-t1",),
        "cobalt-kernel-timer": ("-t2",),
    },
    "evl": {
        "evl": ("-m", "-u"),
        "evl-kernel-thread": ("-m", "-k"),
        "evl-kernel-timer": ("-m", "-i"),
    },
}
"""By our timer what the core's tool is asked for the same path: latency's of Cobalt, latmus' of EVL."""
ACTIVATIONS, STALLS = 2000, 50


def their_mean_us(output: str) -> float:
    """Of the summary line of both: RTS | minimum | mean | maximum | ..."""
    (line,) = (line for line in output.splitlines() if line.startswith("RTS|"))
    return float(line.split("|")[2])


@pytest.mark.parametrize("core", PAIRS)
def test_the_core_s_own_tool_finds_the_same_mean(tmp_path: Path, core: str) -> None:
    """Each path in the same guest, one after the other, at 1 ms for 2 s. A core takes its gravity from both, and the
    means of user and kernel threads are then near 0, so it is added again: within 10 % of what takes time."""
    tool = named(core, "TOOL")
    on, before = bench_of(core, tmp_path / "cache", Machine.of("amd64"), tool)
    ours = [
        PROBE,
        "cyclic",
        "--period=1ms",
        f"--activations={ACTIVATIONS}",
        "--warm-up=5",
        "--policy=fifo:80",
    ]
    asked = [f"/bin/{tool.name}", "-p1000", "-T2", "-q"]
    lines = [
        line
        for timer, words in PAIRS[core].items()
        for line in ([*asked, *words], [*ours, f"--timer={timer}", "--quiet", "--json"])
    ]
    done = on.run([*before, *lines], LIMITS)[len(before) :]
    assert [line.status for line in done] == ["0"] * len(done), [line.stderr for line in done]
    for (timer, words), theirs, mine in zip(PAIRS[core].items(), done[::2], done[1::2], strict=True):
        (found,) = json.loads(mine.stdout)["cells"]
        (thread,) = found["threads"]
        assert thread["stage_switches"] == 0
        gravity_us = thread["gravity_ns"] / 1000
        mean_us = found["columns"]["latency_ns"]["mean"] / 1000 + gravity_us
        their_us = their_mean_us(theirs.stdout.decode()) + gravity_us
        print(
            f"{timer} {mean_us:.3f} us, {tool.name} {' '.join(words)} {their_us:.3f} us, {gravity_us} of gravity"
        )
        assert mean_us == pytest.approx(their_us, rel=0.1)


# --- A stall --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("core", TIMERS)
def test_every_release_is_accounted_for_after_stalls_on_every_cpu(
    tmp_path: Path, core: str, cpus: int
) -> None:
    """Work of 2.5 ms in a period of 1 ms: each activation overruns, on all CPUs at once. The kernel starts with
    all of them, as Cobalt cannot use one that comes online later."""
    machine = with_cpus(cpus) if cpus > 1 else Machine.of("amd64")
    on, _ = bench_of(core, tmp_path / "cache", machine, boot=f" maxcpus={cpus}")
    ours = [PROBE, "cyclic", "--period=1ms", f"--activations={STALLS}", "--policy=fifo:80", "--work=2500us"]
    ours += [f"--cpus=0-{cpus - 1}", "--quiet", "--json"]
    asked = [(timer, policy) for timer in IN_USER_SPACE[core] for policy in ("skip", "backlog")]
    done = on.run([[*ours, f"--timer={timer}", f"--late-policy={policy}"] for timer, policy in asked], LIMITS)
    for (timer, policy), line in zip(asked, done, strict=True):
        assert line.status == "0", line.stderr
        (found,) = json.loads(line.stdout)["cells"]
        assert len(found["threads"]) == cpus
        for account in (found["accounting"], *found["threads"]):
            print(timer, policy, account)
            assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
            assert account["dropped"] == 0
        assert found["accounting"]["overruns"] >= STALLS * cpus, "each activation misses one release at least"
        assert all(thread["stage_switches"] == 0 for thread in found["threads"])
