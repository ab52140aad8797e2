"""From which size on a time of a guest with several CPUs is the kernel's."""

import pytest
from msgspec.structs import replace

from howlate.document.cautions import of_rows
from howlate.model.guest_cpus import GUEST, USUAL, GuestCpus
from howlate.model.summary import CellSummary
from howlate.statistics.resolution import BELOW, WAITS, below_resolution, resolution_ns
from howlate.system.paths import ROOT
from howlate.words.say import english
from made_cells import made_cell

TWO, FOUR = GuestCpus(2, 1000, 5_000), GuestCpus(4, 1000, 5_000)


def cell(median_ns: int, max_ns: int, guest: GuestCpus | None = TWO) -> CellSummary:
    summary, _bins, _values = made_cell("none", n=1_000, labels={GUEST: str(guest)} if guest else {})
    column = replace(summary.columns["latency_ns"], max=max_ns, quantiles={"0.5": median_ns})
    return replace(summary, columns={"latency_ns": column})


@pytest.mark.parametrize(
    ("guest", "least_ns"),
    [(USUAL, 0), (TWO, 100_000), (replace(TWO, turn_ns=20_000), 400_000), (FOUR, 300_000)],
)
def test_it_grows_with_the_turn_and_with_the_other_cpus(guest: GuestCpus, least_ns: int) -> None:
    # halving shortens one other turn by 2.5 us: 4 x 1 x 2.5 us = 10 us, which is 10 % of 100 us
    assert resolution_ns(guest) == least_ns


def test_a_row_whose_largest_time_is_small_is_below_it_as_a_whole() -> None:
    (told,) = below_resolution([cell(5_000, 20_000), cell(6_000, 99_999)])
    assert told == BELOW(columns=("latency",), turn_ns=5_000, least_ns=100_000)


def test_a_maximum_above_it_leaves_the_median_below() -> None:
    (told,) = below_resolution([cell(5_000, 20_000), cell(6_000, 100_000)])
    assert told == BELOW(columns=("latency (p50)",), turn_ns=5_000, least_ns=100_000)


def test_times_above_it_need_no_caution() -> None:
    assert below_resolution([cell(100_000, 600_000)]) == []


@pytest.mark.parametrize("guest", [None, GuestCpus(1, 250)])
def test_one_cpu_takes_no_turns(guest: GuestCpus | None) -> None:
    assert below_resolution([cell(5, 10, guest)]) == []
    assert below_resolution([cell(-5, -1, guest)]) == []


def test_a_reader_of_the_row_is_told_before_its_numbers_are_used() -> None:
    rows = [("idle", [cell(5_000, 20_000)]), ("loaded", [cell(190_000, 600_000)])]
    (caution,) = of_rows(rows)
    assert english(caution).startswith(f"idle: {english(below_resolution(rows[0][1])[0])}")


def test_no_figure_of_the_artefact_table_moved_by_more() -> None:
    page = (ROOT / "docs/lab/turns.md").read_text()
    table = page[page.index("<!-- ./dev bench turns -->") : page.index("<!-- end -->")]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 5 * 2 * 2
    assert max(float(row[-1]) for row in rows) <= WAITS
