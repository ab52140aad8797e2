"""Jobs by hand: what each line leaves behind, and that nothing of it stays."""

import errno
import json
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lacks import needs_program
from probe.drive import probe_path, read_stream, run
from processes import children_of, completed, until, with_word

pytestmark = pytest.mark.beside


def written(folder: Path, lines: Sequence[Sequence[str]]) -> Path:
    path = folder / "cells.job"
    path.write_text("".join(json.dumps(list(line)) + "\n" for line in lines))
    return path


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


def statuses(out: Path) -> list[str]:
    folders = sorted((one for one in out.iterdir()), key=lambda one: int(one.name))
    assert [one.name for one in folders] == [str(n) for n in range(len(folders))]
    return [(one / "status").read_text().rstrip("\n") for one in folders]


def job(folder: Path, *lines: Sequence[str], options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return run("job", written(folder, lines), "--out", folder / "out", *options)


@pytest.fixture
def word() -> Iterator[str]:
    """A word that marks the processes of one test; whatever carries it at the end is ended, and is an error."""
    one = f"howlate-{uuid.uuid4().hex}"
    yield one
    left = with_word(one)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


class RunningJob:
    """A job whose line 0 runs and has said so."""

    def __init__(
        self, folder: Path, *lines: Sequence[str], before: Sequence[str] = (), options: Sequence[str] = ()
    ) -> None:
        self.out = folder / "out"
        self.process = subprocess.Popen(
            [*before, probe_path(), "job", written(folder, lines), "--out", self.out, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert until(lambda: (self.out / "0/stdout").exists() and (self.out / "0/stdout").stat().st_size > 0)

    def end(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


def test_each_line_has_a_folder_with_its_output_its_status_and_its_files(probe: Path, tmp_path: Path) -> None:
    done = job(
        tmp_path,
        ["howlate-probe", "cyclic", "--activations", "20", "--stream=stream", "--json"],
        shell("echo out; echo err >&2; echo mine >file; pwd; exit 7"),
        ["/bin/echo", "two words", "", '"quoted"\n'],
        shell("read line || echo no input"),
    )
    out = tmp_path / "out"
    assert done.returncode == 1  # not every status is 0
    assert done.stdout == "line 0: 0\nline 1: 7\nline 2: 0\nline 3: 0\n"
    assert statuses(out) == ["0", "7", "0", "0"]
    assert len(read_stream(out / "0/stream").columns[0]["latency_ns"]) == 20
    assert json.loads((out / "0/stdout").read_text())["cells"][0]["accounting"]["recorded"] == 20
    assert (out / "1/stdout").read_text() == f"out\n{(out / '1').resolve()}\n"
    assert (out / "1/stderr").read_text() == "err\n"
    assert (out / "1/file").read_text() == "mine\n"
    assert (out / "2/stdout").read_text() == 'two words  "quoted"\n\n'
    assert (out / "3/stdout").read_text() == "no input\n"


def test_a_job_whose_lines_all_end_well_is_done(probe: Path, tmp_path: Path) -> None:
    assert job(tmp_path, ["/bin/true"], ["howlate-probe", "list"]).returncode == 0


def test_a_line_that_fails_does_not_stop_the_next(probe: Path, tmp_path: Path) -> None:
    done = job(
        tmp_path, shell("kill -KILL $$"), ["/no/such/program"], ["howlate-probe", "cyclc"], shell("exit 255")
    )
    assert done.returncode == 1
    assert statuses(tmp_path / "out") == ["signal 9", "3", "2", "255"]
    absent = (tmp_path / "out/1/stderr").read_text()
    assert "/no/such/program" in absent and os.strerror(errno.ENOENT) in absent
    assert "cyclic" in (tmp_path / "out/2/stderr").read_text()


def test_a_module_that_cannot_be_loaded_ends_the_job(probe: Path, tmp_path: Path) -> None:
    done = job(tmp_path, ["/bin/true"], ["module", "howlate-none", "a=1"], ["/bin/true"], ["/bin/true"])
    assert done.returncode == 1
    assert statuses(tmp_path / "out") == ["0", "3", "not run", "not run"]
    said = (tmp_path / "out/1/stderr").read_text()
    assert "howlate-none" in said and os.strerror(errno.ENOENT) in said


@needs_program("strace", "strace")
def test_a_line_that_ends_while_it_is_looked_for_ends_the_wait(probe: Path, tmp_path: Path) -> None:
    """The look is made to take a second after it saw the line running, so the line always ends within it."""
    slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=waitid:delay_exit=1000000:when=2+2"]
    argv: list[str | Path] = [
        *slow,
        probe_path(),
        "job",
        written(tmp_path, [["/bin/sleep", "0.3"]]),
        "--out",
        tmp_path / "out",
    ]
    done = completed(argv, timeout=30)
    assert (done.returncode, done.stdout) == (0, "line 0: 0\n"), done.stderr


def test_a_disk_is_only_made_in_a_guest(probe: Path, tmp_path: Path) -> None:
    job(tmp_path, ["disk", "/dev/null", str(tmp_path)], ["/bin/true"])
    assert statuses(tmp_path / "out") == ["3", "not run"]
    assert "only made in a guest" in (tmp_path / "out/0/stderr").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no lines"),
        ('["/bin/true"]\n[1]\n', "line 1"),
        ('["/bin/true"\n', "line 0"),
        ('["true"]\n', "'true'"),
        ('["/bin/true"]\n\n["/bin/true"]\n', "line 1"),
        ('["module", "../x"]\n', "names no module"),
    ],
)
def test_a_job_that_is_none_is_refused_before_anything_is_run(
    probe: Path, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "cells.job"
    path.write_text(text)
    done = run("job", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_wrong_usage_is_said(probe: Path, tmp_path: Path) -> None:
    path = written(tmp_path, [["/bin/true"]])
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    cases: list[tuple[list[str | Path], str]] = [
        (["job"], "--out"),
        (["job", path], "--out"),
        (["job", tmp_path / "none", "--out", tmp_path / "out"], "cannot be read"),
        (["job", path, "--out", tmp_path / "full"], "not an empty folder"),
        (["job", path, "--out", tmp_path / "no/such"], "cannot make"),
        (["job", path, "--out", path], "not an empty folder"),
        (["job", path, "--out", tmp_path / "out", "--limit", "0s"], "more than 0"),
        (["job", path, "--out", tmp_path / "out", "--limt", "1s"], "--limit"),
    ]
    for words, said in cases:
        done = run(*words)
        assert (done.returncode, said in done.stderr) == (2, True), (words, done.stderr)


def test_what_a_line_leaves_running_is_gone_before_the_next(probe: Path, tmp_path: Path, word: str) -> None:
    leave = f"setsid sh -c 'echo $$; (exec sleep 600); : {word}' & sleep 600 & exec cat {tmp_path}/go"
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    running = RunningJob(tmp_path, shell(leave), shell("kill -0 $(head -n 1 ../0/stdout)"))
    fifo.write_text("go\n")  # the daemon has said its number: the line may end
    assert running.end() == 1
    assert statuses(tmp_path / "out") == ["0", "1"]
    assert "No such process" in (tmp_path / "out/1/stderr").read_text()


def test_the_limit_ends_the_line_in_order_and_the_rest_is_not_run(probe: Path, tmp_path: Path) -> None:
    done = job(
        tmp_path,
        ["howlate-probe", "cyclic", "--duration", "10min", "--stream=stream"],
        ["/bin/true"],
        options=["--limit", "3s"],
    )
    assert done.returncode == 5
    assert "--limit" in done.stderr
    assert statuses(tmp_path / "out") == ["0", "not run"]
    trailer = read_stream(tmp_path / "out/0/stream").trailer
    assert trailer is not None and trailer["stop_reason"] == "stopped"


def test_a_line_that_does_not_want_to_end_is_killed(probe: Path, tmp_path: Path, word: str) -> None:
    stubborn = shell(f"trap '' TERM; echo on; while :; do sleep 1; done; : {word}")
    running = RunningJob(tmp_path, stubborn, ["/bin/true"], options=["--grace", "300ms"])
    running.process.terminate()
    assert running.end() == 5
    assert statuses(tmp_path / "out") == ["signal 9", "not run"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_job_that_is_stopped_ends_its_line_and_says_what_was_not_run(
    probe: Path, tmp_path: Path, word: str, number: signal.Signals
) -> None:
    running = RunningJob(tmp_path, shell(f"echo on; sleep 600; : {word}"), ["/bin/true"])
    running.process.send_signal(number)
    assert running.end() == 5
    assert statuses(tmp_path / "out") == ["signal 15", "not run"]


def test_nohup_holds(probe: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    running = RunningJob(tmp_path, shell(f"echo on; exec cat {fifo}"), ["/bin/true"], before=["nohup"])
    running.process.send_signal(signal.SIGHUP)
    fifo.write_text("go\n")
    assert running.end() == 0
    assert statuses(tmp_path / "out") == ["0", "0"]


@pytest.mark.parametrize("victim", ["job", "runner", "line"])
def test_a_kill_in_the_middle_leaves_nothing_running(
    probe: Path, tmp_path: Path, word: str, victim: str
) -> None:
    escaped = f"setsid sh -c 'sleep 600; : {word}' & echo on; sleep 600; : {word}"
    running = RunningJob(tmp_path, shell(escaped), shell(f"echo next; sleep 600; : {word}"))
    assert until(lambda: len(with_word(word)) >= 2)
    below = children_of(running.process.pid)
    pids = {"job": running.process.pid, "runner": below[0]}
    lines = [pid for pid in below if pid not in pids.values() and os.getpgid(pid) == pid]
    pids["line"] = min(lines)
    os.kill(pids[victim], signal.SIGKILL)
    if victim == "line":  # only this line ends: the next runs
        assert until(lambda: (tmp_path / "out/1/stdout").exists())
        assert (tmp_path / "out/0/status").read_text() == "signal 9\n"
        running.process.terminate()
    code = running.end()
    assert code == {"job": -signal.SIGKILL, "runner": 4, "line": 5}[victim]
    assert until(lambda: not with_word(word))
    assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


def test_loads_and_their_processes_end_with_the_job(probe: Path, tmp_path: Path) -> None:
    running = RunningJob(tmp_path, shell("echo on; exec /proc/$PPID/exe load hackbench:2 --quiet"))
    assert until(lambda: len(children_of(running.process.pid)) > 40)
    below = children_of(running.process.pid)
    running.process.kill()
    running.end()
    assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


def test_a_module_that_is_not_there_cannot_be_unloaded_and_the_next_line_runs(
    probe: Path, tmp_path: Path
) -> None:
    job(tmp_path, ["unload", "howlate-none"], ["/bin/true"])
    assert statuses(tmp_path / "out") == ["3", "0"]
    assert "howlate-none" in (tmp_path / "out/0/stderr").read_text()
