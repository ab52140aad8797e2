"""`check --threshold`: it ends with the first sample above, whose cause is on the screen, and the run is whole."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from howlate import __main__ as entry
from howlate.store.loaded import load_run
from lacks import AS_ROOT, KERNEL, lack
from probe.drive import run as probe_run

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason=lack("root's rights", AS_ROOT)),
    pytest.mark.skipif(
        os.geteuid() == 0 and probe_run("cyclic", "--explain", "--activations=1", "--quiet").returncode == 3,
        reason=lack("the kernel's tracing", KERNEL),
    ),
]

NAME = "in-the-way"
DELAYS = f"""
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"{NAME}", 0, 0, 0)
os.sched_setaffinity(0, {{max(os.sched_getaffinity(0))}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))
print(flush=True)
while True:
    time.sleep(0.25)
    end = time.monotonic() + 0.15
    while time.monotonic() < end:
        pass
"""
"""A task above the measuring one that has its CPU for 150 ms now and then."""
TIMES = [
    pytest.param(4, id="4"),
    pytest.param(20, id="20", marks=pytest.mark.long),
]


@pytest.fixture
def delays() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", DELAYS], stdout=subprocess.PIPE) as task:
        assert task.stdout is not None
        assert task.stdout.readline()
        yield
        task.kill()


@pytest.mark.parametrize("times", TIMES)
def test_it_names_the_cause_of_each_delay_and_keeps_a_whole_run(
    delays: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    times: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(times):
        assert entry.main(["check", "--threshold=100ms", "--no-wait", f"--out={number}"]) == 1
        screen = capfd.readouterr().out
        assert re.search(r" 100ms\.\s.*\sCPU", screen, re.DOTALL)
        why = re.search(
            r'Why it was late.*\n *(\d+) %  thread interference \((?:most time: )?"([^"]*)"', screen
        )
        assert why is not None, screen
        assert why[2] == NAME, screen
        assert int(why[1]) > 50, screen
        content = load_run(Path(str(number)))
        assert [cell.id for cell in content.run.plan.cells] == [cell.id for cell in content.summaries]
        assert content.summaries[-1].stop_reason == "threshold"
        assert not content.failed
        assert entry.main(["show", "--json", f"{number}"]) == 0
        (exceeded,) = json.loads(capfd.readouterr().out)["exceeded"]
        assert exceeded["latency_ns"] > 100_000_000


def test_without_such_a_sample_all_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entry.main(
        ["check", "-D1s", "--load=none,cpu:5", "--threshold=60s", "--no-wait", "--out=run", "--cpus=0"]
    ) in (0, 5)
    assert "Ended" not in capfd.readouterr().out
    assert len(load_run(tmp_path / "run").summaries) == 2


def test_rounds_and_a_threshold_exclude_each_other(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["check", "--threshold=1ms", "--rounds=2", "--every=1s", f"--out={tmp_path / 'run'}"]
    assert entry.main(words) == 2
    assert "Leave --threshold out" in capfd.readouterr().err
    assert not (tmp_path / "run").exists()
