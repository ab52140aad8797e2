"""A link, a pipe, a device and a folder at every name that a command reads or writes, found by tracing it:
`python -m hostile.places [--command COMMAND] [--every N] [--minutes M]` from tests/, with src on PYTHONPATH.

What a command executes or imports is looked at in the same trace: nothing of the working folder, which is another
user's and holds a file named like whatever might be looked for there."""

import argparse
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hostile.alter import files_of
from hostile.harness import COMMANDS, OF_THE_LAB, call, warm_up, words_of
from hostile.judge import sane
from hostile.made import LAB, RUN, make_run
from processes import completed, environment

NOBODY = 65534
NAMED = ("run", "out", "out2")
"""What the user names: links are followed there, and a pipe waits for its reader."""
WAITS = (("out", "pipe"), ("out2", "pipe"))
PLANTED = (
    "json.py",
    "click.py",
    "random.py",
    "queue.py",
    "numpy.py",
    "sitecustomize.py",
    "howlate/__main__.py",
)
_CALL = re.compile(r"^\d+ +(\w+)\((.*)$", re.MULTILINE)
_NAME = re.compile(r'(?:(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')
_RANDOM = re.compile(r"[0-9a-f]{16}|howlate-|^tmp(/|$)|\.spill")
"""What cannot be planted, since nobody knows its name before."""
_EXECUTED = re.compile(r"\.(py|pyc|so)(\.|$)")


def _link(path: Path, outside: Path) -> None:
    """To what stood there, or to what does not exist."""
    if path.exists():
        shutil.move(path, outside / "kept")
        path.symlink_to(outside / "kept")
    else:
        path.symlink_to(outside / "new")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _instead(make: Callable[[Path], None]) -> Callable[[Path, Path], None]:
    def planted(path: Path, outside: Path) -> None:
        _remove(path)
        make(path)

    return planted


KINDS: dict[str, Callable[[Path, Path], None]] = {
    "link": _link,
    "pipe": _instead(os.mkfifo),
    "device": _instead(lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))),
    "folder": _instead(Path.mkdir),
}


@contextmanager
def place_of(made: Path, beside: Path) -> Iterator[tuple[Path, Path]]:
    """The working folder, with homes and caches in it, and a folder outside of it."""
    place, outside = beside / "place", beside / "outside"
    for folder in (place, outside, *(place / name for name in ("home", "cache", "config", "tmp"))):
        folder.mkdir()
    shutil.copytree(made, place / "run")
    try:
        yield place, outside
    finally:
        shutil.rmtree(place)
        shutil.rmtree(outside)


def homes(place: Path) -> dict[str, str]:
    own = {"HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "TMPDIR": "tmp"}
    return {name: str(place / folder) for name, folder in own.items()}


def traced(command: str, place: Path, log: Path) -> list[tuple[str, str]]:
    """The system's calls with a file's name in them, and each name."""
    for name in PLANTED:
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit(77)\n")
    if os.geteuid() == 0:
        for path in (place, *place.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    words = [sys.executable, "-P", "-m", "howlate", *words_of(command)]
    strace = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file", "-o", str(log)]
    env = environment(**homes(place))
    done = completed([*strace, *words], cwd=place, env=env)
    assert done.returncode in (0, 2, 4, 5) or command.startswith("verdict"), done
    found = []
    for kind, rest in _CALL.findall(log.read_text(errors="replace")):
        names = _NAME.findall(rest.rpartition(" = ")[0])
        for base, name in names[:1] if kind.startswith("execve") else names:
            found.append((kind, os.path.normpath(Path(base or place) / name)))
    return found


def names_of(calls: list[tuple[str, str]], place: Path) -> list[str]:
    """Those in the working folder, below it."""
    inside = {name.removeprefix(f"{place}/") for _, name in calls if name.startswith(f"{place}/")}
    return sorted(
        name for name in inside if not _RANDOM.search(name) and name not in PLANTED and name != "howlate"
    )


def executed_of(calls: list[tuple[str, str]], place: Path) -> list[str]:
    """Programs and modules of the working folder."""
    inside = [(kind, name) for kind, name in calls if name.startswith(f"{place}/")]
    return [name for kind, name in inside if kind.startswith("execve") or _EXECUTED.search(name)]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in files_of(folder)}


def tried(command: str, name: str, kind: str, made: Path, beside: Path) -> str:
    """What is wrong with what came of it; "" if nothing is."""
    with place_of(made, beside) as (place, outside):
        path = place / name
        if not path.parent.is_dir() or path.parent.is_symlink():
            return ""
        KINDS[kind](path, outside)
        before, mode = content(outside), path.lstat().st_mode
        os.environ.update(homes(place))
        outcome = call(command, place)
        if wrong := sane(outcome):
            return f"{wrong}: code {outcome.code}: {outcome.err[-300:]!r}"
        if kind != "folder" and (not os.path.lexists(path) or path.lstat().st_mode != mode):
            return "FAULT replaced"
        if name not in NAMED and content(outside) != before:
            return "FAULT written outside"
    return ""


def over(command: str, made: Path, beside: Path, every: int, ends_at: float) -> Iterator[tuple[str, str]]:
    """What was tried, and what was wrong with it."""
    with place_of(made, beside) as (place, _):
        calls = traced(command, place, beside / "strace.log")
        names, executed = names_of(calls, place), executed_of(calls, place)
    assert "run/run.json" in names, names
    yield "executed or imported", f"FAULT {executed}" if executed else ""
    kinds = [kind for kind in KINDS if kind != "device" or os.geteuid() == 0]
    pairs = [(name, kind) for name in names for kind in kinds if (name, kind) not in WAITS]
    for number, (name, kind) in enumerate(pairs):
        if number % every == 0 and time.monotonic() < ends_at:
            yield f"{kind} at {name}", tried(command, name, kind, made, beside)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hostile.places", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--command", action="append", choices=list(COMMANDS), help="these commands alone")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of so many tries")
    parser.add_argument("--minutes", type=float, default=60.0)
    asked = parser.parse_args()
    tries: Counter[str] = Counter()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="howlate-places-") as folder:
        beside = Path(folder)
        child = os.fork()
        if child == 0:
            make_run(beside / RUN, ("traced",), planned=("traced",))
            make_run(beside / LAB, ("traced",), lab=True, planned=("traced",))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        warm_up()
        ends_at = time.monotonic() + asked.minutes * 60
        for command in asked.command or COMMANDS:
            made = beside / (LAB if command in OF_THE_LAB else RUN)
            for what, wrong in over(command, made, beside, asked.every, ends_at):
                tries[what.partition(" ")[0]] += 1
                faults += bool(wrong)
                if wrong:
                    print(f"{command}, {what}: {wrong}", flush=True)
    print("places: " + ", ".join(f"{count:,} {what}" for what, count in tries.items()) + f"; {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
