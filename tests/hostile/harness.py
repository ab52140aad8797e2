"""Calls commands over altered run folders, each in a process of its own with limits, and judges what came of it."""

from __future__ import annotations

import os
import random
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hostile.alter import forge, spoil

CPU_S, MEMORY_BYTES, WALL_S = 10, 1 << 30, 120
"""The limits of a call. The last is for what waits without end, on a machine however busy."""
COMMANDS = {
    "show": "show run",
    "show --json": "show run --json",
    "show --histogram": "show run --histogram",
    "show --verify": "show run --verify",
    "verdict": "verdict run --json",
    "verdict --all": "verdict run --all --deadline 100us --junit out --summary out2",
    "compare": "compare run",
    "doctor": "doctor --run run",
    "export": "export run --format csv -o out",
    "export perfetto": "export run --format perfetto -o out",
    "history": "history run --json",
    "lab why": "lab why run",
    "query": "query|select * from runs join cells using (run) join statistics using (run, cell)|run",
    "query samples": "query|select count(*), sum(latency_ns), min(release) from samples|run",
    "report": "report run -o out",
    "why": "why run",
}
"""Every command that reads a run, by the key that says which."""
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def words_of(command: str) -> list[str]:
    line = COMMANDS[command]
    return line.split("|") if "|" in line else line.split()


@dataclass(frozen=True)
class Outcome:
    """What a call left. `code` is below zero where a signal ended it."""

    code: int
    out: str
    err: str
    files: str
    cpu_s: float = 0.0

    @property
    def shown(self) -> str:
        return self.out + self.files


@dataclass
class Report:
    """All calls so far."""

    calls: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    most_cpu_s: float = 0.0

    def add(self, command: str, what: str, outcome: Outcome, judged: str) -> None:
        self.calls[command] += 1
        self.classes[judged] += 1
        self.most_cpu_s = max(self.most_cpu_s, outcome.cpu_s)
        if judged.startswith("FAULT"):
            said = (outcome.err or outcome.out).strip()[-300:]
            self.faults.append(f"{judged}: {command}, {what}: code {outcome.code}: {said!r}")


def limited(memory_bytes: int = MEMORY_BYTES, cpu_s: int = CPU_S) -> None:
    """Set the limits of this process: beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def in_child(work: Callable[[], int], place: Path) -> Outcome:
    """Call it in a forked process whose working folder is this place."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        return _in_child(work, place, (out, err))


def _in_child(work: Callable[[], int], place: Path, texts: tuple[IO[bytes], IO[bytes]]) -> Outcome:
    child = os.fork()
    if child == 0:
        code = 120
        try:
            os.chdir(place)
            for number, text in zip((1, 2), texts, strict=True):
                os.dup2(text.fileno(), number)
            limited()
            code = work()
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(code)
    handle = os.pidfd_open(child)
    ended = select.select([handle], [], [], WALL_S)[0]
    os.close(handle)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    out, err = (_whole(text) for text in texts)
    files = "".join(path.read_text(errors="replace") for path in sorted(place.glob("out*")) if path.is_file())
    return Outcome(os.waitstatus_to_exitcode(status), out, err, files, used.ru_utime + used.ru_stime)


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "backslashreplace")


def call(command: str, place: Path) -> Outcome:
    """One command over `place`/run."""
    from howlate import __main__ as entry

    def work() -> int:
        tempfile.tempdir = str(place)
        return int(entry.main(words_of(command)))

    return in_child(work, place)


def sane(outcome: Outcome) -> str:
    """What no input may bring about; "" if nothing of it did."""
    if outcome.code < 0:
        return f"FAULT signal {-outcome.code}"
    if outcome.code not in range(6):
        return "FAULT code"
    if "a fault in howlate" in outcome.err or "Traceback" in outcome.err:
        return "FAULT traceback"
    if _OBEYED.search(outcome.out + outcome.err):
        return "FAULT escape"
    if outcome.code in (2, 3, 4) and not outcome.out and not outcome.err.strip():
        return "FAULT silent"
    return ""


def judge_spoilt(before: Outcome, now: Outcome, what: str) -> str:
    """An accident: a sentence, the same figures, or a name for what is missing or changed."""
    if wrong := sane(now):
        return wrong
    if now.code == 4 and now.err.startswith("howlate: "):
        return "refused"
    if (now.code, now.shown) == (before.code, before.shown):
        return "same"
    news = [line for line in (now.shown + now.err).splitlines() if line not in before.shown + before.err]
    place = Path(what.rpartition(" ")[2])
    names = {place.name, *place.parts[1:2]}
    if any(name in line for line in news for name in names) or now.code in (2, 4):
        return "named"
    return "FAULT figures differ"


def judge_forged(before: Outcome, now: Outcome, what: str) -> str:
    """A forger may set any figure, but nothing breaks."""
    return sane(now) or ("same" if now.shown == before.shown else "refused" if now.code == 4 else "differs")


JUDGES = {"spoilt": (spoil, judge_spoilt), "forged": (forge, judge_forged)}


@contextmanager
def copied(pristine: Path, beside: Path) -> Iterator[Path]:
    """A folder with a copy of the run, always at the same place, so that outputs can be compared."""
    place = beside / "place"
    place.mkdir()
    try:
        shutil.copytree(pristine, place / "run")
        yield place
    finally:
        shutil.rmtree(place)


def baselines(pristine: Path, beside: Path) -> dict[str, Outcome]:
    outcomes = {}
    for command in COMMANDS:
        with copied(pristine, beside) as place:
            outcomes[command] = call(command, place)
            assert not sane(outcomes[command]), (command, outcomes[command])
    return outcomes


def mutate(
    pristine: Path, beside: Path, seed: str, numbers: range, before: Mapping[str, Outcome], report: Report
) -> None:
    """Each number is one mutation of a run, and one command over it; each kind and command gets its turn."""
    commands, kinds = list(COMMANDS), list(JUDGES)
    for number in numbers:
        command = commands[number % len(commands)]
        kind = kinds[number // len(commands) % len(kinds)]
        alter, judge = JUDGES[kind]
        with copied(pristine, beside) as place:
            what = alter(place / "run", random.Random(f"{seed}-{number}"))
            outcome = call(command, place)
        judged = judge(before[command], outcome, what)
        report.add(command, f"{number} {kind} {what}", outcome, judged)


def warm_up() -> None:
    """What each call would import is imported once, in the process that forks."""
    import importlib

    for name in (
        "cli",
        "store.loaded",
        "store.query",
        "store.catalogue",
        "store.audit",
        "report.html",
        "store.summarise",
    ):
        importlib.import_module(f"howlate.{name}")
    from tree_of_commands import leaves

    leaves()
