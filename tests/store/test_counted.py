"""What the kernel counted, from the tables and the trailer to a cell's figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from howlate.model.counted import NO_COUNTERS, Counted, Counters
from howlate.store.counted import counters_in

SECOND = 1_000_000_000
NAMES = [
    {"kind": "interrupt", "label": "LOC", "name": "Local timer interrupts"},
    {"kind": "interrupt", "label": "24", "name": "PCI-MSI 0-edge eth0"},
    {"kind": "interrupts", "label": "", "name": ""},
    {"kind": "minor_faults", "label": "", "name": ""},
]
ROWS = [  # the second, CPU, thread, counter, rise
    *((second, 1, -1, 0, 1000 + second) for second in (1, 2, 3)),
    (2, 1, -1, 1, 70),
    *((second, -1, -1, 2, 1500 + second) for second in (1, 2, 3)),
    (1, -1, 0, 3, 0),
    (2, -1, 0, 3, 4),
]
EACH_SECOND = ["interrupt", "interrupts", "minor_faults"]


def table(folder: Path, name: str, columns: str, rows: Sequence[tuple[float, ...]]) -> None:
    if rows:
        values = ", ".join(str((int(row[0] * SECOND), *row[1:])) for row in rows)
        select = f"SELECT * FROM (VALUES {values}) AS t({columns})"
        with duckdb.connect() as database:
            database.execute(f"COPY ({select}) TO '{folder / name}' (FORMAT parquet)")


def told(
    folder: Path,
    max_s: float | None,
    rows: Sequence[tuple[float, ...]] = ROWS,
    *,
    in_header: bool = False,
    smis: Sequence[tuple[int, ...]] = (),
    **counters: Any,
) -> Counters:
    table(folder, "counters.parquet", "time_ns, cpu, thread, counter, rise", rows)
    table(folder, "cpus.parquet", "time_ns, cpu, smi_count", smis)
    described = {"counters": {"names": NAMES, "each_second": EACH_SECOND, "over_cell": [], **counters}}
    header, trailer = ({"in_force": described}, {}) if in_header else ({}, described)
    with duckdb.connect() as database:
        return counters_in(database, folder, header, trailer, None if max_s is None else int(max_s * SECOND))


def test_the_second_of_the_largest_sample_is_held_against_the_others(tmp_path: Path) -> None:
    over = [{"counter": 0, "cpu": 1, "rise": 3010}, {"counter": 1, "cpu": 1, "rise": 71}]
    found = told(tmp_path, 1.5, over_cell=over)
    assert found.second_s == 1 and found.each_second == tuple(EACH_SECOND)
    assert found.counted == (
        Counted("interrupt", "LOC", "Local timer interrupts", 1, -1, 3010, 1002.0, 1003, 1002),
        Counted("interrupt", "24", "PCI-MSI 0-edge eth0", 1, -1, 71, 0.0, 0, 70),
        Counted("interrupts", "", "", -1, -1, 4506, 1502.0, 1503, 1502),
        Counted("minor_faults", "", "", -1, 0, None, 0.0, 0, 4),
    )


def test_a_second_without_a_row_had_no_interrupt_and_of_a_thread_nobody_looked(tmp_path: Path) -> None:
    by_name = {counted.label or counted.kind: counted for counted in told(tmp_path, 2.5).counted}
    assert by_name["24"].at_max == 0 and by_name["24"].most == 70 and by_name["24"].usual == 35
    assert by_name["minor_faults"].at_max is None and by_name["minor_faults"].most == 4


@pytest.mark.parametrize("max_s", [None, 3.5, -0.1])
def test_a_sample_whose_second_is_not_known_is_in_none(tmp_path: Path, max_s: float | None) -> None:
    found = told(tmp_path, max_s)
    assert found.second_s is None and {counted.at_max for counted in found.counted} == {None}
    assert found.counted[0].most == 1003


def test_the_rest_of_a_second_is_no_usual_one_and_says_its_length(tmp_path: Path) -> None:
    rows = [(1, 1, -1, 0, 1000), (2, 1, -1, 0, 1002), (2.05, 1, -1, 0, 50)]
    found = told(tmp_path, 2.01, rows)
    assert found.second_s == pytest.approx(0.05)
    assert (found.counted[0].at_max, found.counted[0].usual) == (50, 1001)
    assert told(tmp_path, 0.5, rows).counted[0].usual == 1002


def test_what_was_counted_around_the_cell_alone_has_a_sum_and_no_seconds(tmp_path: Path) -> None:
    over = [{"counter": 0, "cpu": 1, "rise": 3010}]
    found = told(tmp_path, 1.5, each_second=["interrupts"], over_cell=over)
    timer = Counted("interrupt", "LOC", "Local timer interrupts", 1, -1, 3010, None, None, None)
    assert found.counted[0] == timer and found.counted[1].total is None
    assert found.counted[2].at_max == 1502


def test_a_stream_without_an_end_has_its_names_in_the_header(tmp_path: Path) -> None:
    found = told(tmp_path, 1.5, in_header=True)
    assert found.counted[0] == Counted(
        "interrupt", "LOC", "Local timer interrupts", 1, -1, 3006, 1002.0, 1003, 1002
    )


def test_smis_are_those_of_cpus_that_do_not_measure(tmp_path: Path) -> None:
    counts = [(1, 0, 5), (2, 0, 9), (3, 0, 9), (1, 1, -1), (2, 1, -1), (3, 1, -1)]
    last = told(tmp_path, 1.5, smis=counts).counted[-1]
    assert last == Counted("smi", "", "", 0, -1, 4, 0.0, 0, 4)
    # What came before the first reading nobody knows.
    assert told(tmp_path, 0.5, smis=counts).counted[-1].at_max is None


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
    told(tmp_path, 1.5, **counters)


def test_an_older_probe_counted_nothing(tmp_path: Path) -> None:
    with duckdb.connect() as database:
        assert counters_in(database, tmp_path, {}, {}, 2) == NO_COUNTERS
