"""What the kernel counted, from the table and the trailer to a cell's figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from howlate.model.counted import Counted
from howlate.store.counted import counted_in

NAMES = [
    {"kind": "interrupt", "label": "LOC", "name": "Local timer interrupts"},
    {"kind": "interrupt", "label": "24", "name": "PCI-MSI 0-edge eth0"},
    {"kind": "interrupts", "label": "", "name": ""},
    {"kind": "minor_faults", "label": "", "name": ""},
]
ROWS = [  # time, CPU, thread, counter, rise
    *((second, 1, -1, 0, 1000) for second in (1, 2, 3)),
    (2, 1, -1, 1, 70),
    *((second, -1, -1, 2, 1500 + second) for second in (1, 2, 3)),
    (1, -1, 0, 3, 0),
    (2, -1, 0, 3, 4),
]
EACH_SECOND = ["interrupt", "interrupts", "minor_faults"]


def told(
    folder: Path, max_ns: int | None, rows: Sequence[tuple[int, ...]] = ROWS, **counters: Any
) -> list[Counted]:
    with duckdb.connect() as database:
        if rows:
            values = ", ".join(str(row) for row in rows)
            table = f"SELECT * FROM (VALUES {values}) AS t(time_ns, cpu, thread, counter, rise)"
            path = folder / "counters.parquet"
            database.execute(f"COPY ({table}) TO '{path}' (FORMAT parquet)")
        trailer = {"counters": {"names": NAMES, "each_second": EACH_SECOND, "over_cell": [], **counters}}
        return list(counted_in(database, folder, trailer, max_ns))


def test_the_second_of_the_largest_sample_is_held_against_the_others(tmp_path: Path) -> None:
    over = [{"counter": 0, "cpu": 1, "rise": 3010}, {"counter": 1, "cpu": 1, "rise": 71}]
    assert told(tmp_path, 2, over_cell=over) == [
        Counted("interrupt", "LOC", "Local timer interrupts", 1, -1, 3010, 1000.0, 1000, 1000),
        Counted("interrupt", "24", "PCI-MSI 0-edge eth0", 1, -1, 71, 0.0, 0, 70),
        Counted("interrupts", "", "", -1, -1, 4506, 1502.0, 1503, 1502),
        Counted("minor_faults", "", "", -1, 0, None, 2.0, 0, 4),
    ]


def test_a_second_without_a_row_had_no_interrupt_and_of_a_thread_nobody_looked(tmp_path: Path) -> None:
    by_label = {counted.label or counted.kind: counted for counted in told(tmp_path, 3)}
    assert by_label["24"].at_max == 0 and by_label["24"].most == 70
    assert by_label["minor_faults"].at_max is None and by_label["minor_faults"].most == 4


@pytest.mark.parametrize("max_ns", [None, 4])
def test_a_sample_whose_second_is_not_known_is_in_none(tmp_path: Path, max_ns: int | None) -> None:
    found = told(tmp_path, max_ns)
    assert {counted.at_max for counted in found} == {None}
    assert found[0].most == 1000


def test_what_was_counted_around_the_cell_alone_has_a_sum_and_no_seconds(tmp_path: Path) -> None:
    over = [{"counter": 0, "cpu": 1, "rise": 3010}]
    found = told(tmp_path, 2, rows=(), each_second=["interrupts"], over_cell=over)
    assert found == [Counted("interrupt", "LOC", "Local timer interrupts", 1, -1, 3010, None, None, None)]


@pytest.mark.parametrize(
    "counters",
    [
        {"names": "odd"},
        {"names": []},
        {"over_cell": ["odd", {"counter": "x"}, {"counter": 99, "cpu": 1, "rise": 3}], "names": [{}]},
        {"each_second": {"interrupt": 1}, "over_cell": None},
    ],
)
def test_an_odd_trailer_is_no_crash(tmp_path: Path, counters: dict[str, Any]) -> None:
    told(tmp_path, 2, **counters)


def test_an_older_probe_counted_nothing(tmp_path: Path) -> None:
    with duckdb.connect() as database:
        assert counted_in(database, tmp_path, {}, 2) == ()
