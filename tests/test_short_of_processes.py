"""With too few processes howlate says so, with a code that means nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from howlate.system.paths import ROOT
from lacks import AS_ROOT, MACHINE, skip
from processes import completed
from store.runs import a_folder
from store.streams import stream

LAUNCHED = (str(ROOT / "howlate"), "--no-install")
INSTALLED = (sys.executable, "-P", "-m", "howlate")
READING = {
    "verdict": ("verdict", "run", "--deadline", "1s"),
    "show": ("show", "run"),
    "report": ("report", "run", "-o", "page.html"),
    "export": ("export", "run", "--format", "csv", "-o", "samples.csv"),
}
CHECK = ("check", "-D", "1s", "--no-wait", "--deadline", "1s", "--out", "checked")
SELDOM = pytest.mark.sweep

Limited = Callable[[int, Sequence[str]], "subprocess.CompletedProcess[str]"]


def _controller() -> Path:
    version_1, version_2 = Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")
    if (version_1 / "cgroup.procs").is_file():
        return version_1
    control = version_2 / "cgroup.subtree_control"
    if not control.is_file() or "pids" not in control.read_text():
        skip("the controller pids of cgroups", MACHINE)
    return version_2


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Limited]:
    """Starts a command with so many processes and threads, itself one of them."""
    group = _controller() / f"howlate-test-{os.getpid()}"
    try:
        group.mkdir()
    except PermissionError:
        skip("a cgroup of its own", AS_ROOT)
    except OSError as problem:
        skip(f"a cgroup of its own ({problem.strerror})", MACHINE)
    monkeypatch.chdir(tmp_path)
    a_folder(Path("run"), {"none": stream([5, 2] * 50)})

    def start(most: int, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        (group / "pids.max").write_text(str(most))
        return completed(
            words,
            preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())),
            stdin=subprocess.DEVNULL,
        )

    yield start
    group.rmdir()


MOST = [1, 2, 3, 4, 5, 8, *(pytest.param(most, marks=SELDOM) for most in (6, 7, *range(9, 31)))]


@pytest.mark.parametrize("most", MOST)
def test_a_run_is_read_or_it_is_said_why_not(limited: Limited, most: int) -> None:
    for words in READING.values():
        assert (done := limited(most, (*INSTALLED, *words))).returncode == 0, done.stderr
        done = limited(most, (*LAUNCHED, *words))
        if most < 4:
            assert done.returncode == 3 and done.stderr.startswith("howlate: pids.max ")
            assert done.stderr.count("\n") == 1
        else:
            assert (done.returncode, "fork" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("most", MOST)
def test_what_cannot_be_measured_is_said(limited: Limited, most: int) -> None:
    done = limited(most, (*INSTALLED, *CHECK))
    assert done.returncode in ((3, 4) if most < 5 else (0, 3, 5)), done.stderr
    assert "temporarily unavailable" in done.stderr or most >= 5
    assert "fault in howlate" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("files", [4, 5, 6, 8, 12, 15])
def test_few_open_files_are_a_sentence_too(tmp_path: Path, files: int) -> None:
    """With so few that bash cannot read the limit it says where to look."""
    done = completed(
        ["/bin/bash", "-c", f"ulimit -n {files}; exec /bin/bash {ROOT / 'howlate'} verdict run"], cwd=tmp_path
    )
    assert done.returncode in (3, 4), done
    assert "unbound" not in done.stderr
    assert f" {files} files" in done.stderr or "Raise what limits" in done.stderr, done


@pytest.mark.parametrize("words", [["--vers"], ["verdict"]])
def test_wrong_usage_stays_wrong_usage(words: list[str]) -> None:
    assert subprocess.run([*LAUNCHED, *words], capture_output=True).returncode == 2
    odd = {**os.environ, "HOWLATE_INSTALL": "perhaps"}
    said = completed([LAUNCHED[0], *words], env=odd)
    assert said.returncode == 2 and "HOWLATE_INSTALL" in said.stderr and "Raise" not in said.stderr
