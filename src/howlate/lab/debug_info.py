"""Lines of source from a kernel's debug information: its unstripped vmlinux, a folder that has one, or the Debian
package linux-image-*-dbg."""

from __future__ import annotations

import bisect
import posixpath
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.elf.elffile import ELFFile

from howlate.errors import DamagedError, UsageError
from howlate.lab.archive.deb import DAMAGED_PACKAGE, data_tar, members
from howlate.lab.guests.identity import build_ids
from howlate.lab.problems import UNUSABLE

_VMLINUX = "vmlinux"
_Row = tuple[int, str]


class DebugInfo:
    """The lines of one kernel."""

    def __init__(self, path: Path, elf: ELFFile, build_id: str) -> None:
        self.path, self.build_id = path, build_id
        self._elf = elf
        self._units: dict[int, list[_Row]] = {}

    def is_of(self, image: bytes) -> bool:
        return bytes.fromhex(self.build_id) in build_ids(image)

    def lines(self, addresses: Collection[int]) -> Mapping[int, str]:
        """`mm/swap.c:942` for each address that has one; of inlined code, its own line."""
        sections = {}
        try:
            for address in addresses:
                rows = self._rows(self._unit_of(address))
                place = bisect.bisect_right(rows, address, key=lambda row: row[0]) - 1
                if place >= 0 and rows[place][1]:
                    sections[address] = rows[place][1]
        except (DWARFError, ELFError) as error:
            raise DamagedError(DAMAGED_PACKAGE(package=self.path, damage=error)) from None
        return sections

    @cached_property
    def _dwarf(self) -> Any:
        # The relocations that a kernel's build leaves in it have been applied.
        return self._elf.get_dwarf_info(relocate_dwarf_sections=False)

    @cached_property
    def _ranges(self) -> Any:
        return self._dwarf.get_aranges()

    def _unit_of(self, address: int) -> int | None:
        unit: int | None = self._ranges.cu_offset_at_addr(address) if self._ranges is not None else None
        return unit

    def _rows(self, unit: int | None) -> list[_Row]:
        if unit is None:
            return []
        if unit not in self._units:
            self._units[unit] = sorted(
                _rows(self._dwarf, self._dwarf.get_CU_at(unit)), key=lambda row: row[0]
            )
        return self._units[unit]


def _rows(dwarf: Any, unit: CompileUnit) -> Iterator[_Row]:
    """The addresses from which on code has another line, and the line; "" where no code is."""
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return
    files = _files(program.header)
    for entry in program.get_entries():
        if (state := entry.state) is not None:
            name = files[state.file] if state.file < len(files) else ""
            yield state.address, "" if state.end_sequence or not name else f"{name}:{state.line}"


def _files(header: Any) -> list[str]:
    """By number, below the folder in which the compiler was called."""
    folders = [folder.decode("utf-8", "replace") for folder in header["include_directory"]]
    if header["version"] < 5:  # numbers begin with 1
        folders.insert(0, "")
    else:
        folders[0] = ""
    names = [
        posixpath.normpath(
            posixpath.join(folders[entry["dir_index"]], entry["name"].decode("utf-8", "replace"))
        )
        for entry in header["file_entry"]
    ]
    return names if header["version"] >= 5 else ["", *names]


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[list[DebugInfo]]:
    """The debug information in each of these packages, folders and files; UsageError for one without."""
    with ExitStack() as held:
        yield [_opened(path, held) for path in paths]


def _opened(path: Path, held: ExitStack) -> DebugInfo:
    if path.suffix == ".deb" and path.is_file():
        files: Iterable[IO[bytes]] = [held.enter_context(_unpacked(path))]
    else:
        candidates = sorted(path.rglob(f"{_VMLINUX}*")) if path.is_dir() else [path]
        files = (held.enter_context(each.open("rb")) for each in candidates if each.is_file())
    for file in files:
        if (info := _debug_info(path, file)) is not None:
            return info
    hint = "name an unstripped vmlinux, a folder that has one, or the package linux-image-RELEASE-dbg"
    reason = "it has no vmlinux with debug information and a build id"
    raise UsageError(UNUSABLE(what=path, reason=reason, hint=hint))


@contextmanager
def _unpacked(package: Path) -> Iterator[IO[bytes]]:
    """The package's vmlinux; what comes behind it, several GB of modules, is not unpacked."""
    with tempfile.TemporaryFile() as file:
        with data_tar(package) as stream:
            for name, member, tar in members(stream, package):
                if member.isreg() and posixpath.basename(name).startswith(_VMLINUX):
                    content = tar.extractfile(member)
                    assert content is not None
                    shutil.copyfileobj(content, file, 1 << 20)
                    break
        yield file


def _debug_info(path: Path, file: IO[bytes]) -> DebugInfo | None:
    try:
        elf = ELFFile(file)
        notes = (
            note
            for section in elf.iter_sections()
            if section["sh_type"] == "SHT_NOTE"
            for note in section.iter_notes()  # type: ignore[attr-defined]
        )
        ids = (
            note["n_desc"] for note in notes if (note["n_name"], note["n_type"]) == ("GNU", "NT_GNU_BUILD_ID")
        )
        build_id = next(ids, "")
        return DebugInfo(path, elf, build_id) if build_id and elf.has_dwarf_info(strict=True) else None
    except (DWARFError, ELFError):
        return None
