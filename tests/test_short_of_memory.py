"""With too little memory howlate says so, with a code that means nothing else."""

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from howlate import __main__ as entry
from howlate.system.paths import ROOT
from processes import completed
from store.runs import a_folder
from store.streams import stream

COMMAND: list[str | Path] = [ROOT / "howlate", "--no-install"]


@pytest.mark.parametrize("limit_mib", [12, 16, 24, 50, 100, 150, 200, 300, 500, 800, 1200, 2000])
def test_a_limited_address_space_is_a_sentence(tmp_path: Path, limit_mib: int) -> None:
    """Libraries end the process with 1, which is FAIL, or by a segmentation fault, where they cannot be loaded."""
    run = a_folder(tmp_path / "run", {"none": stream([5, 2])}).path
    limit = limit_mib << 20
    done = completed(
        [*COMMAND, "verdict", run, "--deadline", "1s"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 3, done.stderr
    assert f" {limit_mib:,} MiB" in done.stderr
    assert "Raise the limit: `ulimit -v unlimited`" in done.stderr


@pytest.mark.parametrize("limit_mib", [5, 8, 12, 16, 24, 50])
def test_a_limit_is_named_before_packages_are_looked_for(tmp_path: Path, limit_mib: int) -> None:
    """With so little dpkg-query finds none, and a fresh checkout was told to install what it has."""
    shutil.copy(ROOT / "howlate", tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    limit = limit_mib << 20
    done = completed(
        [tmp_path / "howlate", "--no-install", "show", "run"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (done.returncode, "packages" in done.stderr) == (3, False), done.stderr
    assert done.stderr.startswith("howlate: ") and f" {limit_mib} MiB" in done.stderr


def test_what_it_needs_is_enough(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"none": stream([5, 2])}).path
    limit = entry.LEAST_MIB << 20
    for words in (("verdict", run, "--deadline", "1s"), ("report", run, "-o", tmp_path / "page.html")):
        done = subprocess.run(
            [*COMMAND, *words],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            capture_output=True,
        )
        assert done.returncode in (0, 5), done.stderr


def test_memory_that_ends_meanwhile_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(entry, "_run", full)
    assert entry.main(["show", "run"]) == 4
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.parametrize("kib", [4_000, 4_200, 4_400, 4_600, 4_800, 5_500])
def test_what_is_hardly_enough_for_bash_is_no_wrong_usage(kib: int) -> None:
    done = completed(["/bin/bash", "-c", f"ulimit -v {kib}; exec /bin/bash {ROOT / 'howlate'} --version"])
    if "howlate" not in done.stderr:  # bash itself could not be loaded, or ended before its first line
        assert done.returncode in (2, 127) and kib < 4_400, done
    else:
        assert (done.returncode, done.stderr.count("howlate: ")) == (3, 1), done


def test_a_launcher_that_can_start_nothing_does_not_say_that_a_verdict_failed() -> None:
    done = subprocess.run(
        ["/bin/bash", ROOT / "howlate", "verdict"], env={"PATH": "/nonexistent"}, capture_output=True
    )
    assert done.returncode in (4, 254)
