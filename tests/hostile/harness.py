"""Calls commands over altered run folders, each in a process of its own with limits, and judges what came of it."""

import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct, field

from hostile.alter import forge, spoil
from hostile.judge import Outcome, judge_forged, judge_spoilt, sane
from hostile.made import LAB, NOT_VALID, OTHER, RUN, without

CPU_S, MEMORY_BYTES, WALL_S = 10, 1 << 30, 120
"""The limits of a call. The last is for what waits without end, on a machine however busy."""
WIDE = "2000"
"""Columns of the terminal: no sentence is broken into lines."""
COMMANDS = {
    "show": "show run",
    "show --json": "show run --json",
    "show --histogram": "show run --histogram",
    "show --configs": "show run --configs --all",
    "show --verify": "show run --verify",
    "verdict": "verdict run --json",
    "verdict --all": "verdict run --all --deadline 100us --junit out --summary out2",
    "compare": "compare run --by load",
    "doctor": "doctor --run run --all",
    "export": "export run --format csv -o out",
    "export perfetto": "export run --format perfetto -o out",
    "history": "history run --json",
    "lab why": "lab why run",
    "load": "load run",
    "query": "query|select * from runs join cells using (run) join statistics using (run, cell)|run",
    "query samples": "query|select count(*), sum(latency_ns), min(release) from samples|run",
    "report": "report run -o out",
    "why": "why run",
}
"""Every command that reads a run, by the key that says which; `load` is howlate.load."""
COMMAND_LINES = tuple(command for command in COMMANDS if command != "load")
OF_THE_LAB = ("show --configs", "lab why")
"""Those that read what only a run of the lab has."""


def words_of(command: str) -> list[str]:
    line = COMMANDS[command]
    return line.split("|") if "|" in line else line.split()


class Report(Struct):
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
        os.environ["COLUMNS"] = WIDE
        words = words_of(command)
        return load(Path(words[1])) if command == "load" else int(entry.main(words))

    return in_child(work, place)


def load(path: Path) -> int:
    """Print every value that howlate.load gives of a run, or its error; what is missing is named as by a command."""
    from howlate import load as load_run
    from howlate.cli._named import tell_missing
    from howlate.errors import HowlateError

    try:
        run = load_run(path)
        samples = [[int(column.sum()) for column in cell.samples().values()] for cell in run.cells]
        rows = [list(map(str, column)) for column in run.summaries().values()]
        values = [[dict(cell.summary) for cell in run.cells], samples, rows, run.verdict()["rows"]]
        print(json.dumps([*values, run.causes()], indent=1))
        return tell_missing([(path, run._content)])
    except HowlateError as problem:
        print(f"howlate: {problem}. {problem.remedy}", file=sys.stderr)
        return problem.exit_code


KINDS = ("spoilt", "forged")


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


class Harness(Struct):
    """The runs that were made, what the commands say of them as they are, and what came of all calls so far."""

    made: Path
    beside: Path
    report: Report = field(default_factory=Report)
    _said: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    def said(self, command: str, run: str = "") -> Outcome:
        """What a command says of one of the made runs, or of the one that it is called over."""
        run = run or (LAB if command in OF_THE_LAB else RUN)
        if (command, run) not in self._said:
            with copied(self.made / run, self.beside) as place:
                outcome = call(command, place)
            assert not sane(outcome), (command, run, outcome)
            self._said[command, run] = outcome
        return self._said[command, run]

    def mutate(
        self, seed: str, number: int, commands: Sequence[str], kinds: Sequence[str] = KINDS, way: str = ""
    ) -> None:
        """Each number is one mutation of a run, and one command over it; each kind and command gets its turn."""
        command = commands[number % len(commands)]
        kind = kinds[number // len(commands) % len(kinds)]
        chance = random.Random(f"{seed}-{number}")
        before = self.said(command)
        with copied(self.made / (LAB if command in OF_THE_LAB else RUN), self.beside) as place:
            what = (
                spoil(place / "run", chance, way, self.made / OTHER)
                if kind == "spoilt"
                else forge(place / "run", chance)
            )
            outcome = call(command, place)
        if kind == "spoilt":
            judged = judge_spoilt(before, outcome, what.names, self._without(command, what.cell, what.beside))
        else:
            judged = judge_forged(before, outcome, what, verifies=command == "show --verify")
        self.report.add(command, f"{number} {kind} {what.text}", outcome, judged)

    def _without(self, command: str, cell: str, beside: str) -> list[Callable[[], Outcome]]:
        """What the command says of runs that were made without the cell, or with the cell as not valid, or without
        both."""
        runs = [without(cell), f"{NOT_VALID}-{cell}"] if cell and command not in OF_THE_LAB else []
        if beside and runs:
            runs = [without(cell, beside)]
        return [partial(self.said, command, run) for run in runs]


def warm_up() -> None:
    """What each call would import is imported once, in the process that forks."""
    import importlib

    for name in (
        "cli",
        "store.loaded",
        "history.query",
        "history.catalogue",
        "store.audit",
        "document.html",
        "document.missing",
        "store.summarise",
    ):
        importlib.import_module(f"howlate.{name}")
    from tree_of_commands import leaves

    leaves()
