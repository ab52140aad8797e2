"""A cache of somebody else's, or with something else in it: nothing of it is executed, read for ever, or written
through."""

import grp
import os
import pwd
import random
import shutil
import stat
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate.errors import DamagedError, HowlateError, NotPossibleError, StorageError
from howlate.lab.archive.apt import AptArchive, Source
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import silent
from howlate.lab.cache import cache_folder, check_private, locked, made, read_entry, write_entry
from howlate.lab.cost import Costs
from howlate.lab.guests import emulator
from howlate.lab.guests.machine import Machine
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.results import Results
from howlate.prove.forked_part import KeptProbes
from lab.made_results import encode_tree
from lab.test_cost import cell
from lab.test_emulator import NEW, MadeEmulators, old_host
from lacks import AS_ROOT, MACHINE, needs_root, skip

NONE = 0xFFFFFFFF

__all__ = ["old_host"]
NOBODY = 65534


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "above" / "cache"
    (folder / "emulators").mkdir(parents=True)
    monkeypatch.setenv("HOWLATE_CACHE", str(folder))
    return folder


def test_a_folder_of_ones_own_is_taken(place: Path) -> None:
    assert cache_folder() == place
    shutil.rmtree(place)
    assert cache_folder() == place
    place.parent.chmod(0o1777)
    assert cache_folder() == place, "nobody may rename what is another's in /tmp"


@needs_root
@pytest.mark.parametrize("which", ["", "..", "emulators"])
def test_a_folder_of_another_user_is_refused(place: Path, which: str) -> None:
    os.chown(place / which, NOBODY, NOBODY)
    with pytest.raises(NotPossibleError) as caught:
        cache_folder()
    assert caught.value.statement.rule == "lab.cache-unsafe"
    assert "HOWLATE_CACHE" in caught.value.remedy
    with pytest.raises(NotPossibleError):
        made(place / "emulators" / "x", lambda _: pytest.fail("made there"))


@pytest.mark.parametrize("which", ["", "..", "emulators"])
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o775])
def test_a_folder_that_others_may_write_to_is_refused(place: Path, which: str, mode: int) -> None:
    if mode == 0o775:
        if os.geteuid() != 0:
            skip("root's rights", AS_ROOT)
        os.chown(place / which, 0, NOBODY)
    (place / which).chmod(mode)
    with pytest.raises(NotPossibleError) as caught:
        cache_folder()
    assert caught.value.statement.rule == "lab.cache-unsafe"
    (place / which).chmod(mode | stat.S_ISVTX)
    if which != "..":
        with pytest.raises(NotPossibleError):
            cache_folder()


@needs_root
def test_a_link_is_as_good_as_the_folder_that_it_names(place: Path, tmp_path: Path) -> None:
    shutil.rmtree(place)
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    place.symlink_to(tmp_path / "theirs")
    with pytest.raises(NotPossibleError):
        cache_folder()
    place.unlink()
    (tmp_path / "mine").mkdir()
    place.symlink_to(tmp_path / "mine")
    assert cache_folder() == place


def test_what_is_made_is_nobody_elses_whatever_the_umask(tmp_path: Path) -> None:
    def make(beside: Path) -> None:
        (beside / "bin").mkdir()
        (beside / "bin" / "program").write_text("x")
        (beside / "link").symlink_to("bin")

    before = os.umask(0)
    try:
        folder = made(tmp_path / "a" / "b", make)
        write_entry(tmp_path / "c" / "d", b"x")
    finally:
        os.umask(before)
    written = [folder.parent, folder, *folder.rglob("*"), tmp_path / "c", tmp_path / "c" / "d"]
    assert [path for path in written if not path.is_symlink() and path.stat().st_mode & 0o022] == []


PLANTED = b"#!/bin/sh\necho QEMU emulator version 10.0.2; touch %s\n"


@pytest.mark.parametrize("manifest", [None, b"", b"{}", "own"])
def test_a_planted_emulator_is_not_executed(tmp_path: Path, manifest: bytes | str | None) -> None:
    """Also one that brings a manifest: it is not of the package's hash."""
    archive = MadeEmulators(("bookworm-backports", NEW))
    folder = tmp_path / "cache" / emulator.FOLDER / f"qemu-system-x86_{NEW.replace(':', '%3a')}"
    program = folder / "usr/bin/qemu-system-x86_64"
    program.parent.mkdir(parents=True)
    program.write_bytes(PLANTED % str(tmp_path / "executed").encode())
    program.chmod(0o755)
    if manifest == "own":
        write_manifest(folder, folder.name)
    elif isinstance(manifest, bytes):
        (folder / "files.json").write_bytes(manifest)
    machine = emulator.with_emulator(Machine.of("amd64", cpus=2), archive, tmp_path / "cache", silent)
    assert "made for a test" in machine.identity()["version"]
    assert not (tmp_path / "executed").exists()


def replaced(path: Path, by: Callable[[Path], object]) -> None:
    path.unlink()
    by(path)


SPOILT: dict[str, Callable[[Path], object]] = {
    "a byte": lambda folder: (folder / "a").write_bytes(b"y"),
    "one less": lambda folder: (folder / "b" / "c").unlink(),
    "one more": lambda folder: (folder / "more").write_bytes(b""),
    "a link": lambda folder: replaced(folder / "link", lambda path: path.symlink_to("b")),
    "a pipe": lambda folder: replaced(folder / "a", os.mkfifo),
    "a device's link": lambda folder: replaced(folder / "a", lambda path: path.symlink_to("/dev/zero")),
    "its manifest": lambda folder: (folder / "files.json").write_bytes(b"{}"),
    "its name": lambda folder: folder.rename(folder.with_name("other")),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_folder_that_changed_is_made_again(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    def make(beside: Path) -> None:
        (beside / "b").mkdir()
        (beside / "a").write_bytes(b"x")
        (beside / "b" / "c").write_bytes(b"z")
        (beside / "link").symlink_to("a")
        write_manifest(beside, "one")
        made_again.append(beside)

    made_again: list[Path] = []
    for _ in range(2):
        made(tmp_path / "one", make, unchanged())
    assert len(made_again) == 1
    spoil(tmp_path / "one")
    for name in ("one", "other"):
        assert not (tmp_path / name).is_dir() or not unchanged()(tmp_path / name)
    made(tmp_path / "one", make, unchanged())
    assert len(made_again) == 2


# What is no entry.


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path.name)


NO_ENTRIES = [pipe, endless, folder, loop]


@pytest.mark.parametrize("planted", NO_ENTRIES)
def test_what_is_no_file_is_no_entry(tmp_path: Path, planted: Callable[[Path], None]) -> None:
    planted(tmp_path / "x")
    with pytest.raises(OSError, match=r"not a regular file|Is a directory|Too many levels"):
        read_entry(tmp_path / "x")


@pytest.mark.parametrize("planted", NO_ENTRIES)
def test_no_result_is_read_from_what_is_no_file(tmp_path: Path, planted: Callable[[Path], None]) -> None:
    said: list[str] = []
    results = Results(tmp_path / "results", say=said.append)
    tree = encode_tree({"0/status": b"0\n"})
    results.get("key", b"job", lambda: tree)
    (entry,) = (tmp_path / "results").iterdir()
    entry.unlink()
    planted(entry)
    assert results.get("key", b"job", lambda: tree) == {"0/status": b"0\n"}
    assert any("measured again" in text for text in said)


@pytest.mark.parametrize("planted", NO_ENTRIES)
def test_no_cost_probe_or_kernel_is_read_from_what_is_no_file(
    tmp_path: Path, planted: Callable[[Path], None]
) -> None:
    planted(tmp_path / "costs.json")
    assert Costs(tmp_path / "costs.json").of(cell("none")) == 1.0
    planted(tmp_path / "landscape.json")
    assert KeptProbes.read(tmp_path / "landscape.json", fresh=False).latencies_ns == {}
    planted(tmp_path / "vmlinuz")
    with pytest.raises(DamagedError):
        assert Kernel(Label.parse("6.1"), "6.1", tmp_path / "vmlinuz", "0").checked_sha256
    planted(tmp_path / "kernel.json")
    with pytest.raises(HowlateError):
        Kernel.read(tmp_path)


# Links.


def test_locks_and_new_files_follow_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    inside.mkdir()
    outside.write_text("as it was")
    (inside / ".place.lock").symlink_to(outside)
    with pytest.raises(StorageError), locked(inside / "place"):
        pytest.fail("held")
    (inside / ".new.lock").symlink_to(tmp_path / "made")
    with pytest.raises(StorageError), locked(inside / "new"):
        pytest.fail("held")
    pid = os.getpid()
    for name in (f".costs.json.{pid}", f".landscape.json.{pid}", f".apt.conf.{pid}", f".status.{pid}"):
        (inside / name).symlink_to(outside)
    costs = Costs(inside / "costs.json")
    costs.learn(cell("none"), 10.0, 20.0)
    assert Costs(inside / "costs.json").of(cell("none")) == 2.0
    KeptProbes(inside / "landscape.json", 1, {2: 3}).write()
    assert KeptProbes.read(inside / "landscape.json", fresh=False).latencies_ns == {2: 3}
    (inside / "link").symlink_to(outside)
    write_entry(inside / "link", b"x")
    assert outside.read_text() == "as it was"
    assert not (tmp_path / "made").exists()


def test_a_lock_that_is_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".place.lock")
    with locked(tmp_path / "place"):
        pass


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb"])
def test_a_folder_that_apt_cannot_be_told_of_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotPossibleError) as caught:
        AptArchive(tmp_path / name, [Source("file:///x", "sid", tmp_path / "keys.gpg")]).configure()
    assert "HOWLATE_CACHE" in caught.value.remedy


@pytest.mark.parametrize("name", ["a b.gpg", "a,b.gpg", "a[b].gpg"])
def test_a_keyring_that_apt_cannot_be_told_of_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotPossibleError):
        AptArchive(tmp_path / "a b", [Source("file:///x", "sid", tmp_path / name)]).configure()
    AptArchive(tmp_path / "a b", [Source("file:///x", "sid", tmp_path / "keys.gpg")]).configure()
    assert f'"{tmp_path}/a b/lists"' in (tmp_path / "a b" / "apt.conf").read_text()


# What was swapped.


def test_a_hundred_results_that_were_swapped_are_measured_again(tmp_path: Path) -> None:
    said: list[str] = []
    results = Results(tmp_path, say=said.append)
    keys = [f"guest{number}" for number in range(40)]

    def measured(key: str) -> object:
        return results.get(key, b"job", lambda: encode_tree({"0/stream": key.encode()}))["0/stream"]

    for key in keys:
        measured(key)
    chance = random.Random(36)
    for count in range(100):
        pair = chance.sample(keys, 2)
        files = [results._place(key, b"job") for key in pair]
        first = files[0].read_bytes()
        files[0].write_bytes(files[1].read_bytes())
        files[1].write_bytes(first)
        assert [measured(key) for key in pair] == [key.encode() for key in pair]
        assert len(said) == 2 * (count + 1)


def test_probes_that_were_swapped_cut_or_changed_are_asked_again(tmp_path: Path) -> None:
    one, other = KeptProbes(tmp_path / "a.json", 1, {1: 559289}), KeptProbes(tmp_path / "b.json", 1, {1: 7})
    one.write()
    other.write()
    data = one.path.read_bytes()
    assert b"559289" in data
    for changed in (
        other.path.read_bytes(),
        data.replace(b"559289", b"959289"),
        data[:-3],
        data.partition(b"\n")[2],
        b"",
    ):
        one.path.write_bytes(changed)
        assert KeptProbes.read(one.path, fresh=False).latencies_ns == {}
    one.path.write_bytes(data)
    assert KeptProbes.read(one.path, fresh=False).latencies_ns == {1: 559289}


def test_a_right_of_another_user_in_a_list_counts(tmp_path: Path) -> None:
    """The bits of the group are the most that such a list gives (acl(5))."""
    tmp_path.chmod(0o755)
    check_private(tmp_path)
    rights = [(1, 7, NONE), (2, 7, 65534), (4, 5, NONE), (16, 7, NONE), (32, 5, NONE)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *right) for right in rights)
    try:
        os.setxattr(tmp_path, "system.posix_acl_access", acl)
    except OSError:
        skip("a file system with access control lists", MACHINE)
    assert tmp_path.stat().st_mode & 0o777 == 0o775
    with pytest.raises(NotPossibleError) as caught:
        check_private(tmp_path)
    assert caught.value.statement.rule == "lab.cache-unsafe"


def test_who_has_a_group_as_the_first_one_is_a_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = pwd.getpwuid(os.geteuid())
    os.chown(tmp_path, -1, user.pw_gid)
    tmp_path.chmod(0o775)
    if grp.getgrgid(user.pw_gid).gr_name != user.pw_name:
        skip("a group of the user's own", MACHINE)
    check_private(tmp_path)
    other = pwd.struct_passwd(("other", "x", 4242, user.pw_gid, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [user, other])
    with pytest.raises(NotPossibleError) as caught:
        check_private(tmp_path)
    assert caught.value.statement.rule == "lab.cache-unsafe"


def test_the_check_of_a_folder_names_the_one_that_is_at_fault(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o777)
    with pytest.raises(NotPossibleError) as caught:
        check_private(tmp_path / "a" / "b" / "c")
    assert str(caught.value.statement.values["path"]) == str(tmp_path / "a")
