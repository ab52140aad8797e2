"""Files of other tools become runs: each with the tool's own figures, and with what its format cannot know."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from howlate.errors import DamagedError, ExitCode, UsageError
from howlate.imports.flow import as_run
from howlate.imports.formats import RunImporter, all_importers, find_importer
from howlate.measure.execute import Tally
from howlate.model.knowledge import EVERYTHING
from howlate.model.summary import CellSummary
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from howlate.store.summarise import recounted
from imports.foreign import BY_NAME, FILES, FIXTURES, LATENCY, File


def importer_of(path: Path, name: str | None = None) -> RunImporter:
    importer = find_importer(path, name)
    assert isinstance(importer, RunImporter)
    return importer


def imported(path: Path, out: Path, mapping: Mapping[str, str] = {}, name: str | None = None) -> Tally:
    return as_run(importer_of(path, name).read([path], {}, mapping), out)[1]


def cell_of(path: Path, out: Path, mapping: Mapping[str, str] = {}, name: str | None = None) -> CellSummary:
    imported(path, out, mapping, name)
    (cell,) = RunFolder.open(out).summaries()
    return cell


def written(tmp_path: Path, text: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def changed(tmp_path: Path, name: str, before: str, after: str) -> Path:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    assert text.count(before) == 1
    return written(tmp_path, text.replace(before, after), name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name}-{file.column}")
def test_a_file_gives_the_figures_that_the_tool_states(file: File, tmp_path: Path) -> None:
    assert importer_of(file.path).name == file.format
    cell = cell_of(file.path, tmp_path / "run", file.mapping)
    assert cell.valid
    column = cell.columns[file.column]
    assert column.count == file.count
    assert column.min == (None if file.min is None else round(file.min * 1000))
    assert column.max == round(file.max * 1000)
    if file.mean is not None:
        assert column.mean is not None
        assert abs(column.mean / 1000 - file.mean) <= file.digit


def test_every_format_has_a_file_and_a_page() -> None:
    formats = {importer.name for importer in all_importers() if isinstance(importer, RunImporter)}
    assert formats - {"job", "stream"} == {file.format for file in FILES}
    page = (FIXTURES.parents[2] / "docs" / "import.md").read_text(encoding="utf-8")
    for name in formats - {"job", "stream"}:
        assert f"`{name}`" in page


@pytest.mark.parametrize("file", BY_NAME.values(), ids=lambda file: file.name)
def test_what_a_format_cannot_know_is_said(file: File, tmp_path: Path) -> None:
    cell = cell_of(file.path, tmp_path / "run", file.mapping)
    raw = file.format in ("cyclictest-raw", "jitterdebugger-raw", "hwlatdetect", "csv")
    assert cell.known.time_order == raw
    assert (cell.overruns is None) == (not cell.known.missed_releases)
    assert cell.known != EVERYTHING
    told = {warning.rule for warning in cell.warnings}
    assert ("cell.unordered" in told) == (not raw)
    assert ("cell.uncounted" in told) == (not cell.known.missed_releases)


def test_overflow_limits_what_is_stated(tmp_path: Path) -> None:
    """13 of 2,000 samples lie beyond 100 us: the median is known, p99.9 and the deviation are not."""
    cell = cell_of(FIXTURES / "cyclictest-2.4.txt", tmp_path / "run")
    column = cell.columns[LATENCY]
    assert (cell.known.overflow, cell.known.overflow_from_ns) == (13, 100_000)
    assert cell.known.exact_max
    assert column.stddev is None and column.quantiles["0.999"] is None
    assert column.quantiles["0.5"] is not None
    (content,) = load_run(tmp_path / "run").cells
    assert content.bins is not None
    assert sum(content.bins.histogram.counts) == 2000
    assert content.bins.tail.share_beyond[-2:] == (13 / 2000, 0.0)


def test_a_histogram_of_unknown_end_has_a_maximum_that_is_at_least_so_large(tmp_path: Path) -> None:
    cell = cell_of(FIXTURES / "histogram.txt", tmp_path / "run")
    assert cell.known.overflow is None and not cell.known.exact_max
    assert "cell.at-least" in {warning.rule for warning in cell.warnings}
    known = cell_of(FIXTURES / "histogram.txt", tmp_path / "known", {"overflow": "0"}).known
    assert known.overflow == 0 and known.exact_max


def test_a_period_is_exceeded_as_often_as_the_bins_say(tmp_path: Path) -> None:
    """Where samples lie beyond the range and the period does not, nobody knows how many exceed it."""
    path = changed(tmp_path, "rteval.xml", "-t2 ", "-t2 -d0 ")
    assert cell_of(path, tmp_path / "a").columns[LATENCY].period_exceeded == 0
    assert cell_of(FIXTURES / "cyclictest-2.4.json", tmp_path / "b").columns[LATENCY].period_exceeded is None


def test_the_unit_of_a_file_that_does_not_say_it_is_given(tmp_path: Path) -> None:
    cell = cell_of(FIXTURES / "cyclictest-2.4.txt", tmp_path / "run", {"unit": "ns"})
    assert cell.columns[LATENCY].max == 1176
    assert cell.known.resolution_ns == 1


def test_several_files_are_repetitions_of_a_point(tmp_path: Path) -> None:
    paths = [FIXTURES / "cyclictest-2.4.txt", FIXTURES / "cyclictest-2.10.txt"]
    as_run(importer_of(paths[0]).read(paths, {"kernel": "vendor"}), tmp_path / "run")
    first, second = RunFolder.open(tmp_path / "run").summaries()
    assert (first.point, first.repetition, second.repetition) == (second.point, 1, 2)
    assert first.labels["kernel"] == "vendor"


def test_one_file_is_one_measurement(tmp_path: Path) -> None:
    copy = shutil.copy(FIXTURES / "rteval.xml", tmp_path)
    with pytest.raises(UsageError, match="same measurement"):
        importer_of(FIXTURES / "rteval.xml").read([FIXTURES / "rteval.xml", Path(copy)], {})


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("cyclictest-2.4.txt", "# Max Latencies: 00890", "# Max Latencies: 00018", "line 107: latency of thread 0"),
        ("cyclictest-2.4.txt", "# Total: 000000996", "# Total: 000000995", "are not the 999 stated"),
        ("cyclictest-2.4.json", '"avg": 42.65', '"avg": 18.65', "mean 18.65"),
        ("jitterdebugger.json", '"max": 707', '"max": 70', "maximum 70"),
        ("rteval.xml", '<mean unit="us">5.6575', '<mean unit="us">7.6575', "mean 7.6575 is not that of"),
        ("hwlatdetect.txt", "Samples recorded: 4", "Samples recorded: 5", "4 samples are listed, and 5"),
        ("linuxcnc.txt", "   30 secs   base min: -11.211", "   30 secs   base min:  99.211", "order"),
        ("osnoise-top.txt", "99.95380         611", "99.95380         111", "mean 462.000"),
    ],
)  # fmt: skip
def test_contradictions_are_named_and_make_the_cell_invalid(
    name: str, before: str, after: str, said: str, tmp_path: Path
) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    path = written(tmp_path, text.replace(before, after, 1), name)
    measured = importer_of(path).read([path], {})
    assert measured.damaged
    assert any(str(path) in note for note in measured.notes)
    assert re.search(said, " ".join(measured.notes))
    as_run(measured, tmp_path / "run")
    (cell,) = RunFolder.open(tmp_path / "run").summaries()
    assert not cell.valid
    load_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("cyclictest-2.4.txt", "000050 ", "00005x ", r"line 53: "),
        ("cyclictest-2.4.txt", "000050 ", "000049 ", r"line 53: the row 49 follows the row 49"),
        ("cyclictest-raw.txt", "       0:       3:", "       0:       2:", "cycle 2 of thread 0 is not above"),
        ("cyclictest-2.4.json", '"cycles": 1000,', '"cycles": "no",', r"line \d+: thread"),
        ("cyclictest-2.4.json", '"num_threads": 2', '"num_threads": 3', "line 16: num_threads: 3 threads"),
        ("timerlat-hist.txt", "over: ", "ovr:  ", r"line \d+: "),
        ("timerlat-top.txt", "  1 #2000      |        2", "  1 #2000      |        x", 'line 5: "x" is not a number'),
        ("osnoise-top.txt", "#5           5000000         2310", "#5           5000000", "line 4: 9 figures"),
        ("rteval.xml", "</histogram>", "</histgram>", "line .*is not XML"),
        ("hwlatdetect.txt", "inner:187", "inner:-187", "line 19: .*is not a sample"),
        ("oslat-2.4.txt", "    020 (us):", "    019 (us):", "the bucket is not above"),
        ("linuxcnc.txt", "sdev:   0.912", "sdev:   0,912", "line 1: "),
        ("histogram.txt", "\n20 ", "\n2a ", 'line 21: "2a'),
        ("samples.csv", "\n0.100;", "\n0.1x0;", 'line 102: "0.1x0"'),
    ],
)  # fmt: skip
def test_an_altered_file_is_an_error_that_names_the_line(
    name: str, before: str, after: str, said: str, tmp_path: Path
) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    assert before in text
    path = written(tmp_path, text.replace(before, after, 1), name)
    file = BY_NAME[name]
    with pytest.raises(DamagedError, match=said):
        importer_of(path, file.format).read([path], {}, file.mapping)


@pytest.mark.parametrize("file", BY_NAME.values(), ids=lambda file: file.name)
def test_a_file_that_is_cut_is_an_error(file: File, tmp_path: Path) -> None:
    """In the middle of its last line; the report's list of cycles may be shorter, but not half a line."""
    data = file.path.read_bytes()
    path = tmp_path / file.name
    path.write_bytes(data.rstrip(b"\n")[:-1] if file.format != "jitterdebugger-raw" else data[:-1])
    with pytest.raises(DamagedError, match=r"line \d+|sample \d+") as raised:
        importer_of(path, file.format).read([path], {}, file.mapping)
    assert "again" in raised.value.remedy


@pytest.mark.parametrize("file", BY_NAME.values(), ids=lambda file: file.name)
def test_an_empty_file_is_an_error(file: File, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.touch()
    with pytest.raises((DamagedError, UsageError)):
        importer_of(path, file.format).read([path], {}, file.mapping)


def test_xml_that_declares_entities_is_refused(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "rteval.xml").read_text().replace("<rteval", '<!DOCTYPE r [<!ENTITY a "b">]>\n<rteval', 1)
    )
    path = written(tmp_path, text, "rteval.xml")
    with pytest.raises(DamagedError, match="document type"):
        importer_of(path, "rteval").read([path], {})


def test_a_csv_without_a_mapping_lists_its_columns(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        importer_of(FIXTURES / "samples.csv").read([FIXTURES / "samples.csv"], {})
    assert "time_s, core, latency_us" in error.value.remedy


def test_a_csv_of_values_and_counts_is_a_histogram(tmp_path: Path) -> None:
    path = written(tmp_path, "value,how_many\n1,5\n3,15\n", "counts.csv")
    cell = cell_of(path, tmp_path / "run", {"gap_us": "value", "count": "2"})
    assert cell.columns["gap_ns"].count == 20
    assert cell.columns["gap_ns"].mean == 2500
    assert cell.known.overflow is None


def test_the_format_of_jitterdebuggers_raw_samples_is_in_nanoseconds_where_its_results_say_so(
    tmp_path: Path,
) -> None:
    shutil.copy(FIXTURES / "jitterdebugger.raw", tmp_path / "samples.raw")
    written(tmp_path, '{\n  "sysinfo": {\n    "resolution_in_ns": 1\n  }\n}\n', "results.json")
    assert cell_of(tmp_path / "samples.raw", tmp_path / "run").columns[LATENCY].max == 76


def test_raw_samples_keep_their_order_and_threads(tmp_path: Path) -> None:
    cell = cell_of(FIXTURES / "cyclictest-raw.txt", tmp_path / "run")
    assert cell.accounting.recorded == 209
    (content,) = load_run(tmp_path / "run").cells
    assert content.bins is not None and content.bins.scatter is not None


def test_a_run_that_is_imported_again_stays_as_it_is(tmp_path: Path) -> None:
    path = FIXTURES / "cyclictest-2.4.txt"
    imported(path, tmp_path / "run")
    before = hashlib.sha256(
        (next((tmp_path / "run" / "cells").iterdir()) / "summary.json").read_bytes()
    ).digest()
    assert imported(path, tmp_path / "run").exit_code is ExitCode.DONE
    after = hashlib.sha256(
        (next((tmp_path / "run" / "cells").iterdir()) / "summary.json").read_bytes()
    ).digest()
    assert before == after


@pytest.mark.parametrize(("deadline_us", "late"), [(1, 2000), (99, 13), (500, 2), (1000, 1), (2000, 0)])
def test_misses_are_counted_as_far_as_they_are_known(deadline_us: int, late: int, tmp_path: Path) -> None:
    """13 samples lie beyond 100 us, the threads' maxima are 890 and 1,176 us."""
    imported(FIXTURES / "cyclictest-2.4.txt", tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    (summary,) = folder.summaries()
    deadline = recounted(folder.files(summary.id), summary, deadline_us * 1000).deadline
    assert deadline is not None and deadline.late == late
