"""The benchmark of an hour: what is recorded is counted rightly, the process that is fitted is the one that made it,
and its verdicts go the whole way, with a few segments."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from probe.drive import probe_path
from processes import completed

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path.append(str(BENCH))

from hour import PER_S, Course, Hour, TwoStates, counted, fitted, positions_of  # noqa: E402


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOWLATE_PROBE": str(probe_path())}
    return completed([sys.executable, str(BENCH / "hour.py"), *words], timeout=120, env=environment)


def test_misses_are_counted_in_their_second_with_what_they_swallowed() -> None:
    """3.5 ms late swallow three releases; ten kept releases end a group."""
    at = np.array([10, 12, 500, 1_500])
    latency_ns = np.array([3_500_000, 150_000, 350_000, 1_200_000])
    courses = counted(at, latency_ns, 3)
    assert courses[100_000].groups.tolist() == [2, 1, 0]
    assert courses[100_000].misses.tolist() == [1 + 1 + 1 + 1, 2, 0]
    assert courses[1_000_000].groups.tolist() == [1, 1, 0]
    assert courses[5_000_000].misses.tolist() == [0, 0, 0]


def test_an_hour_is_read_as_it_was_written(tmp_path: Path) -> None:
    hour = Hour("made", {100_000: Course(np.array([0, 2, 1]), np.array([0, 5, 1]))})
    hour.write(tmp_path / "deep" / "hour.json.gz")
    found = Hour.read(tmp_path / "deep" / "hour.json.gz")
    assert found.name == "made" and found.courses[100_000].misses.tolist() == [0, 5, 1]


@pytest.mark.parametrize(
    "made",
    [
        TwoStates((0.1, 2.0), (1 / 120, 1 / 80), 3.0),
        TwoStates((0.5, 3.0), (1 / 60, 1 / 60), 1.5),
    ],
)
def test_the_fitted_process_is_the_one_that_made_the_hour(made: TwoStates) -> None:
    """Of three hours, which have more than a hundred turns."""
    found = fitted(made.course(np.random.default_rng(1), 3 * 3_600))
    assert found.groups_per_s == pytest.approx(made.groups_per_s, rel=0.15)
    assert found.leaves == pytest.approx(made.leaves, rel=0.35)
    assert found.size == pytest.approx(made.size, rel=0.1)
    assert found.rate == pytest.approx(made.rate, rel=0.2)


def test_the_process_misses_as_often_as_it_says() -> None:
    made = TwoStates((0.1, 2.0), (1 / 20, 1 / 40), 3.0)
    course = made.course(np.random.default_rng(2), 200_000)
    assert course.misses.sum() / len(course.misses) / PER_S == pytest.approx(made.rate, rel=0.05)
    assert not course.misses[course.groups == 0].any()


def test_groups_stay_in_their_second_and_keep_their_misses() -> None:
    course = Course(np.array([1, 0, 2]), np.array([4, 0, 7]))
    found = positions_of(np.random.default_rng(3), course)
    assert len(found) == 11
    assert (found < PER_S).sum() == 4 and (found >= 2 * PER_S).sum() == 7


def test_a_simulated_hour_says_that_it_is_one(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    done = bench(
        f"--series={tmp_path / 'none'}", "--segments=3", "--only=1000 us, the fitted", f"--figures={figures}"
    )
    assert done.returncode in (0, 1), done.stderr
    found = {figure["name"]: figure for figure in json.loads(figures.read_text())}
    assert all(name.startswith("a simulated hour, deadline 1000 us, ") for name in found)
    for seconds in (12, 60, 300):
        own = "a simulated hour, deadline 1000 us, the fitted process, segments of"
        assert f"{own} {seconds} s: false PASS" in found
        limit = found.get(f"{own} {seconds} s: false PASS: lower end")
        assert (limit is not None and limit["at_most"] == 5) == (seconds == 300)


def test_the_segments_of_an_hour_are_its_own(tmp_path: Path) -> None:
    """Three minutes, of which one is bad: segments of either kind are told from the mean of all."""
    groups = np.repeat([0, 0, 5], 60)
    hour = Hour("three minutes", {1_000_000: Course(groups, groups)})
    hour.write(tmp_path / "hour.json.gz")
    figures = tmp_path / "figures.json"
    done = bench(f"--series={tmp_path / 'hour.json.gz'}", "--only=itself", f"--figures={figures}")
    assert done.returncode == 0, done.stderr
    found = {figure["name"]: figure["value"] for figure in json.loads(figures.read_text())}
    own = "three minutes, deadline 1000 us, the hour itself, its"
    assert found[f"{own} 3 segments of 60 s: false PASS"] == 66.7
    assert found[f"{own} 3 segments of 60 s: false FAIL"] == 33.3
    assert found[f"{own} 15 segments of 12 s: false PASS"] == 66.7


def test_an_hour_is_recorded_on_this_machine(tmp_path: Path) -> None:
    """One second of it; what it had was late enough or not."""
    series = tmp_path / "hour.json.gz"
    done = bench("--record", "--seconds=1", f"--series={series}")
    assert done.returncode == 0, done.stderr
    hour = Hour.read(series)
    assert hour.name.startswith("1 s recorded on ")
    for course in hour.courses.values():
        assert len(course.groups) == len(course.misses) == 1
        assert 0 <= course.groups[0] <= course.misses[0] <= PER_S
    assert bench(f"--series={series}", "--segments=1").returncode == 0
