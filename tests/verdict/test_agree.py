"""The adversary of the verdict: runs whose worst is in each of the columns, CPUs and repetitions in turn. The page,
`show --json`, `verdict`, its JSON and JUnit, and the exit codes of `verdict`, `check` and `run` say the same."""

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.cli._measure import exit_code_of
from howlate.document.of_runs import show_json
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.errors import ExitCode, UsageError
from howlate.model.plan import Cell, Plan
from howlate.store.ingest import ingest
from howlate.store.loaded import load_run
from howlate.store.run_folder import STREAM, RunFolder
from howlate.store.summarise import summarise
from howlate.verdict.document import junit, opening
from howlate.verdict.judge import Judged, stated
from howlate.verdict.of_run import verdicts_of
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.verdict_json import verdict_json
from howlate.verdict.whole import EXIT_CODES, outcome_of
from howlate.words.say import english
from probe.drive import probe_list
from store.runs import a_run
from store.streams import StreamWriter, account, header, points_stream, rows, trailer

N = 3_000
DEADLINE_NS = 200_000
PASS, FAIL, OPEN = Ruling.PASS, Ruling.FAIL, Ruling.INCONCLUSIVE
NAMES = ("cs1_ns", "wait_ns", "cs2_ns")


def calm(seed: int) -> list[int]:
    return [int(v) for v in np.random.default_rng(seed).integers(4_000, 9_000, N)]


def missed(seed: int) -> list[int]:
    return [*calm(seed)[:-7], 250_000, *calm(seed)[:6]]


def rising(seed: int) -> list[int]:
    return [value + 60 * at for at, value in enumerate(calm(seed))]


OUTCOMES = {calm: PASS, missed: FAIL, rising: OPEN}


def of_points(columns: Mapping[str, Sequence[int]], answers: Sequence[str]) -> bytes:
    """A cell of a test of data points with these columns, in this order."""
    n = len(next(iter(columns.values())))
    types = [{"name": "index", "type": "i64"}, {"name": "time_ns", "type": "i64"}]
    types += [{"name": name, "type": "i64"} for name in columns]
    types += [{"name": "flags", "type": "u8"}]
    told = [one | {"answers": one["name"] in answers} for one in types]
    tables = [{"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": told}]
    changes = {"tables": tables, "parameters": {"deadline": f"{DEADLINE_NS}ns", "policy": "fifo:80"}}
    times = [at * 1_000_000 for at in range(n)]
    return points_stream(columns, time_ns=times, header_changes=changes)


def of_cpus(values: Sequence[Sequence[int]]) -> bytes:
    """A cell of a schedule that measured on several CPUs."""
    out = io.BytesIO()
    asked = header()["parameters"] | {"deadline": f"{DEADLINE_NS}ns"}
    writer = StreamWriter(out, header(len(values), parameters=asked))
    for thread, latencies in enumerate(values):
        writer.batch(thread, rows(latencies, range(len(latencies))), releases=len(latencies))
    own = [account(thread, latencies, range(len(latencies))) for thread, latencies in enumerate(values)]
    writer.trailer(trailer(own))
    return out.getvalue()


def a_row(path: Path, *streams: bytes) -> Path:
    """A run of one point with these repetitions."""
    labels = {"load": "none"}
    ids = [f"point-0123456789-{number}" for number in range(1, len(streams) + 1)]
    cells = tuple(Cell(name, "made", {}, labels, number, 1.0) for number, name in enumerate(ids, 1))
    folder = RunFolder.create(path, replace(a_run(), plan=Plan(cells)))
    for number, (name, data) in enumerate(zip(ids, streams, strict=True), 1):
        part = folder.start_cell(name)
        (part / STREAM).write_bytes(data)
        ingest(part / STREAM, part)
        (part / STREAM).unlink()
        summarise(part, name, labels, repetition=number)
        folder.finish_cell(name)
    return path


def everywhere(path: Path) -> Judged:
    """The row, of which each place says the same."""
    content = load_run(path)
    rows = verdicts_of(path, load_run(path, bins=False, kernels=False), Question(0))
    page = stated(content)
    told = [json.dumps(verdict_json(row.verdict, row.others)) for row in rows]
    assert told == [json.dumps(verdict_json(row.verdict, row.others)) for row in page]
    shown: dict[str, Any] = json.loads(show_json(ReportInput([content], TERMINAL)))
    assert shown["verdicts"] == [json.loads(text) for text in told]
    outcome = outcome_of([row.verdict for row in rows])
    headline = opening([row.verdict for row in page], content)[0]
    assert english(headline).startswith((f"{outcome}: ", f"{outcome}, as far as "))
    suite = ElementTree.fromstring(junit("made", [""] * len(rows), [row.verdict for row in rows]))
    assert (suite.get("failures"), suite.get("errors")) == (
        str(int(outcome is FAIL)),
        str(int(outcome is OPEN)),
    )
    assert exit_code_of(ExitCode.DONE, content) is EXIT_CODES[outcome]
    (row,) = rows
    return row


@pytest.mark.parametrize(
    ("worst", "kind"), [("cs1_ns", calm), *((name, kind) for name in NAMES for kind in (missed, rising))]
)
def test_the_worst_column_decides_whatever_the_order(kind: Any, worst: str, tmp_path: Path) -> None:
    """Its place among the columns changes nothing, and neither do columns that are not judged."""
    values = {name: (kind if name == worst else calm)(seed) for seed, name in enumerate(NAMES)}
    beside = {"made_up_ns": missed(9)}
    found = []
    for number, order in enumerate((NAMES, NAMES[::-1])):
        columns = {name: values[name] for name in order}
        columns = {**beside, **columns} if number else {**columns, **beside}
        row = everywhere(a_row(tmp_path / f"r{number}", of_points(columns, NAMES)))
        found.append(json.dumps(verdict_json(row.verdict)))
        assert row.verdict.outcome is OUTCOMES[kind]
        if kind is not calm:
            assert row.verdict.evidence.column == worst
            assert {other.outcome for other in row.others} == {PASS}
    assert len(set(found)) == 1


SEVERAL = [
    *(("user_ns", "syscall_ns"), ("inherit_ns", "plain_ns"), ("timer_ns", "pipe_ns")),
    *(("inner_ns", "outer_ns"), ("base_jitter_ns", "servo_jitter_ns"), NAMES[:2]),
]
"""Columns of tests and formats that have several which answer "how late" (tests/probe and tests/imports,
test_answers.py)."""


@pytest.mark.parametrize("names", SEVERAL, ids=lambda names: names[0])
def test_a_trend_is_that_of_its_own_column(names: tuple[str, str], tmp_path: Path) -> None:
    """Whether the column beside it, which has none, comes first and has the larger values, or not."""
    cases = zip(itertools.permutations(names), (0, 190_000), strict=True)
    for number, (order, level) in enumerate(cases):
        columns = {order[0]: [value + level for value in calm(1)], order[1]: rising(2)}
        row = everywhere(a_row(tmp_path / str(number), of_points(columns, names)))
        assert row.verdict.evidence.column == order[1]
        assert {told.rule for told in row.verdict.stretch.forbids} == {"verdict.rising"}


@pytest.mark.parametrize("worst", [0, 1, 2])
def test_the_worst_repetition_decides_in_whichever_column(worst: int, tmp_path: Path) -> None:
    """The columns that were latest differ from one repetition to the next, and only one of them missed."""
    streams = []
    for number in range(3):
        columns = {name: calm(10 * number + at) for at, name in enumerate(NAMES)}
        columns[NAMES[number]] = [value + 50_000 for value in columns[NAMES[number]]]
        if number == worst:
            columns[NAMES[number]][5] = 300_000
        streams.append(of_points(columns, NAMES))
    row = everywhere(a_row(tmp_path / "run", *streams))
    evidence = row.verdict.evidence
    assert (row.verdict.outcome, evidence.column) == (FAIL, NAMES[worst])
    assert (evidence.deadline.misses, evidence.deadline.releases, evidence.repetitions) == (1, 3 * N, 3)


@pytest.mark.parametrize("worst", [0, 1, 2])
def test_the_worst_cpu_is_named(worst: int, tmp_path: Path) -> None:
    values = [(missed if cpu == worst else calm)(cpu) for cpu in range(3)]
    row = everywhere(a_row(tmp_path / "run", of_cpus(values)))
    counts = row.verdict.evidence.deadline
    assert row.verdict.outcome is FAIL and counts.worst_cpu == str(worst)
    content = load_run(tmp_path / "run")
    for deadline_ns, wanted in ((DEADLINE_NS, str(worst)), (300_000, "0")):
        (asked,) = verdicts_of(tmp_path / "run", content, Question(deadline_ns, 1e-2, 0))
        assert (asked.verdict.outcome, asked.verdict.rate.releases) == (PASS, N)
        assert asked.verdict.rate.cpu == wanted if deadline_ns == DEADLINE_NS else asked.verdict.rate.cpu
    assert {cpu: of.misses for cpu, of in counts.by_cpu.items()} == {
        str(cpu): int(cpu == worst) for cpu in range(3)
    }


def test_a_run_of_an_older_howlate_passes_nowhere_that_its_samples_do_not(tmp_path: Path) -> None:
    """It kept the misses of the column that was latest, and the tail of the first one."""
    path = a_row(
        tmp_path / "run",
        of_points({"user_ns": rising(1), "syscall_ns": missed(2)}, ("user_ns", "syscall_ns")),
    )
    (cell,) = (path / "cells").iterdir()
    value = json.loads((cell / "summary.json").read_text())
    value["tail"] = value.pop("by_column")["user_ns"]["tail"]
    (cell / "summary.json").write_text(json.dumps(value))
    (cell / "checksums.json").unlink()
    content = load_run(path)
    assert exit_code_of(ExitCode.DONE, content) is ExitCode.FAILED
    (row,) = verdicts_of(path, content, Question(0))
    assert (row.verdict.outcome, [other.outcome for other in row.others]) == (FAIL, [OPEN])


OF_POINTS = [each for each in probe_list()["tests"] if each["columns"][0]["name"] == "index"]


@pytest.mark.parametrize("test", OF_POINTS, ids=lambda test: test["name"])
def test_of_each_test_the_declared_columns_decide_and_no_others(test: Any, tmp_path: Path) -> None:
    """Each measured column is late in turn, the columns in the probe's order and in the other one."""
    told = test["columns"]
    measured = [one["name"] for one in told if one["name"].endswith("_ns") and one["name"] != "time_ns"]
    declared = [one["name"] for one in told if one["answers"]]
    for number, late in enumerate(measured):
        columns = {name: calm(at)[:1_000] for at, name in enumerate(measured)}
        columns[late][500] = 250_000
        order = measured[:: 1 if number % 2 else -1]
        path = a_row(tmp_path / late, of_points({name: columns[name] for name in order}, declared))
        content = load_run(path, bins=False, kernels=False)
        if not declared:
            assert stated(content) == []
            with pytest.raises(UsageError):
                verdicts_of(path, content, Question(DEADLINE_NS))
            continue
        (row,), (again,) = verdicts_of(path, content, Question(DEADLINE_NS)), stated(content)
        found = (row.verdict.outcome, row.verdict.evidence.column in declared)
        assert found == (FAIL if late in declared else PASS, True)
        assert again.verdict == row.verdict
        assert late not in declared or row.verdict.evidence.column == late
