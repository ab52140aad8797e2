"""Every test of the probe, and every choice that one has: on this machine it runs, or says exactly why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from probe.drive import probe_list, probe_path, run

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
        return
    assert done.stdout == ""
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith("howlate-probe: ") and sentence.endswith(".")
    # What lacks, and then what to do.
    assert sentence.count(". ") >= 1


def test_every_test_that_ends_after_points_says_how_long_one_takes(probe: Path) -> None:
    for test in probe_list()["tests"]:
        params = {param["name"] for param in test["params"]}
        assert bool(test["point_ns"]) == ("points" in params), test["name"]
        for term in test["point_ns"]:
            assert term["factor"] > 0
            assert {*term["options"], *([term["where"]] if term["where"] else [])} <= params
