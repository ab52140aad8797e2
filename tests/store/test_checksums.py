"""What was altered after it was measured is noticed, and never shown as if it had been measured."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from howlate.__main__ import main
from howlate.cli import howlate
from howlate.errors import DamagedError
from howlate.measure.session import reopen
from howlate.model.run import Run
from howlate.model.seal import CHECKSUM
from howlate.statistics.summary_contradictions import contradiction
from howlate.store.checksums import CHECKSUMS
from howlate.store.export import find_format
from howlate.store.loaded import load_run
from howlate.store.run_folder import BINS, CELL, FINISHED, RUN, SAMPLES, SUMMARY, RunFolder
from howlate.store.summarise import bins_of
from howlate.words.say import english
from howlate.words.statement import Statement
from sentences import values_of

from .runs import a_folder, a_run
from .streams import stream


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return a_folder(tmp_path / "run", {"a": stream(list(range(100, 300))), "b": stream([7, 9, 8])})


def edit(path: Path, change: Callable[[dict[str, object]], None]) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def set_maximum(value: dict[str, object], maximum: int) -> None:
    value["columns"]["latency_ns"]["max"] = maximum  # type: ignore[index]


def test_what_nobody_touched_is_as_it_was(folder: RunFolder) -> None:
    assert [summary.valid for summary in folder.summaries()] == [True, True]
    assert [folder.differences(cell) for cell in folder.whole_cells()] == [[], []]
    assert all(summary.warnings == () for summary in folder.summaries())


@pytest.mark.parametrize("name", [SUMMARY, CELL])
def test_an_altered_record_is_damaged(folder: RunFolder, name: str) -> None:
    edit(folder.cell_path("a") / name, lambda value: value.update(extra=1))
    with pytest.raises(DamagedError, match=rf"{name} was changed"):
        folder.summary("a")


def test_a_changed_digit_of_a_summary_is_damaged(folder: RunFolder) -> None:
    """Of the same length, and in itself possible."""
    path = folder.cell_path("a") / SUMMARY
    path.write_text(path.read_text(encoding="utf-8").replace('"max": 299', '"max": 298'), encoding="utf-8")
    with pytest.raises(DamagedError, match="was changed after it was measured"):
        folder.summary("a")


def test_a_summary_that_contradicts_itself_is_damaged_without_checksums(folder: RunFolder) -> None:
    path = folder.cell_path("a")
    (path / CHECKSUMS).unlink()
    edit(path / SUMMARY, lambda value: set_maximum(value, 1))
    with pytest.raises(DamagedError, match=r"contradicts itself: latency_ns: max 1 is below quantile"):
        folder.summary("a")


def test_figures_that_no_samples_can_have_contradict_each_other(folder: RunFolder) -> None:
    path = folder.cell_path("a")
    (path / CHECKSUMS).unlink()
    edit(path / SUMMARY, lambda value: set_maximum(value, 1_000_000_000))
    with pytest.raises(DamagedError, match="deviation-too-small"):
        folder.summary("a")


def test_samples_of_another_measurement_make_the_cell_invalid(folder: RunFolder) -> None:
    shutil.copy(folder.cell_path("b") / SAMPLES, folder.cell_path("a") / SAMPLES)
    summary = folder.summary("a")
    assert not summary.valid
    assert "samples.parquet was" in english(summary.warnings[0])
    with pytest.raises(DamagedError, match="samples"):
        find_format("csv").write(folder, folder.path / "out.csv", ("a",))
    assert find_format("csv").write(folder, folder.path / "out.csv", ("b",)) == 3


def test_truncated_samples_make_the_cell_invalid(folder: RunFolder) -> None:
    path = folder.cell_path("a") / SAMPLES
    path.write_bytes(path.read_bytes()[:-10])
    assert not folder.summary("a").valid
    assert not load_run(folder.path).cells[0].summary.valid


def test_a_byte_in_the_middle_is_found_where_samples_are_read(tmp_path: Path) -> None:
    """`show` looks at the end of the file alone; who reads the samples, or verifies, looks at all of it."""
    values = np.random.default_rng(1).integers(0, 1 << 40, 50_000).tolist()
    folder = a_folder(tmp_path / "run", {"a": stream(values)})
    path = folder.cell_path("a") / SAMPLES
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    assert folder.summary("a").valid
    (difference,) = folder.differences("a")
    assert difference.startswith("samples.parquet was changed")
    with pytest.raises(DamagedError, match="was changed after it was measured"):
        find_format("parquet").write(folder, tmp_path / "out.parquet", ())
    (folder.cell_path("a") / BINS).unlink()
    with pytest.raises(DamagedError, match="was changed after it was measured"):
        bins_of(folder.files("a"))


def test_missing_samples_are_mentioned(folder: RunFolder) -> None:
    (folder.cell_path("a") / SAMPLES).unlink()
    summary = folder.summary("a")
    assert summary.valid
    assert english(summary.warnings[0]).startswith("samples.parquet is missing")


def test_altered_bins_are_made_again_from_the_samples(folder: RunFolder) -> None:
    before = folder.files("a").bins()
    edit(folder.cell_path("a") / BINS, lambda value: value.update(extra=1))
    assert bins_of(folder.files("a")) == before


def test_a_cell_that_is_gone_is_not_called_unmeasured(folder: RunFolder) -> None:
    (folder.cell_path("a") / SUMMARY).unlink()
    shutil.rmtree(folder.cell_path("b"))
    _session, tally = reopen(folder)
    said = {failure.cell.id: failure.statement for failure in tally.failures}
    assert {statement.rule for statement in said.values()} == {"run.cell-gone"}
    assert said["a"].values["file"] == str(folder.cell_path("a") / SUMMARY)
    assert said["a"].values["remedy"].values["cell"] == str(folder.cell_path("a"))
    assert "Statement(" not in english(said["a"])
    assert said["b"].values["file"] == str(folder.cell_path("b"))


def test_a_cell_whose_summary_is_gone_is_not_measured_over(folder: RunFolder) -> None:
    (folder.cell_path("a") / SUMMARY).unlink()
    with pytest.raises(DamagedError) as caught:
        folder.start_cell("a")
    assert caught.value.statement.rule == "store.no-summary"
    assert (folder.cell_path("a") / SAMPLES).is_file()


def test_verify_names_every_file_that_is_not_as_it_was(folder: RunFolder) -> None:
    whole = CliRunner().invoke(howlate, ["show", "--verify", str(folder.path)], standalone_mode=False)
    assert whole.return_value == 0 and whole.output.startswith("2 cells ")
    (folder.cell_path("a") / SAMPLES).unlink()
    shutil.rmtree(folder.cell_path("b"))
    found = CliRunner().invoke(howlate, ["show", "--verify", str(folder.path)], standalone_mode=False)
    assert found.return_value == 4
    assert "cells/a: samples.parquet is missing" in found.output
    assert "cells/b: it was whole" in found.output


@pytest.mark.parametrize(
    "argv",
    [
        ["show"],
        ["show", "--json"],
        ["show", "--verify"],
        ["report"],
        ["compare", "--by", "load"],
        ["export", "--format", "csv"],
        ["doctor", "--run"],
    ],
)
def test_an_altered_run_is_noticed(
    folder: RunFolder, argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel's name, a list of CPUs or a warning that somebody wrote into run.json is never shown."""
    monkeypatch.chdir(tmp_path)
    facts: dict[str, object] = {"facts": 1, "values": {"kernel.release": "6.1", "cpu.online": "0-1"}}
    folder.write_run(replace(folder.read_run(), facts=facts))
    argv = [*argv, str(folder.path)]
    assert CliRunner().invoke(howlate, argv, standalone_mode=False).exception is None
    path = folder.path / RUN
    path.write_text(path.read_text(encoding="utf-8").replace('"6.1"', '"6.9"'), encoding="utf-8")
    found = CliRunner().invoke(howlate, argv, standalone_mode=False)
    assert isinstance(found.exception, DamagedError)
    assert found.exception.exit_code == 4
    values = values_of(found.exception)
    assert values["file"].endswith("run.json") and values["problem"].rule == "model.changed-since"
    assert found.exception.remedy


def test_what_howlate_writes_into_a_run_later_is_as_it_was(folder: RunFolder) -> None:
    folder.write_run(replace(folder.read_run(), warnings=(Statement.verbatim("gone on"),)))
    assert RunFolder.open(folder.path).read_run().warnings == (Statement.verbatim("gone on"),)


def test_a_run_of_an_older_howlate_stays_readable(folder: RunFolder) -> None:
    for cell in folder.whole_cells():
        (folder.cell_path(cell) / CHECKSUMS).unlink()
    (folder.path / FINISHED).unlink()
    edit(folder.path / RUN, lambda value: value.__delitem__(CHECKSUM))
    assert [summary.valid for summary in folder.summaries()] == [True, True]
    assert len(load_run(folder.path).cells) == 2
    said = CliRunner().invoke(howlate, ["show", "--verify", str(folder.path)], standalone_mode=False)
    assert "2 of 2 cells" in said.output
    assert "run.json has no" in said.output


def test_checksums_that_are_gone_are_no_older_howlates(folder: RunFolder) -> None:
    first, *_ = folder.whole_cells()
    (folder.cell_path(first) / CHECKSUMS).unlink()
    said = CliRunner().invoke(howlate, ["show", "--verify", str(folder.path)], standalone_mode=False)
    assert said.return_value == 4
    assert said.output == f"cells/{first}: checksums.json is missing\n"


@pytest.mark.parametrize(
    "latencies", [[5], [5, 5], [1, 2], [0, 0, 10**9], [3] * 1000 + [10**12], list(range(1000)), [-5, 5]]
)
def test_real_samples_never_contradict_themselves(tmp_path: Path, latencies: list[int]) -> None:
    folder = a_folder(tmp_path / "run", {"a": stream(latencies)})
    assert contradiction(folder.summary("a")) == ""


def test_a_cell_of_another_run_is_refused_by_all_that_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its id, its checksums and its samples are in order; both runs began in the same second."""
    run = a_run("none", "late")
    streams = {"none": stream([5_000] * 100), "late": stream([7_000] * 100)}
    ours = a_folder(tmp_path / "ours", streams, run=replace(run, token="ours"))
    theirs = a_folder(tmp_path / "theirs", streams, run=replace(run, token="theirs"))
    shutil.rmtree(ours.cell_path("late"))
    shutil.copytree(theirs.cell_path("late"), ours.cell_path("late"))
    options = {
        "show": [],
        "verdict": ["--deadline", "1s"],
        "export": ["--format", "csv", "-o", str(tmp_path / "o")],
        "report": [],
    }
    for words in (["show", "--verify"], *([name, *more] for name, more in options.items())):
        assert main([words[0], str(ours.path), *words[1:]]) == 4
        said = "".join(capsys.readouterr())
        assert "cells/late is not a cell" in said, (words, said)


def test_a_cell_of_a_run_with_a_token_is_refused_by_an_older_run(tmp_path: Path) -> None:
    streams = {"none": stream([5_000] * 100)}
    ours = a_folder(tmp_path / "ours", streams)
    theirs = a_folder(tmp_path / "theirs", streams, run=replace(a_run("none"), token="theirs"))
    shutil.rmtree(ours.cell_path("none"))
    shutil.copytree(theirs.cell_path("none"), ours.cell_path("none"))
    with pytest.raises(DamagedError, match="not a cell of this run"):
        ours.summary("none")


def test_a_cell_that_does_not_say_its_run_is_named_where_it_is_verified(tmp_path: Path) -> None:
    """An older howlate's, or one of another run with checksums made for it."""
    run = a_folder(tmp_path / "run", {"none": stream([5] * 9)}, run=replace(a_run("none"), token="ours"))
    edit(run.cell_path("none") / CHECKSUMS, lambda value: value.__delitem__("run"))
    assert run.summary("none").valid
    (difference,) = run.differences("none")
    assert difference.startswith(CHECKSUMS)


def test_run_json_is_read_once_for_all_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"c{number}" for number in range(20)]
    a_folder(tmp_path / "run", {name: stream([5] * 9) for name in names})
    reads: list[Path] = []
    whole = RunFolder.read_run

    def read(self: RunFolder) -> Run:
        reads.append(self.path)
        return whole(self)

    monkeypatch.setattr(RunFolder, "read_run", read)
    folder = RunFolder.at(tmp_path / "run")
    for name in names:
        folder.files(name).summary()
        shutil.move(folder.cell_path(name), folder.part_path(name))
        folder.finish_cell(name)
    assert len(reads) == 1
