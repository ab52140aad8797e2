"""Kernels from an archive made on the spot, through the real apt and through a mirror's address alike: what is signed
and whole is taken, anything else is refused, and a call costs no more than it must."""

import lzma
import shutil
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import Struct

from howlate.errors import DamagedError, HowlateError, NotPossibleError, TargetError, UsageError
from howlate.lab.archive import gone
from howlate.lab.archive.apt import HELPER, AptArchive, Source, failures, sources_of
from howlate.lab.archive.mirror import MirrorArchive
from howlate.lab.archive.packages import Archive
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from lab.made_archive import Key, MadeArchive, Served, arm64_image, bzimage, deb, elf_module, made_key, served
from lacks import MACHINE, lack

pytestmark = pytest.mark.skipif(
    shutil.which("gpg") is None or shutil.which("gpgv") is None,
    reason=lack("gpg or gpgv", "apt-get install gpg gpgv"),
)

WITH_APT = pytest.param(
    "apt",
    marks=pytest.mark.skipif(
        shutil.which("apt-get") is None or not HELPER.exists(),
        reason=lack("apt, which Debian and Ubuntu have", MACHINE),
    ),
)
DYNAMIC = b"CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n# CONFIG_PREEMPT_RT is not set\n"
RT = b"CONFIG_PREEMPT_RT=y\n"
PADDING = bytes(1 << 21)
"""Kernel packages are told from those that are empty by their size; zeros would be compressed away."""


def old_layout(release: str, config: bytes) -> bytes:
    """linux-image-* up to 6.12: everything in one."""
    below = f"lib/modules/{release}/kernel"
    return deb(
        {
            f"boot/vmlinuz-{release}": bzimage(release),
            f"boot/config-{release}": config,
            f"boot/System.map-{release}": b"0 T start\n",
            f"lib/modules/{release}/modules.builtin": b"kernel/drivers/block/loop.ko\n",
            f"{below}/fs/ext4/ext4.ko": elf_module(
                {"depends": "jbd2,mbcache", "softdep": "pre: crypto-crc32c"}
            ),
            f"{below}/fs/jbd2/jbd2.ko": elf_module({"depends": "mbcache"}),
            f"{below}/fs/mbcache.ko": elf_module({"depends": ""}),
            f"{below}/crypto/crc32c_generic.ko": elf_module({"name": "crc32c_generic"}),
            f"{below}/drivers/net/veth.ko": elf_module({}),
            f"{below}/drivers/net/net-failover.ko": elf_module({}),
            "usr/share/padding": PADDING,
        },
        compression="",
    )


def add_new_layout(archive: MadeArchive, suite: str, release: str, version: str, arch: str) -> None:
    """From 6.19: kernel, config and modules apart, the modules compressed."""
    below = f"usr/lib/modules/{release}"
    veth = lzma.compress(elf_module({"depends": ""}))
    parts = {
        "binary": {f"{below}/vmlinuz": arm64_image(release), "usr/share/padding": PADDING},
        "base": {f"{below}/config": RT, f"{below}/modules.builtin": b"kernel/fs/ext4/ext4.ko\n"},
        "modules": {f"{below}/kernel/drivers/net/veth.ko.xz": veth},
    }
    for kind, files in parts.items():
        archive.add(suite, f"linux-{kind}-{release}", version, arch, deb(files, compression=""))
    archive.add(
        suite, f"linux-image-{release}", version, arch, deb({}), f"linux-binary-{release} (= {version})"
    )


class Place(Struct):
    """The made archive, where it is served, and a way to open it."""

    made: MadeArchive
    at: Served
    folder: Path
    kind: str
    said: list[str]

    def open(self, key: Key | None = None) -> Archive:
        keyring = (key or self.made.key).keyring
        address = f"{self.at.address}/debian"
        if self.kind == "apt":
            sources = [
                Source(address, suite, keyring) for suite in ("bookworm", "trixie", "trixie-backports")
            ]
            return AptArchive(self.folder / "apt", sources, say=self.said.append)
        return MirrorArchive(self.folder / "mirror", [address], keyring, self.said.append)

    def fetch(self, label: str, *modules: str) -> Kernel:
        return kernels.fetch(Label.parse(label), self.open(), self.folder, modules or ("ext4",))

    def left(self) -> list[str]:
        """What is in the cache beside locks."""
        return sorted(p.name for p in (self.folder / "kernels").iterdir() if not p.name.endswith(".lock"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    with made_key(tmp_path_factory.mktemp("stranger") / "home") as made:
        yield made


@pytest.fixture(params=[WITH_APT, "mirror"])
def place(request: pytest.FixtureRequest, tmp_path: Path, key: Key) -> Iterator[Place]:
    made = MadeArchive(tmp_path / "www" / "debian", key)
    for number in (55, 56):
        release = f"6.1.0-{number}-amd64"
        made.add(
            "bookworm", f"linux-image-{release}", f"6.1.{number}-1", "amd64", old_layout(release, DYNAMIC)
        )
    made.add("bookworm", "linux-image-6.1-amd64", "6.1.56-1", "amd64", deb({}))
    made.add("bookworm", "linux-image-6.1.0-57-cloud-amd64", "6.1.57-1", "amd64", old_layout("c", DYNAMIC))
    made.add("bookworm", "linux-image-4.19.0-1-amd64", "4.19.1-1", "amd64", old_layout("o", DYNAMIC))
    add_new_layout(made, "trixie", "7.2.9+deb13-rt-arm64", "7.2.9-1", "arm64")
    for suite in ("bookworm", "trixie"):
        made.publish(suite)
    with served(tmp_path / "www") as at:
        yield Place(made, at, tmp_path / "cache", request.param, [])


def test_the_kernels_of_all_suites_are_found_by_their_names(place: Place) -> None:
    found = kernels.available(place.open().packages())
    assert [str(k.pinned) for k in found] == ["6.1=6.1.56-1", "6.1=6.1.55-1", "7.2-rt@arm64=7.2.9-1"]
    assert [str(k.label) for k in kernels.newest(found)] == ["6.1", "7.2-rt@arm64"]
    assert all(k.is_complete for k in found)


def test_all_names_one_of_every_series(place: Place) -> None:
    def names(text: str) -> list[str]:
        return [str(label) for label in kernels.named(text, place.open)]

    assert names("all") == ["6.1"]
    assert names("all@arm64") == ["7.2-rt@arm64"]
    assert names("6.1[preempt=none], all,all@arm64") == ["6.1[preempt=none]", "6.1", "7.2-rt@arm64"]
    assert names("all,6.1") == ["6.1"]
    with pytest.raises(UsageError, match="twice"):
        names("6.1,6.1")


def test_labels_ask_no_archive(place: Place) -> None:
    assert [str(label) for label in kernels.named("6.1,6.1-rt", lambda: pytest.fail("asked"))]


def test_an_old_package_is_unpacked_to_what_the_lab_needs(place: Place) -> None:
    kernel = place.fetch("6.1", "ext4", "loop", "net-failover", "absent")
    assert kernel.vmlinuz.read_bytes() == bzimage("6.1.0-56-amd64")
    assert (kernel.name, kernel.release, str(kernel.pinned)) == ("6.1", "6.1.0-56-amd64", "6.1=6.1.56-1")
    assert kernel.config == {"CONFIG_PREEMPT_VOLUNTARY": "y", "CONFIG_PREEMPT_DYNAMIC": "y"}
    assert kernel.modes is not None and kernel.modes.choices == ("none", "voluntary", "full")
    assert kernel.vmlinuz.with_name("System.map").read_bytes() == b"0 T start\n"
    assert [p.name for p in kernel.module_files("ext4")] == [
        "mbcache.ko",
        "jbd2.ko",
        "crc32c_generic.ko",
        "ext4.ko",
    ]
    assert all(p.is_file() for p in kernel.module_files("ext4"))
    assert kernel.module_files("loop") == ()
    assert [p.name for p in kernel.module_files("net-failover")] == ["net_failover.ko"]
    with pytest.raises(NotPossibleError, match="the module absent"):
        kernel.module_files("absent")
    assert not list(kernel.vmlinuz.parent.rglob("*.deb"))


def test_a_new_package_is_put_together_from_its_parts(place: Place) -> None:
    kernel = place.fetch("7.2-rt@arm64", "veth", "ext4")
    assert kernel.vmlinuz.read_bytes() == arm64_image("7.2.9+deb13-rt-arm64")
    assert kernel.config == {"CONFIG_PREEMPT_RT": "y"}
    assert kernel.module_files("veth")[0].read_bytes() == elf_module({"depends": ""})
    assert kernel.module_files("ext4") == ()
    assert len(kernel.packages) == 3


def test_what_is_in_the_cache_is_not_fetched_again(place: Place) -> None:
    kernel = place.fetch("6.1")
    asked = len(place.at.asked)
    assert place.fetch("6.1") == kernel
    assert kernels.find(Label.parse("6.1"), place.folder) == kernel
    assert kernels.get(Label.parse("6.1[preempt=full]"), place.open(), place.folder, ("ext4",)) == kernel
    assert len(place.at.asked) == asked


def test_a_damaged_record_costs_its_own_kernel_alone(place: Place) -> None:
    place.fetch("7.2-rt@arm64", "veth")
    kernel = place.fetch("6.1")
    (kernel.vmlinuz.parent / "kernel.json").write_text("{")
    said: list[str] = []
    assert [k.name for k in kernels.cached(place.folder, said.append)] == ["7.2-rt@arm64"]
    assert "kernel.json" in said[0] and "left out" in said[0]
    again = kernels.get(Label.parse("6.1"), place.open(), place.folder, ("ext4",), said.append)
    assert again == kernel, "fetched again"
    assert any("has changed" in text for text in said)


def test_lists_are_fetched_once_and_again_on_request(place: Place) -> None:
    place.open().packages()
    asked = place.at.count("InRelease")
    place.open().packages()
    assert place.at.count("InRelease") == asked > 0
    place.open().packages(refresh=True)
    assert place.at.count("InRelease") > asked


def test_a_newer_version_is_taken_when_it_is_asked_for_and_not_before(place: Place) -> None:
    place.fetch("6.1=6.1.55-1")
    held = kernels.get(Label.parse("6.1"), place.open(), place.folder, ("ext4",))
    assert held.version == "6.1.55-1"
    assert place.fetch("6.1").version == "6.1.56-1"
    assert kernels.get(Label.parse("6.1"), place.open(), place.folder, ("ext4",)).version == "6.1.56-1"
    assert kernels.get(Label.parse("6.1=6.1.55-1"), place.open(), place.folder, ("ext4",)) == held


def test_a_further_module_comes_from_the_same_package(place: Place) -> None:
    kernel = place.fetch("6.1", "ext4")
    before = {p.name: p.read_bytes() for p in kernel.vmlinuz.parent.rglob("*.ko")}
    more = place.fetch("6.1", "ext4", "veth")
    assert [p.name for p in more.module_files("veth")] == ["veth.ko"]
    assert {p.name: p.read_bytes() for p in kernel.vmlinuz.parent.rglob("*.ko")} == {
        **before,
        "veth.ko": elf_module({}),
    }
    assert place.at.count("6.1.0-56") == 2
    assert not [p for p in kernel.vmlinuz.parent.iterdir() if p.name.startswith(".more")]


def test_a_version_that_the_archive_has_removed_is_replaced_by_the_one_before(place: Place) -> None:
    archive = place.open()
    archive.packages()
    next((place.made.folder / "pool").glob("linux-image-6.1.0-56-amd64*")).unlink()
    said: list[str] = []
    kernel = kernels.fetch(Label.parse("6.1"), archive, place.folder, ("ext4",), said.append)
    assert kernel.version == "6.1.55-1"
    assert any("6.1.55-1" in text for text in said)
    with pytest.raises(TargetError, match="does not have"):
        place.fetch("6.1=6.1.56-1")


def test_what_a_fetch_found_missing_is_not_listed_as_available(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = next((place.made.folder / "pool").glob("linux-image-6.1.0-56-amd64*"))
    data = file.read_bytes()

    def listed() -> list[str]:
        known = gone.gone(place.folder)
        found = kernels.available(place.open().packages())
        return [str(k.pinned) for k in kernels.newest(gone.there(found, known)) if k.label.series == "6.1"]

    assert listed() == ["6.1=6.1.56-1"]
    file.unlink()
    place.fetch("6.1")
    assert listed() == ["6.1=6.1.55-1"]
    monkeypatch.setattr(gone, "FORGOTTEN_S", 0.0)
    assert listed() == ["6.1=6.1.56-1"], "after a while the list is believed again"
    monkeypatch.undo()
    assert listed() == ["6.1=6.1.55-1"]
    file.write_bytes(data)
    assert place.fetch("6.1").version == "6.1.56-1"
    assert listed() == ["6.1=6.1.56-1"], "a fetch that succeeds corrects it"


def test_a_series_of_which_nothing_is_left_is_listed_and_marked(place: Place) -> None:
    for file in (place.made.folder / "pool").glob("linux-image-6.1.0-5*"):
        file.unlink()
    with pytest.raises(TargetError, match="does not have"):
        place.fetch("6.1")
    found = kernels.available(place.open().packages())
    known = gone.gone(place.folder)
    (left,) = [k for k in kernels.newest(gone.there(found, known)) if k.label.series == "6.1"]
    assert gone.is_gone(left, known)
    (place.folder / gone.FILE).write_text("{")
    assert gone.gone(place.folder) == frozenset()


def test_the_kernels_that_there_are_come_in_their_order(place: Place) -> None:
    for series in ("6.12", "5.10", "10.0"):
        release = f"{series}.1-amd64"
        place.made.add(
            "trixie", f"linux-image-{release}", f"{series}.1-1", "amd64", old_layout(release, DYNAMIC)
        )
    place.made.publish("trixie")
    with pytest.raises(UsageError) as caught:
        place.fetch("99.99")
    assert "choose one of 5.10, 6.1, 6.12, 7.2-rt@arm64, 10.0" in caught.value.remedy


def test_a_kernel_whose_modules_are_gone_comes_alone_and_says_so(place: Place) -> None:
    release = "7.0.13+deb13-amd64"
    place.made.add(
        "trixie", f"linux-binary-{release}", "7.0.13-1", "amd64",
        deb({f"usr/lib/modules/{release}/vmlinuz": bzimage(release), "pad": PADDING}, compression=""),
    )  # fmt: skip
    place.made.publish("trixie")
    said: list[str] = []
    kernel = kernels.fetch(Label.parse("7.0"), place.open(), place.folder, ("ext4",), said.append)
    assert (kernel.config_path, kernel.modules_path, kernel.modes) == (None, None, None)
    assert any("no config" in text for text in said)
    with pytest.raises(NotPossibleError, match="without a config"):
        kernel.check(Label.parse("7.0[preempt=full]"))
    with pytest.raises(NotPossibleError):
        kernel.module_files("ext4")
    again = kernels.get(Label.parse("7.0"), place.open(), place.folder, ("ext4",))
    assert again == kernel, "it boots without modules, so those that it lacks are not asked for"


@pytest.mark.parametrize(
    ("label", "error", "part"),
    [
        ("6.2", UsageError, "the kernel 6.2"),
        ("6.1-rt", UsageError, "the kernel 6.1-rt"),
        ("6.1=6.1.1-1", NotPossibleError, "any more"),
        ("6.1[preempt=lazy]", NotPossibleError, "none, voluntary, full"),
        ("7.2-rt@arm64[preempt=full]", NotPossibleError, "CONFIG_PREEMPT_RT"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(
    place: Place, label: str, error: type[HowlateError], part: str
) -> None:
    with pytest.raises(error, match=part) as caught:
        place.fetch(label)
    assert caught.value.remedy


def test_a_package_that_was_changed_is_refused_and_leaves_nothing(place: Place) -> None:
    file = next((place.made.folder / "pool").glob("linux-image-6.1.0-56-amd64*"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises((DamagedError, TargetError)) as caught:
        place.fetch("6.1")
    assert "6.1.0-56" in caught.value.message
    assert place.left() == []


def test_a_list_that_was_changed_is_refused(place: Place) -> None:
    file = place.made.folder / "dists/bookworm/main/binary-amd64/Packages.xz"
    text = lzma.decompress(file.read_bytes()).replace(b"6.1.56", b"6.1.66")
    file.write_bytes(lzma.compress(text))
    found = kernels.available(place.open().packages())
    assert [str(k.label) for k in found] == ["7.2-rt@arm64"]
    assert any("bookworm" in text for text in place.said)


def test_a_suite_signed_by_a_stranger_is_left_out_and_named(place: Place, stranger: Key) -> None:
    place.made.publish("bookworm", key=stranger)
    found = kernels.available(place.open().packages())
    assert [str(k.label) for k in found] == ["7.2-rt@arm64"]
    assert any("bookworm" in text for text in place.said)


def test_an_archive_of_strangers_is_refused(place: Place, stranger: Key) -> None:
    with pytest.raises(TargetError):
        place.open(stranger).packages()


def test_an_unsigned_archive_is_refused(place: Place) -> None:
    for file in place.made.folder.glob("dists/*/InRelease"):
        lines = file.read_text().splitlines()
        plain = lines[lines.index("") + 1 : lines.index("-----BEGIN PGP SIGNATURE-----")]
        file.write_text("\n".join(plain) + "\n")
    with pytest.raises(TargetError):
        place.open().packages()


def test_two_at_once_fetch_a_kernel_once(place: Place) -> None:
    archives = [place.open(), place.open()]
    archives[0].packages()
    found: list[Kernel] = []
    threads = [
        threading.Thread(
            target=lambda a=archive: found.append(
                kernels.fetch(Label.parse("6.1"), a, place.folder, ("ext4",))
            )
        )
        for archive in archives
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and found[0] == found[1]
    assert place.at.count("6.1.0-56") == 1


def test_what_a_killed_one_left_is_removed_by_the_next(place: Place) -> None:
    kernel = place.fetch("6.1")
    whole = kernel.vmlinuz.parent
    whole.rename(whole.with_name(f".{whole.name}.new-killed"))
    assert kernels.cached(place.folder) == []
    assert place.fetch("6.1").vmlinuz == kernel.vmlinuz
    assert place.left() == [whole.name]


def test_a_mirrors_list_that_has_expired_is_refused(tmp_path: Path, key: Key) -> None:
    made = MadeArchive(tmp_path / "debian", key)
    made.add(
        "bookworm", "linux-image-6.1.0-5-amd64", "6.1.5-1", "amd64", old_layout("6.1.0-5-amd64", DYNAMIC)
    )
    made.publish("bookworm", valid=timedelta(days=-1))
    said: list[str] = []
    archive = MirrorArchive(tmp_path / "mirror", [f"file://{made.folder}"], key.keyring, said.append)
    with pytest.raises(TargetError, match="was valid until"):
        archive.packages()


def test_a_mirror_may_be_a_folder(tmp_path: Path, key: Key) -> None:
    made = MadeArchive(tmp_path / "debian", key)
    made.add(
        "bookworm", "linux-image-6.1.0-5-amd64", "6.1.5-1", "amd64", old_layout("6.1.0-5-amd64", DYNAMIC)
    )
    made.publish("bookworm")
    archive = MirrorArchive(tmp_path / "mirror", [f"file://{made.folder}"], key.keyring)
    assert kernels.fetch(Label.parse("6.1"), archive, tmp_path / "cache", ()).version == "6.1.5-1"


@pytest.mark.parametrize("address", ["debian.example", "ftp://debian.example/debian", ""])
def test_an_address_that_cannot_be_a_mirror_is_wrong_usage(tmp_path: Path, address: str, key: Key) -> None:
    with pytest.raises(UsageError, match="is not the address of a mirror"):
        MirrorArchive(tmp_path, [address], key.keyring)


def test_a_keyring_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        MirrorArchive(tmp_path, ["file:///"], tmp_path / "absent.gpg")


KEYS = Path("/keys.gpg")


def test_the_machines_addresses_serve_all_suites() -> None:
    rows = [
        ("Debian", "bookworm", "main", "http://a/debian/"),
        ("Debian", "bookworm-updates", "main", "http://a/debian/"),
        ("Debian", "bookworm-security", "main", "http://a/security/"),
        ("Debian", "bookworm", "contrib", "http://c/debian/"),
        ("Other", "bookworm", "main", "http://b/"),
    ]
    found = {source.suite: source.address for source in sources_of(rows, KEYS)}
    assert found["trixie-backports"] == found["sid"] == "http://a/debian/"
    assert found["trixie-security"] == "http://a/security/"
    assert not {"sid-updates", "sid-security"} & set(found)


def test_before_a_first_update_the_releases_name_decides() -> None:
    rows = [("$(ORIGIN)", "oldstable", "main", "http://a/"), ("", "focal", "main", "http://u/")]
    assert {source.address for source in sources_of(rows, KEYS)} == {"http://a/"}


def test_a_machine_without_the_debian_archive_is_told_of_mirrors() -> None:
    with pytest.raises(NotPossibleError) as caught:
        sources_of([("Ubuntu", "noble", "main", "http://u/")], KEYS)
    assert "--mirror" in caught.value.remedy


def test_a_suite_that_failed_is_told_from_one_that_does_not_exist() -> None:
    output = (
        "Get:1 http://a/debian sid InRelease [1 B]\n"
        "Err:2 http://a/debian forky-backports Release\n  404  Not Found [IP: 203.0.113.1 80]\n"
        "Err:3 http://a/debian trixie InRelease\n  Temporary failure resolving 'a'\n"
        "Err:4 http://a/debian forky Release\n  404  Not Found [IP: 203.0.113.1 80]\n"
        "Err:5 http://a/debian bookworm/main amd64 Packages\n  Hash Sum mismatch\n"
    )
    assert failures(output) == {
        "trixie": "Temporary failure resolving 'a'",
        "forky": "404  Not Found",
        "bookworm": "Hash Sum mismatch",
    }
