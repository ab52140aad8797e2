"""Sessions by hand, without SSH: what the keeper does with what it is asked, and when nobody asks any more."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probe.drive import probe_path, read_stream
from processes import until, with_word

pytestmark = pytest.mark.beside

NAME, YOUNG = "howlate.0123456789abcdef", "howlate.fedcba9876543210"
CELL = ["howlate-probe", "cyclic", "--policy=other", "--progress", "--quiet", "--stream=stream"]


class Session:
    """A folder with a keeper."""

    def __init__(self, place: Path, keep: str) -> None:
        self.place, self.folder = place, place / NAME
        self.folder.mkdir(mode=0o700)
        self.first = json.loads(self.ask("open", "--owner", "me", "--keep", keep).stdout)

    def ask(self, verb: str, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        argv: list[str | Path] = [probe_path(), "session", verb, self.folder, *words]
        return subprocess.run(argv, input=given, capture_output=True, timeout=120, check=False)

    def run(self, name: str, *line: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
        job = json.dumps(line).encode() + b"\n"
        return self.ask("run", name, "--bytes", str(len(job)), *options, given=job)

    def follow(self, name: str) -> tuple[list[str], dict[str, Any]]:
        done = self.ask("follow", name, "out/0/stdout")
        assert done.returncode == 0, done.stderr
        *lines, last = done.stdout.decode().splitlines()
        return lines, json.loads(last.removeprefix("ended "))

    def keeper(self) -> int:
        listed = subprocess.run(
            [probe_path(), "session", "list", self.place], capture_output=True, timeout=60, check=True
        )
        (line,) = listed.stdout.splitlines()
        its = json.loads(line)
        assert its["folder"] == str(self.folder)
        assert its["state"]["owner"] == "me"
        return int(its["state"]["pid"])


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # a socket's path is short
        yield Path(name)
        assert until(lambda: not with_word(name)), with_word(name)


@pytest.fixture
def session(place: Path) -> Iterator[Session]:
    one = Session(place, "10min")
    yield one
    one.ask("close")
    assert not one.folder.exists()


def test_a_job_leaves_its_output_its_status_and_its_files(session: Session) -> None:
    assert session.first["bytes"] == probe_path().stat().st_size
    assert session.run("one", *CELL, "--activations=1500", "--others=expected").returncode == 0
    lines, report = session.follow("one")
    assert any(line.startswith("progress ") for line in lines)
    assert report["code"] == 0
    assert report["lines"] == [{"status": "0", "stderr": ""}]
    sent = session.ask("send", "one", "out/0/stream").stdout
    head, _, data = sent.partition(b"\n")
    assert int(head.split()[0]) == len(data)
    (session.place / "stream").write_bytes(data)
    assert read_stream(session.place / "stream").trailer is not None
    rest = session.ask("send", "one", "out/0/stream", "--from", "100").stdout.partition(b"\n")
    assert (rest[0], rest[2]) == (head, data[100:])
    assert session.ask("drop", "one").returncode == 0
    assert sorted(path.name for path in session.folder.iterdir()) == ["door"]


def test_what_is_asked_for_twice_runs_once(session: Session) -> None:
    for _ in range(2):
        assert session.run("one", "/bin/sh", "-c", f"echo ran >>{session.place}/ran").returncode == 0
        session.follow("one")
    assert (session.place / "ran").read_text() == "ran\n"


def test_a_job_that_did_not_arrive_whole_does_not_run(session: Session) -> None:
    done = session.ask("run", "one", "--bytes", "100", given=b'["/bin/true"]\n')
    assert done.returncode == 4
    assert b"only 14 bytes of the job arrived" in done.stderr
    assert not (session.folder / "one").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("run", "../x", "--bytes", "0"), 2),
        (("run", "x"), 2),
        (("follow", "none", "out/0/stdout"), 4),
        (("send", "none", "out/0/stream"), 3),
        (("stop", "none"), 4),
        (("stpo", "none"), 2),
    ],
)
def test_what_makes_no_sense_is_a_sentence(session: Session, words: tuple[str, ...], code: int) -> None:
    done = session.ask(*words)
    assert done.returncode == code
    assert done.stderr.startswith(b"howlate-probe: ")


def test_a_stop_ends_it_in_order(session: Session) -> None:
    assert session.run("one", *CELL, "--activations=10000000").returncode == 0
    assert until(lambda: (session.folder / "one/out/0/stream").exists())
    assert session.ask("stop", "one").returncode == 0
    _, report = session.follow("one")
    assert report["code"] == 5
    assert report["lines"][0]["status"] == "0"


def test_a_lease_ends_it_in_order_unless_it_is_renewed(session: Session) -> None:
    assert session.run("one", *CELL, "--activations=10000000", options=("--lease", "200ms")).returncode == 0
    _, report = session.follow("one")
    assert report["code"] == 5
    for turn in range(20):  # on a busy machine it may be over before its renewal comes, which is then refused
        name = f"turn-{turn}"
        assert session.run(name, *CELL, "--duration=1500ms", options=("--lease", "500ms")).returncode == 0
        renewed = session.ask("renew", name, "--lease", "10min").returncode == 0
        assert session.follow(name)[1]["code"] == (0 if renewed else 5)
        if renewed:
            return
    raise AssertionError("no lease was renewed")


def test_a_session_that_nobody_asks_for_goes_by_itself(place: Path) -> None:
    one = Session(place, "300ms")
    assert until(lambda: not one.folder.exists())
    assert one.ask("stop", "one").returncode == 6


def test_a_keeper_that_is_killed_takes_its_jobs_with_it(place: Path) -> None:
    one = Session(place, "10min")
    assert one.run("one", *CELL, "--activations=10000000").returncode == 0
    assert until(lambda: (one.folder / "one/out/0/stream").exists())
    os.kill(one.keeper(), signal.SIGKILL)
    assert until(lambda: (one.folder / "one/out/0/status").exists())
    assert (one.folder / "one/out/0/status").read_text() == "0\n"  # it was asked to end
    os.utime(one.folder, (1, 1))
    done = subprocess.run(
        [probe_path(), "session", "list", place], capture_output=True, timeout=60, check=True
    )
    assert not done.stdout
    assert not one.folder.exists()


def test_a_young_folder_without_a_keeper_is_left_alone(place: Path) -> None:
    (place / YOUNG).mkdir()
    subprocess.run([probe_path(), "session", "list", place], timeout=60, check=True)
    assert (place / YOUNG).exists()


def test_what_a_user_calls_alike_is_left_alone_however_old(place: Path) -> None:
    own = [place / name for name in ("howlate.git", "howlate.1", "howlate.2026", f"{NAME}.old", NAME.upper())]
    left = place / YOUNG
    for folder in (*own, left):
        folder.mkdir()
        (folder / "howlate-probe").write_text("mine")
        os.utime(folder, (1, 1))
    subprocess.run([probe_path(), "session", "list", place], timeout=60, check=True)
    assert all((folder / "howlate-probe").exists() for folder in own)
    assert not left.exists()


def test_results_go_elsewhere_where_there_is_no_room_and_are_removed(
    session: Session, tmp_path: Path
) -> None:
    free = os.statvfs(session.folder)
    room = f"{free.f_bavail * free.f_frsize + (1 << 40)}B"
    done = session.run("one", "/bin/true", options=("--room", room, "--place", str(tmp_path)))
    assert done.returncode == 3
    assert b"there is no place for" in done.stderr
    assert str(tmp_path).encode() in done.stderr
    assert not list(tmp_path.iterdir())
