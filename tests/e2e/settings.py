"""Settings of this machine that tests change."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.commands import PROBE
from lacks import AS_ROOT, skip
from processes import children_of, guardian_of, is_running, until, with_word


@contextmanager
def put_back(setting: Path) -> Iterator[str]:
    """A setting's text before the test, to which it is put back: to the word in brackets where it lists several."""
    if not os.access(setting, os.W_OK):
        skip("the right to change a setting of this machine", AS_ROOT)
    text = setting.read_text()
    try:
        yield text
    finally:
        subprocess.run([PROBE, "restore"], check=False)
        if setting.read_text() != text:
            setting.write_text(text.partition("[")[2].partition("]")[0] or text)


def stopped_beside(setting: Path, before: str, knob: str, command: subprocess.Popen[str]) -> int:
    """The probe of a command in mid-cell with the knob (a word of its command line), standing still: else the
    cell may be over, and the setting back, before anything is done to it."""
    caught: list[int] = []

    def is_over() -> bool:
        below = children_of(command.pid) if setting.read_text() != before else []
        for probe in set(with_word(knob)) & set(below):
            os.kill(probe, signal.SIGSTOP)
            if setting.read_text() != before:
                caught.append(probe)
                return True
            os.kill(probe, signal.SIGCONT)
        return command.poll() is not None

    until(is_over, within_s=600)
    if not caught:
        command.kill()
        raise AssertionError(command.communicate())
    return caught[0]


def kill_with_probe(command: subprocess.Popen[str], probe: int) -> None:
    """A command, its probe that stands still, and the guardian, so that nobody can put anything back."""
    if guardian := guardian_of(probe):  # first: it puts things back where the probe ends with its command
        os.kill(guardian, signal.SIGKILL)
        assert until(lambda: not is_running(guardian))
    command.kill()
    os.kill(probe, signal.SIGKILL)
    command.communicate(timeout=120)
    assert until(lambda: not is_running(probe))
