"""Connections that break: how often and how long they are tried again, and where their socket is."""

import os
import shlex
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes import study
from heard import Heard
from howlate.errors import REMEDIED, ExitCode, NotPossibleError, TargetError
from howlate.measure.execute import Tally, execute
from howlate.measure.prepare import RunRequest, prepare
from howlate.measure.session import Session, begin
from howlate.targets import _link
from howlate.targets._link import LinkError
from howlate.targets._tries import LONGEST_PAUSE_S, Clock, Tries
from howlate.targets.ssh import SshTarget
from processes import until
from ssh.cable import cable
from ssh.server import Server, alone_where_shared, serving
from ssh.sessions import Once, is_whole, opened
from targets.cells import cell_of, nothing

pytestmark = alone_where_shared()


class FakeClock(Clock):
    """Its time passes in pauses, and where a test lets it."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.seconds

    def pause(self, seconds: float, stopped: threading.Event) -> bool:
        self.pauses.append(seconds)
        self.seconds += seconds
        return stopped.is_set()


class Wire:
    """A connection that is made or not as the test says, and counts."""

    host, by_hand = "board", "ssh board"

    def __init__(self) -> None:
        self.made = self.dropped = 0
        self.refuses: Callable[[], LinkError | None] = lambda: None

    def connect(self) -> None:
        self.made += 1
        problem = self.refuses()
        if problem is not None:
            raise problem

    def drop(self) -> None:
        self.dropped += 1


BROKE = LinkError(REMEDIED(problem="the connection to board broke", remedy="go on"), lost=True)


def always_breaks() -> None:
    raise BROKE


class Scene:
    def __init__(self, keep_s: float = 900.0) -> None:
        self.clock, self.wire, self.stopped, self.said = FakeClock(), Wire(), threading.Event(), list[str]()
        self.tries = Tries(self.wire, self.said.append, self.stopped, keep_s, self.clock)

    def over(
        self,
        once: Callable[[], object],
        planned_s: float = 0.0,
        got: Callable[[], float] = lambda: 0.0,
        what: str = "fetch",
    ) -> object:
        return self.tries.over(what, once, self.clock.now() + planned_s, got)


def test_pauses_grow_and_end_where_each_connection_breaks_at_once() -> None:
    scene = Scene()
    with pytest.raises(TargetError, match="drops them immediately") as caught:
        scene.over(always_breaks)
    assert scene.clock.pauses[:6] == [0.5, 1.0, 2.0, 4.0, 8.0, LONGEST_PAUSE_S]
    assert set(scene.clock.pauses[5:]) == {LONGEST_PAUSE_S}
    assert 900 <= sum(scene.clock.pauses) < 900 + LONGEST_PAUSE_S
    assert scene.wire.made == len(scene.clock.pauses) + 1
    assert f"{scene.wire.made + 1} tries" in caught.value.message
    assert "`ssh board sleep 60`" in caught.value.remedy
    assert caught.value.exit_code is ExitCode.BROKEN
    assert len(scene.said) == 1


def test_a_cell_is_waited_for_until_its_planned_end_and_then_as_long_as_it_is_kept() -> None:
    scene = Scene()
    with pytest.raises(TargetError):
        scene.over(always_breaks, planned_s=7200)
    assert 7200 + 900 <= sum(scene.clock.pauses) < 7200 + 900 + LONGEST_PAUSE_S


def test_what_connections_broke_over_for_long_is_tried_once_until_it_is_done() -> None:
    """And whatever else was done meanwhile: a route that lets only short messages through."""
    scene = Scene()
    with pytest.raises(TargetError, match="drops them immediately"):
        scene.over(always_breaks)
    scene.clock.pauses.clear()
    for _ in range(3):
        assert scene.over(lambda: "done", what="start") == "done"
        with pytest.raises(TargetError, match="the connection to board broke"):
            scene.over(always_breaks)
    assert scene.clock.pauses == []
    assert scene.over(lambda: "done") == "done"
    with pytest.raises(TargetError, match="drops them immediately"):
        scene.over(always_breaks)
    assert len(scene.clock.pauses) > 1


def test_after_a_machine_was_away_for_long_everything_is_tried_once_until_something_is_done() -> None:
    scene, refusal = (
        Scene(),
        LinkError(REMEDIED(problem="board refuses the connection", remedy="see that sshd runs"), lost=True),
    )

    def refused() -> None:
        raise refusal

    scene.wire.refuses = lambda: refusal
    with pytest.raises(TargetError, match="refuses the connection; "):
        scene.over(refused)
    assert 900 <= sum(scene.clock.pauses) < 900 + LONGEST_PAUSE_S
    scene.clock.pauses.clear()
    for what in ("start", "follow", "fetch"):
        with pytest.raises(TargetError, match="refuses"):
            scene.over(refused, what=what)
    assert scene.clock.pauses == []
    assert scene.over(lambda: "done", what="start") == "done"
    with pytest.raises(TargetError, match="refuses"):
        scene.over(refused)
    assert len(scene.clock.pauses) > 1


def test_what_comes_in_pieces_is_never_given_up() -> None:
    """A thousand breaks, after each of which there is a little more: more than the limit for nothing at all."""
    scene, got = Scene(), [0]

    def piece() -> int:
        got[0] += 1
        if got[0] < 1000:
            raise BROKE
        return got[0]

    assert scene.over(piece, got=lambda: got[0]) == 1000
    assert sum(scene.clock.pauses) > 900
    assert max(scene.clock.pauses) == LONGEST_PAUSE_S


def test_after_a_connection_that_held_the_next_is_made_at_once() -> None:
    scene, held = Scene(), [0]

    def holds_a_while() -> None:
        held[0] += 1
        scene.clock.seconds += 60.0
        if held[0] < 5:
            raise BROKE

    scene.over(holds_a_while)
    assert scene.clock.pauses == []


def test_a_key_that_changed_meanwhile_is_not_tried_again() -> None:
    scene = Scene()
    scene.wire.refuses = lambda: LinkError(REMEDIED(problem="the key of board is another", remedy=""))
    with pytest.raises(TargetError, match="the key of board is another"):
        scene.over(always_breaks)
    assert scene.clock.pauses == []
    assert scene.wire.made == 1


def test_a_pause_can_be_interrupted() -> None:
    scene = Scene()
    scene.stopped.set()
    with pytest.raises(KeyboardInterrupt):
        scene.over(always_breaks)
    assert len(scene.clock.pauses) == 1


@contextmanager
def breaking(folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, after: int = 0) -> Iterator[Path]:
    """An ssh whose connections are made and break as soon as such a command has given so many bytes, or none where it
    goes on from what came before; a line in the file for each."""
    count, script = folder / "breaks", folder / "breaking"
    real = os.environ["HOWLATE_SSH"]
    script.write_text(
        f"""#!/bin/sh
case "$*" in
  *"{words}"*)
    echo broke >>{shlex.quote(str(count))}
    case "$*" in *"--from "[1-9]*) after=0 ;; *) after={after} ;; esac
    {real} "$@" | head -c $after
    exit 255 ;;
esac
exec {real} "$@"
"""
    )
    script.chmod(0o755)
    count.write_text("")
    with monkeypatch.context() as patch:
        patch.setenv("HOWLATE_SSH", shlex.quote(str(script)))
        yield count


def test_connections_that_break_at_once_fail_their_cells_and_not_the_plan(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows the first is tried once; what came is kept; the same plan goes on when connections hold."""
    settings = {"policy": "other", "period": "1ms", "activations": "1500"}
    asked = RunRequest(study(settings, {"load": ("none", "cpu:5")}))

    def run(target: SshTarget) -> tuple[Session, Tally]:
        prepared = prepare(asked, target)
        session = begin(prepared, tmp_path / "run")
        return session, execute(session.folder, session.run.plan, session.cells, target, Heard())

    with (
        breaking(tmp_path, monkeypatch, "session send", 20000) as count,
        opened(server, keep_s=60.0, clock=FakeClock()) as target,
    ):
        session, tally = run(target)
    assert [failure.exit_code for failure in tally.failures] == [ExitCode.BROKEN] * 2
    assert "drops them immediately" in tally.failures[0].message
    assert all(failure.remedy for failure in tally.failures)
    assert "connection broke; " in tally.failures[1].message
    assert 8 < len(count.read_text().splitlines()) < 30
    kept = [session.folder.part_path(cell.id) / "stream" for cell in session.cells]
    assert [path.stat().st_size > 10000 for path in kept] == [True, True]
    with opened(server) as target:
        assert run(target)[1] == Tally(2, ())


def test_a_cell_whose_progress_cannot_be_followed_ends_there(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    with (
        breaking(tmp_path, monkeypatch, "session follow"),
        opened(server, keep_s=60.0, clock=clock) as target,
    ):
        cell = replace(cell_of(target, 10_000_000, duration="1h"), expected_s=0.0)
        with pytest.raises(TargetError, match="drops them immediately"):
            target.run_cell(cell, tmp_path / "stream", nothing)
        assert max(clock.pauses) == LONGEST_PAUSE_S
        ended = "cell-1/out/0/status"
        assert until(lambda: any((folder / ended).exists() for folder in server.folders()))
    assert until(lambda: not server.folders())


def test_a_cell_survives_a_cable_that_is_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is plugged in again when howlate has noticed and the cell has ended. Nothing stays behind."""
    said: list[str] = []
    with cable(tmp_path) as wire, serving(tmp_path, monkeypatch, cable=wire) as server:
        ended: list[Path] = []

        def plug_in() -> None:
            assert until(lambda: bool(said) and all(path.exists() for path in ended))
            wire.plug_in()

        back = threading.Thread(target=plug_in)

        def pull() -> None:
            wire.pull()
            ended.extend(folder / "cell-1/out/0/status" for folder in server.folders())
            back.start()

        with opened(server, said) as target:
            assert target.run_cell(cell_of(target, 2500), tmp_path / "stream", Once(pull)).measured
            back.join()
        is_whole(tmp_path / "stream", 2500)
        assert len(ended) == 1
        assert "continues there" in said[0]
        assert until(lambda: not server.folders()), server.folders()
        server.cut()
        assert until(lambda: not server.started()), server.started()


@pytest.mark.parametrize("name", ["a long name, with spaces and $signs " * 5, "of%h~its own"])
def test_a_connection_needs_no_short_and_plain_temporary_folder(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place = tmp_path / name / name
    place.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with opened(server) as target:
        folder = target._link._control.parent
        assert folder.stat().st_mode & 0o777 == 0o700
        breaks = Once(server.cut)
        assert target.run_cell(cell_of(target, 1500), tmp_path / "stream", breaks).measured
        assert (folder / "c").is_socket()
    is_whole(tmp_path / "stream", 1500)
    assert not folder.exists()
    assert not list(place.iterdir())


def test_a_short_and_plain_temporary_folder_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        monkeypatch.setenv("TMPDIR", place)
        monkeypatch.setattr(tempfile, "tempdir", None)
        with _link.socket_folder("x-", "c") as folder:
            assert folder.parent == Path(place)
        assert not list(Path(place).iterdir())


def test_where_no_folder_takes_a_socket_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long, file = tmp_path / ("n" * 100), tmp_path / "file"
    long.mkdir()
    file.write_text("")
    monkeypatch.setattr(_link, "_places", lambda: [long, tmp_path / "gone", file, tmp_path / "a b"])
    with (
        pytest.raises(NotPossibleError, match="no folder can hold ssh's control socket") as caught,
        _link.socket_folder("x-", "c"),
    ):
        pass
    for why in ("is too long", "No such file", "Not a directory", "ssh would read"):
        assert why in caught.value.message
    assert "TMPDIR" in caught.value.remedy
    assert not list(long.iterdir())
