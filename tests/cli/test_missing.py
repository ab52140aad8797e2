"""A measured cell that is gone, and a planned one that was never measured: both are named, and nothing passes."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.commands import Run
from howlate.__main__ import main
from howlate.document.missing import GONE, UNMEASURED
from howlate.history import catalogue
from howlate.store.run_folder import FINISHED, RunFolder
from howlate.words.say import english
from made_evidence import quiet
from store.runs import a_folder, a_run
from store.streams import header, stream

SAMPLES = [int(value) for value in quiet(20_000)]
CELLS = {"none": SAMPLES, "late": [*SAMPLES[:-1], 2_000_000], "quiet": SAMPLES}


def measured(place: Path, *cells: str, planned: tuple[str, ...] = ()) -> Path:
    changes = {"parameters": header()["parameters"] | {"deadline": "1ms"}}
    streams = {cell: stream(CELLS[cell], header_changes=changes) for cell in cells}
    return a_folder(place, streams, run=a_run(*cells, *planned)).path


def without_summary(run: Path, cell: str) -> None:
    (run / "cells" / cell / "summary.json").unlink()


def without_folder(run: Path, cell: str) -> None:
    shutil.rmtree(run / "cells" / cell)


LOSSES = pytest.mark.parametrize("lose", [without_summary, without_folder])
VERDICT = ("verdict", "--deadline", "200us")
LEFT_OUT = re.compile(r"^! \S*\bother is left out: .*\brun\.json\b", re.MULTILINE)


@LOSSES
def test_without_a_measured_cell_nothing_passes(howlate: Run, lose: Callable[[Path, str], None]) -> None:
    run = measured(Path("run"), "none", "quiet")
    argv = (VERDICT[0], run, *VERDICT[1:])
    assert howlate(*argv).code == 0
    lose(run, "quiet")
    done = howlate(*argv, "--junit", "j.xml", "--summary", "s.md")
    assert (done.code, done.out[:12]) == (4, "INCONCLUSIVE")
    assert "not measured: quiet" in done.out
    value = json.loads(howlate(*argv, "--json").out)
    assert (value["outcome"], value["gone"], value["unmeasured"]) == ("INCONCLUSIVE", ["quiet"], [])
    assert [told["rule"] for told in value["statements"][:2]] == ["missing.no-pass", "missing.gone"]
    suite = ElementTree.parse("j.xml").getroot()
    assert [case.get("name") for case in suite if case.find("error") is not None] == ["missing.gone"]
    assert Path("s.md").read_text().startswith("## INCONCLUSIVE")


def test_a_miss_that_was_seen_still_fails(howlate: Run) -> None:
    run = measured(Path("run"), "none", "late")
    without_folder(run, "none")
    done = howlate("verdict", run)
    assert done.code == 1 and "not measured: no load" in done.out


def test_where_all_is_gone_the_run_is_damaged(howlate: Run) -> None:
    run = measured(Path("run"), "none")
    without_folder(run, "none")
    assert howlate("verdict", run).code == 4


def test_the_plan_says_what_there_must_be(howlate: Run) -> None:
    """Also where finished.txt does not."""
    run = measured(Path("run"), "none", "quiet")
    without_folder(run, "quiet")
    (run / FINISHED).write_text("none\n")
    value = json.loads(howlate(VERDICT[0], run, *VERDICT[1:], "--json").out)
    assert (value["outcome"], value["gone"], value["unmeasured"]) == ("INCONCLUSIVE", [], ["quiet"])
    assert howlate(VERDICT[0], run, *VERDICT[1:]).code == 5


@LOSSES
def test_every_reader_names_it(howlate: Run, lose: Callable[[Path, str], None]) -> None:
    run = measured(Path("runs") / "a", "none", "late", "quiet")
    lose(run, "quiet")
    for argv, code in (
        (("report", run), 4),
        (("compare", run, "--by", "load"), 4),
        (("export", run, "--format", "csv", "-o", "out.csv"), 4),
        (("show", run), 4),
        (("show", run, "--json"), 4),
        (("show", run, run), 4),
        (("why", run), 4),
        (("history", "runs"), 4),
        (("query", "select count(*) from cells", "runs"), 4),
        (("query", "select count(*) from samples", "runs"), 4),
    ):
        done = howlate(*argv)
        assert done.code == code and "quiet" in done.out + done.err, (argv, done)


def test_every_reader_names_what_was_never_measured(howlate: Run) -> None:
    run = measured(Path("runs") / "a", "none", "late", planned=("quiet",))
    sentence = english(UNMEASURED(cells=("quiet",), count=1))
    for argv in (
        ("report", run),
        ("compare", run, "--by", "load"),
        ("export", run, "--format", "csv", "-o", "out.csv"),
        ("export", run, "--format", "text3", "-o", "-"),
        ("show", run),
        ("show", run, "--json"),
        ("show", run, "--verify"),
        ("why", run),
        ("history", "runs"),
        ("query", "select count(*) from cells", "runs"),
        ("query", "select count(*) from samples", "runs"),
    ):
        done = howlate(*argv)
        assert (done.code, sentence in done.err) == (5, True), (
            argv,
            done,
        )


def test_it_is_named_before_a_refusal_of_the_rest(howlate: Run) -> None:
    run = measured(Path("run"), "none", "quiet")
    without_folder(run, "quiet")
    done = howlate("export", run, "--format", "perfetto", "-o", "out.json")
    assert done.code == 4 and done.err.index("quiet") < done.err.index("with its events")


def test_changed_samples_are_named_where_figures_are_left_out(howlate: Run) -> None:
    run = measured(Path("runs") / "a", "none", "late", "quiet")
    samples = run / "cells" / "late" / "samples.parquet"
    samples.write_bytes(samples.read_bytes()[:-1])
    for argv in (
        ("report", run),
        ("show", run),
        ("show", run, "--json"),
        ("compare", run, "--by", "load"),
        ("why", run),
        ("history", "runs"),
        ("query", "select max(max_ns) from cells join statistics using (run, cell) where valid", "runs"),
    ):
        done = howlate(*argv)
        assert (done.code, "cells/late" in done.err) == (4, True), (argv, done)


@pytest.mark.parametrize("planned", [(), ("never",)])
def test_an_index_does_not_hide_it(
    howlate: Run, planned: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "SETTLED_NS", 0)
    run = measured(Path("runs") / "a", "none", "quiet", planned=planned)
    if not planned:
        without_folder(run, "quiet")
    for _ in range(2):
        done = howlate("query", "select count(*) from cells", "runs")
        assert done.code == (5 if planned else 4) and (planned or ("quiet",))[0] in done.err
    assert (Path("runs") / catalogue.INDEX).exists() is bool(planned)


@pytest.mark.parametrize("other", ["pipe", "link", "nothing"])
def test_a_run_whose_run_json_is_no_file_is_named(howlate: Run, other: str) -> None:
    """Among others, and alone."""
    whole, run = (measured(Path("runs") / name, "none") for name in ("whole", "other"))
    (run / "run.json").unlink()
    if other == "pipe":
        os.mkfifo(run / "run.json")
    elif other == "link":
        (run / "run.json").symlink_to("../whole/run.json")
    refused = howlate("query", "select count(*) from samples", run)
    assert refused.code == 4 and LEFT_OUT.search(refused.err)
    assert howlate("query", "select no_such_column", "runs").code == 2
    for place in ("runs", run):
        done = howlate("query", "select count(*) from runs", place)
        assert done.code == 4 and LEFT_OUT.search(done.err), done
    assert howlate("query", "select count(*) from runs", whole).code == 0


def test_a_finished_file_that_is_no_text_is_a_sentence(howlate: Run) -> None:
    run = measured(Path("run"), "none")
    (run / FINISHED).write_bytes(b"none\n\xe2")
    for argv in (("show", run, "--verify"), ("verdict", run), ("report", run)):
        assert howlate(*argv).code == 4


def test_finishing_a_cell_keeps_the_lines_before(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", "none", "quiet")
    assert (run / FINISHED).read_text() == "none\nquiet\n"
    assert RunFolder(run).finished_cells() == {"none", "quiet"}


def test_where_all_cells_are_gone_the_run_is_damaged_and_not_the_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_folder(tmp_path / "run", {"none": stream([5] * 100), "late": stream([9] * 100)}).path
    shutil.rmtree(run / "cells")
    (run / "cells").mkdir()
    for words in (["compare", run, "--by", "load"], ["report", run, "-o", tmp_path / "page.html"]):
        assert main([str(word) for word in words]) == 4
        assert english(GONE(cells=("late", "none"), count=2)) in capsys.readouterr().err
    assert "not measured yet" not in (tmp_path / "page.html").read_text()
