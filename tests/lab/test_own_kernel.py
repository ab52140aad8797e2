"""A kernel of the user's own: known by its file's head, its config found where it stands, bootable by QEMU."""

import bz2
import gzip
import lzma
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError, UsageError
from howlate.lab.kernels.catalogue import cached
from howlate.lab.kernels.image import pvh_kernel, read_image
from howlate.lab.kernels.own_kernel import own_kernel
from lab.made_archive import arm64_image, bzimage
from lacks import needs_program

CONFIG = "CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"
IKCONFIG = b"IKCFG_ST" + gzip.compress(CONFIG.encode()) + b"IKCFG_ED"


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout + bytes(4)


PACKERS = [
    gzip.compress,
    bz2.compress,
    lzma.compress,
    lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    pytest.param(zstd, marks=needs_program("zstd", "zstd")),
]


@pytest.mark.parametrize("pack", PACKERS)
def test_the_config_inside_of_a_bzimage_is_found(pack: Callable[[bytes], bytes]) -> None:
    image = read_image(bzimage("6.9.1-mine", pack(b"x" * 5000 + IKCONFIG + b"y")), "bzImage")
    assert (image.arch, image.release, image.config) == ("amd64", "6.9.1-mine", CONFIG)


def test_a_bzimage_whose_payload_cannot_be_read_is_booted_all_the_same() -> None:
    data = bzimage("6.9.1", b"\x04\x22\x4d\x18 lz4")
    assert read_image(data, "bzImage").data == data
    assert read_image(data, "bzImage").config is None


PVH_NOTE = struct.pack("<III4sI", 4, 4, 18, b"Xen\0", 0x1000000)
"""XEN_ELFNOTE_PHYS32_ENTRY, as CONFIG_PVH puts it into a kernel."""
VMLINUX = b"\x7fELF" + bytes(600) + b"tsc_early_khz\0" + PVH_NOTE
"""As much of an unpacked kernel as shows that QEMU can enter it, and that it can be told its clock's rate."""


@pytest.mark.parametrize("pack", PACKERS)
def test_a_kernel_that_qemu_can_enter_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    plain = VMLINUX + bytes(600)
    assert pvh_kernel(bzimage("6.9.1", pack(plain))) == plain


@pytest.mark.parametrize(
    "data",
    [
        bzimage("6.9.1", gzip.compress(VMLINUX[: -len(PVH_NOTE)])),
        bzimage("6.9.1", gzip.compress(VMLINUX[4:])),
        bzimage("6.9.1", gzip.compress(VMLINUX.replace(b"Xen", b"GNU"))),
        bzimage("5.7.9", gzip.compress(VMLINUX.replace(b"tsc_early", b"tsc_later"))),
        bzimage("6.9.1", gzip.compress(VMLINUX)[:-9]),
        bzimage("6.9.1", b"\x04\x22\x4d\x18 lz4"),
        bzimage("6.9.1"),
        arm64_image("6.9.1", PVH_NOTE),
    ],
    ids=["no note", "no ELF", "other note", "measures", "cut", "lz4", "nothing", "arm64"],
)
def test_a_kernel_that_qemu_cannot_enter_unpacks_itself(data: bytes) -> None:
    assert pvh_kernel(data) is None


def zboot(plain: bytes, kind: bytes, packed: bytes) -> bytes:
    return b"MZ\0\0zimg" + struct.pack("<II", 64, len(packed)) + bytes(8) + kind.ljust(40, b"\0") + packed


def test_an_arm64_kernel_is_unpacked_to_the_image_that_qemu_boots() -> None:
    plain = arm64_image("6.9.1-mine", IKCONFIG)
    for data in (plain, gzip.compress(plain), zboot(plain, b"gzip", gzip.compress(plain))):
        image = read_image(data, "Image")
        assert (image.arch, image.data, image.release) == ("arm64", plain, "6.9.1-mine")
        assert image.config == CONFIG


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "it is not a kernel"),
        (b"\x7fELF" + bytes(600) + b"Linux version 6.9 (x)", "it is a vmlinux"),
        (b"\x7fELF" + bytes(600), "it is not a kernel"),
        (bzimage("6.9")[:0x236] + bytes(2) + bzimage("6.9")[0x238:], "for 32 bits"),
        (zboot(b"", b"lz4", b"\x04\x22\x4d\x18"), "compressed with lz4"),
        (gzip.compress(b"something else", mtime=0), "it is not a kernel"),
        (bzimage("6.9", bytes(5000))[:-1], "of 9096 bytes"),
        (gzip.compress(arm64_image("6.9"))[:-9], "cut off or damaged"),
    ],
    ids=[
        "empty",
        "vmlinux",
        "program",
        "32-bits",
        "lz4",
        "gzip-of-nothing",
        "cut-off",
        "gzipped-and-cut-off",
    ],
)
def test_what_is_no_kernel_is_refused(data: bytes, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        read_image(data, "file")


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("vmlinuz-mine", "config-mine"),
        ("bzImage", "bzImage.config"),
        ("bzImage", "config"),
        ("linux/arch/x86/boot/bzImage", "linux/.config"),
    ],
)
def test_the_config_beside_a_kernel_is_found(tmp_path: Path, name: str, config: str) -> None:
    file = tmp_path / "in" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(bzimage("6.9.1-mine"))
    (tmp_path / "in" / config).write_text(CONFIG)
    label, kernel = own_kernel(f"{file}[preempt=none]", tmp_path / "cache")
    assert str(label) == f"{file.name}[preempt=none]"
    assert kernel.config["CONFIG_PREEMPT_DYNAMIC"] == "y"
    assert kernel.vmlinuz.read_bytes() == file.read_bytes()
    assert cached(tmp_path / "cache") == []


def test_two_that_open_the_same_kernel_do_not_harm_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another howlate writes the same config between our writing and our renaming."""
    file = tmp_path / "bzImage"
    file.write_bytes(bzimage("6.9.1"))
    (tmp_path / "config").write_text(CONFIG)
    real = Path.rename
    inside: list[Path] = []

    def overtaken(path: Path, to: Path) -> Path:
        if "config" in path.name and not inside:
            inside.append(path)
            own_kernel(str(file), tmp_path / "cache")
        return real(path, to)

    monkeypatch.setattr(Path, "rename", overtaken)
    _, kernel = own_kernel(str(file), tmp_path / "cache")
    assert inside
    assert kernel.config["CONFIG_PREEMPT_DYNAMIC"] == "y"


def test_a_kernel_without_a_config_boots_and_has_no_modes_to_choose(tmp_path: Path) -> None:
    file = tmp_path / "in" / "bzImage"
    file.parent.mkdir()
    file.write_bytes(bzimage("6.9.1"))
    _, kernel = own_kernel(str(file), tmp_path / "cache")
    assert (kernel.config, kernel.modes, kernel.modules.files) == ({}, None, {})
    with pytest.raises(NotPossibleError) as caught:
        own_kernel(f"{file}[preempt=none]", tmp_path / "cache")
    assert "put the config" in caught.value.remedy


def test_a_kernel_that_was_built_again_is_another_kernel(tmp_path: Path) -> None:
    file = tmp_path / "bzImage"
    file.write_bytes(bzimage("6.9.1"))
    _, before = own_kernel(str(file), tmp_path / "cache")
    file.write_bytes(bzimage("6.9.2"))
    _, after = own_kernel(str(file), tmp_path / "cache")
    assert before.vmlinuz != after.vmlinuz
    assert before.vmlinuz.read_bytes() != after.vmlinuz.read_bytes()
    assert before.vmlinuz_sha256 != after.vmlinuz_sha256


def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        own_kernel(str(tmp_path / "absent"), tmp_path)
