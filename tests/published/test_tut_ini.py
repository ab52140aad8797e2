"""The thesis's configuration becomes settings: every key arrives, in howlate's units, or is refused."""

import os
import sys
from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.imports.formats import all_importers, find_importer
from howlate.model.decode import parse_toml
from howlate.plan.defaults import questions_of, refuse_settings
from howlate.plan.options import parameters_of
from howlate.plan.settings import decode_settings
from howlate.published.formats.tut_ini import SECTIONS, convert
from howlate.system.paths import probe_path
from howlate.targets.local import LocalTarget
from processes import completed

MADE = """; a made file with the study's keys
iterations = 2000
priority = 42

[PreemptionTest]
iterations = 300
sleepNs = 150000
highPriority = 61
lowPriority  = 51
processor = 0

[ContextSwitchTest]
processor = 0
numSwitches = 500

[SMITest]
duration = 90
threshold = 12
window = 2000000
width = 250000

[TimerAccuracyTestAbs]
sleep = 7000
processor = 0

[TimerAccuracyTestRel]
sleep = 7000
processor = 0

[TimerResolutionTest]
processor = 0
"""


def settings_of(text: str) -> dict[str, dict[str, object]]:
    decoded = decode_settings(parse_toml(convert(text, "config.ini").text, "made.toml"))
    return {test: {name: its.value for name, its in values.items()} for test, values in decoded.tests.items()}


def test_every_key_arrives_in_our_units() -> None:
    """Without unit a sleep is in nanoseconds; the gaps are in s (duration) and us, as the module takes them."""
    assert settings_of(MADE) == {
        "preemption": {"points": "300", "sleep": "150us", "high": "61", "low": "51", "cpus": "0"},
        "switch": {"points": "2000", "policy": "fifo:42", "cpus": "0", "switches-per-point": "500"},
        "hardware-gap": {
            "points": "2000",
            "duration": "90s",
            "threshold": "12us",
            "window": "2s",
            "width": "250ms",
        },
        "timer": {"points": "2000", "policy": "fifo:42", "sleep": "7us", "cpus": "0"},
        "clock": {"points": "2000", "policy": "fifo:42", "cpus": "0"},
    }
    assert any("clock_nanosleep-relative" in note for note in convert(MADE, "config.ini").notes)


def test_sleeps_that_differ_are_told() -> None:
    other = MADE.replace(
        "sleep = 7000\nprocessor = 0\n\n[TimerRes", "sleep = 9000\nprocessor = 0\n\n[TimerRes"
    )
    assert settings_of(other)["timer"]["sleep"] == "7us"
    assert any("TimerAccuracyTestRel" in n and "sleep=9us" in n for n in convert(other, "config.ini").notes)


def test_a_format_is_found_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(MADE)
    assert find_importer(file).name == "tut-ini"
    with pytest.raises(UsageError, match="does not exist"):
        find_importer(tmp_path / "not there", "tut-ini")
    for data in (b"", b"[cyclic]\nperiod = 1\n", b"PreemptionTest", b"HOWLAT", b"\xff\xd8\xff"):
        file.write_bytes(data)
        with pytest.raises(UsageError, match=r"format is unknown|is empty"):
            find_importer(file)
        assert find_importer(file, "tut-ini").name == "tut-ini"
    with pytest.raises(UsageError, match="nor streams of the probe"):
        find_importer(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        find_importer(tmp_path / "not there")
    with pytest.raises(UsageError, match="there is no format") as caught:
        find_importer(file, "tut-inni")
    assert "tut-ini" in caught.value.remedy
    assert len({importer.name for importer in all_importers()}) == len(all_importers())


@pytest.mark.parametrize(
    ("text", "sentence", "remedy"),
    [
        ("[SMITests]\nwidth = 1", 'there is no section "SMITests"', "SMITest"),
        ("[SMITest]\nwidht = 1", 'SMITest: unknown key "widht"', "width"),
        ("iteration = 1\n[SMITest]", 'the general part: unknown key "iteration"', "iterations"),
        ("[SMITest]\nwidth = 1us", "SMITest, width", ""),
        ("[SMITest]\nwidth = -1", "SMITest, width", ""),
        ("[SMITest]\nwidth\n", "config.ini", ""),
        ("[SMITest]\nwidth = 1\nwidth = 2\n", "config.ini", ""),
    ],
)
def test_what_the_study_does_not_have_is_refused(text: str, sentence: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(text, "config.ini")
    assert caught.value.message.startswith("config.ini") and sentence in caught.value.message
    assert remedy in caught.value.remedy


def test_the_parameters_are_the_probe_s() -> None:
    """For each test that this probe has: names and values are checked as those of a settings file."""
    target = LocalTarget(probe_path())
    can = target.capabilities()
    tests = {test.name: test for test in can.tests}
    for test, keys in SECTIONS.values():
        if test in tests:
            known = parameters_of(tests[test], can)
            assert [option.parameter for option in keys.values() if option.parameter not in known] == []
    decoded = decode_settings(parse_toml(convert(MADE, "config.ini").text, "made.toml"))
    there = {test: values for test, values in decoded.tests.items() if test in tests}
    assert "clock" in there
    questions = questions_of(type(decoded)(there), can)
    refuse_settings(questions, dict(zip(questions, target.answer(list(questions)), strict=True)))


def test_the_command_writes_settings(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(MADE)
    done = completed(
        [sys.executable, "-m", "howlate", "import", "config.ini"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (0, "config.toml\n"), done.stderr
    assert "note: " in done.stderr
    assert decode_settings(parse_toml((tmp_path / "config.toml").read_text(), "x")).tests["clock"]
