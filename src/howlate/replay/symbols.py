"""Names for addresses: the kernel's from the text of /proc/kallsyms, a program's from its ELF file."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

USER_TOP = 1 << 63
"""Addresses below are a program's."""
LIBRARY, NO_NAME = "[vdso]", "[no name]"
_PAGE, _FAR = 4096, 1 << 16
"""Code that the kernel makes while it runs, as BPF programs, has no symbols, and is not what ends pages before."""
_CODE = frozenset("tTwW")
_KALLSYMS = re.compile(r"^([0-9a-f]+) (\S) (\S+)(?:\s+\[(\S+)\])?$", re.MULTILINE)
_ELF = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE, _FUNCTION = 2, 2


class Symbols(Struct, frozen=True, dict=True):
    """Functions in the order of their addresses."""

    starts: npt.NDArray[np.uint64]
    names: tuple[str, ...]
    program_end: int = 0
    """Above this, and below the kernel, is what the kernel has put there for programs."""
    data: dict[str, int] = field(default_factory=dict)
    """The kernel's other symbols."""

    @classmethod
    def of(cls, kallsyms: str, program: bytes) -> Symbols:
        """The kernel's and those of the one program that a guest has."""
        data: dict[str, int] = {}
        functions: dict[int, str] = {}
        for address_text, kind, name, module in _KALLSYMS.findall(kallsyms):
            address = int(address_text, 16)
            if kind in _CODE and address >= USER_TOP:
                if _is_better(name, functions.get(address, "")):
                    functions[address] = f"{name} [{module}]" if module else name
            else:
                data.setdefault(name, address)
        functions |= dict.fromkeys(_ends_of_code(functions), NO_NAME)
        own = list(_functions(program))
        for address, size, name in own:
            functions.setdefault(address, plain_name(name))
            functions.setdefault(address + size, NO_NAME)
        order = sorted(functions)
        return cls(
            np.array(order, dtype=np.uint64),
            tuple(functions[address] for address in order),
            max((address + size for address, size, _ in own), default=0),
            data,
        )

    def indices(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """For each address the index of its function in `names`; -1 for none of them."""
        found = np.searchsorted(self.starts, addresses, side="right").astype(np.int64) - 1
        found[(addresses < USER_TOP) & (addresses > self.program_end)] = -1
        return found

    def name(self, index: int) -> str:
        return self.names[index] if index >= 0 else LIBRARY

    def address(self, name: str) -> int:
        """Where a function or a datum of the kernel is; 0 if it has none of that name."""
        return self.data.get(name, self._by_name.get(name, 0))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        """Functions; of several of one name the first."""
        return dict(reversed(list(zip(self.names, map(int, self.starts), strict=True))))


def _ends_of_code(starts: Iterable[int]) -> list[int]:
    """Where the kernel's code has ended at the latest behind those functions that are followed by no other for long:
    a page and the rest of its own behind their start."""
    ordered = (*sorted(starts), (1 << 64) - 1)
    return [(start & -_PAGE) + 2 * _PAGE for start, after in pairwise(ordered) if after - start > _FAR]


def _is_better(name: str, other: str) -> bool:
    """Of two names of one address: one that says more than where a section begins or ends, and that is not the other
    one's alias for the code that starts a kernel (`__pi_`)."""
    return not other or (_is_dull(other) and not _is_dull(name))


def _is_dull(name: str) -> bool:
    return name.startswith(
        ("$", ".L", "_stext", "_text", "__entry_text", "__pfx_", "__pi_")
    ) or name.endswith(("_start", "_end", "_begin"))


def _functions(program: bytes) -> Iterator[tuple[int, int, str]]:
    """Address, size and name of each function of an ELF file of 64 bits; nothing of another file."""
    if program[:6] != b"\x7fELF\x02\x01":
        return
    sections_at, size, count = (_ELF.unpack_from(program)[at] for at in (5, 10, 11))
    sections = [_SECTION.unpack_from(program, sections_at + size * number) for number in range(count)]
    for section in sections:
        if section[1] != _SYMBOL_TABLE:
            continue
        names_at = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], _SYMBOL.size):
            name_at, info, _, _, value, length = _SYMBOL.unpack_from(program, at)
            if info & 15 == _FUNCTION and value:
                end = program.index(b"\0", names_at + name_at)
                yield value, length, program[names_at + name_at : end].decode("utf-8", "replace")


def plain_name(name: str) -> str:
    """`howlate::measure` of a name as C++ compilers write it: without types; any other name unchanged."""
    match = re.match(r"_ZN?K?", name)
    if match is None or name == match[0]:
        return name
    words = list(_words(name[match.end() :]))
    return "::".join(word for word in words if not word.startswith("_GLOBAL")) or name


def _words(text: str) -> Iterable[str]:
    while (match := re.match(r"L?([0-9]+)", text)) is not None:
        length = int(match[1])
        yield text[match.end() : match.end() + length]
        text = text[match.end() + length :]
