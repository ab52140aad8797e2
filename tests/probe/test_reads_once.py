"""What the probe reads at its start, counted by strace: before each run it is asked three times."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from lacks import needs_program
from processes import completed

from .drive import probe_path

pytestmark = [pytest.mark.beside, needs_program("strace", "strace")]

BTF = "/sys/kernel/btf/vmlinux"
LOADS = ("none", "cpu:100", "memory-alloc:100", "disk", "hackbench")


def calls(folder: Path, *words: str, given: str = "") -> list[str]:
    """The system calls of one call of the probe, a line each."""
    trace = folder / "trace"
    command: list[str | Path] = ["strace", "-qq", "-o", trace, "-e", "trace=openat,bpf", probe_path(), *words]
    done = completed(command, input=given, timeout=60)
    assert done.returncode == 0, done.stderr
    return trace.read_text().splitlines()


def opened(lines: list[str]) -> Counter[str]:
    return Counter(name for line in lines for name in re.findall(r'^openat\([^,]+, "([^"]+)"', line))


def test_a_plan_asks_the_kernel_as_often_for_five_cells_as_for_one(probe: Path, tmp_path: Path) -> None:
    cells = [json.dumps(["cyclic", "--explain", f"--load={load}", "--duration=1s"]) + "\n" for load in LOADS]
    one, five = (calls(tmp_path, "plan", given="".join(lines)) for lines in (cells[:1], cells))
    assert opened(one)[BTF] == opened(five)[BTF] <= 1
    assert sum(line.startswith("bpf(") for line in five) == sum(line.startswith("bpf(") for line in one)


def test_the_facts_read_the_caller_s_rights_once(probe: Path, tmp_path: Path) -> None:
    files = opened(calls(tmp_path, "facts", "--json"))
    assert files["/proc/self/uid_map"] == 1
    assert files["/proc/self/status"] <= 4, "beside the rights: its CPUs, its memory nodes, its limits"
