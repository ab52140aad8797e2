"""What tools/ready.sh is asked for when a command comes to it, and what it offers."""

import os
from pathlib import Path

import pytest

from howlate.system import paths as places
from made_clone import Clone
from test_setup import BOOKWORM

OWN = places.MACHINES[os.uname().machine]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize("words", ["archive", f"guest {OWN}"])
@pytest.mark.parametrize(
    "keyring", ["debian-archive-keyring.gpg", "debian-archive-keyring.pgp", "other.gpg", ""]
)
def test_the_archive_s_keys_are_offered_where_only_the_commands_are_there(
    clone: Clone, words: str, keyring: str
) -> None:
    """As on Ubuntu, which has gpgv from the start; the keys of a package that is not installed are not there."""
    folder = clone.root / "keyrings"
    folder.mkdir()
    (folder / keyring).touch() if keyring else None
    ready(clone, folder)
    done = clone.run("tools/ready.sh", *words.split())
    if keyring.startswith("debian"):
        assert (done.returncode, done.stderr, clone.calls()) == (0, "", ["id -u"] * (words != "archive"))
        return
    assert done.returncode == 3
    assert "packages are missing" in done.stderr and "debian-archive-keyring" in done.stderr


def test_guests_are_offered_what_makes_a_root_for_modules(clone: Clone) -> None:
    folder = clone.root / "keyrings"
    folder.mkdir()
    (folder / "debian-archive-keyring.gpg").touch()
    ready(clone, folder)
    (clone.bin / "debootstrap").unlink()
    done = clone.run("tools/ready.sh", "guest", OWN)
    assert done.returncode == 3 and "debootstrap" in done.stderr


@pytest.mark.parametrize(("user", "install"), [("1000", "ask"), ("0", "no")])
def test_guests_do_without_the_archive_s_keys_where_nothing_may_be_installed(
    clone: Clone, user: str, install: str
) -> None:
    ready(clone, clone.root / "none")
    clone.stand_in("id", f"echo {user}")
    assert clone.run("tools/ready.sh", "guest", OWN, HOWLATE_INSTALL=install).returncode == 0
    assert clone.run("tools/ready.sh", "archive", HOWLATE_INSTALL=install).returncode == 3


@pytest.mark.parametrize("machine", places.ARCHITECTURES)
def test_whether_a_probe_is_built_is_asked_without_building_it(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    """Also where it is older than a source."""
    clone.stand_in("cmake")
    clone.stand_in("dpkg-query", "printf installed")
    monkeypatch.setattr(places, "ROOT", clone.root)
    monkeypatch.setenv("PATH", f"{clone.bin}:/usr/bin:/bin")
    for name in ("HOWLATE_PROBE", f"HOWLATE_PROBE_{places.ARCHITECTURES[machine].upper()}"):
        monkeypatch.delenv(name, raising=False)
    assert places.built_probe(machine) is None
    own = machine == os.uname().machine
    folder = clone.root / "build" / ("probe" if own else f"cross/{places.ARCHITECTURES[machine]}")
    folder.mkdir(parents=True)
    (folder / "howlate-probe").touch(0o755)
    assert places.built_probe(machine) == folder / "howlate-probe"
    assert not clone.calls()


def ready(clone: Clone, keyrings: Path) -> None:
    """A machine of root's with all commands of the lab, and no package of which apt knows."""
    script = clone.root / "tools" / "ready.sh"
    text = script.read_text()
    assert text.count("/usr/share/keyrings/") == 1
    script.write_text(text.replace("/usr/share/keyrings/", f"{keyrings}/"))
    clone.debian(BOOKWORM)
    clone.stand_in("id", "echo 0")
    for name in (f"qemu-system-{os.uname().machine}", "gpgv", "zstd", "make", "debootstrap"):
        clone.stand_in(name)
