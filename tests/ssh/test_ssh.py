"""Over SSH to a real sshd on loopback: what breaks, what is said of it, and that nothing stays behind."""

import errno
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import ExitCode, HowlateError, NotPossibleError, TargetError, UsageError
from howlate.system.paths import ROOT
from howlate.targets._link import Address
from howlate.targets.ssh import SshTarget
from processes import until, with_word
from ssh import server as servers
from ssh.server import Server, alone_where_shared, serving
from ssh.sessions import Once, is_whole, opened
from targets.cells import cell_of, nothing

pytestmark = alone_where_shared()


@pytest.mark.parametrize(
    ("text", "destination", "port"),
    [
        ("root@board", "root@board", 0),
        ("board:2222", "board", 2222),
        ("u@[fe80::1]:22", "u@fe80::1", 22),
        ("u@fe80::1", "u@fe80::1", 0),
    ],
)
def test_addresses(text: str, destination: str, port: int) -> None:
    assert Address.parse(text) == Address(destination, port)


@pytest.mark.parametrize(
    "text", ["", "@host", "-oProxyCommand=x", "a b", "h:0", "h:x", "[::1", "u@h;x", "h:99999"]
)
def test_what_is_no_address_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(text)


def test_a_connection_that_breaks_does_not_stop_the_cell(server: Server, tmp_path: Path) -> None:
    said: list[str] = []
    breaks = Once(server.cut)
    with opened(server, said) as target:
        assert target.run_cell(cell_of(target, 3000), tmp_path / "stream", breaks).measured
    is_whole(tmp_path / "stream", 3000)
    assert breaks.done
    assert sorted(p.elapsed_s for p in breaks.seen) == [p.elapsed_s for p in breaks.seen]
    assert "continues there" in said[0]


def test_a_machine_that_falls_silent_is_noticed(server: Server, tmp_path: Path) -> None:
    said: list[str] = []
    with opened(server, said) as target:
        cell = cell_of(target, 3000)
        assert target.run_cell(cell, tmp_path / "stream", Once(server.fall_silent)).measured
    is_whole(tmp_path / "stream", 3000)
    assert "continues there" in said[0]


def test_samples_are_fetched_when_the_machine_can_be_reached_again(server: Server, tmp_path: Path) -> None:
    ended: list[bool] = []

    def come_back() -> None:
        (status,) = [folder / "cell-1/out/0/status" for folder in server.folders()]
        ended.append(until(status.exists))
        server.start()

    back = threading.Thread(target=come_back)

    def go_away() -> None:
        server.stop()
        back.start()

    with opened(server) as target:
        assert target.run_cell(cell_of(target, 1500), tmp_path / "stream", Once(go_away)).measured
        back.join()
    assert ended == [True]
    is_whole(tmp_path / "stream", 1500)


def test_a_stream_that_was_cut_on_the_way_is_fetched_from_there(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ssh that breaks the first three times amid the samples."""
    script = tmp_path / "cutting"
    script.write_text(
        f"""#!/bin/sh
case "$*" in
  *"session send"*)
    for n in 1 2 3; do
      mkdir {tmp_path}/cut-$n 2>/dev/null || continue
      echo "$*" >{tmp_path}/cut-$n/asked
      {os.environ["HOWLATE_SSH"]} "$@" | head -c 20000
      exit 255
    done ;;
esac
exec {os.environ["HOWLATE_SSH"]} "$@"
"""
    )
    script.chmod(0o755)
    monkeypatch.setenv("HOWLATE_SSH", str(script))
    with opened(server) as target:
        assert target.run_cell(cell_of(target, 3000), tmp_path / "stream", nothing).measured
    is_whole(tmp_path / "stream", 3000)
    asked = [(tmp_path / f"cut-{n}" / "asked").read_text().rpartition("--from ")[2] for n in (1, 2, 3)]
    offsets = [int("".join(c for c in text if c.isdigit())) for text in asked]
    assert offsets[0] == 0 < offsets[1] < offsets[2]


def refused(server: Server, name: str | None = None) -> HowlateError:
    with (
        closing(SshTarget(name or server.name, lambda _: None)) as target,
        pytest.raises(HowlateError) as caught,
    ):
        target.facts()
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE
    assert caught.value.remedy
    return caught.value


def test_no_connection_is_a_sentence_with_its_remedy(server: Server, tmp_path: Path) -> None:
    user, known = (tmp_path / "user").read_bytes(), (tmp_path / "known").read_text()
    servers.keygen(tmp_path / "other")
    shutil.copyfile(tmp_path / "other", tmp_path / "user")
    problem = refused(server)
    assert "access denied" in problem.message
    (tmp_path / "user").write_bytes(user)

    servers.write_known(tmp_path, server.port, tmp_path / "other")
    problem = refused(server)
    assert "key has changed" in problem.message
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in problem.remedy
    (tmp_path / "known").write_text("")
    problem = refused(server)
    assert "key is unknown" in problem.message
    assert f"ssh -p {server.port} " in problem.remedy
    (tmp_path / "known").write_text(known)

    assert "nobody.invalid: unknown host" in refused(server, "nobody.invalid").message
    assert "connection refused" in refused(server, f"127.0.0.1:{servers.free_port()}").message


def small(place: str, size: str, options: str = "") -> str:
    return f"-t tmpfs -o mode=1777,size={size}{options} tmpfs {place}"


def test_where_nothing_has_room_for_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [small(place, "1m") for place in servers.PLACES]
    with serving(tmp_path, monkeypatch, mounts) as server:
        problem = refused(server)
        assert f"/dev/shm ({os.strerror(errno.ENOSPC)})" in problem.message
        assert "make room" in problem.remedy
        assert not server.folders()


def test_where_nothing_has_room_for_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [small(place, "12m") for place in servers.PLACES]
    with serving(tmp_path, monkeypatch, mounts) as server, opened(server) as target:
        with pytest.raises(NotPossibleError, match="there is no place for"):
            target.run_cell(cell_of(target, 1000), tmp_path / "stream", nothing)
        target.close()
        assert not server.folders()


def test_samples_go_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path, monkeypatch, [small("/dev/shm", "12m")]) as server, opened(server) as target:
        places: list[Path] = []
        look = Once(lambda: places.extend(server.folders()))
        assert target.run_cell(cell_of(target, 1500), tmp_path / "stream", look).measured
        is_whole(tmp_path / "stream", 1500)
        assert [str(place.parent)[-8:] for place in places] == ["/dev/shm", "/var/tmp"]
        target.close()
        assert not server.folders()


def test_a_disk_that_becomes_full_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path, monkeypatch, [small("/dev/shm", "48m")]) as server, opened(server) as target:

        def fill() -> None:
            with (server.path("/dev/shm") / "rest").open("wb", buffering=0) as rest:
                while rest.write(b"x" * 4096) == 4096:
                    pass

        with pytest.raises(TargetError, match="no space is left on"):
            target.run_cell(cell_of(target, 60_000), tmp_path / "stream", Once(lambda: _until_full(fill)))


def _until_full(fill: object) -> None:
    assert callable(fill)
    with pytest.raises(OSError, match="No space left"):
        fill()


def test_noexec_is_avoided_or_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    with serving(tmp_path / "one", monkeypatch, [small("/dev/shm", "64m", ",noexec")]) as server:
        with opened(server) as target:
            assert target.facts()
            assert [str(folder.parent)[-4:] for folder in server.folders()] == ["/tmp"]
        assert not server.folders()
    (tmp_path / "all").mkdir()
    mounts = [small(place, "64m", ",noexec") for place in servers.PLACES]
    with serving(tmp_path / "all", monkeypatch, mounts) as server:
        problem = refused(server)
        assert "/dev/shm (mounted noexec" in problem.message
        assert "HOWLATE_SSH_FOLDER" in problem.remedy
        assert not server.folders()


def test_it_needs_a_shell_and_seven_small_programs_and_no_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a login script may print."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "uname", "id", "mkdir", "cat", "wc", "rm", "chmod"):
        (programs / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "rc").write_text("echo Welcome to the board; echo progress 1 2 3\n")
    environment = {"PATH": str(programs), "BASH_ENV": str(tmp_path / "rc")}
    with serving(tmp_path, monkeypatch, environment=environment) as server:
        with opened(server) as target:
            seen = Once(None)
            assert target.run_cell(cell_of(target, 1500, load="cpu:5"), tmp_path / "stream", seen).measured
            is_whole(tmp_path / "stream", 1500)
            assert 2 not in [round(p.elapsed_s * 1e9) for p in seen.seen]
        assert not server.folders()


@pytest.mark.parametrize("folder", ["data", "~/data", "/da ta", "/data;true"])
def test_a_folder_that_no_command_can_name_is_wrong_usage(
    server: Server, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setenv("HOWLATE_SSH_FOLDER", folder)
    with opened(server) as target, pytest.raises(UsageError, match="HOWLATE_SSH_FOLDER"):
        target.facts()


def test_an_architecture_without_a_probe_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho mips64\n")
    (tmp_path / "uname").chmod(0o755)
    with serving(tmp_path, monkeypatch, environment={"PATH": f"{tmp_path}:/usr/bin:/bin"}) as server:
        assert '"mips64"' in refused(server).message
        assert not server.folders()


MEASURE = """
import sys
from pathlib import Path
from howlate.targets.ssh import SshTarget
from targets.cells import cell_of

name, stream, keep_s = sys.argv[1:]
target = SshTarget(name, print, keep_s=float(keep_s))
knob = sys.stdin.readline().strip()
more = {"knob": knob} if knob else {}
cell = cell_of(target, 10_000_000, duration="10min", load="cpu:5", **more)
target.run_cell(cell, Path(stream), lambda progress: print("measures", flush=True))
"""


def killed(
    server: Server,
    tmp_path: Path,
    keep_s: float,
    knob: str,
    look: Callable[[], None] = lambda: None,
) -> None:
    """A howlate that is killed while its cell measures, which takes ten minutes. `look` comes before that."""
    argv = [
        sys.executable,
        "-c",
        MEASURE,
        server.name,
        str(tmp_path / "stream"),
        str(keep_s),
    ]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(knob + "\n")
        process.stdin.flush()
        assert any("measures" in line for line in process.stdout)
        look()
        process.kill()


THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def huge_pages() -> str:
    """The setting in force; empty where it cannot be set, and then no knob is tried."""
    if os.geteuid() != 0 or not os.access(THP, os.W_OK):
        return ""
    return THP.read_text().partition("[")[2].partition("]")[0]


def another(setting: str) -> str:
    return f"thp={'madvise' if setting != 'madvise' else 'always'}" if setting else ""


@pytest.mark.alone
def test_what_a_killed_howlate_left_ends_and_is_restored_by_itself(server: Server, tmp_path: Path) -> None:
    """The knob is looked at while howlate lives and its lease cannot run out; afterwards the lease is made short."""
    before = huge_pages()
    left: list[Path] = []
    in_force: list[str] = []

    def look() -> None:
        left.extend(server.folders())
        in_force.append(huge_pages())

    killed(server, tmp_path, 5.0, another(before), look)
    assert another(before) in ("", f"thp={in_force[0]}")
    (folder,) = left
    there = "/dev/shm/" + folder.name
    server.inside(f"{there}/howlate-probe", "session", "renew", there, "cell-1", "--lease", "1ms")
    assert until(lambda: not server.folders())
    assert not with_word(folder.name)
    assert huge_pages() == before


@pytest.mark.alone
def test_the_next_run_ends_what_a_killed_one_left(server: Server, tmp_path: Path) -> None:
    before = huge_pages()
    killed(server, tmp_path, 900.0, another(before))
    left = server.folders()
    assert len(left) == 1
    said: list[str] = []
    with opened(server, said) as target:
        assert target.run_cell(cell_of(target), tmp_path / "new", nothing).measured
        assert left[0] not in server.folders()
        assert not with_word(left[0].name)
        assert huge_pages() == before
    assert any("killed howlate" in line for line in said)


def test_two_howlates_do_not_measure_on_one_machine(server: Server) -> None:
    with opened(server) as target, opened(server) as other:
        assert target.facts()
        with pytest.raises(NotPossibleError, match="another howlate "):
            other.facts()
    assert until(lambda: not server.folders())


def test_a_session_that_is_over_is_begun_anew(server: Server, tmp_path: Path) -> None:
    """As after the machine was started anew: neither folder nor keeper is there."""
    with opened(server) as target:
        cell = cell_of(target)
        for again in (lambda: target.run_cell(cell, tmp_path / "stream", nothing).measured, target.facts):
            (folder,) = server.folders()
            server.inside(
                str(Path("/dev/shm") / folder.name / "howlate-probe"),
                "session",
                "close",
                "/dev/shm/" + folder.name,
            )
            assert not server.folders()
            assert again()


def test_a_machine_that_was_started_anew_while_it_measured_has_lost_the_cell(
    server: Server, tmp_path: Path
) -> None:
    """Keeper, probe and folder are gone, and the machine answers: that is said, and the next cell begins anew."""

    def start_anew() -> None:
        (folder,) = server.folders()
        shutil.rmtree(folder)
        for pid in with_word(folder.name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    with opened(server) as target:
        with pytest.raises(TargetError, match="has lost the cell: its folder is gone"):
            target.run_cell(cell_of(target, 100_000), tmp_path / "stream", Once(start_anew))
        assert target.run_cell(cell_of(target), tmp_path / "stream", nothing).measured


def test_on_a_terminal_ssh_may_ask(server: Server, tmp_path: Path) -> None:
    """For the words that open the user's key."""
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", tmp_path / "user"], check=True
    )
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(PYTHONPATH=str(ROOT / "src"), TERM="dumb")
        os.environ.pop("SSH_ASKPASS", None)
        os.execv(
            sys.executable, [sys.executable, "-m", "howlate", "doctor", "--target", server.target, "--json"]
        )
    shown = b""
    asked = False
    with suppress(OSError):  # the terminal's end
        while data := os.read(terminal, 65536):
            shown += data
            if b"passphrase" in shown and not asked:
                asked = True
                os.write(terminal, b"open sesame\n")
    _, how = os.waitpid(process, 0)
    os.close(terminal)
    assert asked, shown
    assert os.waitstatus_to_exitcode(how) == 0, shown
    assert b'"findings"' in shown
    assert "access denied" in refused(server).message  # here is no terminal


def test_a_machine_that_stays_away_fails_its_cells_and_not_the_plan(server: Server, tmp_path: Path) -> None:
    """Code 4, not 3: they are possible. The second does not wait as long again."""
    with opened(server, keep_s=5.0) as target:
        cell = cell_of(target, 3000)
        with pytest.raises(TargetError, match="connection refused"):
            target.run_cell(replace(cell, expected_s=0.0), tmp_path / "stream", Once(server.stop))
        with pytest.raises(TargetError, match="connection refused") as caught:
            target.run_cell(replace(cell, expected_s=1e6), tmp_path / "stream", nothing)
        assert caught.value.exit_code is ExitCode.BROKEN
