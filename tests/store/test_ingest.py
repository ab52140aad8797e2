"""From stream to cell: every row arrives, the account is checked again, and what is wrong is told in the
summary."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from howlate.errors import DamagedError
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.statistics.valid import OFF_TARGET, STEAL
from howlate.store.frames import MAGIC, TRAILER, EndKind, encode_frame
from howlate.store.ingest import ingest
from howlate.store.stream import StreamReader
from howlate.store.summarise import make_bins, summarise
from howlate.words.say import english
from store.streams import StreamWriter

from .streams import SECOND, account, header, rows, stream, trailer


def a_cell(folder: Path, data: bytes) -> CellSummary:
    """The cell of this stream, made in `folder`."""
    (folder / "stream").write_bytes(data)
    ingest(folder / "stream", folder)
    return summarise(folder, "c", {"load": "none"})


def samples(folder: Path, columns: str = "*") -> list[tuple[Any, ...]]:
    return duckdb.execute(f"SELECT {columns} FROM '{folder / 'samples.parquet'}'").fetchall()


def test_rows_arrive_thread_by_thread(tmp_path: Path) -> None:
    """Batches of two threads alternate in the stream; each thread's rows stand together in the file."""
    out = io.BytesIO()
    writer = StreamWriter(out, header(2))
    for start in range(0, 300, 100):
        for thread in (1, 0):
            part = list(range(start, start + 100))
            columns = rows([1_000 * thread + n for n in part], part)
            writer.batch(thread, columns, releases=start + 100)
    latencies = list(range(300))
    accounts = [account(0, latencies, latencies), account(1, [1_000 + n for n in latencies], latencies)]
    writer.trailer(trailer(accounts))
    summary = a_cell(tmp_path, out.getvalue())
    assert summary.valid
    assert summary.accounting.releases == 600
    expected = [(t, t, n, n * 1_000_000, 1_000 * t + n, 0, 0) for t in (0, 1) for n in range(300)]
    assert samples(tmp_path) == expected


def test_whole_numbers_are_delta_encoded(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    a_cell(tmp_path, stream(random.integers(1_000, 10**9, 50_000).tolist(), batch_rows=5_000))
    query = "SELECT DISTINCT path_in_schema, encodings, compression FROM parquet_metadata(?)"
    found = {row[0]: row[1:] for row in duckdb.execute(query, [str(tmp_path / "samples.parquet")]).fetchall()}
    for column in ("release", "release_ns", "latency_ns"):
        assert found[column] == ("DELTA_BINARY_PACKED", "ZSTD")
    types = dict(
        row[:2]
        for row in duckdb.execute(f"DESCRIBE SELECT * FROM '{tmp_path / 'samples.parquet'}'").fetchall()
    )
    assert types == {
        "thread": "INTEGER",
        "cpu": "INTEGER",
        "release": "BIGINT",
        "release_ns": "BIGINT",
        "latency_ns": "BIGINT",
        "response_ns": "BIGINT",
        "flags": "UTINYINT",
    }


def test_the_summary_is_of_samples_outside_warm_up(tmp_path: Path) -> None:
    summary = a_cell(tmp_path, stream([9_000_000, 10, 30, 1_000_001, 20], [0, 1, 2, 5, 6], warm_up=1))
    column = summary.columns["latency_ns"]
    assert (column.count, column.min, column.max) == (4, 10, 1_000_001)
    assert column.mean == 250_015.25
    assert column.period_exceeded == 1
    assert column.max_at_s == 0.005
    own = summary.accounting
    assert (own.releases, own.recorded, own.overruns, own.dropped, own.warm_up) == (7, 5, 2, 0, 1)
    assert own.late_policy == "skip"
    assert (summary.valid, summary.warnings) == (True, ())
    stored = json.loads((tmp_path / "summary.json").read_text())
    assert stored == {"schema": 1, **summary.to_json()}
    assert CellSummary.from_json(stored) == summary


def test_response_times_are_said_only_of_tasks_that_work(tmp_path: Path) -> None:
    out = io.BytesIO()
    writer = StreamWriter(out, header())
    writer.batch(0, rows([10, 20, 30], [0, 1, 2]) | {"response_ns": [110, 1_220_000, 130]}, releases=3)
    writer.trailer(trailer([account(0, [10, 20, 30], [0, 1, 2])]))
    summary = a_cell(tmp_path, out.getvalue())
    assert summary.columns["response_ns"].max == 1_220_000
    assert summary.columns["response_ns"].period_exceeded == 1
    (tmp_path / "other").mkdir()
    assert list(a_cell(tmp_path / "other", stream([1])).columns) == ["latency_ns"]


def at(place: int, of: int) -> tuple[int, ...]:
    """One cluster of misses, which begins at this of so many releases."""
    return tuple(int(stretch == place * 50 // of) for stretch in range(50))


def test_misses_of_a_stated_deadline_are_counted(tmp_path: Path) -> None:
    """On samples, not on bins, and outside warm-up; a latency equal to the deadline has kept it."""
    parameters = header()["parameters"] | {"deadline": "100us"}
    data = stream([900_000, 100_000, 100_001, 5], header_changes={"parameters": parameters}, warm_up=1)
    summary = a_cell(tmp_path, data)
    assert summary.outcomes == {"deadline_misses": 1}
    assert summary.deadline == DeadlineSummary(
        100_000, releases=3, late=1, clusters=1, squares=1, largest=1, by_stretch=at(2, of=4)
    )


def test_a_release_that_nobody_answered_is_a_miss(tmp_path: Path) -> None:
    """Releases 0, 1, 3, 4, 7 of eight: 2 was overrun in the warm-up (0 and 1), 5 and 6 after it."""
    parameters = header()["parameters"] | {"deadline": "100us"}
    data = stream(
        [900_000, 2_500_000, 3_100_000, 5, 200_000],
        [0, 1, 3, 4, 7],
        header_changes={"parameters": parameters},
        warm_up=2,
    )
    summary = a_cell(tmp_path, data)
    assert summary.accounting.overruns == 3
    assert summary.deadline == DeadlineSummary(
        *(100_000, 5, 2, 2),
        clusters=1,
        squares=25,
        largest=5,
        by_stretch=at(3, of=8),
    )
    assert summary.outcomes == {"deadline_misses": 4}
    assert summary.to_json()["deadline"]["misses"] == 4


def test_late_starts_of_a_backlog_are_counted_once(tmp_path: Path) -> None:
    """Under backlog every release is served: those that are late are samples, and nothing is overrun."""
    parameters = header()["parameters"] | {"deadline": "1ms", "late-policy": "backlog"}
    data = stream(
        [5, 3_500_000, 2_500_000, 1_500_000, 500_000],
        header_changes={"parameters": parameters},
        account_changes={"late_starts": 3},
    )
    assert a_cell(tmp_path, data).deadline == DeadlineSummary(
        1_000_000, releases=5, late=3, clusters=1, squares=9, largest=3, by_stretch=at(1, of=5)
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: stream([5, 6], account_changes={"recorded": 3, "releases": 3}),
            "2 rows stand for 3 recorded",
        ),
        (lambda: stream([5, 6], account_changes={"releases": 9}), "9 releases are not 2 recorded"),
        (
            lambda: stream([5, 6], account_changes={"latency_ns_max": 5}),
            "largest latency of the rows is 6 ns",
        ),
        (
            lambda: stream([5, 6], account_changes={"latency_ns_max": 7}),
            "largest latency of the rows is 6 ns",
        ),
        (lambda: stream([5, 6], [0, 4], account_changes={"overruns": 0, "releases": 2}), "fewer overruns"),
        (lambda: stream([5, 6], warm_up=1, account_changes={"warm_up": 0}), "flagged as warm-up"),
        (lambda: stream([5, 6], account_changes={"dropped": 1, "releases": 3}), "1 sample dropped"),
        (lambda: stream([5, 6], account_changes={"minor_faults": 1}), "page faults"),
        (lambda: stream([5], trailer_changes={"accounting": []}), "no account of table 0"),
        (lambda: stream([5], trailer_changes={"stop_reason": "failed"}), "failed before its end"),
        (
            lambda: stream([5], trailer_changes={"clocksource": {"before": "tsc", "after": "hpet"}}),
            "tsc to hpet",
        ),
        (lambda: stream([]), "no sample outside warm-up"),
        (lambda: stream([5, 6], warm_up=2), "no sample outside warm-up"),
        (lambda: stream([5]) + b"more", "is damaged (the place of a frame is wrong: behind the trailer)"),
        (lambda: stream([5])[:-3], "did not end by itself"),
    ],
)
def test_what_forbids_a_statement_makes_the_cell_invalid(
    tmp_path: Path, make: Callable[[], bytes], sentence: str
) -> None:
    summary = a_cell(tmp_path, make())
    assert not summary.valid
    assert sentence in english(summary.warnings[0])


def test_the_maximum_that_a_drop_hid_stands_in_the_account(tmp_path: Path) -> None:
    """The thread's own maximum may be larger than the rows' where samples were dropped, and only there."""
    changes = {"dropped": 1, "releases": 3, "latency_ns_max": 99}
    summary = a_cell(tmp_path, stream([5, 6], account_changes=changes))
    assert "cell.account" not in [warning.rule for warning in summary.warnings]
    assert summary.warnings[0].rule == "cell.dropped"


def unbalanced(releases: int, overruns: int, at: list[int]) -> bytes:
    out = io.BytesIO()
    writer = StreamWriter(out, header())
    latencies = [1] * len(at)
    writer.batch(0, rows(latencies, at), releases=releases, overruns=overruns)
    writer.trailer(trailer([account(0, latencies, sorted(at))]))
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (unbalanced(4, 0, [0, 1, 2]), "4 releases are not 3 recorded + 0 overruns + 0 dropped in a batch"),
        (unbalanced(3, 0, [0, 1, 5]), "leave 3 out, but 0 overruns and 0 drops"),
        (unbalanced(3, 0, [0, 2, 1]), "not strictly increasing"),
        (unbalanced(3, 0, [0, 1, 1]), "not strictly increasing"),
    ],
)
def test_rows_are_held_against_their_batches_account(tmp_path: Path, data: bytes, sentence: str) -> None:
    summary = a_cell(tmp_path, data)
    assert not summary.valid
    assert any(sentence in english(warning) for warning in summary.warnings)


def test_a_killed_probe_leaves_what_its_last_whole_batch_says(tmp_path: Path) -> None:
    data = stream(list(range(1, 1001)), [n * 3 for n in range(1000)], batch_rows=100)
    (tmp_path / "stream").write_bytes(data[: len(data) * 2 // 3])
    end = ingest(tmp_path / "stream", tmp_path)
    assert end.kind is EndKind.CUT
    summary = summarise(tmp_path, "c", {})
    kept = summary.columns["latency_ns"].count or 0
    assert kept % 100 == 0
    assert 0 < kept < 1000
    own = summary.accounting
    assert (own.releases, own.recorded) == ((kept - 1) * 3 + 1, kept)
    assert own.releases == own.recorded + own.overruns + own.dropped
    assert summary.stop_reason == "killed"
    assert summary.clocksource == {"before": "tsc", "after": "unknown"}
    assert [warning.rule for warning in summary.warnings] == ["cell.cut"]


def test_loads_and_cpus_are_drawn_second_by_second(tmp_path: Path) -> None:
    out = io.BytesIO()
    writer = StreamWriter(out, header())
    writer.batch(0, rows([1, 2], [0, 3_000]), releases=3_001, overruns=2_999)
    seconds = np.repeat(np.arange(3) * SECOND, 2)
    cpus: dict[str, Any] = {
        "time_ns": seconds,
        "cpu": [0, 1] * 3,
        "busy_permille": [100, 900] * 3,
        "steal_permille": [0, 20] * 3,
    }
    writer.batch(1, cpus | {"frequency_khz": [0] * 6, "smi_count": [-1] * 6})
    busy: dict[str, Any] = {
        "time_ns": np.arange(3) * SECOND,
        "load": [0] * 3,
        "cpu_ns": [SECOND, 2 * SECOND, 4 * SECOND],
    }
    writer.batch(2, busy | {"units": [1, 2, 3]})
    load = {"name": "cpu", "spec": "cpu:50", "unit": "iterations", "target_cpu": 0.5, "achieved_cpu": 0.75}
    load |= {"cpus": "0-1", "units": 7, "results": {"rounds": 2}, "warnings": []}
    writer.trailer(trailer([account(0, [1, 2], [0, 3_000])], loads=[load], steal_ns=3_000_000))
    summary = a_cell(tmp_path, out.getvalue())
    assert summary.valid
    (found,) = summary.loads
    assert (found.name, found.target_cpu, found.achieved_cpu) == ("cpu", 0.5, 0.75)
    assert found.results["rounds"] == 2
    assert summary.warnings == (
        STEAL(steal_ns=3_000_000, share=0.003),
        OFF_TARGET(load="cpu:50", achieved=0.75, target=0.5),
    )
    courses = {course.name: (course.time_s, course.share) for course in make_bins(tmp_path).loads}
    assert courses == {
        "cpu 0 busy": ((0.0, 1.0, 2.0), (0.1, 0.1, 0.1)),
        "cpu 1 busy": ((0.0, 1.0, 2.0), (0.9, 0.9, 0.9)),
        "cpu 1 steal": ((0.0, 1.0, 2.0), (0.02, 0.02, 0.02)),
        "cpu": ((1.0, 2.0), (0.5, 1.0)),
    }


def test_steal_is_a_share_of_the_cpus_that_it_was_summed_over(tmp_path: Path) -> None:
    """The probe sums it over the CPUs of the measuring threads; four CPUs are sampled beside them."""

    def share(pinned: list[int], in_force: list[dict[str, Any]]) -> float:
        out = io.BytesIO()
        head = header(len(pinned), in_force={"threads": in_force})
        for described, cpu in zip(head["tables"], pinned, strict=False):
            described["cpu"] = cpu
        writer = StreamWriter(out, head)
        table = len(pinned)
        for thread in range(table):
            writer.batch(thread, rows([1, 2], [0, 1]), releases=2)
        cpus: dict[str, Any] = {"time_ns": [SECOND] * 4, "cpu": [0, 1, 2, 3], "busy_permille": [0] * 4}
        cpus |= {"steal_permille": [0] * 4, "frequency_khz": [0] * 4, "smi_count": [-1] * 4}
        writer.batch(table, cpus)
        accounts = [account(n, [1, 2], [0, 1], cpu=cpu) for n, cpu in enumerate(pinned)]
        writer.trailer(trailer(accounts, steal_ns=12_000_000))
        (steal,) = a_cell(tmp_path, out.getvalue()).warnings
        return float(steal.values["share"])

    assert share([3], [{"cpu": 3}]) == pytest.approx(0.012)
    assert share([0, 1], [{"cpu": 0}, {"cpu": 1}]) == pytest.approx(0.006)
    assert share([1, 1], [{"cpu": 1}, {"cpu": 1}]) == pytest.approx(0.012)
    assert share([-1], [{"cpu": -1, "cpuset": "1-3"}]) == pytest.approx(0.004)
    assert share([-1], [{"cpu": -1, "cpuset": ""}]) == pytest.approx(0.003)


def test_blocks_of_time_agree_with_the_samples(tmp_path: Path) -> None:
    """Bins are made in SQL: held against the plainest computation on the same samples."""
    random = np.random.default_rng(5)
    latencies = random.lognormal(9, 1.5, 30_000).astype(np.int64)
    latencies[:3] = (0, 1, 2**45)
    latencies[100] = -7
    a_cell(tmp_path, stream(latencies.tolist(), batch_rows=5_000))
    bins = make_bins(tmp_path)
    width = round(bins.blocks.width_s * 1e9)
    block = np.arange(30_000) * 1_000_000 // width
    assert len(bins.blocks.counts) <= 1_000
    for n, start in enumerate(bins.blocks.start_s):
        own = np.sort(latencies[block == round(start * 1e9 / width)])
        assert bins.blocks.counts[n] == len(own)
        assert bins.blocks.max_ns[n] == own[-1]
        for found, share in ((bins.blocks.median_ns[n], 0.5), (bins.blocks.p99_ns[n], 0.99)):
            exact = own[int(np.ceil(share * len(own))) - 1]
            assert exact <= found <= exact + abs(exact) / 128 + 1
    assert sum(bins.blocks.counts) == sum(bins.histogram.counts) == 30_000
    assert bins.tail.latency_ns[-1] == 2**45


@pytest.mark.parametrize("unserved", [0, 100])
def test_a_stall_at_the_end_has_the_releases_that_it_swallowed_after_the_last_sample(
    tmp_path: Path, unserved: int
) -> None:
    """And no others, however late the last answer was."""
    latencies = [*range(1_999), 10**12]
    changes = {"releases": 2_000 + unserved, "overruns": unserved}
    tail = a_cell(tmp_path, stream(latencies, account_changes=changes)).tail
    assert tail is not None and tail.exceedances == 50 + unserved


@pytest.mark.parametrize("name", ["samples.parquet", "cpus.parquet", "loads.parquet", "cell.json"])
def test_a_damaged_file_of_a_cell_is_a_sentence(tmp_path: Path, name: str) -> None:
    a_cell(tmp_path, stream(list(range(2_000))))
    whole = (tmp_path / name).read_bytes()
    for data in (b"", whole[: len(whole) // 2], b"PAR1" + bytes(60)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DamagedError) as caught:
            summarise(tmp_path, "c", {})
        assert "\n" not in caught.value.message
        assert caught.value.remedy


def test_names_that_could_be_sql_are_refused(tmp_path: Path) -> None:
    tables = header()["tables"]
    tables[0] = tables[0] | {"columns": [{"name": 'a" FROM x --', "type": "i64"}]}
    out = io.BytesIO()
    StreamWriter(out, header(tables=tables))
    (tmp_path / "stream").write_bytes(out.getvalue())
    with pytest.raises(DamagedError, match="table or column"):
        ingest(tmp_path / "stream", tmp_path)


def test_nothing_but_the_cell_is_left(tmp_path: Path) -> None:
    cell = tmp_path / "it's [a] *cell*"
    cell.mkdir()
    a_cell(cell, stream(list(range(10))))
    names = {
        "bins.json",
        "cell.json",
        "cpus.parquet",
        "loads.parquet",
        "samples.parquet",
        "stream",
        "summary.json",
    }
    assert {path.name for path in cell.iterdir()} == names


def test_a_later_trailer_key_does_no_harm(tmp_path: Path) -> None:
    assert a_cell(tmp_path, stream([5], trailer_changes={"new": {"deep": [1]}})).valid


@pytest.mark.parametrize("value", [{"loads": 7}, {"loads": [{}]}, {"steal_ns": "x"}, {"clocksource": []}])
def test_a_trailer_of_other_types_is_a_sentence(tmp_path: Path, value: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match=r"cell\.json"):
        a_cell(tmp_path, stream([5], trailer_changes=value))


MEMORY = """
import resource, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from howlate.store import duck
from howlate.store.ingest import ingest
from howlate.store.summarise import summarise
duck.MEMORY_LIMIT = "96MB"
folder = Path(sys.argv[1])
ingest(folder / "stream", folder)
summarise(folder, "c", {})
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
"""


def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    """Eight times the rows (6.4 million, 211 MB of stream instead of 26) may cost 64 MiB more, not 185 MB."""
    peaks = []
    for times in (4, 32):
        folder = tmp_path / str(times)
        folder.mkdir()
        with (folder / "stream").open("wb") as file:
            writer = StreamWriter(file, header())
            for start in range(0, times * 200_000, 50_000):
                release = np.arange(start, start + 50_000)
                writer.batch(0, rows(release % 977, release), releases=start + 50_000)
            own = {"releases": times * 200_000, "recorded": times * 200_000, "overruns": 0}
            writer.trailer(trailer([account(0, [976], [976]) | own]))
        command = [sys.executable, "-c", MEMORY, str(folder), *filter(None, sys.path)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300).stdout
        peaks.append(int(told))
    assert json.loads((tmp_path / "32" / "summary.json").read_text())["valid"]
    assert peaks[1] < peaks[0] + 64 * 1024, peaks


def test_a_stream_of_header_and_trailer_alone_is_a_cell(tmp_path: Path) -> None:
    head = json.dumps(header(tables=[])).encode()
    data = MAGIC + encode_frame(1, 0, head) + encode_frame(TRAILER, 0, b"{}")
    summary = a_cell(tmp_path, data)
    assert not summary.valid
    assert summary.columns["latency_ns"].count == 0
    assert StreamReader(io.BytesIO(data)).header.tables == ()


def test_of_several_cpus_each_has_its_largest(tmp_path: Path) -> None:
    out = io.BytesIO()
    writer = StreamWriter(out, header(2))
    for thread, latencies in enumerate(([10, 40, 20], [30, 15, 90])):
        writer.batch(thread, rows(latencies, [0, 1, 2]), releases=3)
    writer.trailer(trailer([account(0, [10, 40, 20], [0, 1, 2]), account(1, [30, 15, 90], [0, 1, 2])]))
    column = a_cell(tmp_path, out.getvalue()).columns["latency_ns"]
    assert (column.max_by_cpu, column.max_cpu) == ({"0": 40, "1": 90}, "1")
