"""Programs that tests run to their end, and what runs on this machine, from /proc: so that tests can tell that
nothing was left behind."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from howlate.system.paths import ROOT


def completed(argv: Sequence[str | Path], **more: Any) -> subprocess.CompletedProcess[str]:
    """The program at its end, with what it wrote as texts; `more` as for subprocess.run."""
    return subprocess.run(argv, capture_output=True, text=True, **more)


def environment(**more: str) -> dict[str, str]:
    """For `python -m howlate`, in whatever folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more}


def with_word(word: str) -> dict[int, str]:
    """Processes, zombies aside, with the word on their command line."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            zombie = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if word in line and not zombie:
            found[int(folder.name)] = line
    return found


def working_in(folder: Path) -> dict[int, str]:
    """Processes, zombies aside, whose working folder this is, with their command line: whoever their parent is
    by now, they were started from there."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or not is_running(int(process.name)):
            continue
        try:
            if (process / "cwd").readlink() == folder.resolve():
                line = (process / "cmdline").read_bytes()
                found[int(process.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def in_namespace(kind: str, which: Path) -> dict[int, str]:
    """Processes, zombies aside, in a namespace ("mnt:[4026531841]"), with their command line."""
    found = {}
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "ns" / kind).readlink() == which:
                line = (process / "cmdline").read_bytes()
                found[int(process.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return {pid: line for pid, line in found.items() if is_running(pid)}


def children_of(pid: int) -> list[int]:
    """All processes below one, however deep."""
    below: list[int] = []
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat[1])
    wanted = {pid}
    while True:
        more = [p for p, parent in parents.items() if parent in wanted and p not in below]
        if not more:
            return below
        below += more
        wanted |= set(more)


def is_running(pid: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition: Callable[[], bool], within_s: float = 120.0) -> bool:
    """Whether the condition came true; the deadline is generous and only met where something is broken."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def guardian_of(pid: int) -> int:
    """The process that undoes what this probe changes of the machine if it is killed (docs/knobs.md); 0 if it has
    none."""
    for child in children_of(pid):
        try:
            if Path(f"/proc/{child}/comm").read_text() == "knob-guardian\n":
                return child
        except OSError:
            continue
    return 0


def journals_of(pid: int) -> list[Path]:
    """What a probe has written down to be undone; root's journals of a boot lie in one folder."""
    return list(Path("/run/howlate").glob(f"knobs-{pid}-*.journal"))


def kill_unguarded(pid: int) -> None:
    """A probe, with the guardian before it: what it changed is left as it is."""
    os.kill(pid, signal.SIGSTOP)
    if guardian := guardian_of(pid):
        os.kill(guardian, signal.SIGKILL)
        assert until(lambda: not is_running(guardian))
    os.kill(pid, signal.SIGKILL)


def told_through(pipe: Path, within_s: float = 60) -> str:
    """What a process writes first into a named pipe, in one piece."""
    reader = os.open(pipe, os.O_RDWR)  # a reader that waits for no writer
    try:
        assert select.select([reader], [], [], within_s)[0], f"nobody wrote to {pipe}"
        return os.read(reader, 4096).decode()
    finally:
        os.close(reader)
