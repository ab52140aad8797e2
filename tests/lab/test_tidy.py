import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from howlate.lab import cache, replay, tidy
from howlate.lab.cache import locked
from howlate.lab.kernels.own_kernel import own_kernel
from howlate.lab.results import Results
from lab.made_archive import bzimage
from lab.made_results import encode_tree

HOUR, DAY = 3600.0, 24 * 3600.0


def aged(path: Path, seconds: float, size: int = 0) -> Path:
    """A file that was used so long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_what_was_used_longest_ago_goes_beyond_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy, "MOST_BYTES", {"results": 250})
    for name, hours in (("a", 5), ("b", 4), ("c", 3), ("young", 0)):
        aged(tmp_path / "results" / name, hours * HOUR, 100)
    tidy.tidy(tmp_path)
    assert {p.name for p in (tmp_path / "results").iterdir()} == {"c", "young"}
    monkeypatch.setattr(tidy, "MOST_BYTES", {"results": 1})
    tidy.tidy(tmp_path)
    assert {p.name for p in (tmp_path / "results").iterdir()} == {"young"}


def test_a_result_that_is_read_is_in_use(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.get("key", b"job", lambda: encode_tree({"0/status": b"0"}))
    (file,) = tmp_path.iterdir()
    os.utime(file, (1, 1))
    results.get("key", b"job", lambda: pytest.fail("run again"))
    assert time.time() - file.stat().st_mtime < HOUR


def test_what_a_killed_howlate_left_goes_after_a_day(tmp_path: Path) -> None:
    old = aged(tmp_path / "results" / ".new-old", 2 * DAY)
    young = aged(tmp_path / "results" / ".new-young", HOUR)
    orphan = aged(tmp_path / "snapshots" / ".gone.lock", 2 * DAY)
    of_one = aged(tmp_path / "snapshots" / ".there.lock", 2 * DAY)
    (tmp_path / "snapshots" / "there").mkdir()
    held = aged(tmp_path / "snapshots" / ".held.lock", 2 * DAY)
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        tidy.tidy(tmp_path)
    assert [p.exists() for p in (old, young, orphan, of_one, held)] == [False, True, False, True, True]


def test_a_lock_that_was_removed_while_one_waited_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, inside, opened = tmp_path / "place", threading.Event(), threading.Event()
    lock = tmp_path / ".place.lock"
    flock = fcntl.flock

    def flock_of_an_open_file(handle: int, operation: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            opened.set()
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock_of_an_open_file)

    def wait() -> None:
        with locked(place):
            inside.set()

    with locked(place):
        waiting = threading.Thread(target=wait)
        waiting.start()
        opened.wait()  # it waits for the lock of the file that goes now
        lock.unlink()
        with locked(place):  # another, with a lock file of its own
            assert not inside.wait(0.1)
            old = lock.stat().st_ino
    waiting.join()
    assert inside.is_set()
    assert lock.stat().st_ino == old


def test_the_archives_kernels_stay_when_the_cache_is_cleaned_and_copies_of_own_ones_go(
    tmp_path: Path,
) -> None:
    aged(tmp_path / "results" / "a", 0, 100)
    aged(tmp_path / "snapshots" / "key" / "state", 0, 1000)
    kernel = aged(tmp_path / "kernels" / "k" / "vmlinuz", 0, 10)
    own = aged(tmp_path / "kernels" / "own_1" / "vmlinuz", 0, 1 << 20)
    assert tidy.clean(tmp_path) >= 1100 + (1 << 20)
    assert kernel.is_file() and not own.parent.exists()
    assert not list((tmp_path / "results").iterdir()) and not list((tmp_path / "snapshots").iterdir())


@pytest.mark.parametrize("name", tidy.MADE_AGAIN)
def test_every_folder_that_is_made_again_goes_and_stands_in_the_list_of_the_cache(
    tmp_path: Path, name: str
) -> None:
    made = aged(tmp_path / name / "key", 0, 10)
    tidy.clean(tmp_path)
    assert not made.exists()
    assert f"{name}/ " in str(cache.__doc__)


def test_what_a_run_played_again_knows_of_its_guests_clock_can_be_made_again() -> None:
    assert replay.CLOCKS in tidy.MADE_AGAIN


def test_copies_of_own_kernels_have_a_bound_and_those_in_use_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(name: str, seconds: float) -> Path:
        folder = aged(tmp_path / "kernels" / name / "vmlinuz", 0, 1 << 20).parent
        os.utime(folder, (time.time() - seconds,) * 2)
        return folder

    monkeypatch.setattr(tidy, "MOST_OWN_BYTES", 5 << 19)  # two copies and a half
    archive = copy("linux-image", 9 * DAY)
    copies = [copy(f"own_{days}", days * DAY) for days in (0, 2, 3, 4)]
    tidy.tidy(tmp_path)
    assert [path.exists() for path in (archive, *copies)] == [True, True, True, False, False]
    monkeypatch.setattr(tidy, "MOST_OWN_BYTES", 1)
    tidy.tidy(tmp_path)
    assert [path.exists() for path in copies] == [True, False, False, False], "a run of today may boot it"


def test_unpacked_kernels_have_a_bound_and_go_when_the_cache_is_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy, "MOST_OWN_BYTES", 3 << 19)  # one and a half
    kernels = [aged(tmp_path / "unpacked" / str(days) / "vmlinux", 0, 1 << 20).parent for days in (0, 2, 3)]
    for folder, days in zip(kernels, (0, 2, 3), strict=True):
        os.utime(folder, (time.time() - days * DAY,) * 2)
    tidy.tidy(tmp_path)
    assert [path.exists() for path in kernels] == [True, False, False]
    assert tidy.clean(tmp_path) >= 1 << 20
    assert not kernels[0].exists()


def test_an_own_kernel_that_is_opened_again_is_in_use(tmp_path: Path) -> None:
    file = tmp_path / "bzImage"
    file.write_bytes(bzimage("6.9.1"))
    cache = tmp_path / "cache"
    _, kernel = own_kernel(str(file), cache)
    os.utime(kernel.vmlinuz.parent, (1, 1))
    own_kernel(str(file), cache)
    assert time.time() - kernel.vmlinuz.parent.stat().st_mtime < DAY


def test_a_place_has_one_lock_by_whatever_name_it_is_reached(tmp_path: Path) -> None:
    place, link = tmp_path / "own" / "apt", tmp_path / "other" / "apt"
    place.mkdir(parents=True)
    link.parent.mkdir()
    link.symlink_to(place)
    with locked(link):
        assert (place.parent / ".apt.lock").is_file()
        assert not (link.parent / ".apt.lock").exists()


def test_what_a_link_in_the_cache_leads_to_stays_when_it_is_cleaned(tmp_path: Path) -> None:
    cache, others = tmp_path / "cache", tmp_path / "others"
    for folder in (cache / "modules", others):
        folder.mkdir(parents=True)
        (folder / "made").write_bytes(bytes(1000))
    (cache / "snapshots").symlink_to(others)
    assert tidy.clean(cache) >= 1000
    assert (others / "made").exists() and (cache / "snapshots").is_symlink()
    assert not (cache / "modules" / "made").exists()
