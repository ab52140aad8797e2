"""What a kernel of the user's own must have: all that is missing is named before it boots, as the page says it."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError
from howlate.lab.kernels.own_kernel import own_kernel
from howlate.lab.kernels.own_needs import (
    EVERY,
    OF_ARCHITECTURE,
    OF_KNOBS,
    PAGE,
    check_cpus,
    check_knobs,
    check_load,
    check_own,
    missing,
    remedy_of_hang,
)
from howlate.system.paths import ROOT, probe_path
from howlate.targets.local import LocalTarget
from lab.made_archive import arm64_image, bzimage

WHOLE = [f"CONFIG_{option}=y" for options in (EVERY, *OF_ARCHITECTURE.values()) for option in options]


def in_the_image(lines: list[str]) -> bytes:
    return b"IKCFG_ST" + gzip.compress("\n".join(lines).encode()) + b"IKCFG_ED"


def kernel_file(folder: Path, lines: list[str] | None, name: str = "bzImage-mine") -> str:
    file = folder / name
    if lines is None:
        file.write_bytes(bzimage("6.9.1"))
    else:
        file.write_bytes(bzimage("6.9.1", gzip.compress(b"x" * 5000 + in_the_image(lines))))
    return str(file)


def test_all_that_is_missing_is_named_at_once_and_the_page(tmp_path: Path) -> None:
    lines = [line for line in WHOLE if line not in ("CONFIG_FUTEX=y", "CONFIG_PCI=y", "CONFIG_TMPFS=y")]
    _, kernel = own_kernel(kernel_file(tmp_path, [*lines, "CONFIG_TMPFS=m"]), tmp_path / "cache")
    with pytest.raises(NotPossibleError) as caught:
        check_own(kernel, pytest.fail)
    assert "lacks CONFIG_FUTEX, CONFIG_TMPFS, CONFIG_PCI" in caught.value.message
    assert PAGE in caught.value.remedy and "no modules" in caught.value.remedy


def test_a_kernel_that_has_all_is_not_spoken_of(tmp_path: Path) -> None:
    _, kernel = own_kernel(kernel_file(tmp_path, WHOLE), tmp_path / "cache")
    check_own(kernel, pytest.fail)


def test_without_a_config_it_is_said_that_nothing_was_checked(tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    _, kernel = own_kernel(kernel_file(folder, None), tmp_path / "cache")
    said: list[str] = []
    check_own(kernel, said.append)
    assert len(said) == 1 and "is not checked" in said[0] and PAGE in said[0]


def test_what_one_architecture_needs_is_asked_of_it_alone(tmp_path: Path) -> None:
    lines = [line for line in WHOLE if "PCI_HOST_GENERIC" not in line]
    _, amd64 = own_kernel(kernel_file(tmp_path, lines), tmp_path / "cache")
    check_own(amd64, pytest.fail)
    image = tmp_path / "Image"
    image.write_bytes(arm64_image("6.9.1", in_the_image(lines)))
    _, arm64 = own_kernel(str(image), tmp_path / "cache")
    with pytest.raises(NotPossibleError, match="CONFIG_PCI_HOST_GENERIC"):
        check_own(arm64, pytest.fail)


def test_a_load_is_refused_by_what_it_needs_beyond(tmp_path: Path) -> None:
    _, kernel = own_kernel(kernel_file(tmp_path, [*WHOLE, "CONFIG_BLOCK=y"]), tmp_path / "cache")
    loads = {load.name: load for load in LocalTarget(probe_path()).capabilities().loads}
    with pytest.raises(NotPossibleError, match="lacks CONFIG_EXT4_FS, CONFIG_BLK_DEV_RAM for the load disk"):
        check_load(kernel, loads["disk"], "disk:max")
    check_load(kernel, loads["memory-alloc"], "memory-alloc:100")


def test_a_knob_is_refused_by_what_it_needs_beyond(tmp_path: Path) -> None:
    _, kernel = own_kernel(kernel_file(tmp_path, WHOLE), tmp_path / "cache")
    with pytest.raises(NotPossibleError, match="lacks CONFIG_FILE_LOCKING for knobs") as caught:
        check_knobs(kernel)
    assert PAGE in caught.value.remedy
    (tmp_path / "other").mkdir()
    _, whole = own_kernel(
        kernel_file(tmp_path / "other", [*WHOLE, "CONFIG_FILE_LOCKING=y"]), tmp_path / "cache"
    )
    check_knobs(whole)


def test_cobalt_is_refused_cpus_that_come_online_after_its_start(tmp_path: Path) -> None:
    file = kernel_file(tmp_path, [*WHOLE, "CONFIG_XENOMAI=y"])
    cobalt = own_kernel(file, tmp_path / "cache")
    check_cpus(*cobalt, 1)
    with pytest.raises(NotPossibleError, match="Cobalt"):
        check_cpus(*cobalt, 2)
    for parameters, most in (
        ("maxcpus=2", 2),
        ("maxcpus=1", 1),
        ("maxcpus=0", 1),
        ("maxcpus=2 maxcpus=4", 4),
        ("maxcpus=4 maxcpus=1", 1),
        ("maxcpus=all", 1),
        ("nr_cpus=4", 1),
    ):
        several = own_kernel(f"{file}[{parameters}]", tmp_path / "cache")
        check_cpus(*several, most)
        with pytest.raises(NotPossibleError, match="Cobalt"):
            check_cpus(*several, most + 1)
    (tmp_path / "plain").mkdir()
    check_cpus(*own_kernel(kernel_file(tmp_path / "plain", WHOLE), tmp_path / "cache"), 2)


@pytest.mark.parametrize(
    ("lines", "command_line", "named"),
    [
        (["CONFIG_DOVETAIL=y", "CONFIG_EVL=y"], "quiet", True),
        (["CONFIG_DOVETAIL=y", "CONFIG_XENOMAI=y"], "quiet tsc=unstable", True),
        (["CONFIG_DOVETAIL=y"], "quiet tsc=reliable", False),
        ([], "quiet", False),
        (None, "quiet", False),
    ],
)
def test_a_dovetail_kernel_that_hangs_in_boot_is_told_of_its_clock(
    tmp_path: Path, lines: list[str] | None, command_line: str, named: bool
) -> None:
    file = kernel_file(tmp_path, None if lines is None else [*WHOLE, *lines])
    _, kernel = own_kernel(file, tmp_path / "cache")
    assert ("[tsc=reliable]" in remedy_of_hang(kernel, command_line)) is named


def test_the_page_and_the_tables_are_in_step() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / PAGE).read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    always = [(re.findall(r"CONFIG_(\w+)", row[0]), row[1]) for row in rows if row[0].startswith("`CONFIG_")]
    assert [option for options, why in always if "only)" not in why for option in options] == list(EVERY)
    for arch, options in OF_ARCHITECTURE.items():
        assert [option for found, why in always if f"({arch} only)" in why for option in found] == [*options]
    of_knobs = [re.findall(r"CONFIG_(\w+)", row[1]) for row in rows if row[0].startswith("a knob")]
    assert of_knobs == [list(OF_KNOBS)]
    by_use = {
        row[0]: [option.removeprefix("CONFIG_") for option in re.findall(r"CONFIG_\w+", row[1])]
        for row in rows
        if row[0].startswith(("load `", "timer `", "test `"))
    }
    assert by_use == declared()


def declared() -> dict[str, list[str]]:
    """What the probe says that its loads, timers and ways to switch need, by the words of the page."""
    output = subprocess.run([probe_path(), "list", "--json"], capture_output=True, check=True).stdout
    options: dict[str, list[str]] = {}
    for table, words in (
        ("loads", "load `{}`"),
        ("timers", "timer `{}`"),
        ("switches", "test `switch`, `--by {}`"),
    ):
        for user in json.loads(output)[table]:
            for need in user["config"]:
                condition = f", `{need['option']}={need['value']}`" if need["option"] else ""
                options.setdefault(words.format(user["name"]) + condition, []).append(need["name"])
    return options


def test_the_archives_kernels_have_what_is_asked_for() -> None:
    """In an excerpt of Debian's 6.1: what a kernel that boots lacks cannot be a need."""
    config = {f"CONFIG_{name}": "y" for name in DEBIAN_6_1.split()}
    assert missing(EVERY, config) == []


DEBIAN_6_1 = """64BIT BLK_DEV_INITRD BINFMT_ELF FUTEX POSIX_TIMERS SIGNALFD EVENTFD PROC_FS SYSFS DEVTMPFS SHMEM TMPFS
PCI EPOLL TIMERFD IO_URING NET UNIX INET HIGH_RES_TIMERS MULTIUSER PRINTK"""
