"""Packages unpack to what was packed, whatever their compression; a damaged or hostile one leaves nothing outside."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from howlate.errors import DamagedError, NotPossibleError
from howlate.lab.archive.deb import data_tar, unpack
from lab.made_archive import ar, deb
from lacks import needs_program

FILES = {"boot/vmlinuz": b"kernel" * 1000, "usr/lib/a": b"", "usr/lib/b": bytes(range(256))}
HAS_ZSTD = needs_program("zstd", "zstd")


@pytest.mark.parametrize("compression", ["", "gz", "xz", pytest.param("zst", marks=HAS_ZSTD)])
def test_a_package_unpacks_to_what_was_packed(tmp_path: Path, compression: str) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb(FILES, {"lib": "usr/lib"}, compression))
    names = unpack(package, tmp_path / "out")
    assert sorted(names) == sorted([*FILES, "lib"])
    assert {name: (tmp_path / "out" / name).read_bytes() for name in FILES} == FILES
    assert (tmp_path / "out/lib/b").read_bytes() == FILES["usr/lib/b"]


def test_only_what_is_wanted_is_unpacked(tmp_path: Path) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb(FILES))
    assert unpack(package, tmp_path / "out", lambda name: name.startswith("boot/")) == ["boot/vmlinuz"]
    assert [p.name for p in (tmp_path / "out").rglob("*") if p.is_file()] == ["vmlinuz"]


@needs_program("dpkg-deb", "dpkg")
@pytest.mark.parametrize("compression", ["gzip", "xz", "none"])
def test_a_package_of_dpkg_is_read_as_dpkg_reads_it(tmp_path: Path, compression: str) -> None:
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: a\n"
    )
    (tree / "usr/src/deep").mkdir(parents=True)
    (tree / "usr/src/deep/file").write_bytes(b"x" * 100_000)
    (tree / "usr/src/script").write_text("#!/bin/sh\n")
    (tree / "usr/src/script").chmod(0o755)
    (tree / "usr/src/link").symlink_to("/usr/src/deep")
    package = tmp_path / "a.deb"
    subprocess.run(["dpkg-deb", f"-Z{compression}", "-b", tree, package], check=True, capture_output=True)
    unpack(package, tmp_path / "out")
    with data_tar(package) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        ours = {member.name for member in tar}
    theirs = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(theirs)) as tar:
        assert ours == {member.name for member in tar}
    assert (tmp_path / "out/usr/src/script").stat().st_mode & 0o111
    assert (tmp_path / "out/usr/src/link").readlink() == Path("deep")


def test_a_package_that_is_cut_off_anywhere_is_damaged(tmp_path: Path) -> None:
    whole = deb(FILES)
    package = tmp_path / "a.deb"
    for length in [0, 4, 8, 30, 68, 100, len(whole) // 2, len(whole) - 40]:
        package.write_bytes(whole[:length])
        with pytest.raises(DamagedError):
            unpack(package, tmp_path / f"out{length}")


def test_a_changed_byte_in_the_data_is_damage(tmp_path: Path) -> None:
    whole = bytearray(deb(FILES))
    whole[-100] ^= 1
    package = tmp_path / "a.deb"
    package.write_bytes(bytes(whole))
    with pytest.raises(DamagedError):
        unpack(package, tmp_path / "out")


@pytest.mark.parametrize(
    ("files", "links"),
    [
        ({"../outside": b"x"}, {}),
        ({"a/../../outside": b"x"}, {}),
        ({}, {"a": "../outside"}),
        ({}, {"a/b": "../../outside"}),
    ],
)
def test_nothing_is_written_outside(tmp_path: Path, files: dict[str, bytes], links: dict[str, str]) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb(files, links))
    with pytest.raises(DamagedError):
        unpack(package, tmp_path / "in" / "out")
    assert not (tmp_path / "in" / "outside").exists()
    assert not (tmp_path / "outside").exists()


def test_an_absolute_link_stays_inside(tmp_path: Path) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb({"usr/src/x/file": b"x"}, {"lib/modules/6/build": "/usr/src/x"}))
    unpack(package, tmp_path / "out")
    assert (tmp_path / "out/lib/modules/6/build/file").read_bytes() == b"x"
    assert not (tmp_path / "out/lib/modules/6/build").readlink().is_absolute()


def test_a_compression_that_is_not_known_is_said(tmp_path: Path) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(ar({"debian-binary": b"2.0\n", "data.tar.lzo": b"x"}))
    with pytest.raises(DamagedError, match="lzo"):
        unpack(package, tmp_path / "out")


@HAS_ZSTD
def test_without_zstd_the_package_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb(FILES, compression="zst"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossibleError) as caught:
        unpack(package, tmp_path / "out")
    assert "zstd" in caught.value.remedy
