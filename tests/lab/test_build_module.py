"""Modules built outside of the tree: from the archive's headers, to the same bytes wherever the cache is."""

import shutil
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError, TargetError, UsageError
from howlate.lab.archive.apt import HELPER, AptArchive
from howlate.lab.archive.packages import Archive, Package
from howlate.lab.build_module import build_module, codename, needed_packages
from howlate.lab.cache import cache_folder
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels.headers import BUILT, header_packages, headers, host_architecture
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import modinfo
from lacks import KERNEL, MACHINE, skip

MODULE = Path(__file__).parent / "module"
"""Says in /sys/module/howlate_test/parameters/answer that it ran: twice its parameter `half`."""


class Listed:
    """An archive of which only the list is looked at."""

    def __init__(self, *packages: Package) -> None:
        self.listed = packages

    def packages(self, refresh: bool = False) -> tuple[Package, ...]:
        return self.listed

    def fetch(self, package: Package, folder: Path) -> Path:
        raise AssertionError("nothing is fetched")

    def places(self) -> tuple[tuple[str, str, Path], ...]:
        return ()


def package(name: str, version: str, architecture: str, depends: str = "") -> Package:
    return Package(name, version, architecture, "bookworm", "http://a", 1, "0", depends)


def kernel(label: str = "6.1", release: str = "6.1.0-5-amd64", version: str = "6.1.5-1") -> Kernel:
    return Kernel(Label.parse(label), release, Path("vmlinuz"), "0", package="linux-image", version=version)


OWN = package(
    "linux-headers-6.1.0-5-amd64",
    "6.1.5-1",
    "amd64",
    "linux-headers-6.1.0-5-common (= 6.1.5-1), linux-kbuild-6.1 (>= 6.1.5-1), linux-compiler-gcc-12-x86",
)
COMMON = package("linux-headers-6.1.0-5-common", "6.1.5-1", "all")
HERE = host_architecture()
OTHER = "arm64" if HERE == "amd64" else "amd64"


def test_headers_are_put_together_from_what_the_package_depends_on() -> None:
    scripts = [package("linux-kbuild-6.1", version, HERE) for version in ("6.1.4-1", "6.1.5-1", "6.1.10-1")]
    foreign = package("linux-kbuild-6.1", "6.1.5-1", OTHER)
    archive = Listed(OWN, COMMON, foreign, *scripts)
    assert header_packages(kernel(), archive) == (OWN, COMMON, scripts[1])
    assert header_packages(kernel(), Listed(OWN, COMMON, foreign, scripts[0], scripts[2]))[2] == scripts[2]


def test_what_the_archive_does_not_have_any_more_is_named() -> None:
    with pytest.raises(NotPossibleError, match=r"linux-headers-6\.1\.0-5-amd64"):
        header_packages(kernel(version="6.1.4-1"), Listed(OWN, COMMON))
    with pytest.raises(NotPossibleError, match=r"not have linux-kbuild-6\.1"):
        header_packages(kernel(), Listed(OWN, COMMON))


def test_a_kernel_of_the_users_own_has_headers_in_its_build_tree_alone() -> None:
    own = Kernel(Label.of_file("bzImage", "amd64"), "6.1", Path("bzImage"), "0")
    with pytest.raises(NotPossibleError, match="is not its tree"):
        headers(own, Listed())


def test_a_build_tree_is_taken_as_it_is_and_told_by_its_content(tmp_path: Path) -> None:
    for name in BUILT:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('#define UTS_RELEASE "6.1.0"')
    label = Label.of_file("bzImage", "amd64")
    found = headers(Kernel(label, "6.1.0", Path("bzImage"), "0", tree=tmp_path), Listed())
    assert found.build == found.sources == tmp_path
    before = found.parts
    (tmp_path / BUILT[1]).write_text("another")
    assert before != found.parts
    with pytest.raises(NotPossibleError, match="is not its tree"):
        headers(Kernel(label, "6.2.0", Path("bzImage"), "0", tree=tmp_path), Listed())


def test_a_folder_that_makes_nothing_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not build a module"):
        build_module(tmp_path, kernel(), Listed(), tmp_path)


def test_a_suite_is_built_for_with_the_compiler_of_its_release() -> None:
    assert [codename(s) for s in ("trixie-backports", "sid", "bookworm-security")] == [
        "trixie",
        "sid",
        "bookworm",
    ]
    with pytest.raises(NotPossibleError):
        codename("trixieland")
    assert needed_packages(14, HERE, "pahole, libc6 (>= 2.38), libelf1t64 | libelf1") == (
        "make",
        "gcc-14",
        "pahole",
        "libc6",
        "libelf1t64",
    )
    assert "linux-gnu" in needed_packages(14, OTHER, "")[1]


@pytest.fixture(scope="module")
def archive() -> Archive:
    """Through this machine's apt, with the lists of the lab's own cache: they are large."""
    if shutil.which("apt-get") is None or not HELPER.exists():
        skip("apt, which Debian and Ubuntu have", MACHINE)
    found = AptArchive(cache_folder() / "apt")
    try:
        found.packages()
    except (TargetError, NotPossibleError) as error:
        skip(f"a way to the archive ({error.message})", MACHINE)
    return found


@pytest.mark.long
def test_equal_inputs_give_equal_modules_wherever_the_cache_is(archive: Archive, tmp_path: Path) -> None:
    built = []
    (listed,) = kernels.newest(k for k in kernels.available(archive.packages()) if str(k.label) == "6.1")
    found = kernel("6.1", listed.release, listed.version)
    for place in (tmp_path / "a", tmp_path / "another" / "place"):
        try:
            (module,) = build_module(MODULE, found, archive, place)
        except NotPossibleError as error:
            skip(error.message, KERNEL)
        said: list[str] = []
        assert build_module(MODULE, found, archive, place, said.append) == (module,)
        assert said == []
        built.append(module.read_bytes())
    assert modinfo(built[0], "module")["vermagic"][0].startswith(found.release)
    assert built[0] == built[1]
    assert str(tmp_path).encode() not in built[0]

    broken = tmp_path / "broken"
    shutil.copytree(MODULE, broken)
    (broken / "howlate_test.c").write_text("int broken(void) { return nothing; }\n")
    with pytest.raises(TargetError, match="'nothing' undeclared"):
        build_module(broken, found, archive, place)
