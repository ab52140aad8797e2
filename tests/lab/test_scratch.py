import fcntl
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from howlate.errors import StorageError
from howlate.lab.guests.scratch import PREFIX, scratch
from howlate.system.scratch import held_folder, remove_stale


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
        remove_stale(tmp_path, PREFIX)
        assert used.is_dir()
    assert not left.exists()
    assert young.is_dir()


def test_one_that_looks_does_not_take_a_folder_that_was_just_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another howlate sweeps between a folder's making and its lock."""
    real = fcntl.flock
    held = threading.Event()

    def looked_at(handle: int, kind: int) -> None:
        """The first lock comes while another holds the folder, who lets go once we wait or were refused."""
        if not held.is_set():
            held.set()
            (folder,) = tmp_path.glob(f"{PREFIX}*")
            other = os.open(folder, os.O_RDONLY)
            real(other, fcntl.LOCK_EX)
            threading.Timer(0.05, os.close, (other,)).start()
        real(handle, kind)

    monkeypatch.setattr(fcntl, "flock", looked_at)
    with held_folder(PREFIX, tmp_path) as folder:
        assert folder.is_dir()


def test_young_folders_are_not_even_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("locked")

    (tmp_path / f"{PREFIX}young").mkdir()
    monkeypatch.setattr(fcntl, "flock", refuse)
    remove_stale(tmp_path, PREFIX)


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StorageError, match="could not be written"),
        scratch(1, tmp_path / "file" / "tmp", tmp_path / "none"),
    ):
        pass
