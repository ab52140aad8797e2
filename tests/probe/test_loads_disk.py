"""disk: bounded, at its rate, and nothing left behind."""

import json
import subprocess
from pathlib import Path

import pytest

from lacks import MACHINE, needs_root, skip
from probe.loads_drive import load_once, running


@pytest.mark.beside
def test_the_disk_load_is_bounded_and_leaves_nothing(probe: Path, tmp_path: Path) -> None:
    with running("disk:20MiB/s", "--size=4MiB", "--sync=1MiB", "--directory", tmp_path) as load:
        last = load.report()
        while last is not None and last.units < 8 << 20:
            last = load.report()
            assert list(tmp_path.iterdir()) == []  # its file has no name
        load.process.kill()
        load.process.wait()
    assert list(tmp_path.iterdir()) == []
    with running("disk:20MiB/s", "--size=4MiB", "--directory", tmp_path) as load:
        assert load.report() is not None
        assert load.report() is not None
        results = load.stop()["results"]
    assert results["file_bytes"] <= 4 << 20
    assert results["fsyncs"] > 0 and results["fsync_ns_max"] >= results["fsync_ns_mean"] > 0


def test_the_disk_load_keeps_its_rate(probe: Path, tmp_path: Path) -> None:
    with running("disk:2MiB/s", "--directory", tmp_path, "--duration", "3s") as load:
        out, err = load.process.communicate(timeout=60)
    assert load.process.returncode == 0, err
    told = json.loads(out)
    rate = told["units"] / (told["duration_ns"] / 1e9) / (2 << 20)
    print(f"disk: target 2 MiB/s, achieved {2 * rate:.2f} MiB/s")
    assert 0.5 < rate < 1.2


@pytest.mark.beside
@needs_root
def test_the_disk_load_refuses_a_small_disk(probe: Path, tmp_path: Path) -> None:
    if (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "howlate-test", str(tmp_path)]).returncode
        != 0
    ):
        skip("the right to mount", MACHINE)
    try:
        done = load_once("disk:1MiB/s", f"--directory={tmp_path}", "--duration", "1s")
        assert done.returncode == 3 and "--size" in done.stderr
        # Its file is whole before it is ready; where somebody else fills the disk then, it works on.
        with running("disk:2MiB/s", "--size=7MiB", "--block=4KiB", "--directory", tmp_path) as load:
            first = load.report()
            assert first is not None and first.units < 1 << 20  # of what was written then none counts
            (tmp_path / "other").write_bytes(b"x" * (6 << 20))
            last = load.report()
            while last is not None and last.units < 5 << 20:
                last = load.report()
            told = load.stop()
        assert told["results"]["file_bytes"] == 7 << 20 and not told["results"]["stopped_growing"]
        assert any("memory" in warning for warning in told["warnings"])
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
