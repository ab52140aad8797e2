"""One file says all that howlate knows of a setting of a machine, beside the probe's that reads and writes it."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from howlate.doctor import checks
from howlate.model.facts import Aim, Facts
from howlate.settings import for_good, settings
from howlate.system.paths import ROOT

KNOBS = ROOT / "probe" / "src" / "knobs"
SOURCES = ROOT / "src" / "howlate"
MACHINES = ROOT / "tests" / "fixtures" / "machines"
NAMES = sorted(settings())
CHECKS = {check.name: check for check in checks()}
PATH = re.compile(r'"(/(?:proc|sys|dev)/[^"]+)"')
ALSO = {
    ("kernel.preempt_mode", "model/preemption.py"): "the model of preemption is a label of results",
    ("cpu.idle_states", "settings/cpu_dma_latency.py"): "a request keeps them out, as c_states does",
    ("/dev/cpu_dma_latency", "settings/c_states.py"): "the same, in the remedy",
    ("/dev/cpu_dma_latency", "imports/formats/cyclictest_raw.py"): "what cyclictest writes",
    ("/dev/cpu_dma_latency", "why/cause_words.py"): "a sentence about a cause",
    ("kernel.sched_rt_runtime_us", "why/cause_words.py"): "a sentence about a cause",
}
"""What a file beside the setting's own names, and why it may."""
OTHER_MEANINGS = {
    "preemption": "a label of results",
    "cpuset": "a member of the stream's header",
    "nmi_watchdog": "a boot parameter",
}
"""Names of settings that are names of something else as well."""


def held() -> set[str]:
    """The knobs with which remedies of the doctor begin."""
    return {knob.partition("=")[0] for check in CHECKS.values() for knob in check.holds}


def parts(name: str) -> dict[str, bool]:
    """Which parts a setting's file has."""
    setting = settings()[name]
    return {
        "facts": bool(setting.facts),
        "in_force": setting.in_force is not None,
        "check": setting.check in CHECKS,
        "hold": name in held(),
        "for_good": bool(setting.for_good),
        "causes": bool(setting.causes),
    }


def test_the_probe_and_the_host_have_the_same_settings() -> None:
    assert set(NAMES) == {path.stem for path in KNOBS.glob("*.cpp")}


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_has_every_part_or_says_why_not(name: str) -> None:
    found, lacks = parts(name), settings()[name].lacks
    assert {part for part, there in found.items() if not there} == set(lacks)
    assert all(len(reason.split()) > 3 for reason in lacks.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_tried_and_kept_on_every_captured_machine(name: str) -> None:
    """Or the setting says why not."""
    for path in sorted(MACHINES.glob("*.json")):
        facts = Facts.from_json(json.loads(path.read_text()))
        tried = settings()[name].tries(facts, Aim())
        values = tried if isinstance(tried, tuple) else ("away",)
        assert values
        for value in values:
            kept = for_good(name, value, facts, Aim())
            assert kept.startswith(f"{name}={value}: ") and "{" not in kept
            assert ("howlate probe hold" in kept) is ("for_good" in settings()[name].lacks)


def named(path: Path) -> set[str]:
    """The texts that a Python file contains."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@cache
def texts_by_file() -> dict[str, set[str]]:
    """Read by the tests and not when they are collected, which each worker does."""
    return {str(path.relative_to(SOURCES)): named(path) for path in sorted(SOURCES.rglob("*.py"))}


@pytest.mark.parametrize("name", NAMES)
def test_no_other_file_names_the_setting(name: str) -> None:
    paths = set(PATH.findall((KNOBS / f"{name}.cpp").read_text()))
    sysctls = {path.removeprefix("/proc/sys/").replace("/", ".") for path in paths if "/proc/sys/" in path}
    for file, texts in texts_by_file().items():
        if file == f"settings/{name}.py":
            continue
        words = texts & {name, *settings()[name].facts} - OTHER_MEANINGS.keys()
        spelt = {path: re.compile(rf"{re.escape(path)}(?![\w/*])") for path in paths | sysctls}
        words |= {path for path, pattern in spelt.items() if any(map(pattern.search, texts))}
        assert not {word for word in words if (word, file) not in ALSO}, file


def test_every_exception_is_needed() -> None:
    for word, file in ALSO:
        assert any(word in text for text in texts_by_file()[file]), (word, file)
    for name in OTHER_MEANINGS:
        assert [
            file for file, texts in texts_by_file().items() if name in texts and file != f"settings/{name}.py"
        ], name
