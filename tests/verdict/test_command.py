"""`howlate verdict`: the sentence, the exit code, and the files for a CI job."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from cli.commands import STUDY, Run, is_a_sentence
from hostile.alter import reseal
from made_evidence import quiet
from statement_parts import parts_of_json
from store.runs import a_folder
from store.streams import header, points_stream, stream

SAMPLES = [int(value) for value in quiet(20_000)]
"""20 s at 1 ms, the largest value about 15 us."""


def measured(place: Path, deadline: str = "", **cells: list[int]) -> Path:
    """A run whose cells have these samples."""
    parameters = header()["parameters"] | ({"deadline": deadline} if deadline else {})
    changes = {"parameters": parameters}
    a_folder(place, {name: stream(values, header_changes=changes) for name, values in cells.items()})
    return place


GAPS = [
    *({"name": "index", "type": "i64"}, {"name": "gap_ns", "type": "i64", "answers": True}),
    {"name": "flags", "type": "u8"},
]


@pytest.fixture
def run(howlate: Run) -> Path:
    return measured(Path("runs") / "a", none=SAMPLES)


def test_the_exit_code_is_the_verdict(howlate: Run, run: Path) -> None:
    passed = howlate("verdict", run, "--deadline", "200us")
    assert passed.code == 0
    assert passed.out.startswith("PASS  deadline 200 us: none of 20,000 wake-ups missed it\n")
    assert howlate("verdict", run, "--deadline", "200us", "--all").out.startswith("PASS, as ")
    failed = howlate("verdict", run, "--deadline", "5us")
    assert failed.code == 1 and failed.out.startswith("FAIL  ")
    open_ = howlate("verdict", run, "--deadline", "200us", "--horizon", "30min")
    assert open_.code == 5 and open_.out.startswith("INCONCLUSIVE  ")
    assert "Measure 9 h 30 min longer" in " ".join(open_.out.split())


def test_misses_are_counted_on_samples(howlate: Run, run: Path) -> None:
    for limit_ns in (3_999, 4_000, max(SAMPLES)):
        value = json.loads(howlate("verdict", run, "--deadline", f"{limit_ns}ns", "--json").out)
        (row,) = value["rows"]
        assert row["misses"] == sum(sample > limit_ns for sample in SAMPLES)
        assert row["releases"] == 20_000 and row["max_ns"] == max(SAMPLES)


def test_the_files_of_a_ci_job(howlate: Run) -> None:
    """A case for each row: the one that fails is a failure. The summary begins with the sentence."""
    late = [*SAMPLES[:-1], 300_000]
    place = measured(Path("runs") / "b", none=SAMPLES, late=late)
    done = howlate("verdict", place, "--deadline", "200us", "--junit", "j.xml", "--summary", "s.md")
    assert done.code == 1
    suite = ElementTree.parse("j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    (failure,) = suite.findall("testcase/failure")
    assert str(failure.get("message")).startswith("FAIL: ")
    lines = Path("s.md").read_text().splitlines()
    assert lines[0].startswith("## FAIL: 1 of 2 ") and "200 µs" in lines[0]
    assert any(line.startswith("| row | verdict |") for line in lines)


@pytest.mark.parametrize(("rate", "named"), [((), "events/h"), (("--miss-rate", "1e-2"), "share at most")])
def test_late_events_stand_where_none_may_miss_and_a_share_where_a_rate_is_tolerated(
    howlate: Run, rate: tuple[str, ...], named: str
) -> None:
    place = Path("runs") / "w"
    a_folder(place, {load: stream(SAMPLES) for load in ("memory-alloc:100", "hackbench")})
    lines = howlate("verdict", place, "--deadline", "200us", *rate).out.splitlines()
    (heading,) = [line for line in lines if "  misses" in line]
    assert named in heading


@pytest.mark.parametrize("deadline", ["200us", "5us"])
def test_the_line_for_programs_is_of_the_first_row_where_none_is_valid(howlate: Run, deadline: str) -> None:
    """Clock sources that changed: nothing is certain of any row."""
    other = {"clocksource": {"before": "tsc", "after": "hpet"}}
    cells = {
        f"c{place}": stream([*SAMPLES[:1_000], max_ns], trailer_changes=other)
        for place, max_ns in enumerate((50_000, 90_000, 70_000))
    }
    place = Path("runs") / "n"
    a_folder(place, cells)
    *lines, line = howlate("verdict", place, "--deadline", deadline).out.splitlines()
    assert line.startswith("INCONCLUSIVE max=90.0us ")
    rows = [row for row in lines if row.startswith("?! ")]
    assert [re.findall(r"[\d.]+ us", row)[0] for row in rows] == ["90.0 us", "70.0 us", "50.0 us"]
    assert howlate("verdict", place, "--deadline", deadline, "--brief").out == f"{line}\n"


def test_a_stated_deadline_is_judged_wherever_the_run_is_shown(howlate: Run) -> None:
    place = measured(Path("runs") / "c", "200us", none=SAMPLES)
    assert howlate("verdict", place).code == 0
    assert howlate("show", place).out.startswith("PASS  deadline 200 us: none of 20,000 wake-ups missed it\n")
    shown = howlate("show", place, "--all").out
    assert shown.startswith("PASS, as ")
    assert "verdict" in shown.partition("Wake-up latency")[2]
    assert howlate("report", place, "-o", "page.html").code == 0
    page = Path("page.html").read_text()
    assert '<p class="verdict">PASS, as ' in page


def test_extrapolation_stands_apart_and_leaves_the_exit_code(howlate: Run) -> None:
    """One in 300,000 is later than 3 us + 2 us ln(300,000) = 28.2 us."""
    tail = np.random.default_rng(1).exponential(2_000, 30_000)
    place = measured(Path("runs") / "e", none=[3_000 + int(value) for value in tail])
    done = howlate("verdict", place, "--deadline", "200us", "--extrapolate")
    assert (
        done.code == 0
        and "Extrapolation" in done.out
        and "1 in 300,000 releases" in " ".join(done.out.split())
    )
    (row,) = json.loads(howlate("verdict", place, "--deadline", "200us", "--extrapolate", "--json").out)[
        "rows"
    ]
    assert row["outcome"] == "PASS" and 24_000 < row["extrapolation"]["level_ns"] < 33_000
    assert "Extrapolation" not in howlate("verdict", place, "--deadline", "200us").out


def test_a_refused_extrapolation_names_its_guard(howlate: Run) -> None:
    few = measured(Path("runs") / "f", none=SAMPLES[:5_000])
    refused = howlate("verdict", few, "--deadline", "200us", "--extrapolate", "--json")
    assert refused.code == 0
    assert "extrapolation.too-few" in parts_of_json(json.loads(refused.out)["rows"][0]["statements"])


def test_a_run_of_an_older_howlate_is_looked_at_again(howlate: Run) -> None:
    """Its summaries lack the tail: `show` says so, `verdict` makes it from the samples."""
    place = measured(Path("runs") / "d", "200us", none=SAMPLES)
    (cell,) = (place / "cells").iterdir()
    value = json.loads((cell / "summary.json").read_text())
    del value["tail"]
    (cell / "summary.json").write_text(json.dumps(value))
    (cell / "checksums.json").unlink()
    assert "verdict.not-looked" in parts_of_json(json.loads(howlate("show", place, "--json").out))
    assert howlate("verdict", place).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "measured without a deadline"),
        (["--deadline", "200"], "has no unit"),
        (["--deadline", "0"], "must be above 0"),
        (["--deadline", "1ms", "--miss-rate", "1"], "below 1"),
        (["--deadline", "1ms", "--confidence", "0.3"], "from 0.5 to below 1"),
        (["--deadline", "1ms", "--cluster", "0"], "at least 1,"),
        (["--deadline", "1ms", "--horizon", "0"], "needs --miss-rate"),
    ],
)
def test_a_wrong_question_is_a_sentence(howlate: Run, run: Path, options: list[str], words: str) -> None:
    done = howlate("verdict", run, *options)
    assert done.code == 2 and words in done.err
    assert is_a_sentence(done.err)


def names_in(path: str) -> list[str]:
    """Of the suite, and of each case its class and its own."""
    suite = ElementTree.parse(path).getroot()
    return [
        str(suite.get("name")),
        *(str(case.get(name)) for case in suite for name in ("classname", "name")),
    ]


def test_two_runs_of_a_study_have_the_same_names(howlate: Run) -> None:
    """Whatever their folders are called and whenever they were made, and whichever rows there are: a CI service keeps
    the history of a case by its name."""
    Path("mine.toml").write_text(STUDY)
    for out in ((), (), ("--out", "elsewhere")):
        howlate("run", "mine.toml", "--set", "deadline=1ms", *out)
    howlate("run", "mine.toml", "--set", "deadline=1ms", "--set", "load=cpu:50", "--out", "one")
    found = []
    for place in (*sorted(Path("runs").iterdir()), Path("elsewhere"), Path("one")):
        howlate("verdict", place, "--junit", "j.xml")
        found.append(names_in("j.xml"))
    assert found[:3] == [["mine", "mine", "none", "mine", "cpu:50"]] * 3
    assert found[3] == ["mine", "mine", "cpu:50"]


def test_a_study_of_one_point_is_a_case_of_its_name(howlate: Run) -> None:
    text = STUDY.partition("[axes]")[0]
    Path("mine.toml").write_text(text)
    for out in ("a", "b"):
        howlate("run", "mine.toml", "--set", "deadline=1ms", "--out", out)
        howlate("verdict", out, "--junit", "j.xml")
        assert names_in("j.xml") == ["mine"] * 3


def test_without_a_deadline_nothing_is_judged_and_what_was_seen_is_said(howlate: Run, run: Path) -> None:
    """Wrong usage, so that no job goes on as if it had passed."""
    done = howlate("verdict", run)
    said = " ".join(done.err.split())
    assert done.code == 2 and is_a_sentence(done.err)
    assert "10 \u00b5s: 1 in " in said and "100 \u00b5s: never" in said
    shown = howlate("show", run, "--json")
    value = json.loads(shown.out)
    assert "verdicts" not in value
    steps = {step["deadline_ns"]: step["misses"] for step in value["ladder"]["steps"]}
    assert steps == {ns: sum(sample > ns for sample in SAMPLES) for ns in (1_000, 10_000, 100_000)}
    first = howlate("show", run).out
    assert first.startswith("max 13.0 us  20,000 wake-ups\n") and "FAIL" not in first and "PASS" not in first
    text = howlate("show", run, "--all").out
    assert text.startswith("Largest wake-up latency") and "FAIL" not in text and "PASS" not in text


def test_a_test_that_measures_no_latency_has_no_verdict(howlate: Run) -> None:
    columns = [{**column, "answers": False} for column in header()["tables"][0]["columns"]]
    tables = [{**header()["tables"][0], "columns": columns}, *header()["tables"][1:]]
    a_folder(Path("runs") / "c", {"one": stream(SAMPLES[:500], header_changes={"tables": tables})})
    done = howlate("verdict", Path("runs") / "c", "--deadline", "1us")
    assert done.code == 2 and "be a latency" in done.err and is_a_sentence(done.err)
    assert howlate("show", Path("runs") / "c").code == 0


def test_a_rate_of_gaps_is_refused(howlate: Run) -> None:
    gaps = points_stream(
        {"gap_ns": [9_000] * 30},
        trailer_changes={"outcomes": {"watched_ns": 10**9}},
        header_changes={"tables": [{"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": GAPS}]},
    )
    a_folder(Path("g"), {"none": gaps, "late": stream(SAMPLES)})
    refused = howlate("verdict", "g", "--deadline", "1ms", "--miss-rate", "1e-3")
    assert refused.code == 2 and is_a_sentence(refused.err) and "waits for gaps" in refused.err
    assert howlate("verdict", "g", "--deadline", "1us").code == 1


def of_test(test: str, column: str, answers: bool | None, watched: bool = False) -> bytes:
    """A cell of a test whose only column is declared, is none that is judged, or (None) of an older howlate."""
    told = {} if answers is None else {"answers": answers}
    types = [{"name": "index", "type": "i64"}, {"name": column, "type": "i64"} | told]
    tables = [{"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": [*types, GAPS[-1]]}]
    changes = {"test": test, "tables": tables}
    outcomes = {"outcomes": {"watched_ns": 10**9}} if watched else {}
    return points_stream(
        {column: [value + 100_000 for value in SAMPLES[:100]]},
        header_changes=changes,
        trailer_changes=outcomes,
        test=test,
    )


def test_each_test_of_a_mixed_run_has_the_sentence_that_is_its_own(howlate: Run) -> None:
    clock, irq = of_test("clock", "dt_ns", False), of_test("irq", "irq_latency_ns", None)
    gaps = of_test("hardware-gap", "gap_ns", True, watched=True)
    a_folder(Path("none"), {"clock": clock, "irq": irq})
    refused = howlate("verdict", "none", "--deadline", "1ms")
    assert refused.code == 2 and is_a_sentence(refused.err)
    assert "clock" in refused.err and "irq" in refused.err
    a_folder(Path("some"), {"clock": clock, "irq": irq, "gaps": gaps, "late": stream(SAMPLES)})
    value = json.loads(howlate("verdict", "some", "--deadline", "8us", "--json").out)
    told = {each["rule"]: each["values"] for each in value["statements"]}
    assert told["verdict.unjudged"] == {"tests": ["clock", "irq"]}
    counted = {row["row"]: parts_of_json(row["statements"][0]).keys() for row in value["rows"]}
    assert "verdict.gaps" in counted["hardware-gap · gaps"] and "verdict.missed" in counted["cyclic · late"]
    seen = howlate("show", "some", "--all").out
    assert " test=clock " not in seen.splitlines()[-1] and "(clock" not in seen.splitlines()[0]
    assert "Watched 1 s, hardware-gap" in " ".join(seen.split())


def test_check_without_a_deadline_cannot_be_until_decided(howlate: Run) -> None:
    done = howlate("check", "--until-decided", "--miss-rate", "1e-3", "--no-wait")
    assert done.code == 2 and "--deadline 200us" in done.err


def test_a_repetition_without_a_deadline_keeps_its_row_from_passing(howlate: Run) -> None:
    """As the command reads it: its samples are not read for a deadline, and it is not forgotten."""
    one, other = (f"none-0123456789-{number}" for number in (1, 2))
    streams = {
        name: stream(SAMPLES, header_changes={"parameters": header()["parameters"] | more})
        for name, more in ((one, {"deadline": "200us"}), (other, {}))
    }
    folder = a_folder(Path("run"), streams, {name: {"load": "none"} for name in streams})
    summary = folder.cell_path(other) / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"repetition": 2}))
    reseal(summary.parent)
    judged = howlate("verdict", "run", "--json")
    assert (judged.code, json.loads(judged.out)["outcome"]) == (5, "INCONCLUSIVE")
    assert howlate("verdict", "run", "--deadline", "200us").code == 0
