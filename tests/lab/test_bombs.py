"""Packages that are signed and hostile: what they unpack to has limits, and what they are named is harmless."""

import bz2
import gzip
import io
import lzma
import resource
import struct
import subprocess
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from howlate.errors import DamagedError, HowlateError
from howlate.lab.archive.deb import TooMuchError, data_tar, decompressed, unpack
from howlate.lab.archive.packages import Package, checked_package, fields, read_packages
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels.image import read_image
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import Modules, plain_module, unpack_modules
from lab.made_archive import ar, arm64_image, bzimage, deb, elf_module
from lacks import needs_program

GIB = 1 << 30
HAS_ZSTD = needs_program("zstd", "zstd")
KINDS = ["gz", "xz", "bz2", pytest.param("zst", marks=HAS_ZSTD)]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": partial(gzip.compress, compresslevel=1),
    "xz": partial(lzma.compress, preset=0),
    "bz2": partial(bz2.compress, compresslevel=1),
    "zst": lambda data: subprocess.run(["zstd", "-c1"], input=data, capture_output=True, check=True).stdout,
}


def packed(kind: str, head: bytes, zeros: int) -> bytes:
    """`head` and so many zeros."""
    return PACK[kind](head + bytes(zeros))


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


def package_of(folder: Path, tar: bytes, ending: str = "") -> Path:
    package = folder / "a.deb"
    package.write_bytes(ar({"debian-binary": b"2.0\n", f"data.tar{ending}": tar}))
    return package


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_that_unpacks_to_much_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It ends beyond what its own size allows: 16 MiB of zeros for some kilobytes of package."""
    monkeypatch.setattr("howlate.lab.archive.deb._FREE", 1 << 20)
    package = package_of(tmp_path, packed(kind, header("usr/bomb", GIB), 16 << 20), f".{kind}")
    with pytest.raises(TooMuchError):
        unpack(package, tmp_path / "out")
    assert size_of(tmp_path / "out") < 8 << 20
    with pytest.raises(TooMuchError), data_tar(package) as stream:
        while stream.read(1 << 20):
            pass


@pytest.mark.parametrize("kind", KINDS)
def test_a_module_that_unpacks_to_much_is_given_up(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("howlate.lab.kernels.modules.MOST_FILE", 2 << 20)
    if kind != "bz2":  # no module is packed so
        with pytest.raises(TooMuchError):
            plain_module(packed(kind, b"", 4 << 20), f"kernel/ext4.ko.{kind}")
    with (
        pytest.raises(TooMuchError),
        decompressed(io.BytesIO(packed(kind, b"", 4 << 20)), kind, Path("a"), 1) as one,
    ):
        one.read()


def test_modules_that_are_much_together_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howlate.lab.kernels.modules.MOST_MODULES", 4 << 20)
    module = gzip.compress(elf_module({"depends": ",".join(f"m{n}" for n in range(50))}, 1 << 20), 1)
    paths = {f"m{number}": f"kernel/m{number}.ko.gz" for number in range(50)}
    with pytest.raises(TooMuchError):
        unpack_modules(["m0"], paths, lambda _: module, frozenset(), tmp_path, Modules({}))
    assert size_of(tmp_path) < 6 << 20


def test_modules_in_a_long_chain_or_a_circle_have_an_order() -> None:
    chain = Modules({f"m{n}": (f"m{n + 1}",) for n in range(20_000)} | {"m20000": ("m0",)})
    assert chain.order("m0")[0] == "m20000"
    assert chain.order("m0")[-1] == "m0"
    assert Modules({"a": ("b", "c"), "b": ("c",), "c": ()}).order("a") == ("c", "b", "a")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_that_unpacks_to_much_is_given_up(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("howlate.lab.kernels.image._unpacked.__defaults__", (2 << 20,))
    bomb = packed(kind, b"", 4 << 20)
    with pytest.raises(TooMuchError):
        read_image(bzimage("6.1", bomb), "vmlinuz")
    zboot = bytearray(0x1000) + bomb
    zboot[:2], zboot[4:8] = b"MZ", b"zimg"
    struct.pack_into("<II", zboot, 8, 0x1000, len(bomb))
    with pytest.raises(TooMuchError):
        read_image(bytes(zboot), "vmlinuz")


def test_a_config_within_a_kernel_has_a_limit() -> None:
    config = gzip.compress(bytes(64 << 20))
    assert read_image(arm64_image("6.1", b"IKCFG_ST" + config + b"IKCFG_ED"), "vmlinuz").config is None


@pytest.mark.parametrize("length", [0x206, 0x210, 0x238, 0x24A])
def test_a_kernel_that_ends_in_its_head_is_a_sentence(length: int) -> None:
    with pytest.raises(HowlateError):
        read_image(bzimage("6.1")[:length], "vmlinuz")
    assert read_image(bzimage("6.1/../../x"), "vmlinuz").release == ""
    assert read_image(bzimage("6.1\x1b]0;x\x07"), "vmlinuz").release == ""


LONG = b"x" * (GIB // 64)
HOSTILE_TARS = {
    "a name of 16 MB": header("././@LongLink", len(LONG), tarfile.GNUTYPE_LONGNAME) + LONG + header("a", 0),
    "a record of 16 MB": header("a", len(LONG), tarfile.XHDTYPE) + LONG + header("a", 0),
    "shared records of 16 MB": header("a", len(LONG), tarfile.XGLTYPE) + LONG + header("a", 0),
    "records in a chain": (header("a", 1, tarfile.XHDTYPE) + b"x".ljust(512)) * 3000 + header("a", 0),
    "names in a chain": (header("a", 5, tarfile.GNUTYPE_LONGNAME) + b"name\0".ljust(512)) * 3000 + header("a", 0),
    "a hole": header("a", 0, tarfile.GNUTYPE_SPARSE),
    "1,900 folders": header("a", 4000, tarfile.GNUTYPE_LONGNAME) + (b"d/" * 2000).ljust(4096, b"\0") + header("a", 0),
    "a name of 5,000": header("a", 5000, tarfile.GNUTYPE_LONGNAME) + b"n" * 5000 + bytes(120) + header("a", 0),
    "a component of 300": header("a", 300, tarfile.GNUTYPE_LONGNAME) + b"n" * 300 + bytes(212) + header("a", 0),
    "no tar": b"\xff" * 2048,
}  # fmt: skip


@pytest.mark.parametrize("tar", HOSTILE_TARS.values(), ids=HOSTILE_TARS)
def test_a_hostile_tar_is_a_sentence_within_little_memory(tmp_path: Path, tar: bytes) -> None:
    package = package_of(tmp_path, tar + bytes(1024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DamagedError):
        unpack(package, tmp_path / "out")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_sparse_records_of_a_pax_header_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("a")
        member.pax_headers = {
            "GNU.sparse.map": "0,0",
            "GNU.sparse.size": str(1 << 40),
            "GNU.sparse.name": "a",
        }
        tar.addfile(member, io.BytesIO(b""))
    with pytest.raises(DamagedError):
        unpack(package_of(tmp_path, out.getvalue()), tmp_path / "out")
    assert not (tmp_path / "out/a").exists()


def test_very_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howlate.lab.archive.deb._MOST_MEMBERS", 100)
    with pytest.raises(DamagedError, match="too many"):
        unpack(package_of(tmp_path, header("a/b", 0, tarfile.DIRTYPE) * 101 + bytes(1024)), tmp_path / "out")


LINKS: dict[str, dict[str, str]] = {
    "a loop": {"a": "b", "b": "a", "a/c": "x"},
    "to the root": {"a": "/"},
    "through another": {"d/e": "..", "f": "d/e/../.."},
    "through a folder's": {"x/y/z": "../..", "l": "x/y/z/../.."},
}


@pytest.mark.parametrize("links", LINKS.values(), ids=LINKS)
def test_links_stay_inside_or_are_refused(tmp_path: Path, links: dict[str, str]) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(deb({}, links))
    try:
        unpack(package, tmp_path / "in" / "out")
    except DamagedError:
        return
    for path in (tmp_path / "in").rglob("*"):
        assert path.resolve().is_relative_to(tmp_path / "in" / "out"), path


def test_a_link_in_place_of_a_folder_is_not_followed_outside(tmp_path: Path) -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as out:
        for name, kind, target in (
            ("d", tarfile.SYMTYPE, "x"),
            ("x", tarfile.SYMTYPE, "../.."),
            ("d/a", tarfile.REGTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            out.addfile(member)
    with pytest.raises(DamagedError):
        unpack(package_of(tmp_path, tar.getvalue()), tmp_path / "in" / "out")
    assert not (tmp_path / "a").exists()


def test_a_broken_stream_is_a_sentence(tmp_path: Path) -> None:
    for kind in ("gz", "xz", "bz2"):
        data = bytearray(packed(kind, header("a", 0), 1 << 20))
        for place in range(12, len(data), max(1, len(data) // 40)):
            broken = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
            with pytest.raises(DamagedError):
                unpack(package_of(tmp_path, bytes(broken), f".{kind}"), tmp_path / f"out-{kind}-{place}")
                raise DamagedError.__new__(DamagedError)  # what was changed carries no meaning


# Lists.

GOOD = {
    "name": "linux-image-6.1.0-5-amd64", "version": "6.1.5-1", "architecture": "amd64",
    "uri": "http://a/debian/pool/main/l/linux/a.deb", "size": 1000, "sha256": "0" * 64, "depends": "",
}  # fmt: skip
REAL_VERSIONS = [
    "1:10.0.2+ds-2+deb13u1",
    "5.10.237-1~deb11u1",
    "6.12.9-1~bpo12+1",
    "7.2~rc4-1~exp1",
    "6.1.153-1",
]
UNFIT = {
    "name": ["", "../x", "a/b", "linux-image-\x1b[31m", "a" * 300, "-a", "linux-image-é"],
    "version": ["", "6.1/../../../x", "..", "6.1\x1b]0;x\x07", "6.1 ", "6.1\n", "9" * 5000, "1" * 60, "-1", "a"],
    "architecture": ["", "amd64/..", "../amd64", "AMD64\0", "amd64 ", "x" * 60],
    "uri": ["", "http://a/../../etc/passwd", "http://a/..", "http://a/\x1b", "http://a/\n", "http://a/" + "x" * 5000],
    "size": ["-1", "1" * 400, "1e9", "0x10", "", "٣"],
    "sha256": ["", "0" * 63, "0" * 65, "g" * 64, "../" + "0" * 61, "A" * 64],
    "depends": ["\x1b[31m", "a\nb", "x" * 100_000],
}  # fmt: skip


@pytest.mark.parametrize("version", REAL_VERSIONS)
def test_what_debian_names_is_taken(version: str) -> None:
    package = checked_package({**GOOD, "version": version}, "bookworm", "list")
    assert (package.version, package.size) == (version, 1000)


@pytest.mark.parametrize(
    ("member", "value"), [(member, value) for member, values in UNFIT.items() for value in values], ids=ascii
)
def test_what_debian_would_not_name_is_refused(member: str, value: str) -> None:
    with pytest.raises(DamagedError) as caught:
        checked_package({**GOOD, member: value}, "bookworm", "list")
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 1000


def paragraph(**more: str) -> bytes:
    rows = {
        "Package": "linux-image-6.1.0-5-amd64", "Version": "6.1.5-1", "Architecture": "amd64",
        "Filename": "pool/a.deb", "Size": "1000", "SHA256": "0" * 64, **more,
    }  # fmt: skip
    return "".join(f"{name}: {value}\n" for name, value in rows.items()).encode()


def read(data: bytes, most: int = 64 << 20) -> list[Package]:
    with decompressed(io.BytesIO(data), "", Path("list"), most) as stream:
        return list(read_packages(stream, "bookworm", "http://a/debian", "list"))


def test_a_list_of_any_blocks_is_read_the_same() -> None:
    whole = b"\n".join([paragraph(), b"Package: zsh\n" + b"Description: x\n" * 9000] * 40)
    assert len(read(whole)) == 40
    assert read(whole + b"\n\n\n\n") == read(whole)


@pytest.mark.parametrize(
    "data",
    [
        b"x" * (8 << 20),
        b"Package: a\n" + b"A: b\n" * (2 << 20),
        paragraph(Filename="../../../etc/passwd"),
        paragraph() + b"X: \xff\n",
        paragraph(Size="1" * 5000),
        paragraph(Version="6.1/../../x"),
    ],
    ids=["line", "paragraph", "outside", "no text", "size", "version"],
)
def test_a_hostile_list_is_a_sentence(data: bytes) -> None:
    with pytest.raises(DamagedError):
        read(data)


def test_a_list_without_an_end_is_given_up() -> None:
    with pytest.raises(TooMuchError):
        read(b"\n" * (40 << 20), 32 << 20)
    assert read(b"\n" * (30 << 20), 32 << 20) == []


def test_folded_lines_cost_no_more_than_their_number() -> None:
    """Half a million of them would take an hour, if each copied those before it."""
    text = "SHA256:\n" + " a\n" * 500_000
    assert fields(text)["SHA256"].count("\n") == 499_999


def test_a_record_of_a_kernel_names_no_other_place(tmp_path: Path) -> None:
    row = {
        "name": "linux-image-x",
        "version": "6.1/../../x",
        "architecture": "amd64",
        "uri": "http://a/x",
        "sha256": "0" * 64,
    }
    kernel = Kernel(
        Label.parse("6.1"), "6.1", tmp_path / "k/vmlinuz", "", packages=(row,), modules_path=tmp_path
    )
    with pytest.raises(DamagedError):
        kernels._recorded_package(kernel, row)
