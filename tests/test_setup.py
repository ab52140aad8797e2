"""The launchers' quick way in: a stamp counts only while what it stands for is there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from howlate import places


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone in which everything is made."""
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "main.cpp").touch()
    (tmp_path / "requirements.lock").write_text("a==1")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "lib" / "python3.11").mkdir(parents=True)
    (tmp_path / ".venv" / ".requirements.lock").write_text("a==1")
    for name in ("python3.11", "python3.12"):
        (tmp_path / name).touch(0o755)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(tmp_path / "python3.11")
    built = tmp_path / "build" / "probe"
    built.mkdir(parents=True)
    (built / "howlate-probe").touch(0o755)
    for path in (tmp_path / "probe", tmp_path / "probe" / "main.cpp"):
        os.utime(path, (1, 1))
    (built / ".built").touch()
    return tmp_path


def is_old(root: Path) -> tuple[bool, bool]:
    """The virtual environment, the probe."""
    asked = (
        f"root='{root}'; . '{places.ROOT}/tools/setup.sh'; root='{root}'\n"
        'venv_is_old "$root/requirements.lock"; venv=$?\n'
        'probe_is_old "$root/build/probe/.built"; echo "$venv $?"'
    )
    done = subprocess.run(["bash", "-u", "-c", asked], capture_output=True, text=True, check=True)
    venv, probe = done.stdout.split()
    return venv == "0", probe == "0"


def test_what_is_made_is_not_made_again(root: Path) -> None:
    assert is_old(root) == (False, False)


def test_a_probe_that_is_gone_is_built_again(root: Path) -> None:
    (root / "build" / "probe" / "howlate-probe").unlink()
    assert is_old(root) == (False, True)


def test_a_changed_source_is_built_again(root: Path) -> None:
    os.utime(root / "probe" / "main.cpp", (2**31, 2**31))
    assert is_old(root) == (False, True)


def test_another_lock_is_installed(root: Path) -> None:
    (root / "requirements.lock").write_text("a==2")
    assert is_old(root) == (True, False)


def test_a_new_python_has_nothing_of_the_old_ones(root: Path) -> None:
    """It stands under the same name, and the packages below the old one's version."""
    python = root / ".venv" / "bin" / "python"
    python.unlink()
    assert is_old(root) == (True, False)
    python.symlink_to(root / "python3.12")
    assert is_old(root) == (True, False)


def test_the_cross_probe_of_this_machine_is_as_new_as_its_own_even_where_it_stays_the_same(
    root: Path,
) -> None:
    own, stamp = root / "build" / "probe" / "howlate-probe", root / "build" / "probe" / ".built"
    copy = root / "build" / "cross" / os.uname().machine / "howlate-probe"
    for content, built in ((b"one", 1000), (b"one", 2000), (b"two", 3000)):
        own.write_bytes(content)
        os.utime(own, (999, 999))
        os.utime(stamp, (built, built))
        asked = f"root='{root}'; . '{places.ROOT}/tools/setup.sh'; root='{root}'; need_cross_probe \"$(uname -m)\""
        subprocess.run(["bash", "-eu", "-c", asked], capture_output=True, check=True)
        assert copy.read_bytes() == content
        assert copy.with_name(".built").stat().st_mtime == built
