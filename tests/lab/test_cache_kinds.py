"""Entries of every kind in one cache, swapped, cut, flipped, of another version: none is taken for what it is not.
Each is made, measured or fetched again, and that is said."""

import gzip
import itertools
import platform
import random
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import Struct, field

from howlate.lab import build_module, replay
from howlate.lab.archive.gone import FILE as GONE
from howlate.lab.archive.gone import gone, remember
from howlate.lab.archive.mirror import SeenDates
from howlate.lab.archive.packages import Package, cached_index, save_index
from howlate.lab.bench import Bench
from howlate.lab.cache import entry_hash
from howlate.lab.cost import Costs
from howlate.lab.guests import emulator, snapshot
from howlate.lab.guests.guest import Boot
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.snapshot import Snapshots, write_record
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels import headers
from howlate.lab.kernels.kernel import SYSTEM_MAP, Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.results import Results
from howlate.prove.forked_part import KeptProbes
from lab.made_archive import deb
from lab.made_results import encode_tree
from lab.test_archive import DYNAMIC, old_layout
from lab.test_bench import VMLINUX, made_bench
from lab.test_cost import cell
from lab.test_emulator import NEW, MadeEmulators

SWAPS = 30
NUMBERS = (1, 2, 3)


class MadeKernels:
    """An archive with kernels and their headers, one of each series."""

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        found = []
        for number in NUMBERS:
            release, version = f"6.{number}.0-amd64", f"6.{number}.9-1"
            arch = headers.host_architecture()
            rows = [
                (f"linux-image-{release}", "amd64", ""),
                (f"linux-headers-{release}", "amd64", f"linux-kbuild-6.{number}"),
                (f"linux-kbuild-6.{number}", arch, ""),
            ]
            for kind, (name, architecture, depends) in enumerate(rows):
                digest = f"{number}{kind}".rjust(64, "0")
                found.append(
                    Package(name, version, architecture, "sid", f"http://x/{name}", 1 << 21, digest, depends)
                )
        return found

    def fetch(self, package: Package, folder: Path) -> Path:
        name = package.name
        path = folder / package.file_name
        if name.startswith("linux-image"):
            path.write_bytes(old_layout(name.removeprefix("linux-image-"), DYNAMIC + name.encode()))
        else:
            path.write_bytes(deb({f"usr/src/{name}/Makefile": name.encode()}))
        return path

    def places(self) -> Sequence[tuple[str, str, Path]]:
        return [("sid", "http://x", Path("keys.gpg"))]


class Uses(Struct):
    """A cache that is used in all ways, by what each gives."""

    cache: Path
    said: list[str] = field(default_factory=list)

    def results(self, number: int) -> object:
        tree = encode_tree({"0/stdout": str(number).encode()})
        found = Results(self.cache / "results", say=self.say).get(f"guest{number}", b"job", lambda: tree)
        return found["0/stdout"]

    def landscapes(self, number: int) -> object:
        probes = KeptProbes.read(self.cache / "landscapes" / f"{number}.json", fresh=False, say=self.say)
        if not probes.latencies_ns:
            probes = KeptProbes(probes.path, 1, {number: 559289})
            probes.write()
        return probes.latencies_ns

    def clocks(self, number: int) -> object:
        asked = SimpleNamespace(cache=self.cache, key=f"key{number}", say=self.say, number=number)
        return replay.ahead_ns(cast(Bench, asked), cast(Any, None))

    def snapshots(self, number: int) -> object:
        boot = Boot(Machine.of("amd64"), Path("vmlinuz"), Path("initramfs"), "")
        opened = Snapshots(self.cache / "snapshots", say=self.say).opened(
            boot, f"key{number}", threading.Event()
        )
        with opened as saved:
            return saved.state.read()

    def kernels(self, number: int) -> object:
        kernel = self._kernel(number)
        files = [kernel.vmlinuz, *kernel.module_files("ext4")]
        system_map = kernel.vmlinuz.with_name(SYSTEM_MAP).read_bytes()
        return kernel.config, system_map, [path.read_bytes() for path in files]

    def headers(self, number: int) -> object:
        headers._checked.clear()
        tree = headers.headers(self._kernel(number), MadeKernels(), self.cache, self.say)
        return (tree.build / "Makefile").read_bytes()

    def modules(self, number: int) -> object:
        source = self.cache.parent / f"source{number}"
        source.mkdir(exist_ok=True)
        (source / "Kbuild").write_text(f"obj-m += m{number}.o")
        (module,) = build_module.build_module(
            source, self._kernel(number), MadeKernels(), self.cache, self.say
        )
        return module.name, module.read_bytes()

    def roots(self, number: int) -> object:
        build_module._checked.clear()
        root = build_module.build_root("sid", [f"gcc-{number}"], MadeKernels(), self.cache, self.say)
        return (root / "root" / "include").read_text()

    def emulators(self, number: int) -> object:
        archive = MadeEmulators(("bookworm-backports", NEW.replace("10.0.2", f"10.0.{number}")))
        machine = emulator.with_emulator(Machine.of("amd64", cpus=2), archive, self.cache, self.say)
        assert machine.fetched is not None
        return machine.fetched.name, machine.emulator().read_bytes()

    def benches(self, number: int) -> object:
        """A kernel of the user's own, unpacked, and the initramfs of its guest."""
        folder = self.cache.parent / f"own{number}"
        folder.mkdir(exist_ok=True)
        payload = VMLINUX + struct.pack("<Q", number)
        bench = made_bench(folder, gzip.compress(payload, mtime=0), self.cache, self.say)
        bench.extra["number"] = str(number).encode()  # type: ignore[index]
        return bench._checked_image.read_bytes() == payload, bench._stored().read_bytes()

    def lists(self, number: int) -> object:
        file = self.cache / "mirror" / f"{number}.json"
        (package, *_) = [each for each in MadeKernels().packages() if f"6.{number}." in each.name]
        return cached_index(file, file, lambda: save_index(file, [package], {}), refresh=False, say=self.say)

    def dates(self, number: int) -> object:
        return SeenDates(self.cache / "mirror" / "dates.json", "keys", self.say).newest(str(number), number)

    def gone(self, number: int) -> object:
        if str(number) not in gone(self.cache, self.say):
            remember(self.cache, str(number), is_gone=True, say=self.say)
        return str(number) in gone(self.cache)

    def costs(self, number: int) -> object:
        costs = Costs(self.cache / "costs.json", self.say)
        if costs.of(cell(f"cpu:{number}")) == 1.0:
            costs.learn(cell(f"cpu:{number}"), 10.0, 25.0)
        return costs.of(cell(f"cpu:{number}"))

    def all(self, *paths: Path) -> dict[str, object]:
        """What each way gives; of those alone that have to do with these files, if some are named."""
        ways = {name for path in paths for name in self._ways(path.relative_to(self.cache))} or set(WAYS)
        return {
            f"{name} {number}": getattr(self, name)(number)
            for name in WAYS
            if name in ways
            for number in NUMBERS
        }

    def _ways(self, path: Path) -> tuple[str, ...]:
        if len(path.parts) > 1 and path.parts[1].startswith("own_"):
            return ("benches",)
        return OF_FOLDER.get(path.parts[0], (path.parts[0].removesuffix(".json"),))

    def say(self, text: str) -> None:
        if "the cache's" in text:
            self.said.append(text)

    def _kernel(self, number: int) -> Kernel:
        return kernels.get(Label.parse(f"6.{number}"), MadeKernels(), self.cache, ("ext4",), self.say)


WAYS = tuple(
    name
    for name, member in vars(Uses).items()
    if callable(member) and name[0] != "_" and name not in ("all", "say")
)
OF_FOLDER = {"unpacked": ("benches",), "initramfs": ("benches",), "mirror": ("lists", "dates")}
"""What uses a folder of the cache, where it has another name."""


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """For what takes a guest, a compiler, debootstrap or a host with an old QEMU."""

    def make(boot: Boot, key: str, beside: Path, **_: object) -> None:
        (beside / "state").write_bytes(key.encode())
        write_record(beside, key, {"sha256": entry_hash(beside / "state"), "boot_cpu_s": 8.0})

    def build(way: object, kernel: Kernel, work: Path, name: str) -> None:
        (work / f"{name}.ko").write_bytes(str(kernel.pinned).encode())
        (work.parent / build_module.LOG).write_text("")

    def debootstrap(argv: Sequence[str], **_: object) -> object:
        root = next(Path(word) for word in argv if word.endswith("/root"))
        (root / "dev").mkdir(parents=True)
        (root / "include").write_text(next(word for word in argv if word.startswith("--include")))
        return subprocess.CompletedProcess(argv, 0, "", "")

    way = build_module._Way("cc", None, "", "", "made")
    patch.setattr(snapshot, "_make", make)
    patch.setattr(replay, "_compared_clocks_ns", lambda bench, _: bench.number)
    patch.setattr(build_module, "_make", build)
    patch.setattr(build_module, "_way", lambda *_: way)
    patch.setattr(emulator, "_is_new", lambda name: False)
    patch.setattr(platform, "freedesktop_os_release", lambda: {"VERSION_CODENAME": "bookworm"})
    patch.setattr(build_module, "subprocess", SimpleNamespace(run=debootstrap, DEVNULL=subprocess.DEVNULL))


def entries(cache: Path) -> list[Path]:
    """All files of a cache, whatever they are."""
    files = sorted(path for path in cache.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if not path.name.endswith(".lock")]


class Made(Struct):
    """A cache that holds something of every kind, and what it gives."""

    uses: Uses
    right: dict[str, object]

    def is_noticed(self, *paths: Path) -> None:
        """What it gives is still right, what changed was said, and is not said again."""
        for is_first in (True, False):
            self.uses.said.clear()
            given = self.uses.all(*paths)
            assert given == {name: self.right[name] for name in given}, paths
            assert bool(self.uses.said) is is_first, (paths, self.uses.said)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Each test leaves it as it was: what it changes is made again."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)
        uses = Uses(tmp_path_factory.mktemp("kinds") / "cache")
        right = uses.all()
        assert uses.said == [] and uses.all() == right and uses.said == []
        yield Made(uses, right)


def test_a_cache_holds_every_kind(made: Made) -> None:
    """Of what lab/cache.py lists; the lists of apt are in tests/lab/test_archive.py, and `tmp` is nobody's entry."""
    from howlate.lab import cache

    listed = {word for word in (cache.__doc__ or "").split() if word.endswith(("/", ".json"))}
    there = {path.name + ("/" if path.is_dir() else "") for path in made.uses.cache.iterdir()}
    there = {name for name in there if not name.startswith(".")}
    assert listed - there == {"apt/", "tmp/"}
    assert there - listed == set()
    assert GONE in there


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] if data else data


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "flipped": lambda data: flipped(data, len(data) // 2),
    "older": lambda data: data.partition(b"\n")[2] or b"older",
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_no_file_that_changed_is_taken(made: Made, harm: Callable[[bytes], bytes]) -> None:
    """Every file that was found in the cache, one after the other."""
    seen = set()
    for path in entries(made.uses.cache):
        kind = (path.relative_to(made.uses.cache).parts[0], path.name)
        data = path.read_bytes()
        if kind in seen or harm(data) == data:
            continue
        seen.add(kind)
        path.write_bytes(harm(data))
        made.is_noticed(path)
    assert len(seen) > 20


def test_of_random_pairs_that_were_swapped_none_is_accepted(made: Made) -> None:
    chance = random.Random(36)
    for _ in range(SWAPS):
        files = entries(made.uses.cache)
        one = chance.choice(files)
        data = one.read_bytes()
        # Half of them of the same kind: the more alike, the easier mistaken.
        alike = [other for other in files if other.name == one.name or other.parent == one.parent]
        others = [other for other in chance.choice((files, alike)) if other.read_bytes() != data]
        if not others:
            continue
        other = chance.choice(others)
        one.write_bytes(other.read_bytes())
        other.write_bytes(data)
        made.is_noticed(one, other)


def test_of_folders_that_were_swapped_none_is_accepted(made: Made) -> None:
    for kind in sorted(path for path in made.uses.cache.iterdir() if path.is_dir()):
        folders = [path for path in sorted(kind.iterdir()) if path.is_dir()]
        for one, other in itertools.pairwise(folders):
            aside = kind / "aside"
            one.rename(aside)
            other.rename(one)
            aside.rename(other)
            made.is_noticed(one, other)
