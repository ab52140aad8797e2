"""The modules of kmod/ in guests: built without a warning, loaded and unloaded a thousand times, also under readers
that are killed; and the tests of the probe that stand on them."""

import json
import os
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from howlate.errors import NotPossibleError
from howlate.lab.archive.apt import AptArchive
from howlate.lab.bench import PROBE
from howlate.lab.build_module import LOG, build_module
from howlate.lab.guests.watch import Limits
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.lab.needed import KMOD
from howlate.model.disturbances import disturbances
from howlate.store.export import find_format
from lab.equipped import Guest, modules_for
from lab.guests import KERNELS, LIMITS, RT, STANDARD, bench, with_cpus
from lacks import KERNEL, skip
from probe.drive import read_stream
from store.runs import a_folder

TIMES = int(os.environ.get("HOWLATE_TIMES", "40"))
"""The whole promise, in minutes: HOWLATE_TIMES=1000 ./dev sweep tests/lab/test_kmod.py -k many_times"""
KILLED_STORMS = 20


def load(*modules: str) -> list[tuple[str, ...]]:
    return [("module", module) for module in modules]


def outcomes_of(stdout: bytes) -> dict[str, Any]:
    return dict(json.loads(stdout)["cells"][0]["outcomes"])


ALL = (("howlate_irq",), ("howlate_hpet",), ("howlate_uio",), ("howlate_inject", "accept_delays=1"))
"""Each with the parameters that it needs."""
READERS = {
    "howlate_inject": [["/bin/inject_user"]],
    "howlate_irq": [["/bin/irq_reader", "howlate_irq"]],
    "howlate_hpet": [["/bin/irq_reader", "howlate_hpet"]],
    "howlate_uio": [["/bin/uio_reader", "howlate_hrtimer"], ["/bin/uio_reader", "howlate_edu"]],
}
BUILT_FOR = tuple(filter(None, os.environ.get("HOWLATE_BUILD_FOR", "").split())) or (STANDARD, RT)
"""More kernels: HOWLATE_BUILD_FOR="5.10 7.3 7.3@arm64" ./dev test tests/lab/test_kmod.py -k built"""


@pytest.mark.parametrize("name", BUILT_FOR)
def test_the_modules_are_built_without_a_warning(name: str) -> None:
    label = Label.parse(name)
    archive = AptArchive(KERNELS / "apt")
    try:
        built = build_module(KMOD, get(label, archive, KERNELS), archive, KERNELS)
    except NotPossibleError as error:
        skip(f"the module for {label} ({error.message})", KERNEL)
    # Every file of kmod/ is a module, and every one is built, but the HPET's and a core's where there is none.
    absent = {"howlate_cobalt", "howlate_evl"} | ({"howlate_hpet"} if label.arch != "amd64" else set())
    expected = {path.stem for path in KMOD.glob("*.c")} - absent
    assert {path.stem for path in built} == expected
    log = (built[0].parent / LOG).read_text()
    assert all(f"{module}.o" in log for module in expected)  # each was compiled, with W=1
    assert "warning" not in log.lower()


@pytest.mark.parametrize(
    ("name", "times"),
    [(RT, 8), *(pytest.param(name, TIMES, marks=pytest.mark.sweep) for name in (STANDARD, RT))],
)
def test_they_are_loaded_and_unloaded_many_times_while_readers_are_killed(
    guest: Guest, name: str, times: int
) -> None:
    on = guest(name)
    lines: list[list[str]] = [["module", "uio"]]
    for turn in range(times):
        use = (
            "storms"
            if turn < min(KILLED_STORMS, times // 2)
            else ("waits", "counts", "refuses", "waits")[turn % 4]
        )
        for module, *parameters in ALL:
            reader = READERS[module][turn % len(READERS[module])]
            lines += [["module", module, *parameters], [*reader, use], ["unload", module]]
    files = on.files(lines, Limits(LIMITS.cpu_s + 10 * times))
    bad = [
        (number, lines[number], files[f"{number}/stderr"].decode())
        for number in range(len(lines))
        if files[f"{number}/status"] != b"0\n"
    ]
    assert bad == []
    said = [row for row in files["kernel.log"].decode().splitlines() if row]
    # Level 4 is a warning: the only one is that a module from outside of the tree was loaded.
    assert [row for row in said if int(row[0]) <= 4 and "loading out-of-tree module" not in row] == []


def test_the_module_that_delays_refuses_to_load_by_accident(guest: Guest) -> None:
    files = guest(RT).files([("module", "howlate_inject"), ("/bin/inject_user", "counts")], LIMITS)
    assert files["0/status"] == b"3\n" and files["1/status"] != b"0\n"
    assert b"accept_delays=1" in files["0/stderr"]  # the kernel's last word, by which one learns what to give


def test_the_line_of_an_edu_works_as_well_as_its_message(guest: Guest) -> None:
    line = [*load("uio"), ("module", "howlate_uio", "intx=1")]
    counts = [("/bin/uio_reader", "howlate_edu", "counts"), ("unload", "howlate_uio")]
    files = guest(RT).files([*line, *counts], LIMITS)
    assert [files[f"{number}/status"] for number in range(4)] == [b"0\n"] * 4, files["2/stderr"]


def test_the_module_agrees_with_the_kernels_own_tracer(tmp_path: Path, guest: Guest) -> None:
    """Both at once: the tracer hooks into each interrupt's entry, before any handler runs, and so delays both."""
    on = guest(RT)
    module = ("howlate-probe", "irq", "--period=1300us", "--points=1500", "--stream=module", "--quiet")
    tracer = ("howlate-probe", "irq", "--source=timerlat", "--points=2000", "--stream=timerlat", "--quiet")
    *_, both = on.run([*load("howlate_irq"), ("/bin/both", *module, "--", *tracer)], LIMITS)
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


def _assert_the_first_in_a_hold_waits_for_it(late: npt.NDArray[np.int64]) -> None:
    """Holds of 5 ms, an interrupt each millisecond. Before its first hold the task above reads its counter beside the
    clock for 5 ms, with the CPU its own as well; the two may follow each other at once."""
    first_in_holds = late[np.flatnonzero(np.diff(late > 100_000, prepend=False))[::2]]
    assert len(first_in_holds) >= 5
    assert 4_000_000 < first_in_holds[0] < 10_100_000
    assert ((first_in_holds[1:] > 4_000_000) & (first_in_holds[1:] < 5_100_000)).all()


def test_a_cpu_that_is_held_delays_who_is_woken_and_not_the_handler(tmp_path: Path, guest: Guest) -> None:
    """A task above the woken one has the CPU for 5 ms of each 50. Interrupts come each millisecond, so the first in a
    hold waits for 4 to 5 ms; and all this time the handler runs in time, a gap in what the other task sees."""
    on = guest(RT)
    woken = (
        "howlate-probe",
        "irq",
        "--period=1ms",
        "--points=600",
        "--warm-up=0ns",
        "--stream=irq",
        "--quiet",
    )
    above = (
        "howlate-probe",
        "hardware-gap",
        "--source=spin",
        "--policy=fifo:90",
        "--window=50ms",
        "--width=5ms",
    )
    more = ("--threshold=1us", "--duration=500ms", "--warm-up=0ns", "--stream=gaps", "--quiet")
    *_, both = on.run([*load("howlate_irq"), ("/bin/both", *woken, "--", *above, *more)], LIMITS)
    assert both.status == "0", both.stderr
    rows = {}
    for name in ("irq", "gaps"):
        (tmp_path / name).write_bytes(both.files[name])
        rows[name] = read_stream(tmp_path / name).columns[0]
    late = rows["irq"]["wake_latency_ns"]
    _assert_the_first_in_a_hold_waits_for_it(late)
    held = int((late > 100_000).sum())
    assert (
        9 * 4 <= held <= 11 * 5 + 5
    )  # ten holds or so, four or five interrupts in each, as many before the first
    assert rows["irq"]["irq_latency_ns"].max() < 100_000
    assert len(rows["gaps"]["gap_ns"]) >= held - 11 - 5  # at a hold's end the clock may be read once more


def test_without_a_module_it_says_so_and_names_the_nearest_test(guest: Guest) -> None:
    lines: list[tuple[str, ...]] = [
        (PROBE, "irq", "--points=10", f"--source={source}") for source in ("module", "hpet", "timerlat")
    ]
    lines += [(PROBE, "uio", "--points=10")]
    for name, nearest in ((STANDARD, "cyclic"), (RT, "--source timerlat")):
        module, hpet, timerlat, uio = guest(name).run(lines, LIMITS)
        for line, absent, instead in (
            (module, "howlate_irq", nearest),
            (hpet, "howlate_hpet", nearest),
            (uio, "howlate_uio", "cyclic"),
        ):
            said = line.stderr.decode()
            assert line.status == "3"
            assert said.count("\n") == 1
            assert f"{absent} is not loaded" in said and instead in said
        assert timerlat.status == ("0" if name == RT else "3")


def test_three_smis_are_counted_as_three(guest: Guest) -> None:
    on = guest(RT)
    gaps = ("howlate-probe", "hardware-gap", "--duration=1s", "--window=250ms", "--width=50ms", "--json")
    quiet = (PROBE, *gaps[1:])
    for source in ("hwlat", "spin"):
        lines = [*load("msr"), ("/bin/smi", *gaps, f"--source={source}"), (*quiet, f"--source={source}")]
        *_, provoked, left = on.run(lines, LIMITS)
        assert (provoked.status, left.status) == ("0", "0"), provoked.stderr + left.stderr
        assert outcomes_of(provoked.stdout)["smi"] == 3
        assert outcomes_of(left.stdout)["smi"] == 0
        assert outcomes_of(left.stdout)["windows"] >= 2


@pytest.mark.long
def test_smis_are_counted_for_each_measuring_cpu(
    tmp_path: Path, booted: Path, programs: Mapping[str, bytes]
) -> None:
    """An SMI through the chipset's port is that CPU's alone in this machine. (One of CPU 1, which is plugged in
    later, never ends there.)"""
    if modules_for(RT).absent:
        skip(modules_for(RT).absent[0], KERNEL)
    extra = {**modules_for(RT).files, **programs}
    on = bench(tmp_path / "two", RT, extra, snapshots=booted, machine=with_cpus(2))
    words = ("howlate-probe", "cyclic", "--cpus=0-1", "--period=10ms", "--duration=1s", "--quiet")
    lines = [*load("msr"), ("/bin/smi", "0", *words, "--stream=hit"), (PROBE, *words[1:], "--stream=left")]
    *_, hit, left = on.run(lines, LIMITS)
    for line, name, wanted in ((hit, "hit", (3, 0)), (left, "left", (0, 0))):
        assert line.status == "0", line.stderr
        (tmp_path / name).write_bytes(line.files[name])
        trailer = read_stream(tmp_path / name).trailer
        assert trailer is not None
        counts = tuple(cpu["after"] - cpu["before"] for cpu in trailer["smi"]["cpus"])
        assert counts == wanted
        assert disturbances(trailer).smi == max(wanted)


def _each_within(beyond: npt.NDArray[np.int64], more: int) -> bool:
    return bool((beyond >= 0).all() and (beyond <= more).all())


def test_what_the_firmware_takes_is_found_in_its_length(tmp_path: Path, guest: Guest) -> None:
    """SMIs whose handler is a loop of known length, each within a window: hwlat gives whole microseconds, and with
    interrupts off nothing else is in its gaps; in those of a task there may be a tick."""
    known = np.array([50_000, 80_000, 120_000, 200_000])
    gaps = ("howlate-probe", "hardware-gap", "--duration=700ms", "--window=160ms", "--width=150ms", "--json")
    sources = {"hwlat": 1_000, "spin": 10_000}
    lines = [
        ("/bin/long_smi", *gaps, "--occupy-all", "--stream=gaps", f"--source={source}") for source in sources
    ]
    done = guest(RT).run([*load("msr"), *lines], LIMITS)[-len(lines) :]
    if done[0].status == "3":
        skip(done[0].stderr.decode(), KERNEL)
    for line, (source, more) in zip(done, sources.items(), strict=True):
        assert line.status == "0", line.stderr
        (tmp_path / source).write_bytes(line.files["gaps"])
        rows = read_stream(tmp_path / source).columns[0]
        found = rows["gap_ns"][rows["flags"] & 2 == 0]  # bit 1: who provokes them had the CPU
        # One may come before the tracer watches, or between two windows.
        assert len(known) - 1 <= len(found) <= len(known)
        lengths = [each for each in combinations(known, len(found)) if _each_within(found - each, more)]
        assert len(lengths) == 1, found
        assert outcomes_of(line.stdout)["smi"] == len(known)


def test_the_hpets_clock_and_the_kernels_agree(tmp_path: Path, guest: Guest) -> None:
    """Every interrupt comes, in order, and a CPU that is held delays who is woken and not the handler."""
    on = guest(RT)
    quiet = (PROBE, "irq", "--source=hpet", "--period=1ms", "--points=400", "--stream=irq", "--quiet")
    maxima = (PROBE, "irq", "--source=hpet", "--period=1ms", "--points=400", "--maximum-only", "--json")
    woken = ("howlate-probe", *quiet[1:], "--warm-up=0ns")
    above = (
        *("howlate-probe", "hardware-gap", "--source=spin", "--policy=fifo:90", "--window=50ms"),
        *("--quiet", "--warm-up=0ns"),
    )
    held = ("/bin/both", *woken, "--", *above, "--width=5ms", "--threshold=1us", "--duration=350ms")
    arms = (PROBE, "irq", "--source=hpet", "--period=20s", "--points=10")
    *_, idle, only, busy, wrong = on.run([*load("howlate_hpet"), quiet, maxima, held, arms], LIMITS)
    assert (idle.status, only.status, busy.status) == ("0", "0", "0"), idle.stderr + only.stderr + busy.stderr
    rows = []
    for number, line in enumerate((idle, busy)):
        (tmp_path / str(number)).write_bytes(line.files["irq"])
        rows.append(read_stream(tmp_path / str(number)).columns[0])
        # The HPET counts as fast as the kernel's clock: what was due lies on a line with a slope of a period.
        steps = np.diff(rows[-1]["time_ns"]) / np.diff(rows[-1]["index"])
        assert np.abs(steps - 1_000_000).max() <= 100
        assert rows[-1]["time_ns"][0] >= 0
        assert (rows[-1]["irq_latency_ns"] >= 0).all()
        assert (rows[-1]["wake_latency_ns"] > rows[-1]["irq_latency_ns"]).all()
    assert len(rows[0]["index"]) == 400 and rows[0]["wake_latency_ns"].max() < 200_000
    _assert_the_first_in_a_hold_waits_for_it(rows[1]["wake_latency_ns"])
    assert rows[1]["irq_latency_ns"].max() < 100_000
    said = outcomes_of(only.stdout)
    assert said["interrupts"] >= 400 and said["interrupts_missed"] == 0
    assert said["hpet_tick_fs"] == 10_000_000  # QEMU's has 100 MHz
    assert wrong.status == "2" and b"--period" in wrong.stderr


def test_the_studys_three_columns_are_exported_from_every_source(tmp_path: Path, guest: Guest) -> None:
    sources = ("module", "hpet", "timerlat")
    lines = [
        (PROBE, "irq", f"--source={source}", "--points=50", "--stream=irq", "--quiet") for source in sources
    ]
    done = guest(RT).run([*load("howlate_irq", "howlate_hpet"), *lines], LIMITS)[-len(lines) :]
    assert [line.status for line in done] == ["0"] * 3, [line.stderr for line in done]
    run = a_folder(tmp_path / "run", {s: line.files["irq"] for s, line in zip(sources, done, strict=True)})
    for source, line in zip(sources, done, strict=True):
        assert find_format("sh7780").write(run, tmp_path / "out.txt", [source]) == 50
        (tmp_path / "irq").write_bytes(line.files["irq"])
        rows = read_stream(tmp_path / "irq").columns[0]
        since = (rows["time_ns"] - rows["time_ns"][0]) / 1e9
        wanted = (since, rows["wake_latency_ns"] / 1e3, rows["irq_latency_ns"] / 1e3)
        assert np.loadtxt(tmp_path / "out.txt") == pytest.approx(np.column_stack(wanted), abs=1e-6)


@pytest.mark.parametrize(
    ("tracer", "line", "other", "changed"),
    [
        (
            "timerlat",
            ("irq", "--source=timerlat", "--points=5000", "--period=700us"),
            "--period=900us",
            {"osnoise/timerlat_period_us": "700"},
        ),
        (
            "hwlat",
            ("hardware-gap", "--source=hwlat", "--threshold=7us", "--window=150ms", "--width=20ms"),
            "--width=30ms",
            {
                "tracing_thresh": "7",
                "hwlat_detector/window": "150000",
                "hwlat_detector/width": "20000",
            },
        ),
    ],
)
def test_what_a_killed_probe_left_of_a_tracer_its_guardian_undoes_or_it_is_refused_to_others_and_restored(
    guest: Guest, tracer: str, line: tuple[str, ...], other: str, changed: Mapping[str, str]
) -> None:
    own = "instances/howlate/current_tracer"
    (done,) = guest(RT).run(
        [("/bin/killed", tracer, "howlate-probe", *line, "--", "howlate-probe", *line[:-1], other)], LIMITS
    )
    assert done.status == "0", done.stderr
    said: dict[str, dict[str, str]] = {}
    for row in done.stdout.decode().splitlines():
        when, file, value = row.split(" ", 2)
        said.setdefault(when, {})[file] = value
    assert said["before"][own] == "none"
    assert said["guarded"] == said["before"]
    assert said["left"] == {**said["before"], **changed, own: tracer}
    assert said["another"]["probe"] == "3" and b"as a killed probe" in done.stderr
    assert said["after"] == said["before"]


def test_two_cannot_have_the_one_comparator_that_is_spare(guest: Guest) -> None:
    on = guest(STANDARD)
    irq = ("irq", "--source=hpet", "--points=100", "--quiet")
    *_, both = on.run(
        [*load("howlate_hpet"), ("/bin/both", "howlate-probe", *irq, "--", "howlate-probe", *irq)], LIMITS
    )
    assert both.stderr.count(b"comparator") == 1
    assert b"--source module" in both.stderr


@pytest.mark.parametrize("name", [pytest.param(STANDARD, marks=pytest.mark.sweep), RT])
def test_from_handler_to_handler_by_both_ways_to_wait_and_from_both_sources(
    tmp_path: Path, guest: Guest, name: str
) -> None:
    on = guest(name)
    cells = [
        (source, wait, policy)
        for source in ("hrtimer", "edu")
        for wait in ("read", "poll")
        for policy in ("fifo:80", "other")
    ]
    lines = [
        (
            PROBE,
            "uio",
            f"--source={s}",
            f"--wait={w}",
            f"--policy={p}",
            "--points=100",
            "--stream=uio",
            "--quiet",
        )
        for s, w, p in cells
    ]
    done = on.run([*load("uio", "howlate_uio"), *lines], LIMITS)[-len(lines) :]
    medians = {}
    for cell, line in zip(cells, done, strict=True):
        assert line.status == "0", line.stderr
        file = tmp_path / "_".join(cell)
        file.write_bytes(line.files["uio"])
        rows = read_stream(file).columns[0]
        assert len(rows["index"]) == 100
        assert (np.diff(rows["index"]) == 1).all() and (np.diff(rows["time_ns"]) > 0).all()
        assert (rows["handler_latency_ns"] > 0).all() and (rows["user_latency_ns"] > 0).all()
        medians[cell] = float(np.median(rows["user_latency_ns"]))
    # poll() has a queue to leave and a second call to make: from the same source it takes no less than read().
    assert all(
        medians[s, "poll", p] > medians[s, "read", p]
        for s in ("hrtimer", "edu")
        for p in ("fifo:80", "other")
    )


def test_a_cpu_that_is_held_delays_the_user_and_is_found_in_full(tmp_path: Path, guest: Guest) -> None:
    """On RT the interrupt's thread (FIFO 50) has to wait, on others the user: their sum holds all of it."""
    for name, delayed in ((RT, "handler_latency_ns"), (STANDARD, "user_latency_ns")):
        on = guest(name)
        uio = ("howlate-probe", "uio", "--source=edu", "--points=400", "--stream=uio", "--quiet")
        above = (
            "howlate-probe",
            "hardware-gap",
            "--source=spin",
            "--policy=fifo:90",
            "--window=50ms",
            "--quiet",
        )
        held = ("/bin/both", *uio, "--", *above, "--width=5ms", "--threshold=1us", "--duration=350ms")
        *_, both = on.run([*load("uio", "howlate_uio"), held], LIMITS)
        assert both.status == "0", both.stderr
        (tmp_path / delayed).write_bytes(both.files["uio"])
        rows = read_stream(tmp_path / delayed).columns[0]
        total = rows["handler_latency_ns"] + rows["user_latency_ns"]
        assert (rows["answer_latency_ns"] == total).all()
        first_in_a_hold = (total > 4_000_000) & (total < 5_200_000)
        assert (
            5 <= first_in_a_hold.sum() <= 9
        )  # seven holds or so; what the other one does before them is no part of it
        assert (rows[delayed][first_in_a_hold] > 3_900_000).all()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("edu", RT),
        pytest.param("hrtimer", STANDARD, marks=pytest.mark.sweep),
        pytest.param("hrtimer", RT, marks=pytest.mark.sweep),
        pytest.param("edu", STANDARD, marks=pytest.mark.sweep),
    ],
)
def test_interrupts_that_are_off_are_found_in_full_before_the_handler(
    tmp_path: Path, guest: Guest, name: str, source: str
) -> None:
    """A module holds interrupts off for 1 ms, about eight times. Each first interrupt that is due meanwhile waits for
    the rest of the millisecond, less than a period of 100 us of which has passed. Once it is raised it is as fast as
    any other, so only the time since the timer was due shows the wait."""
    uio = (PROBE, "uio", f"--source={source}", "--period=100us", "--points=900", "--stream=uio", "--quiet")
    lines = [
        *load("uio", "howlate_uio"),
        ("module", "irqs_off", "hold_us=1000", "rest_us=10000"),
        uio,
        ("unload", "irqs_off"),
        uio,
    ]
    *_, held, _, free = guest(name).run(lines, LIMITS)
    rows = {}
    for key, line in (("held", held), ("free", free)):
        assert line.status == "0", line.stderr
        (tmp_path / key).write_bytes(line.files["uio"])
        rows[key] = read_stream(tmp_path / key).columns[0]
        assert (rows[key]["handler_latency_ns"] > rows[key]["raise_to_handler_ns"]).all()
    waited = rows["held"]["handler_latency_ns"]
    assert 900_000 < waited.max() < 1_050_000
    assert 7 <= (waited > 850_000).sum() <= 11
    assert rows["held"]["raise_to_handler_ns"].max() < 100_000
    assert rows["free"]["handler_latency_ns"].max() < 100_000
