"""A minimal root of a suite, in which to build with that suite's compiler and libraries.

It is needed if the kernel's build scripts are linked against a newer libc than this machine's, or if the
kernel's compiler is newer.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from howlate.errors import NotPossibleError, TargetError
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import CODENAMES, Archive, Say, silent
from howlate.lab.cache import cache_folder, made
from howlate.lab.kernels.headers import TRIPLETS, host_architecture
from howlate.lab.problems import NOT_IN_ARCHIVE, OTHER_MIRROR, UNUSABLE

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
