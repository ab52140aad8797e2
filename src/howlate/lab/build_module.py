"""Builds modules outside the kernel's tree for a kernel of the lab: here, or in a minimal root of the kernel's own
suite, with that suite's compiler and libraries. The root is needed if the kernel's build scripts are linked against a
newer libc than this machine's, or if the kernel's compiler is newer."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import NotPossibleError, TargetError, UsageError
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import CODENAMES, Archive, Say, silent
from howlate.lab.cache import cache_folder, made, storing
from howlate.lab.kernels.headers import TRIPLETS, Headers, headers, host_architecture
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.problems import NO_MODULE, NOT_IN_ARCHIVE, OTHER_MIRROR, UNUSABLE

_CHANGING = ("root/headers", "root/tmp")
"""Where headers are copied to, and modules are built."""
_checked: set[Path] = set()
"""The roots that this process has compared with their manifests."""


def codename(suite: str) -> str:
    """trixie-backports -> trixie: the release whose compiler builds a suite's kernels."""
    found = next((name for name in CODENAMES if suite == name or suite.startswith(f"{name}-")), None)
    if found is None:
        raise NotPossibleError(NOT_IN_ARCHIVE(what=f"a suite {suite} to build in", hint="use another kernel"))
    return found


def needed_packages(gcc: int, arch: str, depends: str) -> tuple[str, ...]:
    """The compiler for the kernel's architecture, make, and the libraries of the build scripts."""
    compiler = (
        f"gcc-{gcc}" if arch == host_architecture() else f"gcc-{gcc}-{TRIPLETS[arch].replace('_', '-')}"
    )
    libraries = [re.split(r"[ |(]", part.strip())[0] for part in depends.split(",") if part.strip()]
    return tuple(dict.fromkeys(["make", compiler, *libraries]))


def why_no_root() -> str:
    """Why this process cannot make and enter a root; "" if it can."""
    if os.geteuid() != 0:
        return "only root can make a root of its own suite to build in"
    absent = [name for name in ("debootstrap", "chroot", "unshare") if shutil.which(name) is None]
    return f"the command {absent[0]} is not there" if absent else ""


def build_root(
    suite: str, packages: Sequence[str], archive: Archive, cache: Path | None = None, say: Say = silent
) -> Path:
    """The root of a suite with these packages, in the cache."""
    release = codename(suite)
    digest = hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:12]
    folder = (cache or cache_folder()) / "roots" / f"{release}-{host_architecture()}-{digest}"
    if folder in _checked and folder.is_dir():
        return folder

    def make(beside: Path) -> None:
        place = next((place for place in archive.places() if place[0] == release), None)
        if place is None:
            raise NotPossibleError(NOT_IN_ARCHIVE(what=f"the suite {release}", hint=OTHER_MIRROR))
        _, address, keyring = place
        say(f"making a minimal root of {release} to build in (a minute or two)")
        root = beside / "root"
        argv = ["debootstrap", "--variant=minbase", f"--keyring={keyring}", f"--include={','.join(packages)}"]
        script = Path("/usr/share/debootstrap/scripts/sid")
        argv += [release, str(root), address, *([str(script)] if script.exists() else [])]
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            check=False,
        )
        if done.returncode != 0:
            messages = [
                row for row in (done.stdout + done.stderr).splitlines() if row.startswith(("E:", "W:"))
            ]
            why = messages[-1] if messages else (done.stderr.splitlines() or ["it does not say why"])[-1]
            hint = "check that the mirror has this suite"
            raise TargetError(UNUSABLE(what=release, reason=f"debootstrap: {why}", hint=hint))
        for rest in ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"):
            shutil.rmtree(root / rest, ignore_errors=True)
        write_manifest(beside, folder.name, but=_CHANGING)

    made(folder, make, unchanged(but=_CHANGING), say)
    _checked.add(folder)
    return folder


def inside(root: Path, folder: str, argv: Sequence[str]) -> list[str]:
    """The argv that runs another one in the root, with a /proc that vanishes when it ends."""
    enter = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", str(root)]
    clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LC_ALL=C"]
    return [*enter, *clean, f"--chdir={folder}", *argv]


LOG = "build.log"
"""The output of make, with the warnings of W=1; in the modules' folder."""
_PREFIX = {arch: f"{triplet}-" for arch, triplet in TRIPLETS.items()}
_ARCH = {"amd64": "x86", "arm64": "arm64"}
_PROGRAMS = ("scripts/basic/fixdep", "scripts/mod/modpost", "tools/objtool/objtool")

AS_ROOT = "call as root with debootstrap installed"


class _Way(Struct, frozen=True):
    """Where and with which tools a module is built."""

    compiler: str
    """The compiler, as make gets it."""
    root: Path | None
    """None: directly on this machine."""
    build: str
    """The headers' folder, as the build sees it."""
    sources: str
    """The folder whose name the modules shall not contain, likewise."""
    name: str
    """Part of the key of the result."""


def build_module(
    folder: Path, kernel: Kernel, archive: Archive, cache: Path | None = None, say: Say = silent
) -> tuple[Path, ...]:
    """The modules (.ko) of a folder with a Kbuild file or Makefile, built for a kernel; from the cache if the
    folder, the kernel's headers and the compiler are unchanged. The modules contain no debug information and
    no path of this machine: equal inputs give equal bytes."""
    if not any((folder / name).is_file() for name in ("Kbuild", "Makefile")):
        raise _no_kbuild(folder)
    where = cache or cache_folder()
    tree = headers(kernel, archive, where, say)
    way = _way(kernel, tree, archive, where, say)
    sources = {
        path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if _is_source(path)
    }
    parts = [str(kernel.pinned), way.name, *tree.parts]
    parts += [f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sources.items()]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def make(beside: Path) -> None:
        say(f"building {folder.name} for {kernel.pinned}")
        base = where if way.root is None else way.root / "tmp"
        with tempfile.TemporaryDirectory(prefix="build-", dir=base) as scratch, storing(where):
            work = Path(scratch) / "module"
            for name, data in sources.items():
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_bytes(data)
            _make(way, kernel, work, folder.name)
            for module in work.rglob("*.ko"):
                shutil.copyfile(module, beside / module.name)
            shutil.copyfile(work.parent / LOG, beside / LOG)
            write_manifest(beside, digest)

    done = made(where / "modules" / digest, make, unchanged(), say)
    modules = tuple(sorted(done.glob("*.ko")))
    if not modules:
        raise _no_kbuild(folder)
    return modules


def _is_source(path: Path) -> bool:
    """False for what an earlier build left there."""
    left = (".o", ".ko", ".mod", ".mod.c", ".cmd", ".symvers", ".order", ".d")
    return path.is_file() and not path.name.startswith(".") and not path.name.endswith(left)


def _way(kernel: Kernel, tree: Headers, archive: Archive, cache: Path, say: Say) -> _Way:
    """Here if the build scripts run and the compiler is not older than the kernel's, else in a root of its
    suite."""
    problem = _why_not_here(tree)
    compiler = _compiler_here(tree.gcc, kernel.arch)
    if not problem and compiler is not None:
        version = subprocess.run(
            [compiler, "-dumpfullversion"], capture_output=True, text=True, check=False
        ).stdout
        return _Way(compiler, None, str(tree.build), str(tree.sources), f"{compiler} {version.strip()}")
    no_root = "its build tree is yours alone" if tree.tree is not None else why_no_root()
    if no_root and problem:
        reason = f"{problem}, and {no_root}"
        raise NotPossibleError(NO_MODULE(kernel=kernel.pinned, reason=reason, hint=AS_ROOT))
    if no_root:
        reason = f"gcc {tree.gcc} for {kernel.arch} or newer is not installed, and {no_root}"
        raise NotPossibleError(
            NO_MODULE(kernel=kernel.pinned, reason=reason, hint=f"{AS_ROOT}, or install gcc-{tree.gcc}")
        )
    kbuild = next((p for p in tree.packages if p.name.startswith("linux-kbuild-")), None)
    wanted = needed_packages(tree.gcc, kernel.arch, kbuild.depends if kbuild else "")
    root = build_root(kernel.suite, wanted, archive, cache, say) / "root"
    place = f"/headers/{tree.root.name}"
    made(
        root / place.lstrip("/"),
        lambda beside: _copy_headers(tree, beside, Path(place)),
        unchanged(tree.packages),
        say,
    )
    prefix = _PREFIX[kernel.arch]
    return _Way(
        f"{prefix}gcc-{tree.gcc}",
        root,
        f"{place}/{tree.build.relative_to(tree.root)}",
        f"{place}/usr/src",
        root.parent.name,
    )


def _copy_headers(tree: Headers, beside: Path, place: Path) -> None:
    with storing(beside):
        shutil.copytree(tree.root / "usr", beside / "usr", symlinks=True)
        for file in (beside / "usr/src").glob("linux-headers-*/Makefile"):
            if file.stat().st_size < 1000:
                file.write_text(file.read_text().replace(str(tree.root), str(place)))
        write_manifest(beside, place.name, tree.packages)


def _why_not_here(tree: Headers) -> str:
    """Why the kernel's build scripts do not run on this machine; "" if they do."""
    if shutil.which("make") is None:
        return "make is not installed"
    for name in _PROGRAMS:
        program = tree.build / name
        if not program.exists():
            continue
        done = subprocess.run(
            [str(program)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        newer = re.search(r"version `(GLIBC_[0-9.]+)' not found", done.stderr)
        if newer:
            return f"its build scripts want a newer libc ({newer[1]})"
        absent = re.search(r"loading shared libraries: (\S+):", done.stderr)
        if absent:
            return f"its build scripts want the library {absent[1]}"
    return ""


def _compiler_here(gcc: int, arch: str) -> str | None:
    """The kernel's own compiler, else a newer one: an older one does not know its options."""
    prefix = "" if arch == host_architecture() else _PREFIX[arch]
    exact = f"{prefix}gcc-{gcc}"
    if shutil.which(exact):
        return exact
    if shutil.which(f"{prefix}gcc") is None:
        return None
    text = subprocess.run(
        [f"{prefix}gcc", "-dumpversion"], capture_output=True, text=True, check=False
    ).stdout
    major = text.strip().partition(".")[0]
    return f"{prefix}gcc" if major.isdigit() and int(major) >= gcc > 0 else None


def _make(way: _Way, kernel: Kernel, work: Path, name: str) -> None:
    module = str(work) if way.root is None else f"/{work.relative_to(way.root)}"
    prefix = "" if way.root is None and kernel.arch == host_architecture() else _PREFIX[kernel.arch]
    argv = [
        "make", "-C", way.build, f"M={module}", f"ARCH={_ARCH[kernel.arch]}", f"CROSS_COMPILE={prefix}",
        f"CC={way.compiler}", "KBUILD_BUILD_TIMESTAMP=2026-01-01", "KBUILD_BUILD_USER=howlate",
        "KBUILD_BUILD_HOST=howlate",
        f"KCFLAGS=-ffile-prefix-map={module}=. -ffile-prefix-map={way.sources}=/usr/src -g0",
        f"KAFLAGS=-ffile-prefix-map={module}=. -g0", "CONFIG_DEBUG_INFO_BTF_MODULES=", "W=1",
        "cmd_checkdoc=",  # W=1 looks at kernel-doc too, with interpreters that a minimal root does not have
        "modules",
    ]  # fmt: skip
    log = work.parent / LOG
    with log.open("wb") as out:
        done = subprocess.run(
            argv if way.root is None else inside(way.root, "/", argv),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR")}
            | {"LC_ALL": "C"},
            check=False,
        )
    if done.returncode != 0:
        rows = log.read_text(encoding="utf-8", errors="replace").splitlines()
        signs = (row for row in rows if re.search(r"\berror\b|ERROR|: \*\*\* ", row))
        why = next(signs, rows[-1] if rows else "make failed")
        raise TargetError(NO_MODULE(kernel=f"{kernel.pinned} ({name})", reason=why.strip(), hint=_tail(rows)))


def _tail(rows: Sequence[str]) -> str:
    """The end of the output: the compiler's own words are the remedy."""
    return "the last lines were: " + " / ".join(row.strip() for row in rows[-4:])


def _no_kbuild(folder: Path) -> UsageError:
    hint = "name a folder whose Kbuild or Makefile has `obj-m += NAME.o`"
    return UsageError(UNUSABLE(what=folder, reason="it does not build a module", hint=hint))
