"""From a driver's handler to user space: what is said without the module; tests/lab tells what is measured."""

from pathlib import Path

import pytest

from lacks import MACHINE, skip
from probe.drive import probe_list, run

pytestmark = pytest.mark.beside


def test_the_host_learns_what_it_can_use_and_when(probe: Path) -> None:
    (uio,) = (test for test in probe_list()["tests"] if test["name"] == "uio")
    assert [need["name"] for need in uio["modules"]] == ["uio", "howlate_uio"]
    assert uio["devices"] == [{"name": "edu", "option": "source", "value": "edu", "parameters": ""}]
    assert [column["name"] for column in uio["columns"]] == [
        *("index", "time_ns", "handler_latency_ns", "raise_to_handler_ns", "user_latency_ns"),
        *("answer_latency_ns", "flags"),
    ]


@pytest.mark.parametrize("source", ["hrtimer", "edu"])
def test_without_the_module_it_says_why_and_what_needs_none(probe: Path, source: str) -> None:
    if any(Path("/sys/class/uio").glob("*")):
        skip("a machine without devices of UIO", MACHINE)
    done = run("uio", "--source", source, "--points", "10")
    assert done.returncode == 3
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert "howlate_uio" in done.stderr
    assert "the test cyclic" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--period", "1us"], "--period"),
        (["--points", "0"], "--points"),
        (["--source", "uart"], "hrtimer"),
        (["--wait", "select"], "poll"),
        (["--cpus", "9999"], "9999"),
    ],
)
def test_wrong_usage_is_said(probe: Path, words: list[str], said: str) -> None:
    done = run("uio", *words)
    assert done.returncode == 2
    assert said in done.stderr
