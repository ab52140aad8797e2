"""Work of a known number of instructions, the probe's and that of the lab's modules, as each compiler of this machine
makes it. tests/lab/test_holding.py counts both where they run."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from howlate.system.paths import ROOT
from lab.equipped import HOLDING
from probe.drive import probe_path
from processes import completed
from swept import crossed

SOURCE = """\
#include "timers/work.cpp"
#if defined(__x86_64__) || defined(__aarch64__)
#include "turns.h"
void turns(unsigned long count) { take_turns(count); }
#endif
"""
WORK = {"x86_64": ["imul", "add", "dec", "jne"], "aarch64": ["madd", "subs", "b.ne"]}
WORK |= {"arm": ["mla", "subs", "bne"], "riscv64": ["mul", "add", "add", "bnez"]}
TURNS = {"x86_64": ["dec", "jne"], "aarch64": ["subs", "b.ne"]}


def prefix_of(compiler: str) -> str:
    return "".join(re.findall(r"^\w+-linux-gnu\w*-", compiler))


def compilers() -> list[tuple[str, str]]:
    """Each on the PATH once (g++-12, clang++, aarch64-linux-gnu-g++-14), and the architecture that it compiles for.
    Each of Debian's depends on its objdump."""
    pattern = re.compile(r"(\w+-linux-gnu\w*-)?(g|clang)\+\+(-\d+)?")
    found = {
        path.resolve(): path.name
        for folder in os.get_exec_path()
        if Path(folder).is_dir()
        for path in sorted(Path(folder).iterdir(), reverse=True)
        if pattern.fullmatch(path.name) and shutil.which(f"{prefix_of(path.name)}objdump")
    }
    made_for = {name: _said(name, "-dumpmachine").partition("-")[0] for name in found.values()}
    return [(name, architecture) for name, architecture in made_for.items() if architecture in WORK]


def _said(*argv: str | Path) -> str:
    return completed(argv, check=True).stdout


def loops(file: Path, prefix: str = "") -> list[list[str]]:
    """The mnemonics from the target of each jump backwards to the jump, as objdump writes them: an x86 operand's size
    (`decq`) and an instruction's (`subs.w`, `c.addi`) are no part of them, and `addi` is `add`, as some versions
    write it."""
    text = _said(f"{prefix}objdump", "-d", file)
    return [loop for section in text.split("Disassembly of section") for loop in _loops(section)]


def _loops(section: str) -> Iterator[list[str]]:
    rows = [
        (int(row[1], 16), row[2], row[3])
        for row in re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)[ \t]*(.*)$", section, re.MULTILINE)
    ]
    at = {address: index for index, (address, _, _) in enumerate(rows)}
    for index, (address, _, operands) in enumerate(rows):
        jump = re.search(r"(?:^|,)([0-9a-f]+) <", operands)
        begin = at.get(int(jump[1], 16)) if jump else None
        if begin is not None and begin <= index and rows[begin][0] > address - 64:
            words = [word for _, word, _ in rows[begin : index + 1]]
            yield [re.sub(r"^c\.|\.[nw]$|(?<=imul|.add|.dec)q$|(?<=add)i$", "", word) for word in words]


@pytest.mark.beside
@pytest.mark.parametrize(("built", "level"), crossed(compilers(), ["-O0", "-O1", "-O2", "-O3", "-Os"]))
def test_no_compiler_changes_work_of_a_known_number_of_instructions(
    tmp_path: Path, built: tuple[str, str], level: str
) -> None:
    compiler, architecture = built
    (tmp_path / "work.cpp").write_text(SOURCE)
    argv = [compiler, "-std=c++20", level, "-Wall", "-Werror", "-I", str(ROOT / "probe" / "src")]
    subprocess.run([*argv, "-I", str(HOLDING), "-c", "work.cpp"], cwd=tmp_path, check=True)
    found = loops(tmp_path / "work.o", prefix_of(compiler))
    assert found.count(WORK[architecture]) == 1
    assert found.count(TURNS.get(architecture, [])) == (architecture in TURNS)


@pytest.mark.beside
def test_the_probe_has_one_copy_of_its_work_so_what_is_calibrated_is_what_works() -> None:
    assert loops(probe_path()).count(WORK[os.uname().machine]) == 1
