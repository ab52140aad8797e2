"""The words in which a guest's measuring threads say that results come: each test of the probe changes them."""

import struct
from pathlib import Path

import pytest

from howlate.lab.guests import window
from lacks import KERNEL, skip
from probe.drive import probe_list, probe_path, run
from probe.test_every_test import QUICK

pytestmark = pytest.mark.beside


def _names() -> list[str]:
    return [test["name"] for test in probe_list()["tests"]] if probe_path().is_file() else ["cyclic"]


@pytest.mark.parametrize("name", _names())
def test_each_test_says_in_the_window_that_results_come(
    probe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place = tmp_path / "window"
    window.create(place)
    monkeypatch.setenv("HOWLATE_WINDOW", str(place))
    has = {
        param["name"] for test in probe_list()["tests"] if test["name"] == name for param in test["params"]
    }
    quick = [word for option, value in QUICK.items() if option in has for word in (f"--{option}", value)]
    more = ["--occupy-all"] if "occupy-all" in has else []
    done = run(name, *quick, *more, "--load", "cpu:5", "--quiet")
    if done.returncode == 3:
        skip(done.stderr, KERNEL)
    assert done.returncode == 0, done.stderr
    results = window.read_results(place)
    assert any(results), results
    if name == "cyclic":
        assert results[0] == int(QUICK["activations"])


def test_outside_of_a_guest_nothing_is_written(probe: Path, tmp_path: Path) -> None:
    place = tmp_path / "window"
    window.create(place)
    assert run("cyclic", "--activations=3", "--quiet").returncode == 0
    assert not any(window.read_results(place))


def test_the_words_stand_before_the_job(tmp_path: Path) -> None:
    place = tmp_path / "window"
    window.create(place)
    words = struct.Struct("<448Q")
    with place.open("r+b") as file:
        file.seek(512)
        file.write(words.pack(*range(448)))
    window.put_job(place, b"a job")
    assert window.read_results(place) == tuple(range(448))
