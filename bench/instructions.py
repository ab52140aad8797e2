"""User-space instructions of one activation, counted by callgrind: ours, and cyclictest's beside it.

    ./dev bench instructions

Counted for the measuring thread alone, as the slope between two run lengths, so that start and end fall out.
valgrind reads the clock by a system call; what the vDSO's clock read costs is counted beside it by single steps
and added to the total. The limit: our own instructions are at most half of cyclictest's. Exit code 0 or 1.
Instructions do not depend on how busy the machine is.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SHORT, LONG = 500, 2500
LIMIT = 0.5


@dataclass(frozen=True)
class Cost:
    """Instructions of one thread."""

    own: int
    clock_reads: int
    functions: frozenset[str]


def thread_costs(profiles: list[Path]) -> list[Cost]:
    """Self cost of each thread. Names are defined once, in whichever file comes first."""
    names: dict[tuple[str, str], str] = {}

    def name(kind: str, number: str, spelt: str | None) -> str:
        return names.setdefault((kind[-2:], number), spelt or "")

    costs = []
    for profile in profiles:
        own = clock_reads = 0
        functions = set()
        called = ""
        inclusive_follows = False
        for line in profile.read_text().splitlines():
            if match := re.match(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?$", line):
                spelt = name(match[1], match[2], match[3])
                if match[1] == "fn":
                    functions.add(spelt)
                elif match[1] == "cfn":
                    called = spelt
            elif match := re.match(r"calls=(\d+)", line):
                clock_reads += int(match[1]) if "clock_gettime" in called else 0
                inclusive_follows = True
            elif match := re.match(r"(?:[+*-]?\d+|\*) (\d+)$", line):
                own += 0 if inclusive_follows else int(match[1])
                inclusive_follows = False
        costs.append(Cost(own, clock_reads, frozenset(functions)))
    return costs


def measuring_thread(command: list[str], loop: str) -> Cost:
    """The cost of the thread of `command` with a function that matches `loop`, of several the dearest."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}"]
        subprocess.run([*valgrind, *command], check=True, capture_output=True)
        first, *others = thread_costs(sorted(Path(folder).glob("out-*")))
    found = [cost for cost in others if any(re.search(loop, function) for function in cost.functions)]
    if not found:
        raise SystemExit(
            f"no thread of {command[0]} has the measuring loop; the first has {len(first.functions)} functions"
        )
    return max(found, key=lambda cost: cost.own)


def slope(command: Callable[[int], list[str]], loop: str) -> tuple[float, float]:
    """Own instructions and clock reads an activation."""
    short, long = (measuring_thread(command(count), loop) for count in (SHORT, LONG))
    return (long.own - short.own) / (LONG - SHORT), (long.clock_reads - short.clock_reads) / (LONG - SHORT)


def vdso_instructions(reads: int = 20) -> float:
    """Instructions that the vDSO spends on one clock read, counted by stepping a child that reads."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    trace_me, peek_user, step, rip = 0, 3, 9, 16 * 8
    low, high = next(
        (int(word, 16) for word in line.split()[0].split("-"))
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.endswith("[vdso]")
    )
    child = os.fork()
    if child == 0:
        libc.ptrace(trace_me, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        for _ in range(reads):
            time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        os._exit(0)
    steps = 0
    while os.WIFSTOPPED(os.waitpid(child, 0)[1]):
        at = libc.ptrace(peek_user, child, rip, None) & 0xFFFF_FFFF_FFFF_FFFF
        steps += low <= at < high
        libc.ptrace(step, child, None, None)
    return steps / reads


def ours(count: int) -> list[str]:
    """Our run, on absolute clock_nanosleep."""
    options = [
        "--timer",
        "clock_nanosleep",
        "--period",
        "5ms",
        "--policy",
        "other",
        "--activations",
        str(count),
        "--quiet",
    ]
    return [os.environ["HOWLATE_PROBE"], "cyclic", *options, "--stream", "/dev/null"]


def cyclictest(count: int) -> list[str]:
    """cyclictest's, with a histogram, as the field runs it."""
    return [
        "cyclictest",
        "--default-system",
        "-q",
        "-N",
        "-t",
        "1",
        "-i",
        "5000",
        "-l",
        str(count),
        "-h",
        "100000",
    ]


def main() -> int:
    """Count both and compare."""
    our_own, our_reads = slope(ours, r"\bmeasure<")
    their_own, their_reads = slope(cyclictest, r"clock_nanosleep")
    read = vdso_instructions() if platform.machine() == "x86_64" else float("nan")
    print(
        "user-space instructions of one activation (slope; measuring thread; "
        f"one clock read in the vDSO: {read:.0f})"
    )
    print(f"  howlate     own {our_own:7.1f}   with the vDSO {our_own + our_reads * read:7.1f}")
    print(f"  cyclictest  own {their_own:7.1f}   with the vDSO {their_own + their_reads * read:7.1f}")
    passed = our_own <= LIMIT * their_own
    print(f"  ratio {our_own / their_own:.2f}, limit {LIMIT}: {'kept' if passed else 'NOT kept'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
