"""Tests that drive the real probe: HOWLATE_PROBE, else build/probe/howlate-probe in the repository."""

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lacks import AS_ROOT, MACHINE, skip
from probe.drive import probe_path
from processes import completed


@pytest.fixture(scope="session")
def probe() -> Path:
    """The probe's path; a probe that was not built is a failure, not a skip."""
    path = probe_path()
    assert path.is_file(), f"{path} is not there: build the probe, or set HOWLATE_PROBE"
    return path


@pytest.fixture
def everybodys() -> Iterator[Path]:
    """A folder that every user may enter and write to."""
    with tempfile.TemporaryDirectory(prefix="howlate-") as name:
        Path(name).chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
        yield Path(name)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        skip("root's right to mount", AS_ROOT)
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = completed(["mount", "-t", "tmpfs", "-o", "size=64k", "howlate-test", str(folder)])
    if mounted.returncode != 0:
        skip(f"the right to mount ({mounted.stderr})", MACHINE)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
