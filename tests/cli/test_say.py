"""A long step shows that it lives: a clock on a terminal, below what was said of the step."""

import io
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate.cli import _progress, _say
from howlate.lab.archive.packages import silent
from howlate.lab.cache import fills, is_done, living, passing
from howlate.lab.guests.snapshot import boot_share
from howlate.model.plan import Cell


class Heard(io.StringIO):
    """A terminal, and who waits for what it shows."""

    is_terminal = True

    def __init__(self) -> None:
        super().__init__()
        self.shows = threading.Condition()

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        with self.shows:
            count = super().write(text)
            self.shows.notify_all()
        return count

    def until(self, found: Callable[[str], object]) -> None:
        with self.shows:
            assert self.shows.wait_for(lambda: found(self.getvalue()), timeout=60), self.getvalue()


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Heard:
    stream = Heard()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_say, "SILENT_S", 0.01)
    return stream


def test_a_step_has_a_clock_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = terminal_of(monkeypatch)
    steps = _say.Steps()
    with living(steps):
        steps("fetching 6.1 (97 MB)")
        heard.until(lambda text: text.count("\r  0:00  fetching 6.1 (97 MB)\x1b[K") >= 3)
        with living(steps):
            steps("booting 6.1")
            heard.until(lambda text: "\r  0:00  booting 6.1\x1b[K" in text)
    shown = heard.getvalue()
    assert shown.endswith("\r\x1b[K") and "howlate: fetching 6.1 (97 MB)\n" in shown
    assert len(re.findall(r"howlate: ", shown)) == 2
    assert not [thread for thread in threading.enumerate() if thread.daemon and "_tick" in thread.name]


def test_a_step_that_fills_a_folder_says_how_far_it_is_and_what_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heard = terminal_of(monkeypatch)
    steps = _say.Steps()
    with living(steps):
        steps("fetching 6.1 (4 kB)")
        fills(steps, tmp_path, 4_000)
        (tmp_path / "linux.deb").write_bytes(bytes(3_000))
        heard.until(lambda text: "\r  0:00  [########  ] 75 %, 0:00 left  fetching 6.1 (4 kB)\x1b[K" in text)
        fills(steps, tmp_path / "absent", 4_000)
        seen = len(heard.getvalue())
        heard.until(lambda text: "\r  0:00  fetching 6.1" in text[seen:])


@pytest.mark.parametrize(("terminal", "term"), [(False, "xterm"), (True, "dumb")])
def test_elsewhere_a_step_is_one_line(monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str) -> None:
    heard = terminal_of(monkeypatch)
    monkeypatch.setattr(heard, "is_terminal", terminal)
    monkeypatch.setenv("TERM", term)
    steps, before = _say.Steps(), threading.active_count()
    with living(steps):
        steps("booting 6.1")
        passing(steps, "playing 6.1-1 again")
        assert threading.active_count() == before
    assert heard.getvalue() == "howlate: booting 6.1\nhowlate: playing 6.1-1 again\n"


def test_a_step_of_another_thread_has_a_clock_and_a_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = terminal_of(monkeypatch)
    steps = _say.Steps()

    def boots() -> None:
        steps("booting 6.1")
        with living(steps):
            is_done(steps, lambda: boot_share(3.0, 6.0))
            heard.until(lambda text: "\r  0:00  [#####     ] 50 %, 0:00 left  booting 6.1\x1b[K" in text)
            is_done(steps, lambda: boot_share(9.0, 6.0))
            heard.until(lambda text: "99 %, 0:00 left  booting 6.1" in text)

    thread = threading.Thread(target=boots)
    with living(steps):
        thread.start()
        thread.join()
        seen = len(heard.getvalue())
        passing(steps, "planning")
        heard.until(lambda text: "\r  0:00  planning" in text[seen:])
    assert "howlate: planning" not in heard.getvalue()
    assert "booting" not in heard.getvalue()[seen:] and boot_share(3.0, 0.0) == 0


def test_a_line_of_progress_takes_the_place_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told meanwhile is printed above it; the line itself goes on while nothing comes."""
    heard = terminal_of(monkeypatch)
    monkeypatch.setattr(_progress, "SILENT_S", 0.01)
    steps, line = _say.Steps(), _progress.ProgressLine(("load",))
    with living(steps), steps.beside(line.write_line):
        line.starts(Cell("c", "cyclic", {}, {"load": "none"}, 1, 1.0), 1, 5, 1.0)
        steps("booting 6.1")
        heard.until(lambda text: text.endswith("\r1 of 5  none  time left 0:00\x1b[K"))
        line.close()
    shown = heard.getvalue()
    assert "\r\x1b[Khowlate: booting 6.1\n\r1 of 5  none  time left" in shown
    assert "  booting 6.1" not in shown


def test_what_says_nothing_needs_no_clock() -> None:
    with living(silent):
        assert True
