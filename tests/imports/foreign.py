"""Files of other tools: where they lie, and what each tool says of its own samples, copied from the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "imported"
LATENCY = "latency_ns"


@dataclass(frozen=True)
class File:
    """A file, the format that it is of, and the tool's own figures over all its threads, in microseconds."""

    name: str
    format: str
    count: int | None
    min: float | None
    mean: float | None
    max: float
    column: str = LATENCY
    digit: float = 1.0
    """One unit of the last digit of the tool's mean."""
    mapping: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FIXTURES / self.name


FILES = (
    File("cyclictest-2.4.txt", "cyclictest", 2000, 19, (46 + 40) / 2, 1176),
    File("cyclictest-2.10.txt", "cyclictest", 2000, 20, (42 + 44) / 2, 1011),
    File("cyclictest-2.4.json", "cyclictest-json", 2000, 20, (42.65 + 44.39) / 2, 1075, digit=0.01),
    File("cyclictest-summary.txt", "cyclictest-summary", 841, 19, (500 * 35 + 341 * 42) / 841, 389),
    File("cyclictest-raw.txt", "cyclictest-raw", 209, 21, 39.967, 109, digit=0.001),
    File("oslat-2.4.txt", "oslat", 16852981, 1, None, 8065, "gap_ns"),
    File("oslat-2.10.txt", "oslat", 14790188, 0, 1.034, 8113, "gap_ns", 0.001),
    File("oslat-2.4.json", "oslat-json", 17253830, 1, None, 20077, "gap_ns"),
    File(
        "jitterdebugger.json",
        "jitterdebugger",
        3984,
        19,
        (1994 * 42.32 + 1990 * 46.46) / 3984,
        1414,
        digit=0.01,
    ),
    File("jitterdebugger.raw", "jitterdebugger-raw", 100, 21, 37.12, 76, digit=0.01),
    File("timerlat-hist.txt", "timerlat", 4000, 1, 2, 13, "irq_latency_ns"),
    File("timerlat-hist.txt", "timerlat", 4000, 5, 10, 27, "thread_latency_ns"),
    File("timerlat-hist.txt", "timerlat", 4000, 8, 14, 35, "user_latency_ns"),
    File("timerlat-hist-buckets.txt", "timerlat", 2000, 7, 17, 91, "irq_latency_ns"),
    File("timerlat-hist-buckets.txt", "timerlat", 2000, 35, 70, 175, "thread_latency_ns"),
    # rtla of Linux 6.1.192, run in a guest of 6.1-rt; timerlat-top-6.1 too
    File("timerlat-hist-6.1.txt", "timerlat", 3000, 0, 0, 0, "irq_latency_ns"),
    File("timerlat-hist-6.1.txt", "timerlat", 3000, 4, 4, 7, "thread_latency_ns"),
    File("timerlat-top-6.1.txt", "timerlat-top", 3000, 0, 0, 2, "irq_latency_ns"),
    File("timerlat-top-6.1.txt", "timerlat-top", None, 4, None, 6, "thread_latency_ns"),
    File("timerlat-top.txt", "timerlat-top", 4000, 1, 2, 13, "irq_latency_ns"),
    File("timerlat-top.txt", "timerlat-top", None, 5, None, 27, "thread_latency_ns"),
    File("osnoise-hist.txt", "osnoise", 1500, 1, (6.64 + 6.88 + 6.27) / 3, 31, "noise_ns", 0.01),
    File("osnoise-top.txt", "osnoise-top", 10, None, (2310 + 1204) / 10, 611, "period_noise_ns"),
    File("rteval.xml", "rteval", 800, 2, (5.6575 + 5.64) / 2, 22, digit=0.0001),
    File("hwlatdetect.txt", "hwlatdetect", 4, 0, 213 / 4, 187, "inner_ns"),
    File("linuxcnc.txt", "linuxcnc", None, -11.211, None, 14.902, "base_jitter_ns"),
    File("linuxcnc.txt", "linuxcnc", None, -15.5, None, 23.004, "servo_jitter_ns"),
    File("histogram.txt", "histogram", 800, 2, (5.6575 + 5.64) / 2, 22, digit=0.0001),
    File(
        "samples.csv",
        "csv",
        200,
        2.5,
        6.24,
        16.5,
        digit=0.01,
        mapping={"latency_us": "latency_us", "cpu": "core", "time_s": "time_s"},
    ),
)
"""Those of cyclictest, oslat and jitterdebugger are what the programs of Debian wrote; the others are laid out as the
tools' sources do it."""
BY_NAME = {file.name: file for file in FILES}
"""Each file once."""
