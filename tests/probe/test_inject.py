"""`cyclic --inject`: delays that the probe makes itself on this machine, and what it refuses. The kinds of the
kernel's side are tried in guests (tests/lab/test_inject.py)."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from howlate.why.calibrate.calibration import EXPECTED
from lacks import AS_ROOT, lack, skip
from probe.drive import Running, Stream, probe_list, read_stream, run, running
from processes import children_of, until

USERS = ("fifo-task", "lock", "page-faults", "stopped")
IN_WORK = ("lock", "page-faults", "stopped")
CYCLIC = ("cyclic", "--period=2ms", "--quiet")

real_time = pytest.mark.skipif(
    run("cyclic", "--policy=fifo:80", "--activations=1", "--quiet").returncode != 0,
    reason=lack("the right to SCHED_FIFO", AS_ROOT),
)


def made_in(stream: Stream) -> Mapping[str, Any]:
    """The table of the delays."""
    number = next(table.id for table in stream.header.tables if table.name == "injections")
    return stream.columns[number]


def held_in(stream: Stream, kind: str) -> int:
    """At how many releases a delay went on; the task got its time stamp only after the delay's earliest end."""
    told = stream.header.raw["in_force"]["inject"]
    assert (told["kind"], told["size_ns_min"], told["size_ns_max"]) == (kind, 100_000, 300_000)
    assert (told["every"], told["seed"], told["round_ns"], told["planned"]) == (2, 5, 0, 59)
    delays, samples = made_in(stream), stream.columns[0]
    assert len(delays["begin_ns"]) <= 59
    assert (delays["end_ns"] >= delays["begin_ns"]).all()
    assert ((delays["wanted_ns"] >= 100_000) & (delays["wanted_ns"] <= 300_000)).all()
    ends = {int(r): int(r + t) for r, t in zip(samples["release_ns"], samples["latency_ns"], strict=True)}
    held = 0
    for row in range(len(delays["begin_ns"])):
        if delays["state"][row] != 0:
            continue  # it did not become what was planned
        # the end of a stopped process alone is within a call
        assert bool(delays["uncertainty_ns"][row] > 0) is (kind == "stopped")
        begin, end = int(delays["begin_ns"][row]), int(delays["end_ns"][row] - delays["uncertainty_ns"][row])
        assert delays["pid"][row] > 0
        late = [stamp for release, stamp in ends.items() if begin < release < end]
        assert all(stamp >= end for stamp in late)
        held += len(late)
    return held


@real_time
@pytest.mark.parametrize("kind", USERS)
def test_a_delay_that_goes_on_at_a_release_makes_that_sample_as_late(
    probe: Path, tmp_path: Path, kind: str
) -> None:
    """Where others take the CPU, many of a run's delays come too late to be at a release: more runs have enough."""
    words = ("--late-policy=backlog", "--inject-size=100us-300us", "--inject-every=2", "--activations=120")
    held = 0
    for attempt in range(20):
        to = tmp_path / str(attempt)
        done = run(*CYCLIC, "--policy=fifo:80", "--inject", kind, *words, "--inject-seed=5", "--stream", to)
        assert done.returncode == 0, done.stderr
        held += held_in(read_stream(to), kind)
        if held >= 20:
            return
    pytest.fail(f"only {held} delays were at a release")


@real_time
def test_the_loop_counts_every_release_while_it_is_delayed(probe: Path, tmp_path: Path) -> None:
    words = ("--late-policy=backlog", "--inject=page-faults", "--inject-every=1", "--activations=80")
    done = run(*CYCLIC, *words, "--stream", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    (account,) = read_stream(tmp_path / "s").trailer["accounting"]  # type: ignore[index]
    assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"] >= 80


def helper_of(one: Running) -> int:
    """The process that has a stopped probe go on."""
    names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in children_of(one.pid)}
    (helper,) = (pid for pid, name in names.items() if name == "inject/continue")
    return helper


@pytest.mark.beside
@real_time
@pytest.mark.parametrize("fate", ["killed", "only stopped"])
def test_a_stopped_probe_goes_on_although_nobody_has_it_go_on(probe: Path, tmp_path: Path, fate: str) -> None:
    words = ("--late-policy=backlog", "--policy=fifo:80", "--inject=stopped", "--inject-every=2")
    with running(*CYCLIC, *words, "--duration=1h", "--stream", tmp_path / "s") as one:
        one.progress()
        helper = helper_of(one)
        os.kill(helper, signal.SIGSTOP)
        assert until(lambda: one.status("State").startswith("T"))
        if fate == "killed":
            os.kill(helper, signal.SIGKILL)
        code, _, err = one.stop()
    assert code == 4
    assert fate.removeprefix("only ") in err and "Measure again" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--inject=nap",), "nap"),
        (("--inject-size=20us",), "--inject"),
        (("--inject-round=20us",), "--inject"),
        (("--inject=page-faults", "--inject-round=11ms", "--late-policy=backlog"), "--inject-round"),
        (("--inject=lock", "--inject-size=0us"), "--inject-size"),
        (("--inject=lock", "--inject-size=500us-20us"), "--inject-size"),
        (("--inject=lock", "--inject-every=0", "--late-policy=backlog"), "--inject-every"),
        *(((f"--inject={kind}",), "--late-policy backlog") for kind in IN_WORK),
        (("--inject=fifo-task", "--policy=fifo:99"), "fifo:98"),
        (("--inject=lock", "--single", "--first=10ms"), "--single"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(probe: Path, words: tuple[str, ...], said: str) -> None:
    done = run("cyclic", "--activations=1", "--quiet", *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr


@real_time
def test_where_no_gap_has_room_for_a_delay_it_is_refused(probe: Path) -> None:
    """Half of the period is less than a delay keeps from each release. Where none was due, none is missing."""
    words = (*CYCLIC, "--policy=fifo:80", "--inject=fifo-task", "--inject-every=2")
    done = run(*words, "--inject-round=1ms", "--activations=20")
    assert done.returncode == 2, done.stderr
    assert "no gap" in done.stderr and "--inject-round" in done.stderr
    for more in (("--inject-round=100us", "--activations=20"), ("--inject-round=1ms", "--activations=2")):
        assert run(*words, *more).returncode == 0


def test_every_kind_has_a_cause_that_names_it_rightly(probe: Path) -> None:
    assert {kind["name"] for kind in probe_list()["injections"]} == set(EXPECTED)


def test_without_its_module_a_kind_is_not_possible(probe: Path) -> None:
    kinds = {kind["name"]: kind for kind in probe_list()["injections"]}
    assert set(USERS) < set(kinds)
    of_module = [kind for kind in kinds.values() if kind["module"]]
    assert {kind["module"] for kind in of_module} == {"howlate_inject"} and len(of_module) == 7
    for kind in of_module:
        if kind["available"]:
            skip("a kernel without the module", "sudo rmmod howlate_inject")
        done = run("cyclic", "--activations=10", "--quiet", "--inject", kind["name"])
        assert done.returncode == 3
        assert "howlate_inject" in kind["reason"] and "howlate_inject" in done.stderr
