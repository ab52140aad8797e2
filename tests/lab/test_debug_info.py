"""Lines of source from debug information, which is compiled here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.lab import debug_info
from howlate.replay.symbols import Symbols
from lacks import needs_program

SOURCE = """\
static inline int twice(int value)
{
	return 2 * value + __LINE__;
}

int release_pages(int count)
{
	volatile int kept = count;

	return twice(kept);
}

int main(void)
{
	return release_pages(1);
}
"""


def compiled(folder: Path, *options: str) -> Path:
    (folder / "mm").mkdir(parents=True)
    (folder / "mm" / "swap.c").write_text(SOURCE)
    file = folder / "vmlinux-6.1"
    argv = ["gcc", "-O1", "-g", "-fno-inline-functions-called-once", "-Wl,--build-id=sha1", *options]
    subprocess.run([*argv, "-o", file.name, "mm/swap.c"], cwd=folder, check=True)
    return file


@pytest.mark.parametrize("version", [4, 5])
def test_an_address_has_its_line_and_inlined_code_its_own(tmp_path: Path, version: int) -> None:
    file = compiled(tmp_path, f"-gdwarf-{version}")
    begin = Symbols.of("", file.read_bytes()).address("release_pages")
    with debug_info.opened([file]) as (info,):
        lines = info.lines(range(begin, begin + 12))
        assert lines[begin] in ("mm/swap.c:7", "mm/swap.c:8")
        assert "mm/swap.c:3" in lines.values()
        assert info.lines([1 << 63]) == {}


def test_it_is_of_the_kernel_that_has_its_build_id(tmp_path: Path) -> None:
    file = compiled(tmp_path)
    with debug_info.opened([file]) as (info,):
        image = bytes(1000) + file.read_bytes()
        assert info.is_of(image)
        assert not info.is_of(image.replace(bytes.fromhex(info.build_id), bytes(20)))


@needs_program("dpkg-deb", "dpkg")
def test_a_folder_and_a_package_are_searched(tmp_path: Path) -> None:
    boot = tmp_path / "tree" / "usr" / "lib" / "debug" / "boot"
    boot.mkdir(parents=True)
    shutil.copy(compiled(tmp_path / "source"), boot)
    control = tmp_path / "tree" / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text("Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@a>\nDescription: a\n")
    package = tmp_path / "a-dbg.deb"
    subprocess.run(["dpkg-deb", "-b", tmp_path / "tree", package], check=True, capture_output=True)
    with debug_info.opened([tmp_path / "tree", package]) as (in_folder, in_package):
        assert in_folder.build_id == in_package.build_id
        assert (in_folder.path, in_package.path) == (tmp_path / "tree", package)


@pytest.mark.parametrize("options", [("-g0",), ("-Wl,--build-id=none",)])
def test_what_has_no_lines_or_no_build_id_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("vmlinux")
    for path in (compiled(tmp_path, *options), tmp_path / "empty", tmp_path / "text"):
        with pytest.raises(UsageError, match="no vmlinux with debug information"), debug_info.opened([path]):
            pass
