"""CPUs and threads of one file whose means differ are named, in every format that has several."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from howlate.imports.formats.jitterdebugger_raw import SAMPLE
from imports.test_foreign import cell_of, written


def test_cpus_that_differ_are_named_and_their_figures_kept(tmp_path: Path) -> None:
    """Four CPUs with medians of 3, 7, 11 and 15 us, and then four that are alike."""
    values = [(3, 4, 5), (7, 8, 9), (11, 12, 13), (15, 16, 17)]
    for name, apart in (("a", True), ("b", False)):
        cpus = {
            str(number): {
                "histogram": {str(low): 900, str(mid): 90, str(high): 10},
                "count": 1000,
                "min": low,
                "max": high,
                "avg": low + 0.11,
            }
            for number, (low, mid, high) in enumerate(values if apart else values[:1] * 4)
        }
        path = written(tmp_path, json.dumps({"version": 2, "cpu": cpus}, indent=2), f"{name}.json")
        cell = cell_of(path, tmp_path / name)
        told = [warning for warning in cell.warnings if warning.rule == "cell.cpus-differ"]
        assert len(told) == apart
        if apart:
            means = [f"{low + 0.11:.4g} us (CPU {number})" for number, (low, _, _) in enumerate(values)]
            assert list(told[0].values["means"]) == means
        (header,) = [json.loads(file.read_text())["header"] for file in (tmp_path / name).rglob("cell.json")]
        assert [entry["max"] for entry in header["stated"]] == [str(its["max"]) for its in cpus.values()]


def samples_of(low: int, number: int) -> list[int]:
    """A thousand of a CPU, in us."""
    return [low + (at * 7 + number) % 3 for at in range(1000)]


def cyclictest_raw(lows: Sequence[int]) -> bytes:
    rows = [samples_of(low, number) for number, low in enumerate(lows)]
    head = "".join(f"Thread {number} Interval: 1000\n" for number in range(len(lows)))
    lines = (
        f"{number:8d}:{at:8d}:{rows[number][at]:8d}\n" for at in range(1000) for number in range(len(lows))
    )
    return (head + "".join(lines)).encode()


def jitterdebugger_raw(lows: Sequence[int]) -> bytes:
    rows = [
        (number, 100 + at, 5, value)
        for number, low in enumerate(lows)
        for at, value in enumerate(samples_of(low, number))
    ]
    return np.array(rows, SAMPLE).tobytes()


def csv_rows(lows: Sequence[int]) -> bytes:
    rows = [f"{n},{v}\n" for n, low in enumerate(lows) for v in samples_of(low, n)]
    return ("cpu,lat_us\n" + "".join(rows)).encode()


def csv_counts(lows: Sequence[int]) -> bytes:
    counted = [(n, Counter(samples_of(low, n))) for n, low in enumerate(lows)]
    rows = [f"{n},{v},{c}\n" for n, counts in counted for v, c in counts.items()]
    return ("cpu,lat_us,count\n" + "".join(rows)).encode()


OF_ROWS = {"cpu": "cpu", "latency_us": "lat_us"}


@pytest.mark.parametrize(
    ("make", "name", "mapping", "who"),
    [
        (cyclictest_raw, "a.txt", {"unit": "us"}, "thread"),
        (jitterdebugger_raw, "samples.raw", {"unit": "us"}, "CPU"),
        (csv_rows, "a.csv", OF_ROWS, "CPU"),
        (csv_counts, "a.csv", {**OF_ROWS, "count": "count"}, "CPU"),
    ],
)
def test_cpus_that_differ_are_named_where_no_tool_states_their_means(
    make: Callable[[Sequence[int]], bytes], name: str, mapping: Mapping[str, str], who: str, tmp_path: Path
) -> None:
    for lows, apart in (((3, 7, 11, 15), True), ((15, 16, 15, 16), False), ((3,), False)):
        folder = tmp_path / "-".join(map(str, lows))
        folder.mkdir()
        (folder / name).write_bytes(make(lows))
        cell = cell_of(folder / name, folder / "run", mapping)
        told = [warning for warning in cell.warnings if warning.rule == "cell.cpus-differ"]
        assert len(told) == apart, told
        if apart:
            means = [f"{sum(samples_of(low, n)) / 1e3:.4g} us ({who} {n})" for n, low in enumerate(lows)]
            assert list(told[0].values["means"]) == means
