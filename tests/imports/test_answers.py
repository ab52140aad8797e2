"""Each foreign format declares which of its columns answer "how late", and releases count once, not once a column."""

import inspect
from pathlib import Path

import pytest
from msgspec import NODEFAULT
from msgspec.structs import fields

from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.imports.formats import RunImporter, all_importers
from howlate.imports.formats._foreign import Foreign
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from howlate.store.summarise import recounted
from howlate.verdict.of_run import verdicts_of
from howlate.verdict.promise_facts import each_cpu
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Ruling
from howlate.words.say import english
from imports.foreign import FILES, FORMATS, LATENCY, File
from imports.test_foreign import cell_of

JUDGED = {format.name: format.answers for format in FORMATS}
OF_TIMERLAT = {"timerlat-hist.txt": "user_latency_ns", "timerlat-top.txt": "user_latency_ns"}
"""The last of interrupt, thread and user that the file has; elsewhere the thread."""
WITHOUT_RELEASES = [format.name for format in FORMATS if not format.wakes]


def test_a_format_cannot_forget_to_declare_them() -> None:
    (answers,) = [field for field in fields(Foreign) if field.name == "answers"]
    assert answers.default is NODEFAULT and answers.default_factory is NODEFAULT
    assert inspect.signature(Foreign).parameters["answers"].default is inspect.Parameter.empty


def test_every_format_has_a_file_here() -> None:
    of_runs = {each.name for each in all_importers() if isinstance(each, RunImporter)} - {"job", "stream"}
    assert {file.format for file in FILES} >= of_runs


@pytest.mark.parametrize("file", {file.name: file for file in FILES}.values(), ids=lambda file: file.name)
def test_the_columns_that_are_judged(file: object, tmp_path: Path) -> None:
    cell = cell_of(file.path, tmp_path / "run", file.mapping)  # type: ignore[attr-defined]
    wanted = JUDGED.get(file.format) or (OF_TIMERLAT.get(file.name, "thread_latency_ns"),)  # type: ignore[attr-defined]
    assert cell.answers == cell.judged == wanted
    assert cell.columns[cell.latest].max == max(cell.columns[name].max or 0 for name in wanted)


@pytest.mark.parametrize(("name", "releases"), [("timerlat-hist.txt", 4000), ("timerlat-top.txt", 4000)])
def test_releases_are_counted_once_and_not_once_a_column(name: str, releases: int, tmp_path: Path) -> None:
    (file, *_) = [file for file in FILES if file.name == name]
    assert cell_of(file.path, tmp_path / "run").accounting.releases == releases


BEYOND = """# Histogram
000000 000000
000005 000990
000009 000008
# Total: 000000998
# Min Latencies: 00005
# Avg Latencies: 00005
# Max Latencies: 00493
# Histogram Overflows: 00002
"""


@pytest.mark.parametrize(
    ("deadline_ns", "misses", "at_least"),
    [(4_000, 1_000, False), (6_000, 10, False), (100_000, 1, True), (493_000, 0, False)],
)
def test_misses_beyond_a_histogram_are_at_least(
    deadline_ns: int, misses: int, at_least: bool, tmp_path: Path
) -> None:
    """Two samples lay beyond 10 us, and the largest was 493 us: of the other one nobody knows."""
    path = tmp_path / "hist.txt"
    path.write_text(BEYOND)
    cell = cell_of(path, tmp_path / "run")
    found = recounted(RunFolder.open(tmp_path / "run").files(cell.id), cell, deadline_ns).deadline
    assert found is not None and (found.misses, found.at_least) == (misses, at_least)
    assert found.to_json().get("at_least", False) is at_least


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name}-{file.column}")
def test_what_is_said_of_an_imported_run_is_possible(file: File, tmp_path: Path) -> None:
    """No sentence has more misses than there were releases, or a share of none; and only what woke a task has
    releases."""
    cell = cell_of(file.path, tmp_path / "run", file.mapping)
    content = load_run(tmp_path / "run")
    largest_ns = cell.columns[cell.latest].max
    assert largest_ns is not None
    assert ReportInput([content], TERMINAL).whole.answer.values["largest_ns"] == largest_ns
    has_releases = cell.latest == LATENCY or not cell.known.missed_releases
    assert has_releases == (file.format not in WITHOUT_RELEASES)
    for deadline_ns in {1, max(1, largest_ns - 1), largest_ns * 2}:
        (row,) = verdicts_of(tmp_path / "run", content, Question(deadline_ns))
        counts = row.verdict.evidence.deadline
        assert counts.misses <= counts.releases or not counts.releases
        for told in (*statements(row.verdict), *each_cpu(row.verdict)):
            counted = told.values.get("releases")
            assert counted is None or 0 < counted >= told.values.get("misses", 0), told
            assert has_releases or "release" not in english(told)
        assert row.verdict.outcome is not Ruling.PASS or deadline_ns > largest_ns


def test_the_times_in_a_file_say_how_long_it_was_measured(tmp_path: Path) -> None:
    """Without them no next stretch is bounded, so nothing could pass."""
    rows = [f"{1_000 * number},{8_000 + number * 7_919 % 4_001}" for number in range(12_001)]
    path = tmp_path / "times.csv"
    path.write_text("\n".join(["at_us,late_ns", *rows, ""]), encoding="utf-8")
    found = []
    for name, mapping in {"timed": {"time_us": "at_us"}, "not": {}}.items():
        cell_of(path, tmp_path / name, {"latency_ns": "late_ns", **mapping})
        (row,) = verdicts_of(tmp_path / name, load_run(tmp_path / name), Question(1_000_000))
        ruled = row.verdict
        found.append((ruled.evidence.seconds, ruled.stretch.bound, ruled.outcome))
    assert found == [(12.0, True, Ruling.PASS), (0.0, False, Ruling.INCONCLUSIVE)]
