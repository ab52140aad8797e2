"""The local backend against probes that misbehave: real processes, written for the purpose."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes import capabilities, make_plan, study
from howlate.errors import ExitCode, TargetError
from howlate.targets import CpuProgress, Progress
from howlate.targets.local import LocalTarget, parse_progress, restore_knobs
from processes import until, with_word

CELL = make_plan(study(), capabilities()).cells[0]


def probe(folder: Path, body: str) -> Path:
    """A program that stands in for the probe."""
    path = folder / "probe"
    path.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


RESTORES = "if sys.argv[1:] == ['restore']: sys.exit(0)\n"
"""What a probe that was killed changed is undone by another one."""


def run(
    folder: Path, body: str, silent_s: float = 60.0, stop_s: float = 60.0
) -> tuple[object, list[Progress]]:
    seen: list[Progress] = []
    target = LocalTarget(probe(folder, RESTORES + body), silent_s, stop_s)
    return target.run_cell(CELL, folder / "stream", seen.append), seen


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("sys.exit(0)", ExitCode.DONE, ""),
        ("sys.exit(1)", ExitCode.FAILED, ""),
        ("sys.exit('howlate-probe: no CPU 9. There are 0-1.')", ExitCode.FAILED, ""),
        ("print('howlate-probe: no CPU 9.', file=sys.stderr); sys.exit(2)", ExitCode.USAGE, "no CPU 9."),
        (
            "print('noise\\nhowlate-probe: no right.\\nmore', file=sys.stderr); sys.exit(3)",
            ExitCode.NOT_POSSIBLE,
            "no right.",
        ),
        ("sys.exit(4)", ExitCode.BROKEN, "the probe ended with exit code 4 and no message"),
        ("print('odd', file=sys.stderr); sys.exit(77)", ExitCode.BROKEN, "odd"),
        ("os.kill(os.getpid(), signal.SIGKILL)", ExitCode.BROKEN, "the probe was ended by SIGKILL"),
        ("os.write(2, b'\\xff' * 300_000); sys.exit(4)", ExitCode.BROKEN, None),
    ],
)
def test_ends_are_told_apart(tmp_path: Path, body: str, code: ExitCode, message: str | None) -> None:
    outcome, _ = run(tmp_path, body)
    assert outcome.exit_code is code  # type: ignore[attr-defined]
    assert message is None or outcome.message == message  # type: ignore[attr-defined]


def test_progress_arrives_whatever_the_pieces(tmp_path: Path) -> None:
    body = """
pieces = b'progress 1 100', b'0000000 5\\nnoise\\nprogress x 1 2\\nprog', b'ress 2 2000000000 7\\nprogress 3'
for piece in pieces:
    os.write(1, piece)
"""
    _, seen = run(tmp_path, body)
    assert seen == [Progress(1, 1.0, 5), Progress(2, 2.0, 7)]


def test_progress_tells_each_cpu() -> None:
    told = parse_progress(b"progress 30 2000000000 9 0:10:9 12:20:7")
    assert told == Progress(30, 2.0, 9, cpus=(CpuProgress(0, 10, 9), CpuProgress(12, 20, 7)))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"progress",
        b"progress 1 2",
        b"progress 1 2 3 4",
        b"progress 1 2 3 0:1",
        b"progress 1 2 3 0:1:x",
        b"progress 1 2 3 0:1:2:",
        b"progress 1 2 3 0:1:2:3",
        b"progress 1 2 3 0:1:2:456+1",
        b"progress 1 2 3 0:1:2:-1+1",
        b"progress 1 2 3 0:1:2:3+-1",
        b"progress 1 2 3 0:1:2:3+" + b"9" * 20,
        b"progress 1 2 x",
        b"\xff 1 2 3",
        b"progress 1 " + b"9" * 400 + b" 1",
        b"progress 1 2 3 0:1:" + b"9" * 20,
    ],
)
def test_other_lines_are_no_progress(line: bytes) -> None:
    assert parse_progress(line) is None


def test_a_silent_probe_is_stopped_and_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="was silent for"):
        run(tmp_path, "signal.pause()", silent_s=0.2)
    assert not with_word(str(tmp_path))


def test_a_probe_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    body = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('progress 1 1 1', flush=True)
while True: time.sleep(9)
"""

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    target = LocalTarget(probe(tmp_path, RESTORES + body), stop_s=0.2)
    with pytest.raises(KeyboardInterrupt):
        target.run_cell(CELL, tmp_path / "stream", interrupt)
    assert until(lambda: not with_word(str(tmp_path)))


@pytest.mark.parametrize("restores", [True, False])
def test_what_a_probe_changed_that_something_killed_is_undone_at_once(tmp_path: Path, restores: bool) -> None:
    body = f"""
if sys.argv[1] == 'restore':
    open({str(tmp_path / "restored")!r}, 'w').close()
    if {restores}: sys.exit(0)
    print('howlate-probe: trace instance howlate-1 cannot be removed.', file=sys.stderr)
    sys.exit(4)
os.kill(os.getpid(), signal.SIGKILL)
"""
    outcome = LocalTarget(probe(tmp_path, body)).run_cell(CELL, tmp_path / "stream", lambda progress: None)
    assert (tmp_path / "restored").exists() and outcome.exit_code is ExitCode.BROKEN
    assert "SIGKILL" in outcome.message
    assert ("instance howlate-1 cannot be removed" in outcome.message) != restores
    assert ("doctor --restore" in outcome.message) != restores


def test_a_probe_that_ends_by_itself_undoes_its_changes_itself(tmp_path: Path) -> None:
    body = f"if sys.argv[1] == 'restore': open({str(tmp_path / 'restored')!r}, 'w').close()\nsys.exit(4)"
    LocalTarget(probe(tmp_path, body)).run_cell(CELL, tmp_path / "stream", lambda progress: None)
    assert not (tmp_path / "restored").exists()


@pytest.fixture
def deaf() -> Iterator[None]:
    """What is started ignores an interrupt from its first instruction on, however long it takes to begin."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("deaf")
@pytest.mark.parametrize("restores", [True, False])
def test_knobs_of_a_killed_probe_are_restored_in_its_place(tmp_path: Path, restores: bool) -> None:
    body = f"""
if sys.argv[1] == 'restore':
    open({str(tmp_path / "restored")!r}, 'w').write(str(os.getpgrp()))
    if {restores}: sys.exit(0)
    print('howlate-probe: governor cannot be written.', file=sys.stderr)
    sys.exit(4)
print('progress 1 1 1', flush=True)
while True: time.sleep(9)
"""

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    cell = replace(CELL, parameters={**CELL.parameters, "knob": ("governor=performance",)})
    with pytest.raises(KeyboardInterrupt) as caught:
        LocalTarget(probe(tmp_path, body), stop_s=0.2).run_cell(cell, tmp_path / "stream", interrupt)
    assert int((tmp_path / "restored").read_text()) != os.getpgrp(), "the next Ctrl-C would end it"
    notes = "".join(getattr(caught.value, "__notes__", ()))
    assert ("governor cannot be" in notes) != restores
    assert ("doctor --restore" in notes) != restores
    assert until(lambda: not with_word(str(tmp_path)))

    silent = body.replace("print('progress 1 1 1', flush=True)", "")
    with pytest.raises(TargetError, match="was silent") as told:
        LocalTarget(probe(tmp_path, silent), silent_s=0.2, stop_s=0.2).run_cell(
            cell, tmp_path / "stream", interrupt
        )
    assert ("governor cannot be" in told.value.message) != restores


@pytest.mark.parametrize("restores", [True, False])
@pytest.mark.parametrize("stops", [True, False])
def test_knobs_of_a_probe_that_is_killed_while_it_stops_are_restored_in_its_place(
    tmp_path: Path, restores: bool, stops: bool
) -> None:
    """By another than howlate; howlate is interrupted, or another thread of it stops the target."""
    body = f"""
if sys.argv[1] == 'restore':
    open({str(tmp_path / "restored")!r}, 'w').close()
    if {restores}: sys.exit(0)
    print('howlate-probe: governor cannot be written.', file=sys.stderr)
    sys.exit(4)
signal.signal(signal.SIGINT, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
print('progress 1 1 1', flush=True)
while True: time.sleep(9)
"""
    target = LocalTarget(probe(tmp_path, body))

    def interrupt(progress: Progress) -> None:
        if not stops:
            raise KeyboardInterrupt
        target.stop()

    with pytest.raises(KeyboardInterrupt) as caught:
        target.run_cell(CELL, tmp_path / "stream", interrupt)
    assert (tmp_path / "restored").exists()
    notes = "".join(getattr(caught.value, "__notes__", ()))
    assert ("governor cannot be" in notes) != restores


def test_the_probe_gets_one_interrupt_and_time_to_end(tmp_path: Path) -> None:
    body = f"""
count = []
signal.signal(signal.SIGINT, lambda *_: count.append(1))
print('progress 1 1 1', flush=True)
while not count: time.sleep(0.01)  # the interrupt may have come already: a pause would miss it
time.sleep(0.3)
open({str(tmp_path / "count")!r}, 'w').write(str(len(count)))
"""

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalTarget(probe(tmp_path, body)).run_cell(CELL, tmp_path / "stream", interrupt)
    assert (tmp_path / "count").read_text() == "1"


def test_the_probe_stands_in_a_group_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, f"open({str(tmp_path / 'group')!r}, 'w').write(str(os.getpgrp()))")
    assert int((tmp_path / "group").read_text()) != os.getpgrp()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("print('{')", "is not JSON"),
        ("print('[]')", "is not a JSON object"),
        ("print('{}')", "required field probe"),
        ("print('howlate-probe: no.', file=sys.stderr); sys.exit(4)", "failed here: no"),
    ],
)
def test_a_list_that_is_none_is_a_sentence(tmp_path: Path, body: str, part: str) -> None:
    with pytest.raises(TargetError, match=part):
        LocalTarget(probe(tmp_path, body)).capabilities()


def test_a_probe_that_cannot_start_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "probe"
    path.write_bytes(b"\x7fELFnot")
    path.chmod(0o755)
    for ask in (LocalTarget(path).facts, LocalTarget(path).capabilities, lambda: restore_knobs(path)):
        with pytest.raises(TargetError, match="could not be started"):
            ask()


def test_restore_hands_on_what_the_probe_says(tmp_path: Path) -> None:
    assert restore_knobs(probe(tmp_path, "print('governor restored')")) == "governor restored"
    assert restore_knobs(probe(tmp_path, "pass")) == "nothing to restore"
    with pytest.raises(TargetError, match="not restored: no right"):
        restore_knobs(probe(tmp_path, "print('howlate-probe: no right.', file=sys.stderr); sys.exit(3)"))
