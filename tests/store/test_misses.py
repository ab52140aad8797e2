"""Releases against deadlines, counted on the samples of a cell."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.model.summary import CellSummary, DeadlineSummary, OfCpu
from howlate.statistics.deadline import Skipped, ThreadReleases, against
from store.runs import a_folder
from store.streams import StreamWriter, account, header, rows, stream, trailer

MS = 1_000_000


def cell_of(
    tmp_path: Path, latencies: list[int], releases: list[int], deadline: str, **more: object
) -> CellSummary:
    parameters = (
        header()["parameters"] | {"deadline": deadline, "late-policy": "skip", "period": "1ms"} | more
    )
    data = stream(latencies, releases, header_changes={"parameters": parameters})
    (cell,) = a_folder(tmp_path / "run", {"one": data}).summaries()
    return cell


@pytest.mark.parametrize(
    ("deadline", "late", "unserved", "skipped"),
    [
        ("500us", 1, 3, 0),  # up to the period a release that was skipped was missed
        ("1ms", 1, 3, 0),
        ("1200us", 3, 0, 3),  # 3.4, 2.4, 1.4 and 0.4 ms late
        ("2500us", 1, 0, 3),
        ("3399us", 1, 0, 3),
        ("50ms", 0, 0, 3),
    ],
)
def test_above_the_period_a_skipped_release_was_answered_when_the_activation_began(
    deadline: str, late: int, unserved: int, skipped: int, tmp_path: Path
) -> None:
    """Release 1 was 3.4 ms late at a period of 1 ms: 2, 3 and 4 were skipped, and 5 is the next."""
    cell = cell_of(tmp_path, [9, 3_400_000, 9, 9], [0, 1, 5, 6], deadline)
    counts = cell.deadline
    assert counts is not None and cell.accounting.overruns == 3
    assert (counts.late, counts.unserved, counts.skipped) == (late, unserved, skipped)
    assert counts.releases == 7 and counts.misses == late + unserved


def test_what_no_activation_skipped_misses_every_deadline(tmp_path: Path) -> None:
    """Release 1 was 1.2 ms late, so it skipped 2 alone; that 3 had no activation has another reason."""
    cell = cell_of(tmp_path, [9, 1_200_000, 9], [0, 1, 4], "50ms")
    expected = DeadlineSummary(50 * MS, 5, 0, 1, 1, skipped=1, squares=1, largest=1, by_stretch=(0,) * 50)
    assert cell.deadline == expected


def test_with_dither_the_gap_says_how_many_were_skipped(tmp_path: Path) -> None:
    """Releases may be half a period apart: 1.7 ms hold three of them."""
    cell = cell_of(tmp_path, [9, 1_700_000, 9], [0, 1, 5], "50ms", dither=True)
    assert cell.deadline is not None
    assert (cell.deadline.late, cell.deadline.unserved, cell.deadline.skipped) == (0, 0, 3)


def test_with_dither_none_is_taken_for_less_late_than_it_may_have_been(tmp_path: Path) -> None:
    """The first release after one that was 1.7 ms late was due half a period later at the earliest: up to 1.2 ms."""
    cell = cell_of(tmp_path, [9, 1_700_000, 9], [0, 1, 5], "1100us", dither=True)
    assert cell.deadline is not None
    assert (cell.deadline.late, cell.deadline.unserved, cell.deadline.skipped) == (2, 0, 3)


def test_a_stall_of_twenty_million_periods_is_counted_whole(tmp_path: Path) -> None:
    """Each of them is so much less late as it was due later; the last 50 of them kept 50 ms."""
    many = 20_000_000
    cell = cell_of(tmp_path, [9, many * MS + 500_000, 9], [0, 1, many + 2], "50ms")
    counts = cell.deadline
    assert counts is not None
    assert (counts.late, counts.unserved, counts.skipped) == (1 + many - 50, 0, many)


def test_what_was_dropped_is_not_taken_for_late() -> None:
    """Eight releases lie between two activations, and three of them were dropped: these may have been answered."""
    counts = against(2 * MS, [ThreadReleases(0, 1, 100, 5)], {0: 1}, {0: Skipped(8, 6)})
    assert (counts.late, counts.unserved, counts.skipped) == (1 + 3, 0, 5)


def test_a_threads_last_activation_skips_none_of_the_next_threads(tmp_path: Path) -> None:
    out = io.BytesIO()
    parameters = header()["parameters"] | {"deadline": "50ms"}
    writer = StreamWriter(out, header(2, parameters=parameters))
    values, places = [[9, 5_500_000], [9, 2_500_000, 9]], [[0, 1], [0, 1, 4]]
    for thread, latencies in enumerate(values):
        due = max(places[thread]) + 1
        writer.batch(thread, rows(latencies, places[thread]), releases=due, overruns=due - len(latencies))
    accounts = [account(thread, each, places[thread]) for thread, each in enumerate(values)]
    accounts[0] |= {"releases": 5, "overruns": 3}
    writer.trailer(trailer(accounts))
    (cell,) = a_folder(tmp_path / "run", {"one": out.getvalue()}).summaries()
    assert cell.deadline is not None and (cell.deadline.skipped, cell.deadline.unserved) == (5, 0)
    assert cell.deadline.by_cpu == {"0": OfCpu(5), "1": OfCpu(5)}


def test_a_stall_up_to_the_end_is_one_of_the_last_activation(tmp_path: Path) -> None:
    data = stream(
        [9, 2_300_000],
        [0, 1],
        header_changes={"parameters": header()["parameters"] | {"deadline": "50ms"}},
        account_changes={"releases": 4, "overruns": 2},
    )
    (cell,) = a_folder(tmp_path / "run", {"one": data}).summaries()
    assert cell.deadline is not None and (cell.deadline.unserved, cell.deadline.skipped) == (0, 2)


def counts_of(deadline: DeadlineSummary) -> dict[str, OfCpu]:
    """Of each CPU, without the places of its clusters."""
    return {cpu: replace(count, by_stretch=()) for cpu, count in deadline.by_cpu.items()}


def test_each_cpu_has_its_own_counts(tmp_path: Path) -> None:
    out = io.BytesIO()
    parameters = header()["parameters"] | {"deadline": "100us"}
    writer = StreamWriter(out, header(2, parameters=parameters))
    values = [[9, 200_000, 9], [9, 9, 300_000]]
    for thread, latencies in enumerate(values):
        writer.batch(thread, rows(latencies, [0, 1, 2]), releases=3)
    writer.trailer(trailer([account(thread, each, [0, 1, 2]) for thread, each in enumerate(values)]))
    (cell,) = a_folder(tmp_path / "run", {"one": out.getvalue()}).summaries()
    assert cell.deadline is not None
    assert counts_of(cell.deadline) == {"0": OfCpu(3, 1, 0, 1, 1, 1), "1": OfCpu(3, 1, 0, 1, 1, 1)}
    assert {cpu: sum(of.by_stretch) for cpu, of in cell.deadline.by_cpu.items()} == {"0": 1, "1": 1}
    assert cell.deadline.misses == 2 and cell.deadline.releases == 6


def test_the_ladder_ends_with_what_nothing_misses(tmp_path: Path) -> None:
    data = stream([500, 5_000, 50_000, 50_000])
    (cell,) = a_folder(tmp_path / "run", {"one": data}).summaries()
    assert [(step.deadline_ns, step.misses) for step in cell.ladder] == [
        (1_000, 3),
        (10_000, 2),
        (100_000, 0),
    ]
    assert CellSummary.from_json(cell.to_json()) == cell


def test_cpus_that_share_a_threads_number_are_told_apart(tmp_path: Path) -> None:
    """An older import of a CSV without threads gave all CPUs the number 0: each late sample counts once."""
    out = io.BytesIO()
    head = header(2, parameters=header()["parameters"] | {"deadline": "100us"})
    for table in head["tables"][:2]:
        table["thread"] = 0
    writer = StreamWriter(out, head)
    values = [[9, 200_000, 9], [9, 9, 9]]
    for table, latencies in enumerate(values):
        writer.batch(table, rows(latencies, [0, 1, 2]), releases=3)
    writer.trailer(trailer([account(table, each, [0, 1, 2]) for table, each in enumerate(values)]))
    (cell,) = a_folder(tmp_path / "run", {"one": out.getvalue()}).summaries()
    assert cell.deadline is not None and cell.deadline.misses == 1
    assert counts_of(cell.deadline) == {"0": OfCpu(3, 1, 0, 1, 1, 1), "1": OfCpu(3)}


def test_misses_of_a_cpu_without_a_late_answer_are_one_event(tmp_path: Path) -> None:
    """CPU 1 stood still at the end and answered nothing late; CPU 0 was late once, which has the misses clustered."""
    out = io.BytesIO()
    parameters = header()["parameters"] | {"deadline": "100us"}
    writer = StreamWriter(out, header(2, parameters=parameters))
    values = [[9, 200_000, 9], [9, 9, 9]]
    accounts = [account(thread, each, [0, 1, 2]) for thread, each in enumerate(values)]
    accounts[1] |= {"releases": 503, "overruns": 500}
    for entry, latencies in zip(accounts, values, strict=True):
        due = {"releases": entry["releases"], "overruns": entry["overruns"]}
        writer.batch(entry["table"], rows(latencies, [0, 1, 2]), **due)
    writer.trailer(trailer(accounts))
    (cell,) = a_folder(tmp_path / "run", {"one": out.getvalue()}).summaries()
    assert cell.deadline is not None
    stood = OfCpu(503, 0, 500, 1, 250_000, 500)
    assert counts_of(cell.deadline) == {"0": OfCpu(3, 1, 0, 1, 1, 1), "1": stood}
