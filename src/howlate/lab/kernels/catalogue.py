"""Kernels by their names: those that the archive has, and those that were fetched into the cache."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, HowlateError, NotPossibleError, UnfitKernelError, UsageError
from howlate.lab.archive.deb import (
    DAMAGED_PACKAGE,
    MOST_FILE,
    MOST_UNPACKED,
    Plain,
    TooMuchError,
    data_tar,
    members,
)
from howlate.lab.archive.gone import remember
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import (
    AbsentError,
    Archive,
    Package,
    PackageVersion,
    Say,
    checked_package,
    silent,
)
from howlate.lab.cache import cache_folder, fills, locked, made, remove, say_changed, storing
from howlate.lab.kernels.image import Image, read_image
from howlate.lab.kernels.kernel import CONFIG, MODULES, RECORD, SYSTEM_MAP, VMLINUZ, Kernel
from howlate.lab.kernels.label import Label, parse_labels, split_labels
from howlate.lab.kernels.modules import Modules, module_name, normal, unpack_modules
from howlate.lab.problems import NOT_IN_ARCHIVE
from howlate.model.decode import KNOWN, NEAREST, nearest

OLDEST = (5, 10)
ALL = {"all": "amd64", "all@arm64": "arm64"}
"""Names of every series' kernels, standard and RT -> their architecture."""
_NAME = re.compile(
    r"linux-(?P<kind>image|binary)-(?P<early>unsigned-)?"
    r"(?P<release>[0-9][A-Za-z0-9.+~]*(?:-[0-9][A-Za-z0-9.+~]*)?-(?P<rt>rt-)?(?P<arch>amd64|arm64))(?P<late>-unsigned)?"
)
_WHOLE = 1 << 20
"""In bytes; a smaller package is an empty one that only names others."""


class AvailableKernel(Struct, frozen=True):
    """A kernel that the archive has, with all of its packages."""

    label: Label
    """Without parameters and version."""
    version: str
    release: str
    packages: tuple[Package, ...]
    """The kernel's own first."""
    is_complete: bool
    """False if the archive has the kernel but no longer its config and modules."""

    @property
    def main(self) -> Package:
        return self.packages[0]

    @property
    def size(self) -> int:
        """Bytes to fetch."""
        return sum(package.size for package in self.packages)

    @property
    def is_signed(self) -> bool:
        """The same kernel with or without a signature at its end."""
        return "unsigned" not in self.main.name

    @property
    def pinned(self) -> Label:
        return replace(self.label, version=self.version)


def available(packages: Iterable[Package]) -> list[AvailableKernel]:
    """All kernels, by series, standard before RT, amd64 before arm64, the best first: complete, newest,
    signed.

    Flavours for clouds and for pages of 16 KiB are left out: they are the standard kernel with fewer drivers,
    or with another page size.
    """
    everything = list(packages)
    by_name: dict[tuple[str, str], list[Package]] = {}
    for package in everything:
        by_name.setdefault((package.name, package.version), []).append(package)
    kernels = [kernel for package in everything if (kernel := _kernel_of(package, by_name)) is not None]
    kernels.sort(key=lambda k: (k.is_complete, PackageVersion(k.version), k.is_signed), reverse=True)
    return sorted(kernels, key=lambda k: (_number(k.label.series), k.label.rt, k.label.arch))


def newest(kernels: Iterable[AvailableKernel]) -> list[AvailableKernel]:
    """The best of each series."""
    return list({kernel.label: kernel for kernel in reversed(list(kernels))}.values())[::-1]


def versions(kernels: Iterable[AvailableKernel]) -> list[AvailableKernel]:
    """The best of each version."""
    return list({kernel.pinned: kernel for kernel in reversed(list(kernels))}.values())[::-1]


def named(text: str, archive: Callable[[], Archive]) -> tuple[Label, ...]:
    """The kernels of labels separated by commas; the archive is asked only if one of them is `all` or
    `all@arm64`."""
    given = split_labels(text)
    words: list[str] = []
    for word in given:
        if word in ALL:
            every = (k.label for k in newest(available(archive().packages())) if k.label.arch == ALL[word])
            words += [str(label) for label in every if str(label) not in given]
        else:
            words.append(word)
    if given and not words:
        raise NotPossibleError(
            NOT_IN_ARCHIVE(what=f"a kernel {text}", hint="`howlate lab kernels` lists its kernels")
        )
    return parse_labels(",".join(words))


def choose(label: Label, kernels: Sequence[AvailableKernel]) -> list[AvailableKernel]:
    """The kernels that a label may mean, the one that it does mean first. If there is none, an error that
    names the nearest series, or the existing versions."""
    same = [kernel for kernel in kernels if kernel.label == replace(label.base, version="")]
    if not same:
        names = [str(k.label) for k in newest(kernels)]
        near = nearest(str(label.base), names)
        hint = NEAREST(name=near) if near else KNOWN(names=names) if names else ""
        raise UsageError(NOT_IN_ARCHIVE(what=f"the kernel {label.base}", hint=hint))
    matches = [kernel for kernel in same if label.version in ("", kernel.version)]
    if not matches:
        others = [kernel.version for kernel in versions(same)]
        raise UnfitKernelError(
            NOT_IN_ARCHIVE(what=f"{label.base} any more", hint=f"it has {', '.join(others)}")
        )
    return matches


def find(label: Label, cache: Path | None = None, say: Say = silent) -> Kernel | None:
    """The kernel of the cache that a label means: the pinned version, else the newest fetched one."""
    paths = [
        kernel
        for kernel in cached(cache, say)
        if kernel.label == replace(label.base, version="") and label.version in ("", kernel.version)
    ]
    return max(paths, key=lambda k: PackageVersion(k.version), default=None)


def cached(cache: Path | None = None, say: Say = silent) -> list[Kernel]:
    """All kernels of the cache. A damaged one is reported and left out: callers that want another kernel do
    not need it, and callers that want it see the error when it is fetched."""
    folder = (cache or cache_folder()) / "kernels"
    latest = []
    for file in sorted(folder.glob(f"[!.]*/{RECORD}")):
        try:
            latest.append(Kernel.read(file.parent))
        except HowlateError as problem:
            say(f"{problem.message}; it is left out ({problem.remedy})")
    return latest


def get(
    label: Label,
    archive: Archive,
    cache: Path | None = None,
    modules: Sequence[str] = (),
    say: Say = silent,
) -> Kernel:
    """The kernel of the cache; if it is missing, it is fetched. The cached kernel stays the same until
    `fetch` is requested, so that tomorrow's run measures the same kernel. The label's parameters are checked
    against its config."""
    kernel = find(label, cache, say)
    if kernel is not None and not _is_as_fetched(
        kernel
    ):  # of the same version: it is said, and fetched again
        kernel = _fetched_again(kernel, label, archive, cache, modules, say)
    missing = {normal(name) for name in modules} - _answered(kernel) if kernel else set()
    if kernel is None:
        kernel = fetch(label, archive, cache, modules, say)
    elif (
        missing and kernel.modules_path is not None
    ):  # without: the archive has the kernel alone, which boots too
        kernel = add_modules(kernel, sorted(missing), archive, say)
    kernel.check(label)
    return kernel


def fetch(
    label: Label,
    archive: Archive,
    cache: Path | None = None,
    modules: Sequence[str] = (),
    say: Say = silent,
) -> Kernel:
    """The kernel that the label means in the archive now, in the cache.

    The packages are removed once they are unpacked: a kernel takes 15 to 60 MB unpacked, its packages 70 to
    175 MB, nearly all of it modules that no guest loads. A further module requires fetching the package
    again.

    Lists name packages that the archive has removed. Then the next best is taken, with a message, and `gone`
    remembers the missing one.
    """
    candidates = choose(label, available(archive.packages()))
    cache = cache or cache_folder()
    tell = say
    for number, chosen in enumerate(candidates):
        try:
            kernel = _fetch(chosen, archive, cache, modules, tell)
            break
        except AbsentError as error:
            remember(cache, error.sha256, is_gone=True, say=say)
            if number + 1 == len(candidates):
                raise
            if number == 0:
                say(f"{error.message}; trying the versions before it")
            tell = silent
    if chosen.version != candidates[0].version:
        say(f"the newest {label.base} that the archive has is {kernel.version}")
    kernel.check(label)
    return kernel


def _fetch(
    chosen: AvailableKernel, archive: Archive, cache: Path, modules: Sequence[str], say: Say
) -> Kernel:
    folder = cache / "kernels" / f"{chosen.main.name}_{chosen.version}_{chosen.main.architecture}"

    def make(beside: Path) -> None:
        say(f"fetching {chosen.pinned} ({chosen.size / 1e6:.0f} MB)")
        if not chosen.is_complete:
            say(
                f"the archive has no config and no modules of {chosen.pinned} any more, only the kernel itself"
            )
        with tempfile.TemporaryDirectory(prefix="packages-", dir=beside) as scratch:
            fills(say, scratch, chosen.size)
            files = [archive.fetch(package, Path(scratch)) for package in chosen.packages]
            for package in chosen.packages:
                remember(cache, package.sha256, is_gone=False, say=say)
            _unpack(chosen, files, beside, modules)
        with storing(beside):
            write_manifest(beside, folder.name, chosen.packages)

    made(folder, make, unchanged(chosen.packages), say)
    kernel = Kernel.read(folder)
    missing = {normal(name) for name in modules} - _answered(kernel)
    if missing and chosen.is_complete:
        kernel = add_modules(kernel, sorted(missing), archive, say)
    return kernel


def add_modules(kernel: Kernel, names: Sequence[str], archive: Archive, say: Say = silent) -> Kernel:
    """Add further modules of a cached kernel, from the same package that it came from."""
    if kernel.modules_path is None:
        raise UnfitKernelError(
            NOT_IN_ARCHIVE(what=f"the modules of {kernel.name}", hint="use another kernel")
        )
    folder = kernel.modules_path
    with locked(folder), tempfile.TemporaryDirectory(prefix=".more-", dir=folder.parent) as scratch:
        say(f"fetching the modules {', '.join(names)} of {kernel.pinned}")
        held = [_recorded_package(kernel, row) for row in kernel.packages]
        beside = Path(scratch) / MODULES
        beside.mkdir()
        with _contents(
            [archive.fetch(package, Path(scratch)) for package in held], Path(scratch)
        ) as contents:
            _unpack_modules(contents, names, beside, Modules.read(folder))
        with storing(folder):  # the list last: what it names is there
            for file in sorted(beside.glob("*.ko")):
                file.rename(folder / file.name)
            (beside / "modules.json").rename(folder / "modules.json")
            write_manifest(folder.parent, folder.parent.name, held)
    return replace(kernel)


def _fetched_again(
    kernel: Kernel, label: Label, archive: Archive, cache: Path | None, modules: Sequence[str], say: Say
) -> Kernel:
    try:
        return fetch(replace(label, version=kernel.version), archive, cache, modules, say)
    except HowlateError:
        say_changed(kernel.vmlinuz.parent, say, "it could not be fetched again")
        raise


def _is_as_fetched(kernel: Kernel) -> bool:
    folder = kernel.vmlinuz.parent
    try:
        is_sound = unchanged([_recorded_package(kernel, row) for row in kernel.packages])
    except DamagedError:
        return False
    if is_sound(folder):
        return True
    if kernel.modules_path is None:
        return False
    with locked(kernel.modules_path):  # perhaps another howlate was adding a module
        return is_sound(folder)


def _recorded_package(kernel: Kernel, row: Mapping[str, str]) -> Package:
    """A package from the kernel's record; an older record does not have its size."""
    return checked_package({"size": 0, **row}, kernel.suite, str(kernel.vmlinuz.with_name(RECORD)))


def _answered(kernel: Kernel) -> set[str]:
    known = kernel.modules
    return {*known.files, *known.builtin, *known.absent}


def _number(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))


def _kernel_of(
    package: Package, by_name: Mapping[tuple[str, str], Sequence[Package]]
) -> AvailableKernel | None:
    match = _NAME.fullmatch(package.name)
    if match is None or package.size < _WHOLE or match["arch"] != package.architecture:
        return None
    series = re.match(r"(?:\d+:)?(\d+\.\d+)", package.version)
    if series is None or _number(series[1]) < OLDEST:
        return None
    label = Label(series[1], match["rt"] is not None, match["arch"])
    parts = [package]
    is_complete = True
    if match["kind"] == "binary":
        for kind in ("base", "modules"):
            others = by_name.get((f"linux-{kind}-{match['release']}", package.version), [])
            parts += others[:1]
            is_complete = is_complete and bool(others)
    return AvailableKernel(label, package.version, match["release"], tuple(parts), is_complete)


class _Contents:
    """The files of several packages, by name, readable in any order."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[IO[bytes], int, int]] = {}
        """Where each begins in which unpacked tar, and its size."""

    def read(self, name: str) -> bytes:
        spool, start, size = self.files[name]
        if size > MOST_FILE:
            raise TooMuchError(DAMAGED_PACKAGE(package=name, damage=f"it has more than {MOST_FILE} bytes"))
        spool.seek(start)
        return spool.read(size)

    def one(self, pattern: str) -> str | None:
        return next((name for name in self.files if re.fullmatch(pattern, name)), None)


@contextmanager
def _contents(packages: Sequence[Path], scratch: Path) -> Iterator[_Contents]:
    """Decompress into unnamed files, because dependencies of modules are read in no particular order."""
    contents = _Contents()
    with ExitStack() as held:
        for package in packages:
            with storing(scratch):
                spool: IO[bytes] = held.enter_context(tempfile.TemporaryFile(dir=scratch))
            with data_tar(package) as stream:
                while block := stream.read(1 << 20):
                    with storing(scratch):
                        spool.write(block)
            spool.seek(0)
            remove(package)
            for name, member, _ in members(Plain(spool, MOST_UNPACKED, package.name), Path(package.name)):
                if member.isreg():
                    contents.files[name] = (spool, member.offset_data, member.size)
        yield contents


_FILES = {
    VMLINUZ: r"boot/vmlinuz-[^/]+|(?:usr/)?lib/modules/[^/]+/vmlinuz",
    CONFIG: r"boot/config-[^/]+|(?:usr/)?lib/modules/[^/]+/config",
    SYSTEM_MAP: r"boot/System\.map-[^/]+|(?:usr/)?lib/modules/[^/]+/System\.map",
}
"""The files taken from a package -> their names in the cache, in both layouts."""


def _unpack(chosen: AvailableKernel, packages: Sequence[Path], folder: Path, modules: Sequence[str]) -> None:
    required = (VMLINUZ, CONFIG) if chosen.is_complete else (VMLINUZ,)
    with _contents(packages, folder) as contents:
        members = {target: contents.one(pattern) for target, pattern in _FILES.items()}
        for target in required:
            if members[target] is None:
                raise DamagedError(
                    DAMAGED_PACKAGE(package=chosen.main.file_name, damage=f"it has no {target}")
                )
        data = {target: contents.read(name) for target, name in members.items() if name is not None}
        image = read_image(data[VMLINUZ], str(members[VMLINUZ]))
        if image.arch != chosen.label.arch:
            raise DamagedError(
                DAMAGED_PACKAGE(package=chosen.main.file_name, damage=f"its kernel is for {image.arch}")
            )
        data[VMLINUZ] = image.data
        with storing(folder):
            for target, content in data.items():
                (folder / target).write_bytes(content)
            if chosen.is_complete:
                (folder / MODULES).mkdir()
        if chosen.is_complete:
            _unpack_modules(contents, modules, folder / MODULES, Modules({}))
    _record(chosen, image).write(folder)


def _record(chosen: AvailableKernel, image: Image) -> Kernel:
    fields = ("name", "version", "architecture", "uri", "sha256", "size")
    return Kernel(
        label=chosen.label,
        release=image.release or chosen.release,
        vmlinuz=Path(VMLINUZ),
        vmlinuz_sha256=hashlib.sha256(image.data).hexdigest(),
        package=chosen.main.name,
        version=chosen.version,
        suite=chosen.main.suite,
        packages=tuple({name: str(getattr(package, name)) for name in fields} for package in chosen.packages),
    )


def _unpack_modules(contents: _Contents, names: Sequence[str], folder: Path, known: Modules) -> None:
    paths: dict[str, str] = {}
    for path in contents.files:
        name = module_name(path)
        if name is not None and "/kernel/" in path:
            paths[name] = path
    listed = contents.one(r"(?:usr/)?lib/modules/[^/]+/modules\.builtin")
    builtin = frozenset(
        filter(
            None, map(module_name, contents.read(listed).decode(errors="replace").split() if listed else ())
        )
    )
    with storing(folder):
        unpack_modules(names, paths, contents.read, builtin, folder, known)
