"""The modules of kmod/ in guests: built without a warning, loaded and unloaded a thousand times, also under readers
that are killed; and the tests of the probe that stand on them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from howlate.errors import NotPossibleError
from howlate.lab.apt import AptArchive
from howlate.lab.bench import PROBE, Bench
from howlate.lab.build_module import LOG, build_module
from howlate.lab.kernels import get
from howlate.lab.label import Label
from howlate.lab.needed import KMOD, Needed, needed
from lab.guests import KERNELS, LIMIT_S, RT, STANDARD, bench
from probe.drive import read_stream

HERE = Path(__file__).parent
READER = "/bin/irq_reader"
TIMES = int(os.environ.get("HOWLATE_TIMES", "40"))
"""The whole promise, in minutes: HOWLATE_TIMES=1000 ./dev test tests/lab/test_kmod.py -k many_times"""
KILLED_STORMS = 20

Make = Callable[[str, tuple[str, ...]], Bench]


def compiled(folder: Path, name: str) -> bytes:
    """A static C program for a guest."""
    to = folder / name
    argv = [
        "gcc",
        "-O1",
        "-Wall",
        "-Werror",
        "-static",
        "-I",
        str(KMOD),
        "-o",
        str(to),
        str(HERE / f"{name}.c"),
    ]
    subprocess.run(argv, check=True)
    return to.read_bytes()


def modules_for(name: str, *modules: str) -> Needed:
    label = Label.parse(name)
    archive = AptArchive(KERNELS / "apt")
    kernel = get(label, archive, KERNELS)
    return needed(modules, label, kernel, archive, KERNELS, lambda _: None)


def with_modules(folder: Path, booted: Path, name: str, *modules: str) -> tuple[Bench, Needed]:
    """A kernel with modules and the programs of this folder."""
    found = modules_for(name, *modules)
    if found.absent:
        pytest.skip(found.absent[0])
    programs = {f"bin/{one}": compiled(folder, one) for one in ("irq_reader", "smi", "both")}
    return bench(folder, name, {**found.files, **programs}, snapshots=booted), found


def outcomes_of(stdout: bytes) -> dict[str, Any]:
    return dict(json.loads(stdout)["cells"][0]["outcomes"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [STANDARD, RT])
def test_the_module_is_built_without_a_warning(name: str) -> None:
    label = Label.parse(name)
    archive = AptArchive(KERNELS / "apt")
    try:
        (module,) = build_module(KMOD, get(label, archive, KERNELS), archive, KERNELS)
    except NotPossibleError as error:
        pytest.skip(error.message)
    log = (module.parent / LOG).read_text()
    assert "howlate_irq.o" in log  # it was compiled, with W=1
    assert "warning" not in log.lower()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "times"), [(STANDARD, TIMES), (RT, TIMES)])
def test_it_is_loaded_and_unloaded_many_times_while_readers_are_killed(
    tmp_path: Path, booted: Path, name: str, times: int
) -> None:
    on, _ = with_modules(tmp_path, booted, name, "howlate_irq")
    lines: list[list[str]] = []
    for turn in range(times):
        use = "storms" if turn < KILLED_STORMS else ("waits", "counts", "refuses", "waits")[turn % 4]
        lines += [["module", "howlate_irq"], [READER, use], ["unload", "howlate_irq"]]
    files = on.files(lines, LIMIT_S)
    bad = [
        (number, files[f"{number}/stderr"].decode())
        for number in range(len(lines))
        if files[f"{number}/status"] != b"0\n"
    ]
    assert bad == []
    said = [row for row in files["kernel.log"].decode().splitlines() if row]
    # Level 4 is a warning: the only one is that a module from outside of the tree was loaded.
    assert [row for row in said if int(row[0]) <= 4 and "loading out-of-tree module" not in row] == []


@pytest.mark.slow
def test_the_module_agrees_with_the_kernels_own_tracer(tmp_path: Path, booted: Path) -> None:
    """Both at once: the tracer hooks into each interrupt's entry, before any handler runs, and so delays both."""
    on, found = with_modules(tmp_path, booted, RT, "howlate_irq")
    module = ("howlate-probe", "irq", "--period=1300us", "--points=1500", "--stream=module", "--quiet")
    tracer = ("howlate-probe", "irq", "--source=timerlat", "--points=2000", "--stream=timerlat", "--quiet")
    *_, both = on.run([*found.lines, ("/bin/both", *module, "--", *tracer)], LIMIT_S)
    assert both.status == "0", both.stderr
    median = {}
    for name, points in (("module", 1500), ("timerlat", 2000)):
        file = tmp_path / name
        file.write_bytes(both.files[name])
        rows = read_stream(file).columns[0]
        assert len(rows["irq_latency_ns"]) == points
        assert (rows["irq_latency_ns"] > 0).all()
        assert (rows["wake_latency_ns"] > rows["irq_latency_ns"]).all()
        median[name] = float(np.median(rows["irq_latency_ns"]))
    assert median["module"] == pytest.approx(median["timerlat"], rel=0.1)


@pytest.mark.slow
def test_a_cpu_that_is_held_delays_who_is_woken_and_not_the_handler(tmp_path: Path, booted: Path) -> None:
    """A task above the woken one has the CPU for 5 ms of each 50. Interrupts come each millisecond, so the first in a
    hold waits for 4 to 5 ms; and all this time the handler runs in time, a gap in what the other task sees."""
    on, found = with_modules(tmp_path, booted, RT, "howlate_irq")
    woken = ("howlate-probe", "irq", "--period=1ms", "--points=600", "--stream=irq", "--quiet")
    above = (
        "howlate-probe",
        "hardware-gap",
        "--source=spin",
        "--policy=fifo:90",
        "--window=50ms",
        "--width=5ms",
    )
    more = ("--threshold=1us", "--duration=500ms", "--stream=gaps", "--quiet")
    *_, both = on.run([*found.lines, ("/bin/both", *woken, "--", *above, *more)], LIMIT_S)
    assert both.status == "0", both.stderr
    rows = {}
    for name in ("irq", "gaps"):
        (tmp_path / name).write_bytes(both.files[name])
        rows[name] = read_stream(tmp_path / name).columns[0]
    late = rows["irq"]["wake_latency_ns"]
    assert 4_000_000 < late.max() < 5_100_000
    held = int((late > 100_000).sum())
    assert 9 * 4 <= held <= 11 * 5  # ten holds or so, four or five interrupts in each
    assert rows["irq"]["irq_latency_ns"].max() < 100_000
    assert len(rows["gaps"]["gap_ns"]) >= held - 11  # at a hold's end the clock may be read once more


@pytest.mark.slow
def test_without_the_module_it_says_so_and_names_the_nearest_test(tmp_path: Path, booted: Path) -> None:
    lines = [(PROBE, "irq", "--points=10"), (PROBE, "irq", "--points=10", "--source=timerlat")]
    for name, nearest in ((STANDARD, "cyclic"), (RT, "--source timerlat")):
        module, timerlat = bench(tmp_path / name, name, snapshots=booted).run(lines, LIMIT_S)
        said = module.stderr.decode()
        assert module.status == "3"
        assert said.count("\n") == 1
        assert "howlate_irq is not loaded" in said and nearest in said
        assert timerlat.status == ("0" if name == RT else "3")


@pytest.mark.slow
def test_three_smis_are_counted_as_three(tmp_path: Path, booted: Path) -> None:
    on, found = with_modules(tmp_path, booted, RT, "msr")
    gaps = ("howlate-probe", "hardware-gap", "--duration=3s", "--json")
    quiet = (PROBE, *gaps[1:])
    for source in ("hwlat", "spin"):
        lines = [*found.lines, ("/bin/smi", *gaps, f"--source={source}"), (*quiet, f"--source={source}")]
        *_, provoked, left = on.run(lines, LIMIT_S)
        assert (provoked.status, left.status) == ("0", "0"), provoked.stderr + left.stderr
        assert outcomes_of(provoked.stdout)["smi"] == 3
        assert outcomes_of(left.stdout)["smi"] == 0
        assert outcomes_of(left.stdout)["windows"] >= 2
