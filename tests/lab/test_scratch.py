from __future__ import annotations

import os
from pathlib import Path

from howlate.lab.scratch import PREFIX, remove_stale, scratch


def test_memory_is_taken_where_it_fits_and_disk_elsewhere(tmp_path: Path) -> None:
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    with scratch(1, disk, memory) as folder:
        assert folder.parent == memory
    with scratch(1 << 60, disk, memory) as folder:
        assert folder.parent == disk
    with scratch(1, disk, tmp_path / "none") as folder:
        assert folder.parent == disk
        assert folder.is_dir()
    assert not folder.exists()


def test_what_a_killed_howlate_left_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    left, young = tmp_path / f"{PREFIX}left", tmp_path / f"{PREFIX}young"
    left.mkdir()
    young.mkdir()
    os.utime(left, (1, 1))
    with scratch(1, tmp_path, tmp_path) as used:
        os.utime(used, (1, 1))
        remove_stale(tmp_path)
        assert used.is_dir()
    assert not left.exists()
    assert young.is_dir()
