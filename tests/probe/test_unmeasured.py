"""The loads alone, from the real probe."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from probe.drive import cell, read_stream, run, running
from processes import children_of, completed, environment


def test_its_rows_are_the_rounds_that_the_load_made(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["--rounds", "3", "--duration", "1min", "--load", "hackbench:2,loops=20"]
    summary = cell(run("unmeasured", *words, "--json", "--stream", path))
    assert summary["stop_reason"] == "activations"
    (load,) = summary["loads"]
    results = load["results"]
    assert summary["outcomes"]["rounds"] == results["runs"] >= 3
    stream = read_stream(path)
    assert stream.trailer is not None
    rows = stream.columns[0]
    assert rows["round_ns"].tolist() == stream.trailer["loads"][0]["results"]["run_ns"]
    assert rows["index"].tolist() == list(range(rows["index"].size))
    assert set(rows["load"].tolist()) == {0}
    account = summary["accounting"]
    assert (account["releases"], account["recorded"]) == (rows["index"].size,) * 2
    assert summary["columns"]["round_ns"]["max"] == max(results["run_ns"])


def test_rounds_are_told_apart_by_their_load(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["--rounds", "1", "--duration", "1min", "--load", "cpu:10", "--load", "hackbench:1,loops=20"]
    summary = cell(run("unmeasured", *words, "--json", "--stream", path))
    assert [load["name"] for load in summary["loads"]] == ["cpu", "hackbench"]
    assert set(read_stream(path).columns[0]["load"].tolist()) == {1}
    assert summary["loads"][0]["units"] > 0


def test_a_load_without_rounds_runs_for_the_duration_and_leaves_no_row(probe: Path) -> None:
    words = ["--duration", "300ms", "--rounds", "1", "--load", "cpu:50"]
    summary = cell(run("unmeasured", *words, "--json"))
    assert summary["stop_reason"] == "duration"
    assert summary["accounting"]["recorded"] == 0
    assert summary["loads"][0]["units"] > 0
    assert summary["loads"][0]["duration_ns"] >= 300_000_000


@pytest.mark.parametrize("place", ["same", "named"])
def test_a_load_on_the_measuring_cpu_is_its_own_reference(probe: Path, place: str) -> None:
    """The probe itself has left that CPU when it asks."""
    cpu = max(os.sched_getaffinity(0))
    where = "same" if place == "same" else str(cpu)
    words = ["--duration", "300ms", f"--cpus={cpu}", f"--load=hackbench:1,cpus={where}"]
    (load,) = cell(run("unmeasured", *words, "--json"))["loads"]
    assert load["goal"]["reference"] == load["goal"]["achieved"] > 0
    assert load["goal"]["share"] == 1.0


def test_it_ends_its_loads_when_it_is_stopped(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["unmeasured", "--duration", "1h", "--load", "hackbench:1", "--quiet", "--stream", str(path)]
    with running(*words) as one:
        one.progress()
        loads = children_of(one.pid)
        assert loads
        one.process.send_signal(signal.SIGTERM)
        assert one.end()[0] == 0
    trailer = read_stream(path).trailer
    assert trailer is not None and trailer["stop_reason"] == "stopped"
    assert trailer["loads"][0]["results"]["runs"] >= 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in loads)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "none is given"),
        (["--load", "none"], "none is given"),
        (["--load", "cpu:10", "--duration", "0"], "--duration"),
        (["--load", "cpu:10", "--rounds", "0"], "--rounds"),
    ],
)
def test_what_cannot_be_meant_is_refused(probe: Path, words: list[str], said: str) -> None:
    done = run("unmeasured", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_host_stores_the_rounds_as_any_other_column(probe: Path, tmp_path: Path) -> None:
    """Through a run folder: the cell is valid, and the loads' results are in its summary."""
    study = tmp_path / "alone.toml"
    study.write_text(
        'schema = 1\nid = "alone"\ntitle = "t"\nquestion = "q?"\ntest = "unmeasured"\n'
        '[settings]\nduration = "1500ms"\n[axes]\nload = ["hackbench:1,loops=20", "cpu:20"]\n'
    )
    done = completed(
        [sys.executable, "-m", "howlate", "run", study, "--out", tmp_path / "run"],
        env=environment(HOWLATE_PROBE=str(probe)),
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = {
        summary["labels"]["load"]: summary
        for path in (tmp_path / "run" / "cells").glob("*/summary.json")
        for summary in [json.loads(path.read_text())]
    }
    for summary in found.values():  # a host that takes the CPU leaves a load less than it wants
        assert summary["valid"] or {warning["rule"] for warning in summary["warnings"]} & {
            "load.below-target"
        }
    hackbench = next(summary for load, summary in found.items() if load.startswith("hackbench"))
    assert hackbench["columns"]["round_ns"]["count"] == min(hackbench["loads"][0]["results"]["runs"], 635)
    assert hackbench["loads"][0]["results"]["run_ns_mean"] > 0
    assert (tmp_path / "run" / "report.html").exists()
