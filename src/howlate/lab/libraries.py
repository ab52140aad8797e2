"""The shared libraries that a probe needs in a guest: those of a real-time core have no static form that works.

A guest has no dynamic linker of its own, so it gets the host's, and everything that this one finds for the probe.
"""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path, PurePosixPath

from msgspec import Struct

from howlate.errors import NotPossibleError, UsageError
from howlate.lab.problems import UNUSABLE
from howlate.system.opening import read_bytes

HERE = "build the probe on this machine"
BUILD = "build one with `./dev probe --with-cobalt` or `--with-evl`"

_NAME = b"howlate-probe"
"""In its own help, so in each of them."""
_INTERPRETER, _ELF64 = 3, b"\x7fELF\x02\x01"
_MACHINES = {62: "amd64", 183: "arm64"}
PASSWD = "etc/passwd"
_ROOT = b"root:x:0:0:root:/:/init\n"
"""Alchemy asks for the user's name when it starts."""


class Program(Struct, frozen=True):
    """What the head of an ELF program says."""

    arch: str
    """Debian's name; "" for another."""
    interpreter: str
    """The dynamic linker; "" of a static program."""


def read_program(data: bytes) -> Program | None:
    """None unless it is a 64-bit program."""
    if data[:6] != _ELF64:
        return None
    try:
        (machine,) = struct.unpack_from("<H", data, 18)
        (table,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        for number in range(count):
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, table + number * size)
            if kind == _INTERPRETER:
                return Program(_MACHINES.get(machine, ""), data[at : at + length].rstrip(b"\0").decode())
    except (struct.error, UnicodeDecodeError):
        return None
    return Program(_MACHINES.get(machine, ""), "")


def check_probe(path: Path, arch: str) -> bytes:
    """The bytes of a probe for guests of an architecture; UsageError if it is something else."""
    try:
        data = read_bytes(path, links=True)
    except OSError as error:
        raise UsageError(UNUSABLE(what=path, reason=error.strerror, hint=BUILD)) from None
    program = read_program(data)
    if program is None or program.arch != arch:
        raise UsageError(UNUSABLE(what=path, reason=f"it is not a program for {arch}", hint=BUILD))
    if _NAME not in data:
        raise UsageError(UNUSABLE(what=path, reason="it is another program", hint=BUILD))
    return data


def guest_libraries(path: Path) -> dict[str, bytes]:
    """Further files of a guest whose probe this is, by their names there; none for a static probe.

    The libraries stand in the folder where the host's C library is: its linker looks there without being told.
    """
    program = read_program(path.read_bytes())
    if program is None or not program.interpreter:
        return {}
    libraries = _listed(path, program.interpreter)
    linker = PurePosixPath(program.interpreter)
    libc = next((place for name, place in libraries.items() if name.startswith("libc.so")), None)
    folder = str(libc.parent).lstrip("/") if libc is not None else "lib"
    files = {
        name.lstrip("/") if name.startswith("/") else f"{folder}/{name}": place.read_bytes()
        for name, place in libraries.items()
    }
    return {**files, str(linker).lstrip("/"): Path(linker).read_bytes(), PASSWD: _ROOT}


def _listed(path: Path, interpreter: str) -> dict[str, Path]:
    """The libraries, by the names under which the program asks for them."""
    argv = [interpreter, "--list", str(path)]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotPossibleError(UNUSABLE(what=path, reason=error.strerror, hint=HERE)) from None
    missing = re.search(
        r"^\s*(\S+) => not found|(\S+): cannot open shared object file", done.stdout + done.stderr, re.M
    )
    if missing:
        reason = f"it needs {missing[1] or missing[2]}, which is not installed here"
        raise NotPossibleError(UNUSABLE(what=path, reason=reason, hint=HERE))
    if done.returncode != 0:
        reason = (done.stderr.strip() or "ldd fails").splitlines()[-1]
        raise NotPossibleError(UNUSABLE(what=path, reason=reason, hint=HERE))
    by_name = re.findall(r"^\s*(\S+) => (/\S+) \(", done.stdout, re.M)
    by_path = re.findall(r"^\s*(/\S+) \(", done.stdout, re.M)  # named by a path in the program
    return {name: Path(place) for name, place in [*by_name, *((path, path) for path in by_path)]}
