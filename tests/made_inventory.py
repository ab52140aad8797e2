"""The twelve runs that tools/inventory.py reads, one of each kind, and what is typed over them."""

import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from howlate import __main__ as entry
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import Order, Study, Value
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, RunFolder
from howlate.store.summarise import summarise
from made_evidence import quiet
from made_once import once
from made_trace import late_samples
from store.exports import ABSENT, hackbench
from store.streams import header, points_stream, stream, traced_stream

FIXTURES = Path(__file__).parent / "fixtures"
IMPORTED_AT = 1_700_000_000
"""When the imported files were written, in seconds since 1970: a file that states no time has only that."""


class Made(Struct, frozen=True):
    """A cell, and the stream that was measured; None: it was planned only."""

    id: str
    data: bytes | None
    labels: Mapping[str, str] = field(default_factory=dict)
    repetition: int = 1
    test: str = "cyclic"
    starvation_expected: bool = False

    def cell(self) -> Cell:
        labels = {"load": "none", **self.labels}
        loads = () if labels["load"] == "none" else (labels["load"],)
        asked: dict[str, Value] = {**labels, "load": loads}
        machine = labels.get("kernel", "")
        return Cell(
            self.id, self.test, asked, labels, self.repetition, 1.0, machine=machine,
            starvation_expected=self.starvation_expected,
        )  # fmt: skip


def _facts(machine: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((FIXTURES / "machines" / f"{machine}.json").read_text())
    return facts


def folder_of(
    place: Path, cells: Sequence[Made], machine: str = "desktop-debian-12", **changes: Any
) -> RunFolder:
    """A run of these cells, through the functions that write real ones."""
    planned = {made.id: made.cell() for made in cells}
    study = Study("made", "Made", "How late?", cells[0].test, order=Order("interleaved"))
    given: dict[str, Any] = {"target": "local", "facts": _facts(machine), "versions": {"howlate": "0.1.0"}}
    run = Run(
        f"20260102T030405-{place.name}", "2026-01-02T03:04:05Z", study, Plan(tuple(planned.values())),
        token=place.name, **{**given, **changes},
    )  # fmt: skip
    folder = RunFolder.create(place, run)
    for made in cells:
        if made.data is None:
            continue
        part = folder.start_cell(made.id)
        (part / STREAM).write_bytes(made.data)
        ingest(part / STREAM, part)
        (part / STREAM).unlink()
        summarise(
            part,
            made.id,
            planned[made.id].labels,
            starvation_expected=made.starvation_expected,
            repetition=made.repetition,
        )
        folder.finish_cell(made.id)
    return folder


def _latencies(count: int = 20_000, seed: int = 1, typical: float = 4_000, width: float = 0.3) -> list[int]:
    return [int(value) for value in quiet(count, seed, typical, width)]


def measured(latencies: Sequence[int], deadline: str = "", **changes: Any) -> bytes:
    parameters = header()["parameters"] | ({"deadline": deadline} if deadline else {})
    return stream(latencies, header_changes={"parameters": parameters}, **changes)


def _passed(place: Path) -> None:
    loaded = measured(_latencies(seed=2, typical=6_000), "200us")
    folder_of(
        place,
        [Made("none", measured(_latencies(), "200us")), Made("disk", loaded, {"load": "disk"})],
    )


def _failed(place: Path) -> None:
    calm = _latencies(seed=3)
    late = [*calm[:9_000], 900_000, 400_000, *calm[9_002:15_000], 2_000_000, *calm[15_001:]]
    folder_of(
        place,
        [Made("none", measured(calm, "200us")), Made("late", measured(late, "200us"), {"load": "cpu:50"})],
    )


def _timers(place: Path) -> None:
    cells = [
        Made(f"{timer}-{n}", measured(_latencies(2_000, 10 * n + which, typical)), {"timer": timer}, n)
        for n in range(1, 9)
        for which, (timer, typical) in enumerate((("clock_nanosleep", 4_000), ("timerfd", 5_500)))
    ]
    folder_of(place, cells)


def _of_kernel(place: Path, machine: str, first: int, width: float) -> None:
    """Two loads, measured eight times."""
    release = _facts(machine)["values"]["kernel.release"]
    cells = [
        Made(
            f"{load.partition(':')[0]}-{n}",
            measured(_latencies(2_000, first + 10 * n, 4_000 * factor, width), "100us"),
            {"load": load, "kernel": release},
            n,
        )
        for n in range(1, 9)
        for load, factor in (("none", 1), ("memory-alloc:100", 2))
    ]
    folder_of(place, cells, machine)


def _ordinary(place: Path) -> None:
    _of_kernel(place, "desktop-debian-12", 100, 0.9)


def _real_time(place: Path) -> None:
    _of_kernel(place, "rt-box-tuned", 300, 0.3)


def _lab(place: Path) -> None:
    """Two kernels in virtual time, with six seeds."""
    machines = {"6.1": _facts("desktop-debian-12"), "6.1-rt": _facts("rt-box-tuned")}
    configs = {kernel: f"kernels/{kernel}.config" for kernel in machines}
    cells = [
        Made(f"{kernel}-{n}", measured(_latencies(1_000, 500 + n, typical)), {"kernel": kernel}, n)
        for kernel, typical in (("6.1", 9_000), ("6.1-rt", 4_000))
        for n in range(1, 7)
    ]
    target = "lab:6.1,6.1-rt"
    folder = folder_of(place, cells, machines=machines, configs=configs, clock="virtual", target=target)
    folder.write_config(configs["6.1"], "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_HZ=250\n")
    folder.write_config(configs["6.1-rt"], "CONFIG_PREEMPT_RT=y\nCONFIG_HZ=1000\n")


def _traced(place: Path) -> None:
    """Late samples with the kernel's events, and a cell of which only counters tell."""
    traced = Made("cpu", traced_stream(late_samples(12)), {"load": "cpu:50"})
    folder_of(place, [traced, Made("none", measured(_latencies(500)))], "rt-box-tuned")


def _doubtful(place: Path) -> None:
    """Overruns, lost rows, a clock that changed, stolen time, a cut stream, loads that were not there, warm-up."""
    calm = _latencies(1_000, 7)
    other_clock = {"clocksource": {"before": "tsc", "after": "hpet"}}
    absent = measured(calm, trailer_changes={"loads": [ABSENT]})
    skipped = [n + n // 100 for n in range(len(calm))]
    folder_of(
        place,
        [
            Made("overruns", measured(calm, releases=skipped)),
            Made("lost", measured(calm, account_changes={"releases": 1_003, "dropped": 3})),
            Made("clock", measured(calm, trailer_changes=other_clock)),
            Made("stolen", measured(calm, trailer_changes={"steal_ns": 31_000_000})),
            Made("cut", measured(calm)[:-8]),
            Made("absent", absent, {"load": "cpu:100"}),
            Made("starved", absent, {"load": "cpu:100", "policy": "fifo:90"}, starvation_expected=True),
            Made("warm", measured(calm, warm_up=20)),
        ],
    )


def _partly(place: Path) -> None:
    """A cell that is whole, one that is gone, one that failed, one that was never measured."""
    whole, gone = Made("none", measured(_latencies(), "200us")), Made("gone", measured(_latencies(500)))
    folder = folder_of(place, [whole, gone, Made("failed", None), Made("never", None)])
    shutil.rmtree(folder.cell_path("gone"))
    error = {"exit_code": 3, "message": "SCHED_FIFO:80 is not permitted", "remedy": "Grant CAP_SYS_NICE"}
    folder.fail_cell("failed", error)


def _answering(test: str, values: Mapping[str, Sequence[int]], **more: Any) -> bytes:
    """A stream of data points whose columns are latencies, as the probe says it of its own tests."""
    given = ["index", *(["time_ns"] if "time_ns" in more else []), *values, "flags"]
    columns = [
        {
            "name": name,
            "type": "u8" if name == "flags" else "i64",
            **({"answers": True} if name in values else {}),
        }
        for name in given
    ]
    table = {"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": columns}
    return points_stream(values, test=test, header_changes={"tables": [table]}, **more)


def _points(place: Path) -> None:
    """Tests of data points, of which the exports of the published studies take some."""
    irq = {"irq_latency_ns": _latencies(400, 9, 1_700), "wake_latency_ns": _latencies(400, 8, 13_000)}
    values = {
        "hardware-gap": {"gap_ns": _latencies(90, 6, 22_000)},
        "timer": {"delay_ns": _latencies(400, 8, 13_000)},
        "preemption": {"cs1_ns": _latencies(400, 4, 600), "cs2_ns": _latencies(400, 5, 700)},
    }
    outcomes = {"preemption": {"trailer_changes": {"outcomes": {"passes": 398, "failures": 2}}}}
    labels = {"timer": {"timer": "clock_nanosleep"}}
    times = [n * 10_000_000 for n in range(400)]
    cells = [Made("irq", _answering("irq", irq, time_ns=times), test="irq")]
    for test, columns in values.items():
        data = _answering(test, columns, **outcomes.get(test, {}))
        cells.append(Made(test, data, labels.get(test, {}), test=test))
    for part, columns, test in (("latency", irq, "irq"), ("time", {"run_ns": [1]}, "unmeasured")):
        names, loads = hackbench(10, "6.1", part)
        data = _answering(test, columns, trailer_changes=loads)
        cells.append(Made(f"hackbench-{part}", data, {**names, "period": "1ms"}, test=test))
    folder_of(place, cells)


def _imported(place: Path, *files: str) -> None:
    """What the command makes of these files of other tools."""
    given = place.parent / f".{place.name}-files"
    given.mkdir()
    for name in files:
        shutil.copy(FIXTURES / "imported" / name, given)
        os.utime(given / name, (IMPORTED_AT, IMPORTED_AT))
    with contextlib.redirect_stdout(io.StringIO()):
        code = entry.main(["import", *(str(given / name) for name in files), "--out", str(place)])
    if code != 0:
        raise RuntimeError(f"howlate import of {', '.join(files)} ended with {code}")
    shutil.rmtree(given)


def _cyclictest(place: Path) -> None:
    _imported(place, "cyclictest-2.4.txt", "cyclictest-2.10.txt")


def _histogram(place: Path) -> None:
    _imported(place, "timerlat-hist.txt", "timerlat-hist-6.1.txt")


RUNS: Mapping[str, Callable[[Path], None]] = {
    "passed": _passed,
    "failed": _failed,
    "timers": _timers,
    "ordinary": _ordinary,
    "real-time": _real_time,
    "lab": _lab,
    "traced": _traced,
    "doubtful": _doubtful,
    "partly": _partly,
    "points": _points,
    "imported": _cyclictest,
    "histogram": _histogram,
}


OF_A_RUN = (
    "show RUN",
    "show RUN --all",
    "show RUN --brief",
    "show RUN --cells --histogram",
    "show RUN --json",
    "show RUN --lang de",
    "show RUN --lang ja",
    "show RUN --verify",
    "verdict RUN",
    "verdict RUN --deadline 100us",
    "verdict RUN --deadline 100us --all --json --extrapolate",
    "verdict RUN --deadline 100us --junit out.xml --summary out.md",
    "verdict RUN --deadline 100us --lang de",
    "verdict RUN --deadline 10us --miss-rate 1e-2 --horizon 1s --json",
    "why RUN",
    "why RUN --json",
    "why RUN --worst 9 -o out.html",
    "compare RUN --by load",
    "doctor --run RUN --all",
    "doctor --run RUN --json",
    "history RUN --no-index --json",
    "query 'SELECT * FROM cells ORDER BY ALL' RUN --no-index --json",
    "query 'SELECT * FROM statistics ORDER BY ALL' RUN --no-index --csv",
    "report RUN -o out.html",
    "report RUN --lang de -o out.html",
    "report RUN --format svg -o out",
    "export RUN --format csv --with-parameters -o out",
    "export RUN --format gnuplot -o out",
    "export RUN --format parquet -o out",
    "export RUN --format perfetto -o out",
    "export RUN --format sh7780 -o out",
    "export RUN --format sh7780data -o out",
    "export RUN --format text3 -o out",
    "export RUN --format tut2017 -o out",
)
"""What is typed for each run, in the place of whose name RUN stands."""
OF_RUNS: Mapping[str, Sequence[str]] = {
    "ordinary real-time": (
        "compare ordinary real-time",
        "compare ordinary real-time --deadline 10us --json",
        "compare rt=real-time plain=ordinary --lang de",
        "report ordinary real-time -o out.html",
        "show ordinary real-time --json",
    ),
    "passed failed": ("compare passed failed", "compare passed failed --json"),
    "passed failed partly traced": ("history passed failed traced partly --no-index --json",),
    "timers": (
        "compare timers --by timer",
        "compare timers --by timer --json",
        "report timers --by timer -o out.html",
    ),
    "lab": ("compare lab --json", "show lab --configs --all"),
    "points": (
        "export points --format sh7780 --cell irq -o out",
        "export points --format text3 --cell irq -o -",
    ),
    "": (
        "plan --miss-rate 1e-4 --horizon 1h --ratio 1.5 --deadline 200us",
        "plan --miss-rate 1e-4 --horizon 1h --ratio 1.5 --deadline 200us --json",
        "reference audit --json",
        "reference list --json",
        "reference show sh7780-2008 --json",
        "reference show tut-2017 --json",
        "studies --json",
        "studies show check --json",
        "show absent",
        "shwo passed",
    ),
}
"""What is typed where all these runs are there; "": always."""


def make_runs(place: Path, names: Sequence[str] = tuple(RUNS)) -> None:
    """A folder of these runs; one that exists is kept as it is."""
    if place.exists():
        return
    begun = place.with_name(f"{place.name}.new")
    begun.mkdir(parents=True)
    for name in names:
        once(begun / name, RUNS[name], "inventory", name)
    begun.rename(place)
