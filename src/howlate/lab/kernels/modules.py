"""Kernel modules of a package: their files, and their dependencies, read from the modules themselves (no
package has a modules.dep)."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from howlate.errors import DamagedError, UnfitKernelError
from howlate.lab.archive.deb import DAMAGED_PACKAGE, MOST_FILE, TooMuchError, decompressed
from howlate.lab.problems import NOT_IN_ARCHIVE
from howlate.model.capabilities import LoadKind
from howlate.store.files import read_json, write_json

INDEX = "modules.json"
MOST_MODULES = 1 << 30
"""Bytes of all modules that one call unpacks; a guest loads a few."""


class Modules(Struct, frozen=True):
    files: Mapping[str, tuple[str, ...]]
    """Name -> the names it depends on; its file is `<name>.ko`."""
    builtin: frozenset[str] = frozenset()
    """Modules that were requested and are part of the kernel."""
    absent: frozenset[str] = frozenset()
    """Modules that were requested and are neither in the package nor built in."""

    def order(self, name: str) -> tuple[str, ...]:
        """The modules to load for `name`, in order, itself last; nothing if it is built in. UnfitKernelError
        if the kernel does not have it."""
        module = normal(name)
        if module in self.builtin:
            return ()
        if module not in self.files:
            raise UnfitKernelError(
                NOT_IN_ARCHIVE(
                    what=f"the module {name} of this kernel", hint="use another kernel, or build it"
                )
            )
        done: dict[str, None] = {}
        begun = {module}
        ahead = [(module, iter(self.files[module]))]
        while ahead:  # depth first; of a circle, each once
            name, needs = ahead[-1]
            needed = next((one for one in needs if one in self.files and one not in begun), None)
            if needed is None:
                done[name] = None
                ahead.pop()
            else:
                begun.add(needed)
                ahead.append((needed, iter(self.files[needed])))
        return tuple(done)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "modules": {name: list(needs) for name, needs in sorted(self.files.items())},
            "builtin": sorted(self.builtin),
            "absent": sorted(self.absent),
        }

    @classmethod
    def read(cls, folder: Path) -> Modules:
        file = folder / INDEX
        values = read_json(file, f"remove {folder.parent} and fetch the kernel again")
        try:
            files = {name: tuple(needs) for name, needs in values["modules"].items()}
            return cls(files, frozenset(values["builtin"]), frozenset(values["absent"]))
        except (KeyError, TypeError, AttributeError):
            raise DamagedError(DAMAGED_PACKAGE(package=file, damage="it is not a list of modules")) from None

    def write(self, folder: Path) -> None:
        write_json(folder / INDEX, self.to_json())


def of_loads(loads: Iterable[LoadKind]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(need.name for load in loads for need in load.modules))


def normal(name: str) -> str:
    """Module names contain no dash."""
    return name.replace("-", "_")


def module_name(path: str) -> str | None:
    """The module of a file's name, or None if it is none: "kernel/crypto/crc32c_generic.ko.xz" -> crc32c_generic."""
    stem, dot, ending = PurePosixPath(path).name.partition(".ko")
    return normal(stem) if dot and ending in ("", ".xz", ".zst", ".gz") else None


def modinfo(module: bytes, whence: str) -> dict[str, list[str]]:
    """The .modinfo section of a 64-bit little-endian ELF object: name -> values."""
    options: dict[str, list[str]] = {}
    for entry in _section(module, b".modinfo", whence).split(b"\0"):
        key, is_one, value = entry.partition(b"=")
        if is_one:
            options.setdefault(key.decode(errors="replace"), []).append(value.decode(errors="replace"))
    return options


def dependencies(info: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """(what must be loaded before, what should be): `depends=` and `softdep=pre: ...`."""
    hard = [normal(name) for row in info.get("depends", []) for name in row.split(",") if name]
    soft: list[str] = []
    for row in info.get("softdep", []):
        part = ""
        for word in row.split():
            if word in ("pre:", "post:"):
                part = word
            elif part == "pre:":
                soft.append(normal(word))
    return hard, soft


def _section(module: bytes, name: bytes, whence: str) -> bytes:
    try:
        if module[:6] != b"\x7fELF\x02\x01":
            raise DamagedError(DAMAGED_PACKAGE(package=whence, damage="it is not of a 64-bit kernel"))
        (table,) = struct.unpack_from("<Q", module, 0x28)
        size, count, names = struct.unpack_from("<HHH", module, 0x3A)
        rows = [struct.unpack_from("<IIQQQQ", module, table + number * size) for number in range(count)]
        texts = rows[names][4]
        for label, _, _, _, start, length in rows:
            end = module.index(b"\0", texts + label)
            if module[texts + label : end] == name:
                return module[start : start + length]
    except (struct.error, IndexError, ValueError):
        pass
    raise DamagedError(DAMAGED_PACKAGE(package=whence, damage=f"it has no {name.decode()}"))


def plain_module(packed: bytes, path: str) -> bytes:
    """A .ko, .ko.xz, .ko.gz or .ko.zst, decompressed."""
    ending = path.rpartition(".ko")[2].removeprefix(".")
    with decompressed(io.BytesIO(packed), ending, Path(path), MOST_FILE) as stream:
        return stream.read()


def _provider(soft: str, members: Mapping[str, str]) -> str | None:
    """The module that a soft dependency means: an algorithm's alias ("crypto-crc32c") or a module's name.
    None if there is none: newer kernels have such algorithms built in."""
    plain = soft.removeprefix("crypto_")
    return next((form for form in (soft, plain, f"{plain}_generic") if form in members), None)


def unpack_modules(
    names: Iterable[str],
    members: Mapping[str, str],
    read: Callable[[str], bytes],
    builtin: frozenset[str],
    folder: Path,
    known: Modules,
) -> Modules:
    """Write the wanted modules and all their dependencies into `folder`, and return the result for each.

    `members` maps a module's name to its path in the package; `read` reads one.
    """
    files, inside, absent = dict(known.files), set(known.builtin), set(known.absent)
    ahead = [normal(name) for name in names]
    size = 0
    while ahead:
        name = ahead.pop()
        if name in files or name in inside or name in absent:
            continue
        if name not in members:
            (inside if name in builtin else absent).add(name)
            continue
        module = plain_module(read(members[name]), members[name])
        size += len(module)
        if size > MOST_MODULES:
            raise TooMuchError(
                DAMAGED_PACKAGE(package=members[name], damage=f"it has more than {MOST_MODULES} bytes")
            )
        hard, soft = dependencies(modinfo(module, members[name]))
        chosen = [provider for word in soft if (provider := _provider(word, members)) is not None]
        files[name] = tuple(dict.fromkeys((*hard, *chosen)))
        ahead += files[name]
        (folder / f"{name}.ko").write_bytes(module)
    done = Modules(files, frozenset(inside), frozenset(absent))
    done.write(folder)
    return done
