"""The first screen in a real terminal of 24 rows: when the prompt is back, the answer is on it."""

import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from fcntl import ioctl
from itertools import product
from pathlib import Path

import pyte
import pytest
from rich.cells import cell_len

import made_inventory
import stand_in
from howlate import __main__ as entry
from howlate.store.loaded import load_run
from howlate.system.paths import ROOT, probe_path
from swept import crossed

PROMPT = "there: "
LIMIT_S = 120
PICTURE = re.compile(rb"(?=\r\x1b\[\d+A)")
"""What is drawn again begins by going up."""


class Terminal:
    """A shell in a pseudo-terminal, and what it shows."""

    def __init__(self, folder: Path, columns: int = 80, /, **environment: str) -> None:
        self.screen = pyte.Screen(columns, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._pictures: list[bytes] = []
        self._pid, self._fd = pty.fork()
        if not self._pid:
            os.chdir(folder)
            kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            path = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
            kept["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", "")))
            own = {"PS1": PROMPT, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONPATH": path}
            os.execve("/bin/sh", ["sh", "-i"], {**kept, **own, **environment})
        ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._until_prompt()

    def typed(self, line: str) -> list[str]:
        """What is on the screen when the prompt is back."""
        self.screen.reset()
        os.write(self._fd, f"{line}\n".encode())
        self._until_prompt()
        return [row.rstrip() for row in self.screen.display]

    def _go_on(self) -> None:
        """By one picture: where the machine was busy, several have come at once."""
        if not self._pictures and select.select([self._fd], [], [], 1.0)[0]:
            self._pictures = PICTURE.split(os.read(self._fd, 65536))
        if self._pictures:
            self._stream.feed(self._pictures.pop(0))

    def colours(self) -> set[str]:
        return {self.screen.buffer[y][x].fg for y in range(24) for x in range(self.screen.columns)} - {
            "default"
        }

    def until(self, shows: str, line: str = "") -> list[str]:
        """What is on the screen once it shows this. `line`: typed first."""
        if line:
            self.screen.reset()
            os.write(self._fd, line.encode())
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            self._go_on()
            if re.search(shows, text := "\n".join(self.screen.display)):
                return text.splitlines()
        raise TimeoutError("\n".join(self.screen.display))

    def ends(self, key: bytes) -> list[str]:
        """What is on the screen when a key alone has ended a command."""
        os.write(self._fd, key)
        self._until_prompt()
        return [row.rstrip() for row in self.screen.display]

    def _until_prompt(self) -> None:
        """The cursor stands behind it."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            self._go_on()
            cursor = self.screen.cursor
            if self.screen.display[cursor.y].startswith(PROMPT) and cursor.x == len(PROMPT):
                return
        raise TimeoutError("\n".join(self.screen.display))

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._fd)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("terminal") / "runs"
    made_inventory.make_runs(place)
    stand_in.put(place / "probe")
    return place


@pytest.fixture(params=[80, 60])
def terminal(request: pytest.FixtureRequest, runs: Path) -> Iterator[Terminal]:
    opened = Terminal(runs, request.param, HOWLATE_PROBE=str(runs / "probe"))
    yield opened
    opened.close()


def command(*words: str) -> str:
    return shlex.join([Path(sys.executable).name, "-m", "howlate", *words])


def answer_of(rows: Sequence[str]) -> str:
    found = [row for row in rows if re.match(r"(FAIL|PASS|INCONCLUSIVE|max)  ?\S", row)]
    assert len(found) == 1, "\n".join(rows)
    return found[0]


ANSWERS = {
    "passed": "PASS  deadline 200 us",
    "failed": "FAIL  deadline 200 us: 3 of 40,000",
    "partly": "INCONCLUSIVE  deadline 200 us",
    "traced": "max 162 us",
    "timers": "max 17.8 us",
    "ordinary": "FAIL  deadline 100 us: 47 of 32,000",
    "real-time": "PASS  deadline 100 us",
    "lab": "max 27.7 us (6.1)",
    "doubtful": "max 8.65 us",
    "points": "max 40.1 us",
    "imported": "max 1.18 ms",
    "histogram": "max 35.0 us",
}
EVERY = [
    pytest.param(("passed", "failed", "partly", "traced"), id="some"),
    pytest.param(made_inventory.RUNS, id="all", marks=pytest.mark.sweep),
]


@pytest.mark.parametrize("names", EVERY)
def test_the_answer_is_on_the_screen_when_the_prompt_is_back(
    terminal: Terminal, names: Sequence[str]
) -> None:
    answers = {name: answer_of(terminal.typed(command("show", name))) for name in names}
    assert all(answer.startswith(ANSWERS[name]) for name, answer in answers.items()), answers


SCREENS = {
    "why traced": r"Why late \(the 12 worst",
    "why failed": r"Why it was late",
    "doctor": r"(\d+ things? makes? this machine late|Nothing was found)",
    "run timers --dry-run": r"\d+ of \d+ cells, about ",
}


@pytest.mark.parametrize(("terminal", "words"), crossed((80, 60), [*SCREENS]), indirect=["terminal"])
def test_a_screen_begins_on_the_screen_and_colours_are_obeyed(
    terminal: Terminal, runs: Path, words: str
) -> None:
    first = SCREENS[words]
    rows = terminal.typed(command(*words.split()))
    assert sum(bool(re.match(first, row)) for row in rows) == 1, "\n".join(rows)
    environment = {"NO_COLOR": "1"} if terminal.screen.columns == 80 else {"TERM": "dumb"}
    plain = Terminal(runs, HOWLATE_PROBE=str(runs / "probe"), **environment)
    try:
        shown = plain.typed(command(*words.split()))
        assert any(re.match(first, row) for row in shown) and not plain.colours()
    finally:
        plain.close()


WIDTHS = (80, 60, 40)
ON_EACH = (
    "show RUN",
    "show RUN --all",
    "verdict RUN --deadline 10us",
    "why RUN --from events",
    "doctor --run RUN",
)
ON_THESE = (
    "compare timers --by timer --all",
    "compare ordinary real-time",
    "history passed failed timers ordinary real-time lab --no-index",
    "query 'SELECT * FROM cells ORDER BY ALL' passed timers --no-index",
    "plan --miss-rate 1e-4 --horizon 1h --ratio 1.5 --deadline 200us",
    "reference list",
    "studies",
    "run timers --dry-run",
)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize(("width", "words"), [*product(WIDTHS, ON_EACH), *crossed(WIDTHS, ON_THESE)])
def test_no_line_is_wider_than_the_terminal(
    runs: Path,
    words: str,
    width: int,
    step: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Except what is copied from it: commands, paths, the line for programs. A third of the runs at each width."""
    monkeypatch.chdir(runs)
    monkeypatch.setenv("HOWLATE_PROBE", str(runs / "probe"))
    monkeypatch.setenv("COLUMNS", str(width))
    names = list(made_inventory.RUNS)[WIDTHS.index(width) % step :: step]
    for name in names if "RUN" in words else ("",):
        entry.main(shlex.split(words.replace("RUN", name)))
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        wide = [line for line in shown.splitlines() if cell_len(line) > width]
        assert [line for line in wide if not re.search(r"howlate |/|^[A-Z]+ max=", line)] == [], name


def test_check_ends_with_its_answer(terminal: Terminal) -> None:
    rows = terminal.typed(command("check", "--duration", "1", "--no-wait", "--deadline", "1us"))
    assert answer_of(rows).startswith("FAIL  deadline 1 us")
    assert sum(row.startswith("F ") for row in rows) == 5


TOGETHER = {
    "verdict failed": r"FAIL  deadline 200 us: 3 of 40,000",
    "verdict points --deadline 10us": r"FAIL  deadline 10 us",
    "compare timers --by timer": r"larger  by more than 10 %",
    "compare ordinary real-time": r"not shown to differ  medians of 8 repetitions; one run each",
    "compare doubtful --by load": r"\d of \d rows differ|not shown to differ|no row has",
    "history passed failed timers ordinary real-time lab --no-index": r"No (change|configuration)",
}


@pytest.mark.parametrize(("terminal", "words"), crossed((80, 60), [*TOGETHER]), indirect=["terminal"])
def test_answer_and_command_are_on_the_screen_together(terminal: Terminal, words: str) -> None:
    rows = terminal.typed(command(*words.split()))
    assert rows[0].startswith(command(*words.split())[:40]), "\n".join(rows)
    assert [row for row in rows if re.match(TOGETHER[words], row)], "\n".join(rows)
    assert [row for row in rows if row][-1] == PROMPT.rstrip()


@pytest.mark.parametrize(
    ("environment", "colours"),
    [({}, {"red"}), ({"NO_COLOR": "1"}, set()), ({"TERM": "dumb"}, set())],
    ids=["colours", "NO_COLOR", "dumb"],
)
def test_colours_repeat_what_words_say_where_they_are_wanted(
    runs: Path, environment: dict[str, str], colours: set[str]
) -> None:
    terminal = Terminal(runs, **environment)
    try:
        rows = terminal.typed(command("show", "failed"))
        assert answer_of(rows).startswith("FAIL  ")
        assert terminal.colours() & {"red", "green", "yellow", "brown"} >= colours
        assert bool(terminal.colours()) == bool(colours)
    finally:
        terminal.close()


def test_a_terminal_that_is_not_in_utf8_gets_letters(runs: Path) -> None:
    terminal = Terminal(runs, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    try:
        rows = terminal.typed(command("show", "failed"))
        assert answer_of(rows) and all(row.isascii() for row in rows)
        assert any(re.match(r"F cpu:50 .*[#%@]+.*\|.*X", row) for row in rows)
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("key", "rounds", "round_s"),
    [(b"q", 3, 1), (b"\x03", 3, 1), pytest.param(b"q", 6, 10, marks=pytest.mark.long)],
    ids=["q", "ctrl-c", "a minute"],
)
def test_top_fills_a_row_for_each_cpu_and_keeps_a_whole_run(
    tmp_path: Path, key: bytes, rounds: int, round_s: int
) -> None:
    """It is ended while there are rounds left."""
    terminal = Terminal(tmp_path, HOWLATE_PROBE=str(probe_path()))
    most = 10
    try:
        cpus = sorted(os.sched_getaffinity(0))
        rows = r"\n".join(rf"CPU {cpu} +.*X.* (us|ms|s) *" for cpu in cpus[:18])
        length = f"--cell-duration {round_s}s -D {most * round_s}s"
        top = f"{sys.executable} -m howlate top {length} --period 500us --out run\n"
        terminal.until(rows, top)
        for number in range(2, rounds + 1):
            terminal.until(rf"[{number}-9] of {most} (.*\n)+?{rows}")
        screen = terminal.ends(key)
    finally:
        terminal.close()
    assert any(row.startswith("max ") for row in screen), screen
    content = load_run(tmp_path / "run")
    assert [cell.id for cell in content.run.plan.cells] == [cell.id for cell in content.summaries]
    assert rounds <= len(content.summaries) < most
    assert content.summaries[-1].stop_reason in ("stopped", "duration")
    assert not content.failed
    assert not content.gone


TOP = f"{sys.executable} -m howlate top --cell-duration 1s --period 500us -D 20s --load none --out run"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, HOWLATE_PROBE=str(probe_path()))
    yield opened
    opened.close()


def test_top_measures_a_busy_machine_at_once(real: Terminal) -> None:
    """ "Now" is what it is asked for: it does not wait until others have ended."""
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        screen = real.until(r"CPU \d+ +.*X", f"{TOP}\n")
        assert not any("waiting" in row for row in screen), screen
        assert any(row.startswith("max ") for row in real.ends(b"q"))
        assert busy.poll() is None
    finally:
        busy.kill()
        busy.wait()


def test_top_goes_on_in_the_background(real: Terminal) -> None:
    rows = real.typed(f"{TOP} --dry-run > plan 2>&1 & wait; jobs; cat plan")
    assert any(re.match(r"20 of 20 cells", row) for row in rows), "\n".join(rows)


@pytest.mark.parametrize("more", ["--dry-run", "-D 1s --brief"])
def test_top_needs_no_standard_input(real: Terminal, more: str) -> None:
    rows = real.typed(f"{TOP} {more} <&-; echo code $?")
    assert "code 0" in rows, "\n".join(rows)


def test_the_strips_of_check_fill_while_it_measures(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, HOWLATE_PROBE=str(probe_path()))
    try:
        check = f"{sys.executable} -m howlate check --no-wait --load none,cpu:50 -D 4s --deadline 200us --out run\n"
        terminal.until(r"1 of 2 +none.*\n.*X max +misses *\nnone .*│.* (us|ms) +\d+ *\n *\n", check)
        terminal.until(r"2 of 2 .*\nload.*X max +misses *\nnone .*│.*\ncpu:50 .*│.* (us|ms) +\d+ *\n")
        terminal.ends(b"")
    finally:
        terminal.close()
