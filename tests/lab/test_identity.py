"""A guest says which kernel it has (`uname -r`, the GNU build id), and the host compares it with the file that it
booted."""

import gzip
import shutil
import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import GuestError
from howlate.lab.bench import Bench
from howlate.lab.guests.guest import Boot
from howlate.lab.guests.identity import NOTES, RELEASE, build_ids, other_kernel
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.snapshot import Snapshot, Snapshots, write_record
from howlate.store.files import read_json
from lab.guests import LIMITS, RT, STANDARD, bench, booted_guests
from lab.made_archive import bzimage

ONE, TWO = bytes(range(20)), bytes(range(20, 40))


def note(identity: bytes, name: bytes = b"GNU\0", kind: int = 3) -> bytes:
    head = struct.pack("<3I", len(name), len(identity), kind)
    return head + name + bytes(-len(name) % 4) + identity + bytes(-len(identity) % 4)


@pytest.mark.parametrize(
    ("files", "is_other"),
    [
        ({RELEASE: b"6.1.0\n", NOTES: note(ONE)}, False),
        ({RELEASE: b"6.1.0\n", NOTES: note(b"xyz", b"Linux\0") + note(ONE)}, False),
        ({RELEASE: b"6.1.0\n"}, False),
        ({}, False),
        ({RELEASE: b"6.1.1\n", NOTES: note(ONE)}, True),
        ({RELEASE: b"6.1.0\n", NOTES: note(TWO)}, True),
        ({RELEASE: b"6.1.0\n", NOTES: note(b"xyz", b"Linux\0") + note(TWO)}, True),
        ({RELEASE: b"6.1.0\n", NOTES: note(ONE)[:-1]}, False),
    ],
)
def test_what_contradicts_the_file_is_another_kernel(files: dict[str, bytes], is_other: bool) -> None:
    image = b"code" + note(ONE) + b"more" + note(bytes(20))
    assert build_ids(image) == {ONE, bytes(20)}
    assert (other_kernel(files, "g", "6.1.0", build_ids(image)) is not None) is is_other
    assert other_kernel(files, "g", "", frozenset()) is None


def say_hello(on: Bench) -> dict[str, bytes]:
    return dict(on.files([("howlate-probe", "--version")], LIMITS))


def test_a_guest_of_another_kernel_is_booted_again_and_said(tmp_path: Path, booted: Path) -> None:
    """The saved guest of one kernel in the place of another's, with a record made for it."""
    one = bench(tmp_path / "cache", STANDARD, snapshots=booted)
    first = say_hello(one)
    assert first[RELEASE].decode().strip() == one.kernel.release
    assert {each for each in one._build_ids if each in first[NOTES]}
    said: list[str] = []
    other = replace(bench(tmp_path / "cache", RT, snapshots=tmp_path / "snapshots"), say=said.append)
    taken, place = booted / one.key, tmp_path / "snapshots" / other.key
    place.mkdir(parents=True)
    shutil.copy(taken / "state", place / "state")
    record = {name: value for name, value in read_json(taken / "snapshot.json").items() if name != "seal"}
    write_record(place, other.key, record)
    answered = say_hello(other)
    assert answered[RELEASE].decode().strip() == other.kernel.release
    assert [line for line in said if one.kernel.release in line and "booted again" in line]


@pytest.mark.parametrize("change", ["release", "build"])
def test_a_file_that_is_another_kernel_is_refused(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(tmp_path / "cache", RT, snapshots=booted_guests(), fresh=True)
    if change == "release":
        on = replace(on, kernel=replace(on.kernel, release="6.1.0-99-rt-amd64"))
    else:
        vars(on)["_build_ids"] = frozenset([ONE])
    forgotten = []
    # The saved guest is the right one, and everybody's.
    monkeypatch.setattr(on.snapshots, "forget", lambda key, _: forgotten.append(key))
    with pytest.raises(GuestError) as caught:
        say_hello(on)
    assert forgotten == [on.key] and "fetched again" in caught.value.remedy
    assert not list((tmp_path / "cache" / "results").glob("*"))


def test_a_kernel_that_cannot_be_unpacked_here_has_no_build_id(tmp_path: Path) -> None:
    """What stands before its payload may hold the note of another program."""
    on = bench(tmp_path / "cache", STANDARD, snapshots=booted_guests())
    packed = tmp_path / "vmlinuz"
    packed.write_bytes(note(ONE) + bzimage("6.1.0", b"in a format of its own")[len(note(ONE)) :])
    vars(on)["_checked_image"] = packed
    assert on._build_ids == frozenset()
    packed.write_bytes(bzimage("6.1.0", gzip.compress(note(TWO) + bytes(5_000))))
    vars(on).pop("_build_ids")
    assert on._build_ids == {TWO}


def test_only_the_guest_that_was_loaded_is_forgotten(tmp_path: Path) -> None:
    """Another howlate may have booted it again meanwhile."""
    snapshots, state = Snapshots(tmp_path), tmp_path / "key" / "state"
    state.parent.mkdir()
    state.write_bytes(b"of another kernel")
    with state.open("rb") as old:
        saved = Snapshot(Boot(Machine.of("amd64"), Path(), Path(), ""), old)
        state.rename(tmp_path / "gone")
        state.write_bytes(b"booted again")
        snapshots.forget("key", saved)
        assert state.is_file()
        (tmp_path / "gone").replace(state)
        snapshots.forget("key", saved)
        assert not state.parent.exists()
        snapshots.forget("key", saved)
