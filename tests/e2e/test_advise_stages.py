"""`howlate advise` and `howlate why --try`, killed between their stages and in the second one: `restore`, the next
run and the same call again put the knob back. The probe is the real one, and works so long without the knob that the
knob is found to help."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from e2e.commands import PROBE, howlate, start
from e2e.settings import kill_with_probe, put_back, stopped_beside
from howlate.doctor import knobs_of
from howlate.model.cause import Cause
from howlate.model.study import Value
from howlate.system.paths import probe_path
from made_trace import OWN, MadeTrace
from processes import until
from store.runs import a_folder, a_run
from store.streams import traced_stream

SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
KNOB = "--knob=thp="
PAIRS = 9
PARAMETERS: Mapping[str, Value] = {
    "policy": "fifo:80",
    "period": "400us",
    "late-policy": "backlog",
    "load": (),
}
CELLS = (f"--pairs={PAIRS}", "--out=r")
KNOBS = {"advise": "thp", "why --try": ",".join(knobs_of(Cause.PAGE_FAULT))}
COMMANDS = {
    "advise": (
        "advise", "--knobs=thp", "--load=none", "--no-wait", "--set=policy=fifo:80", "--set=period=400us",
        "--set=late-policy=backlog", "--quantile=0.5", "--cell-duration=250ms", *CELLS,
    ),
    "why --try": ("why", "late", "--try", "--cell-duration=500ms", *CELLS),
}  # fmt: skip
PROGRAM = """#!/bin/sh
if [ "$1" = cyclic ]; then
  cat {setting} >> {log}
  if [ "$(wc -l < {log})" = "$(cat {pause})" ]; then
    echo $$ > {paused}.new && mv {paused}.new {paused}
    exec sleep 600
  fi
  case " $*" in
    *" {knob}"*) ;;
    *) set -- "$@" --work=5ms ;;
  esac
fi
exec {probe} "$@"
"""

pytestmark = pytest.mark.alone


@pytest.fixture
def before() -> Iterator[str]:
    with put_back(SETTING) as text:
        yield text


class Program(Struct, frozen=True):
    """The probe's stand-in, which starts the probe."""

    folder: Path

    def put(self) -> str:
        path = self.folder / "probe"
        names = {name: self.folder / name for name in ("log", "pause", "paused")}
        path.write_text(PROGRAM.format(setting=SETTING, knob=KNOB, probe=probe_path(), **names))
        path.chmod(0o755)
        self.pause_at(0)
        return str(path)

    def pause_at(self, cell: int) -> None:
        """Instead of this cell, counted from 1 on, it waits."""
        (self.folder / "pause").write_text(f"{cell}\n")

    def seen(self) -> list[str]:
        """The setting as each cell found it, before its probe did anything."""
        log = self.folder / "log"
        return log.read_text().splitlines(keepends=True) if log.exists() else []

    def paused(self) -> int:
        """The process that waits, or 0."""
        path = self.folder / "paused"
        return int(path.read_text()) if path.exists() else 0


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    made = Program(tmp_path)
    monkeypatch.setattr("e2e.commands.PROBE", made.put())
    return made


def late_run(path: Path) -> None:
    """A run whose late sample had a page fault, so that huge pages are its remedy; to be measured again here."""
    made = MadeTrace().asleep().timer(500, 900, 1_400).switch(2_000, OWN, 0)
    trace = made.add(3_000, "page_fault_user", a=1).cell(100_000)
    trace = replace(trace, recorded=tuple(dict.fromkeys(event.kind for event in trace.events)))
    run = replace(a_run("cell", parameters=PARAMETERS), facts={"facts": 1, "values": {}, "missing": {}})
    a_folder(path, {"cell": traced_stream(trace)}, run=run)


def first_stage(folder: Path, knobs: str) -> int:
    """The number of its cells: which of the knobs can be tried differs from machine to machine."""
    _, out, err = howlate(folder, "advise", f"--knobs={knobs}", *COMMANDS["advise"][2:-1], "--dry-run")
    told = re.search(r"(\d+) of \1 cells, about .* in all", out)
    assert told, out + err
    return int(told[1])


def killed_between_the_stages(folder: Path, program: Program, command: tuple[str, ...], cells: int) -> None:
    """After the last of the first stage's cells, before the first one of the second."""
    program.pause_at(cells + 1)
    process = start(folder, *command)
    until(lambda: bool(program.paused()) or process.poll() is not None, within_s=600)
    process.kill()
    _, err = process.communicate(timeout=120)
    assert program.paused(), err
    os.kill(program.paused(), signal.SIGKILL)
    program.pause_at(0)


def killed_beside_the_knob(folder: Path, before: str, command: tuple[str, ...]) -> None:
    """In the middle of a cell with the knob, the command with its probe and the guardian, so that nobody can put it
    back."""
    process = start(folder, *command)
    kill_with_probe(process, stopped_beside(SETTING, before, KNOB, process))
    assert SETTING.read_text() != before


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_between_the_stages_and_in_the_second_it_leaves_what_is_put_back(
    tmp_path: Path, before: str, program: Program, name: str
) -> None:
    command = COMMANDS[name]
    late_run(tmp_path / "late")
    killed_between_the_stages(tmp_path, program, command, first_stage(tmp_path, KNOBS[name]))
    assert SETTING.read_text() == before

    killed_beside_the_knob(tmp_path, before, command)
    subprocess.run([PROBE, "restore"], check=True, capture_output=True)
    assert SETTING.read_text() == before

    killed_beside_the_knob(tmp_path, before, command)
    assert howlate(tmp_path, "advise", "--knobs=thp", "--out=another", "--dry-run")[0] == 0
    assert SETTING.read_text() == before

    killed_beside_the_knob(tmp_path, before, command)
    code, out, err = howlate(tmp_path, *command)
    assert code == 0, out + err
    assert SETTING.read_text() == before
    assert set(program.seen()) == {before}
