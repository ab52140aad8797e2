"""Interrupts: what is said where neither module nor tracer is; what is measured with them, tests/lab tells."""

from pathlib import Path

import pytest

from lacks import KERNEL, skip
from probe.drive import probe_list, run

pytestmark = pytest.mark.beside


def test_the_host_learns_which_module_it_can_use(probe: Path) -> None:
    (irq,) = (test for test in probe_list()["tests"] if test["name"] == "irq")
    assert irq["modules"] == [
        {"name": "howlate_hpet", "option": "source", "value": "hpet", "parameters": ""},
        {"name": "howlate_irq", "option": "source", "value": "module", "parameters": ""},
    ]
    assert [column["name"] for column in irq["columns"]] == [
        *("index", "time_ns", "irq_latency_ns", "wake_latency_ns", "flags")
    ]


def test_without_the_module_it_says_why_and_what_needs_none(probe: Path) -> None:
    if Path("/dev/howlate_irq").exists():
        skip("a kernel without the module", "sudo rmmod howlate_irq howlate_hpet")
    done = run("irq", "--points", "10")
    assert done.returncode == 3
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert "howlate_irq" in done.stderr
    assert "the test cyclic" in done.stderr or "--source timerlat" in done.stderr


def test_without_the_tracer_it_says_so(probe: Path) -> None:
    done = run("irq", "--source", "timerlat", "--points", "10")
    if done.returncode == 0:
        skip("a kernel without timerlat", KERNEL)
    assert done.returncode == 3
    assert "the test cyclic" in done.stderr


def test_without_an_hpet_or_its_module_it_says_so(probe: Path) -> None:
    if Path("/dev/howlate_hpet").exists():
        skip("a kernel without the module", "sudo rmmod howlate_irq howlate_hpet")
    done = run("irq", "--source", "hpet", "--points", "10")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert ("howlate_hpet" if Path("/dev/hpet").exists() else "/dev/hpet") in done.stderr
    assert "the test cyclic" in done.stderr or "--source timerlat" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--period", "0ns"], "--period"),
        (["--points", "0"], "--points"),
        (["--source", "tsc"], "module"),
        (["--cpus", "9999"], "9999"),
    ],
)
def test_wrong_usage_is_said(probe: Path, words: list[str], said: str) -> None:
    done = run("irq", *words)
    assert done.returncode == 2
    assert said in done.stderr
