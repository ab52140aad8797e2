"""The real-time cores beside Linux: every timer is measured and accounted for, beside the cores' own tools, with and
without gravity, and after stalls. lab/core_guests.py says what this needs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howlate.lab.bench import PROBE
from howlate.lab.guests.machine import Machine
from howlate.sides.join import join
from howlate.store.loaded import load_run
from lab.core_guests import HANDLER, IN_USER_SPACE, THREAD, bench_of, given, named, own_config
from lab.equipped import compiled
from lab.guests import LIMITS, with_cpus

TIMERS = {
    core: (*(timer for timer in timers if timer != "alchemy"), THREAD[core], HANDLER[core])
    for core, timers in IN_USER_SPACE.items()
}
"""All that take a dither."""
STUDY = """
schema = 1
id = "core"
title = "A core"
question = "How late is a task of the core?"
test = "cyclic"

[settings]
period = "1ms"
activations = "100"
dither = {dither}

[axes]
load = ["none"]
timer = [{timers}]
"""


def measured(folder: Path, core: str, timers: tuple[str, ...], dither: bool = True) -> list[dict[str, Any]]:
    kernel, probe = given(core)
    study, out = folder / "core.toml", folder / "run"
    study.write_text(
        STUDY.format(timers=", ".join(f'"{timer}"' for timer in timers), dither=str(dither).lower())
    )
    argv = [sys.executable, "-m", "howlate", "lab", "run", str(study), "--out", str(out), "--seeds", "1"]
    argv += ["--own-kernel", f"{core}={kernel}[tsc=reliable]", "--probe", str(probe)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=1200)
    return [json.loads(path.read_text()) for path in sorted(out.glob("cells/*/cell.json"))]


def check(cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        handler = cell["header"]["parameters"]["timer"] in HANDLER.values()
        for account in cell["trailer"]["accounting"]:
            assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
            assert account["dropped"] == 0
            assert account.get("stage_switches") == (None if handler else 0)
            assert (account["gravity_ns"] > 0) != handler
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


@pytest.mark.parametrize("core", TIMERS)
def test_the_core_is_the_preemption_model(tmp_path: Path, core: str) -> None:
    measured(tmp_path, core, (core,))
    assert {side.preemption for side in join([load_run(tmp_path / "run")]).sides} == {core}


@pytest.mark.parametrize("core", TIMERS)
def test_rr_has_linuxs_time_slice_in_the_core_and_is_refused_to_the_kernels_timers(
    tmp_path: Path, core: str
) -> None:
    """The probe reads policy and slice back from the core, and does not measure where they differ."""
    on, before = bench_of(core, tmp_path / "cache", Machine.of("amd64"))
    ours = [PROBE, "cyclic", "--period=1ms", "--activations=20", "--policy=rr:70", "--quiet", "--json"]
    timers = (*IN_USER_SPACE[core], THREAD[core], HANDLER[core])
    done = on.run([*before, *([*ours, f"--timer={timer}"] for timer in timers)], LIMITS)[len(before) :]
    for timer, line in zip(timers, done, strict=True):
        if timer not in IN_USER_SPACE[core]:
            assert line.status == "2" and b"fifo" in line.stderr, line.stderr
            continue
        assert line.status == "0", line.stderr
        (found,) = json.loads(line.stdout)["cells"]
        assert found["accounting"]["recorded"] == 20
        assert found["valid"] and [thread["stage_switches"] for thread in found["threads"]] == [0]


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
        assert thread.get("stage_switches", 0) == 0
        gravity_us = thread["gravity_ns"] / 1000
        mean_us = found["columns"]["latency_ns"]["mean"] / 1000 + gravity_us
        their_us = their_mean_us(theirs.stdout.decode()) + gravity_us
        print(
            f"{timer} {mean_us:.3f} us, {tool.name} {' '.join(words)} {their_us:.3f} us, {gravity_us} of gravity"
        )
        assert mean_us == pytest.approx(their_us, rel=0.1)


# --- Gravity -----------------------------------------------------------------------------------------------


GRAVITY_FILES = {
    "cobalt": "/proc/xenomai/clock/coreclk",
    "evl": "/sys/devices/virtual/clock/monotonic/gravity",
}


def gravity_lines(core: str, cells: list[list[str]]) -> list[list[str]]:
    """Each cell with the usual gravity, then with none, then again: by the knob, which puts back what was. By the
    core's file, without the third, where the kernel is without what every knob needs."""
    if "CONFIG_FILE_LOCKING=y" in own_config(core):
        return [*cells, *([*cell, "--knob=core_gravity=0"] for cell in cells), *cells]
    return [*cells, ["/bin/put", GRAVITY_FILES[core], "0i 0k 0u"], *cells]


@pytest.mark.parametrize("core", TIMERS)
def test_without_gravity_a_mean_is_higher_by_it(tmp_path: Path, core: str) -> None:
    timers = TIMERS[core]
    programs = {"put": compiled(tmp_path, "put")}
    on, before = bench_of(core, tmp_path / "cache", Machine.of("amd64"), programs=programs)
    ours = [PROBE, "cyclic", "--period=1ms", "--activations=300", "--policy=fifo:80"]
    lines = gravity_lines(core, [[*ours, f"--timer={timer}", "--quiet", "--json"] for timer in timers])
    done = on.run([*before, *lines], LIMITS)[len(before) :]
    assert [line.status for line in done] == ["0"] * len(done), [line.stderr for line in done]
    cells = [json.loads(line.stdout)["cells"][0] for line in done if line.stdout]
    gravity_ns = [found["threads"][0]["gravity_ns"] for found in cells]
    mean_ns = [found["columns"]["latency_ns"]["mean"] for found in cells]
    for at, timer in enumerate(timers):
        rounds = range(at, len(cells), len(timers))
        usual, none, *again = ((gravity_ns[number], mean_ns[number]) for number in rounds)
        print(timer, usual, none, again)
        assert none[0] == 0
        assert (usual[0] > 0) == (timer != HANDLER[core])
        for gravity, mean in (usual, *again):
            assert gravity == usual[0]
            # A handler has no gravity; its two means differ by what a clock's step makes of them.
            assert none[1] - mean == pytest.approx(gravity, rel=0.1, abs=50)


# --- A stall --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("core", TIMERS)
def test_every_release_is_accounted_for_after_stalls_on_every_cpu(
    tmp_path: Path, core: str, cpus: int
) -> None:
    """Work of 2.5 ms in a period of 1 ms: each activation overruns, on all CPUs at once. The kernel starts with
    all of them, as Cobalt cannot use one that comes online later."""
    given(core)  # before a QEMU with several CPUs is fetched for it
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
