"""What befell a cell: from the trailer and from cpus.parquet to the page."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from howlate.document import html
from howlate.model.disturbances import Disturbances, disturbances
from howlate.store.loaded import frequencies_khz, frequency_of
from made_runs import five_cells, made_run

ACCOUNT = {"minor_faults": 1, "major_faults": 0, "involuntary_switches": 2, "migrations": 0}
TRAILER: dict[str, Any] = {
    "accounting": [ACCOUNT, {**ACCOUNT, "migrations": 3}],
    "smi": {"before": 40, "after": 47},
    "thermal_throttle": {"core_before": 5, "core_after": 7, "package_before": 1, "package_after": 1},
    "rt_throttled": True,
    "steal_ns": 31_000_000,
    "counters": {
        "names": [
            {"kind": "softirq", "label": "TIMER", "name": ""},
            {"kind": "interrupt", "label": "LOC", "name": "Local timer interrupts"},
            {"kind": "interrupt", "label": "24", "name": "PCI-MSI 0-edge eth0"},
        ],
        "over_cell": [
            {"counter": 0, "cpu": 1, "rise": 5},
            {"counter": 1, "cpu": 1, "rise": 1000},
            {"counter": 1, "cpu": 2, "rise": 900},
            {"counter": 2, "cpu": 2, "rise": 34},
        ],
    },
}


def test_threads_are_added_up_and_counters_subtracted() -> None:
    assert disturbances(TRAILER) == Disturbances(2, 0, 4, 3, 7, 31_000_000, 2, True, 1934)


def test_what_nobody_says_is_a_gap_and_not_a_zero() -> None:
    assert disturbances({}) == Disturbances(*[None] * 9)
    unknown = {**TRAILER, "accounting": [ACCOUNT, {**ACCOUNT, "migrations": -1}], "rt_throttled": None}
    unknown |= {"smi": {"before": None, "after": None}, "thermal_throttle": "odd", "steal_ns": True}
    unknown |= {"counters": {"names": TRAILER["counters"]["names"], "over_cell": "odd"}}
    assert disturbances(unknown) == Disturbances(2, 0, 4, None, None, None, None, None)


def test_a_cpu_that_had_no_interrupt_at_all_has_none() -> None:
    quiet = {"names": TRAILER["counters"]["names"], "over_cell": []}
    assert disturbances({"counters": quiet}).interrupts == 0
    assert disturbances({"counters": {"names": [], "over_cell": []}}).interrupts is None


@pytest.mark.parametrize(
    ("cpus", "smi"),
    [
        ([(40, 40), (7, 9)], 2),
        ([(40, 43), (7, 9)], 3),
        ([(40, 40), (7, 7)], 0),
        ([(40, 43), (None, None)], None),
        ([(40, 43), (7, None)], None),
        ([], 7),
    ],
)
def test_the_cpu_that_counted_most_smis_counts(
    cpus: list[tuple[int | None, int | None]], smi: int | None
) -> None:
    counted = [{"cpu": cpu, "before": before, "after": after} for cpu, (before, after) in enumerate(cpus)]
    assert disturbances({"smi": {**TRAILER["smi"], "cpus": counted}}).smi == smi


def cells_of(page: str, cell_id: str) -> dict[str, str]:
    row = re.search(rf'<tr class="" data-disturbed="{cell_id}">(.*?)</tr>', page)
    assert row is not None
    found = re.findall(r'data-of="([^"]*)">(.*?)</td>', row[1])
    return {name: re.sub("<[^>]*>", "", text).replace("\u202f", " ") for name, text in found}


def test_each_cell_has_its_row_on_the_page() -> None:
    run = made_run(five_cells(2_000))
    first, second, *others = run.cells
    cells = (
        replace(first, trailer=TRAILER, frequency_khz=(800_000, 3_400_000)),
        replace(second, trailer={}, frequency_khz=(2_400_000, 2_400_000)),
        *others,
    )
    page = html.render([replace(run, cells=cells)])
    assert page.count("data-disturbed=") == 5
    assert cells_of(page, first.summary.id) == {
        "minor_faults": "2",
        "major_faults": "0",
        "involuntary_switches": "4",
        "migrations": "3",
        "interrupts": "1 934",
        "smi": "7",
        "heat": "2",
        "rt_throttled": "yes",
        "steal_ns": "31.0 ms",
        "frequency_khz": "0.800 to 3.40 GHz",
    }
    gaps = cells_of(page, second.summary.id)
    assert gaps.pop("frequency_khz") == "2.40 GHz"
    assert set(gaps.values()) == {"–"}


def test_frequencies_are_told_before_and_after() -> None:
    told = [
        {"cpu": 1, "before": 800_000, "after": 3_400_000},
        {"cpu": 2, "before": 0, "after": 900_000},
        "odd",
    ]
    assert frequency_of({"frequency_khz": told}) == (800_000, 3_400_000)
    assert frequency_of({"frequency_khz": [{"cpu": 1, "before": 0, "after": None}]}) is None
    assert frequency_of({}) is None and frequency_of({"frequency_khz": 7}) is None


def test_frequencies_are_those_of_the_measuring_cpus(tmp_path: Path) -> None:
    header = {"in_force": {"threads": [{"cpu": 1}]}}
    for name, rows in (
        ("a", "(0, 1000), (1, 2000), (1, 3000), (1, 0)"),
        ("b", "(1, 0)"),
        ("c", "(0, 7), (1, 9)"),
    ):
        folder = tmp_path / "cells" / name
        folder.mkdir(parents=True)
        table = f"(SELECT * FROM (VALUES {rows}) AS t(cpu, frequency_khz))"
        with duckdb.connect() as connection:  # the one that all tests share may have a result open
            connection.execute(f"COPY {table} TO '{folder / 'cpus.parquet'}' (FORMAT parquet)")
    (tmp_path / "cells/odd").mkdir()
    (tmp_path / "cells/odd/cpus.parquet").write_text("no Parquet")
    found = frequencies_khz(
        tmp_path, [("a", header), ("b", header), ("c", {}), ("gone", header), ("odd", header)]
    )
    assert found == {"a": (2000, 3000), "c": (7, 9)}
