"""Every test of the probe, and every choice that one has: on this machine it runs, or says exactly why not."""

import json
from pathlib import Path
from typing import Any

import pytest

from howlate.model.columns import FLAGS, SWITCHED_OUT, WARM_UP
from probe.drive import probe_list, probe_path, read_stream, run

pytestmark = pytest.mark.beside

QUICK = {"points": "2", "activations": "20", "duration": "1s"}
"""By the name of an option that ends a test; a test has some of them."""


def _cases() -> list[tuple[str, tuple[str, ...]]]:
    """A test, and the options beside the quick ones: its defaults, then each of its choices."""
    if not probe_path().is_file():
        return [("cyclic", ())]  # the fixture `probe` then says what is missing
    cases: list[tuple[str, tuple[str, ...]]] = []
    for test in probe_list()["tests"]:
        cases.append((test["name"], ()))
        cases += [
            (test["name"], (f"--{param['name']}", choice))
            for param in test["params"]
            for choice in param["choices"]
            if choice != param["default"]
        ]
    return cases


def _test(name: str) -> Any:
    return next(test for test in probe_list()["tests"] if test["name"] == name)


@pytest.mark.parametrize(
    ("name", "choice"), [pytest.param(*case, id=" ".join([case[0], *case[1]])) for case in _cases()]
)
def test_it_runs_or_says_why_not(probe: Path, name: str, choice: tuple[str, ...]) -> None:
    has = {param["name"] for param in _test(name)["params"]}
    quick = [word for option, value in QUICK.items() if option in has for word in (f"--{option}", value)]
    done = run(name, *quick, *choice, "--load", "cpu:5", "--json")
    # A choice may not go with the other options' defaults, which is wrong usage; a test's own defaults always go.
    assert done.returncode in ((0, 2, 3) if choice else (0, 3)), done.stderr
    if done.returncode == 0:
        (one,) = json.loads(done.stdout)["cells"]
        account = one["accounting"]
        assert one["test"] == name
        assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
        # Whoever moves its threads itself puts them back: else the cell is not valid.
        assert not any(thread["place_changed"] for thread in one["threads"])
        return
    assert done.stdout == ""
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith("howlate-probe: ") and sentence.endswith(".")
    # What lacks, and then what to do.
    assert sentence.count(". ") >= 1


def test_every_test_says_how_long_one_of_its_turns_takes(probe: Path) -> None:
    """Ten times as many take ten times as long, of each test that ends after a count."""
    for test in probe_list()["tests"]:
        count = {"points", "activations"} & {param["name"] for param in test["params"]}
        if count:
            commands = [
                [test["name"], f"--{count.copy().pop()}={many}", "--duration=10h"] for many in (10, 100)
            ]
            done = run("plan", "--elsewhere", given="".join(f"{json.dumps(words)}\n" for words in commands))
            few, many = (json.loads(line)["seconds"] for line in done.stdout.splitlines())
            assert 0 < 10 * few == pytest.approx(many), test["name"]


def test_probe_and_host_mean_the_same_by_the_bits_of_a_row(probe: Path) -> None:
    assert probe_list()["row_flags"] == {"warm_up": WARM_UP, "switched_out": SWITCHED_OUT}
    for test in probe_list()["tests"]:
        column = test["columns"][-1]
        assert column["name"] == FLAGS and column["type"] == "u8"


@pytest.mark.parametrize("name", ["cyclic", "clock", "hardware-gap"])
def test_a_stream_tells_what_was_given_from_what_the_probe_chose(
    probe: Path, tmp_path: Path, name: str
) -> None:
    """With and without a value of its own for an option, in each kind of recording."""
    stream = tmp_path / "stream"
    done = run(name, "--duration=50ms", "--load=none", "--policy", "other", "--quiet", f"--stream={stream}")
    assert done.returncode == 0, done.stderr
    header = read_stream(stream).header.raw
    assert header["given"] == ["duration", "load", "policy", "quiet", "stream"]
    assert {"cpus", "record", *header["given"]} <= set(header["parameters"])


def test_each_warning_of_a_stream_has_its_rule(probe: Path, tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    words = (
        "--source",
        "spin",
        "--window",
        "1s",
        "--width",
        "10ms",
        "--duration",
        "50ms",
        "--others",
        "expected",
    )
    done = run("hardware-gap", *words, "--quiet", "--stream", stream)
    assert done.returncode == 0, done.stderr
    trailer = read_stream(stream).trailer
    assert trailer is not None
    rules = dict(zip(trailer["warning_rules"], trailer["warnings"], strict=True))
    assert rules["probe.watched-too-short"].startswith("--duration 50ms is shorter than --window 1s")
