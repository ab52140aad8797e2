"""A study that cannot be is told of before anything runs: exit code 2, a sentence with a remedy, nothing written."""

import json
import os
from pathlib import Path

import pytest

from e2e.commands import PROBE, howlate
from howlate import __main__ as entry

HEAD = 'schema = 1\nid = "bad"\ntitle = "bad"\nquestion = "?"\n'
CYCLIC = HEAD + 'test = "cyclic"\nsettings = { activations = 10, policy = "other" }\n'
PART = '[[part]]\nid = "{}"\ntest = "cyclic"\nsettings = {{ activations = 10, policy = "other" }}\n'
MANY = ", ".join(f'"{100 + n}us"' for n in range(100))
WORK = ", ".join(f'"{n}us"' for n in range(100))
SLACK = ", ".join(f'"{n}ns"' for n in range(1, 101))

BAD = {
    "an axis that is a setting": (CYCLIC + "[axes]\nactivations = [1, 2]", "activations"),
    "a value twice": (CYCLIC + '[axes]\nperiod = ["1ms", "1000us"]', "cell"),
    "an exclusion of what is not there": (
        CYCLIC + '[axes]\nload = ["none"]\n[[exclude]]\nload = "cpu:50"',
        'axis load "cpu:50"',
    ),
    "everything excluded": (
        CYCLIC + '[axes]\nload = ["none"]\n[[exclude]]\nload = "none"',
        "every cell is excluded",
    ),
    "an unknown test": (HEAD + 'test = "cylic"', 'did you mean "cyclic"'),
    "an unknown test of a part": (
        HEAD + PART.format("a") + '[[part]]\nid = "b"\ntest = "swich"',
        'part b: there is no test "swich"',
    ),
    "an unknown setting": (CYCLIC.replace("activations", "activatons"), 'did you mean "activations"'),
    "an unknown load": (CYCLIC + '[axes]\nload = ["none", "cup:50"]', 'did you mean "cpu"'),
    "a million cells": (
        CYCLIC + f"[axes]\nperiod = [{MANY}]\nwork = [{WORK}]\ntimer-slack = [{SLACK}]",
        "the matrix has 1,000,000 cells, more than 10,000",
    ),
    "a million repetitions of parts": (
        HEAD
        + "".join(PART.format(f"p{n}") + f"[part.axes]\nperiod = [{MANY}]\n" for n in range(10))
        + "[order]\nrepetitions = 1000",
        "the matrix has 1,000,000 cells, more than 10,000",
    ),
    "no end": (
        HEAD + 'test = "cyclic"\nsettings = { activations = 0, duration = "0s" }',
        "bad: --activations must be more than 0",
    ),
    "a period that the probe refuses": (
        CYCLIC + '[axes]\nperiod = ["1us", "1ms"]',
        "bad, period = 1us: a period of 1us is not possible",
    ),
    "a priority beyond 99": (CYCLIC.replace('"other"', '"fifo:100"'), "its priority is from 1 to 99"),
    "a policy without its priority": (
        CYCLIC.replace('"other"', '"fifo"'),
        "it takes one priority from 1 to 99",
    ),
    "a runtime longer than its deadline": (
        CYCLIC.replace('"other"', '"deadline:2ms:1ms:1ms"'),
        "0 < runtime <= deadline <= period",
    ),
    "priorities that are none": (
        CYCLIC.replace('policy = "other"', 'priorities = "200"'),
        "one priority from 1 to 99 for each",
    ),
    "two parts of one name": (HEAD + PART.format("a") * 2, 'part "a"'),
    "a part without a test": (HEAD + PART.format("a") + '[[part]]\nid = "b"', 'the key "test" is missing'),
    "a matrix beside parts": (CYCLIC + PART.format("a"), '"test"'),
    "a shared setting of no part": (
        HEAD + "[settings]\npoints = 3\n" + PART.format("a"),
        'parameter "points"',
    ),
    "kernels on one machine": (
        CYCLIC + '[axes]\nkernel = ["6.1", "6.1-rt"]',
        "a running machine has only one",
    ),
    "kernels of a part": (
        HEAD + PART.format("a") + '[part.axes]\nkernel = ["6.1"]',
        '"kernel"',
    ),
    "published figures that there are not": (
        CYCLIC + '[published]\nreference = "toshiba-2011"',
        'did you mean "toshiba-2010"',
    ),
    "no TOML": (CYCLIC + "[axes\n", "is not toml: expected ']' at the end of a table declaration"),
    "no text": (CYCLIC.replace('"cyclic"', "5"), 'write test = "..."'),
    "an unknown key": (CYCLIC + "[axis]\n", 'did you mean "axes"'),
}


@pytest.mark.parametrize("what", sorted(BAD))
def test_a_bad_study_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], what: str
) -> None:
    """In this process: a start of Python for each would take longer than all that is asked."""
    text, said = BAD[what]
    (tmp_path / "bad.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOWLATE_PROBE", PROBE)
    for argv in (("--dry-run",), ("--out", "r")):
        code = entry.main(["run", "bad.toml", *argv])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert (code, out) == (2, ""), err
        assert said.lower() in " ".join(err.lower().split())
        sentence, _, remedy = err.rpartition(". ")
        assert sentence.startswith("howlate: ") and remedy.strip(), err
        assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


@pytest.mark.alone
def test_a_cell_that_this_machine_cannot_run_is_named_in_the_plan_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    """A knob of a governor: there are machines with one and without; where it is there the cell is measured."""
    (tmp_path / "some.toml").write_text(
        CYCLIC.replace('id = "bad"', 'id = "some"')
        + '[axes]\nknob = ["cpu_dma_latency=0", "governor=performance"]'
    )
    code, out, err = howlate(tmp_path, "run", "some.toml", "--dry-run", "--json")
    assert code == 0, err
    impossible = {cell["id"]: cell["impossible"] for cell in json.loads(out)["cells"] if cell["impossible"]}
    assert all("governor" in why for why in impossible.values()) or not impossible
    code, out, err = howlate(tmp_path, "run", "some.toml", "--out", "r", "--json")
    said = json.loads(out)
    failed = {one["id"]: one["message"] for one in said["failed"] if one["exit_code"] == 3}
    assert impossible.items() <= failed.items()
    assert len(said["cells"]) + len(said["failed"]) == 2


def test_a_cpu_that_is_not_there_is_told_with_the_plan_and_the_rest_goes_on(tmp_path: Path) -> None:
    mine = min(os.sched_getaffinity(0))
    (tmp_path / "some.toml").write_text(CYCLIC + f'[axes]\ncpus = ["{mine}", "8191", "{mine},8190-8191"]')
    code, out, err = howlate(tmp_path, "run", "some.toml", "--dry-run", "--json")
    assert code == 0, err
    told = [cell["impossible"] for cell in json.loads(out)["cells"]]
    assert told[0] == "" and "CPU 8191" in told[1] and "CPUs 8190-8191" in told[2]
    code, out, err = howlate(tmp_path, "run", "some.toml", "--out", "r", "--json")
    assert code == 0, err
    assert [one["exit_code"] for one in json.loads(out)["failed"]] == [3, 3]
    assert len(json.loads(out)["cells"]) == 1
