"""Boards that answer what they like, without an end or a byte in twenty seconds, over a real sshd: each ends in a
sentence, holds little memory and disk, and howlate ends at SIGTERM within a second of CPU time."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from howlate.errors import HowlateError
from howlate.targets import _flow, _link, _samples, ssh
from howlate.targets._target import Outcome
from howlate.targets.ssh import SshTarget
from made_study import study_text
from processes import environment, until, with_word
from ssh.server import Server, alone_where_shared, serving
from ssh.sessions import opened
from targets.cells import cell_of, nothing

pytestmark = alone_where_shared()
ROOT = Path(__file__).parent.parent.parent
ENDLESS = "exec head -c 3000000000 /dev/zero"
LINES = "while echo progress 1 1 1; do :; done"
SLOW = "while printf x; do sleep 20; done"
_SCRIPT = """#!/bin/sh
printf '%%s\\n' "$SSH_ORIGINAL_COMMAND" >>%(folder)s/asked
case $SSH_ORIGINAL_COMMAND in
*"$(cat %(folder)s/when)"*) exec sh %(folder)s/answer ;;
*) exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
esac
"""


class Board:
    """A machine that answers one of its commands otherwise."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self._when = server, folder / "when"
        self.answer_path, self.asked_path = folder / "answer", folder / "asked"

    def answers(self, when: str, script: str, mark: bool = True) -> None:
        """`script` in place of commands with `when` in them."""
        self.answer_path.write_text(("echo howlate:\n" if mark else "") + script)
        self._when.write_text(when)

    @property
    def asked(self) -> str:
        return self.asked_path.read_text() if self.asked_path.exists() else ""


@pytest.fixture(scope="module")
def made_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("board")
    force = folder / "force"
    force.write_text(_SCRIPT % {"folder": folder})
    force.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch, serving(folder, patch, force=force) as server:
        yield Board(server, folder)


@pytest.fixture
def board(made_board: Board) -> Iterator[Board]:
    made_board.asked_path.unlink(missing_ok=True)
    made_board.answers("no such command", "")
    yield made_board
    made_board.server.cut()
    # A board's command goes on where its reader has left.
    for pid in with_word(f"sh {made_board.answer_path}"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of size and time, made short: what is beyond them is beyond the usual ones."""
    monkeypatch.setattr(_link, "MOST_ANSWER", 1 << 20)
    monkeypatch.setattr(_flow, "_FREE_BYTES", 1 << 20)
    monkeypatch.setattr(_flow, "_BYTES_PER_S", 1 << 10)
    monkeypatch.setattr(_samples, "_ENDS_S", 2.0)
    monkeypatch.setattr(_samples, "_FREE_STREAM", 16 << 20)


@pytest.fixture
def impatient(hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the limits of a probe that says nothing, and of samples that hardly come."""
    monkeypatch.setattr(_flow, "SILENT_S", 3.0)
    monkeypatch.setattr(_samples, "ASK_S", 3.0)


def memory_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(target: SshTarget, stream: Path) -> Outcome:
    return target.run_cell(cell_of(target, 100), stream, nothing)


STRANGE = {
    "an answer that does not end": ("facts --json", ENDLESS),
    "lines that do not end": ("facts --json", LINES),
    "errors that do not end": ("facts --json", f"{ENDLESS} >&2"),
    "nothing": ("facts --json", ""),
    "a list": ("facts --json", "echo '[1]'"),
    "nested lists": ("facts --json", r"""printf '{"a":'; head -c 100000 /dev/zero | tr '\0' '['"""),
    "half a surrogate": ("facts --json", r"""printf '%s\n' '{"facts":1,"values":{"a":"\ud800"}}'"""),
    "infinite numbers": ("facts --json", """echo '{"facts":1,"values":{"a":1e999,"b":NaN}}'"""),
    "digits": ("facts --json", r"""printf '{"a":'; head -c 10000 /dev/zero | tr '\0' 9; echo '}'"""),
    "no text": ("uname -m", "head -c 20000 /dev/urandom"),
    "one line": ("uname -m", "head -c 3000000 /dev/zero | tr '\\0' x"),
    "no user": ("uname -m", "printf 'x86_64\\n../..\\n-\\n/root\\n'"),
}


@pytest.mark.parametrize(("when", "script"), STRANGE.values(), ids=STRANGE)
def test_a_strange_answer_is_a_sentence(board: Board, hasty: None, when: str, script: str) -> None:
    before = memory_kib()
    board.answers(when, script)
    with opened(board.server) as target:
        with pytest.raises(HowlateError) as caught:
            target.facts()
        board.answers("no such command", "")
    assert len(caught.value.message) < 1500
    assert memory_kib() - before < 64 << 10


@pytest.mark.parametrize("when", ["session follow", "session send"])
@pytest.mark.parametrize("script", [LINES.replace("progress", "hello"), ENDLESS], ids=["lines", "a line"])
def test_what_comes_before_an_answer_has_a_limit(
    board: Board, hasty: None, tmp_path: Path, when: str, script: str
) -> None:
    with opened(board.server) as target:
        board.answers(when, script, mark=False)
        with pytest.raises(HowlateError) as caught:
            measured(target, tmp_path / "stream")
        assert caught.value.statement.rule == "target.not-the-probe"
        board.answers("no such command", "")


@pytest.mark.parametrize("line", ["[1]", "5", '{"folder":["x"],"state":5}', '{"folder":"/x","state":{"owner":5}}',
                                  '{"folder":"/x; touch y","state":{"owner":"a+b+1+d"}}', "{", ""])  # fmt: skip
def test_a_strange_list_of_sessions_is_no_list(board: Board, line: str) -> None:
    board.answers("session list", f"printf '%s\\n' '{line}'")
    with opened(board.server) as target:
        assert target.facts()
        board.answers("no such command", "")
    assert "touch y" not in board.asked


HEADS = {
    "words": "echo abc def",
    "negative": "echo -5 -5",
    "more than a disk": "echo 999999999999999999 5; head -c 5000 /dev/zero",
    "digits": "head -c 5000 /dev/zero | tr '\\0' 9; echo",
    "more than it says": f"echo 1000 5; {ENDLESS}",
    "no line": f"{ENDLESS} | tr '\\0' y",
}


@pytest.mark.parametrize("script", HEADS.values(), ids=HEADS)
def test_samples_that_are_not_what_they_say_are_a_sentence(
    board: Board, hasty: None, tmp_path: Path, script: str
) -> None:
    before = memory_kib()
    with opened(board.server) as target:
        board.answers("session send", script)
        with pytest.raises(HowlateError):
            measured(target, tmp_path / "stream")
        board.answers("no such command", "")
        assert measured(target, tmp_path / "again").measured
    assert (tmp_path / "stream").stat().st_size < 1 << 20
    assert memory_kib() - before < 64 << 10


@pytest.mark.parametrize("script", ["echo 1000 5; " + SLOW, SLOW], ids=["samples", "head"])
def test_samples_of_a_byte_in_twenty_seconds_are_given_up(
    board: Board, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    monkeypatch.setattr(_samples, "ASK_S", 3.0)
    with opened(board.server) as target:
        board.answers("session send", script)
        with pytest.raises(HowlateError) as caught:
            measured(target, tmp_path / "stream")
        assert caught.value.statement.rule == "target.samples-slow"
        board.answers("no such command", "")


REPORTS = {
    "nothing": "echo 'ended {}'",
    "numbers": """echo 'ended {"lines":[5],"free_bytes":"x","code":"y","errors":1}'""",
    "a status": """echo 'ended {"lines":[{"status":"999999999999999999999"}],"free_bytes":1,"code":0}'""",
    "digits": """echo 'ended {"lines":[{"status":"\\u0661"}],"free_bytes":99999999,"code":0}'""",
    "large": """echo 'ended {"lines":[],"free_bytes":99999999999999999999,"code":0}'""",
    "a surrogate": r"""printf '%s\n' 'ended {"lines":[],"free_bytes":9,"code":9,"errors":"\ud800"}'""",
    "an endless line": ENDLESS,
    "endless lines": LINES,
    "endless words": LINES.replace("progress", "other"),
    "slow": SLOW,
    "strange progress": "echo progress 99999999999999999999 1 1; echo progress a b c; echo 'ended 5'",
}


@pytest.mark.parametrize("script", REPORTS.values(), ids=REPORTS)
def test_a_strange_course_of_a_cell_is_a_sentence(
    board: Board, impatient: None, tmp_path: Path, script: str
) -> None:
    before = memory_kib()
    with opened(board.server) as target:
        board.answers("session follow", script)
        with pytest.raises(HowlateError):
            measured(target, tmp_path / "stream")
        board.answers("no such command", "")
    assert memory_kib() - before < 64 << 10


GROWS = "n=1; while echo progress $n 1 1; do n=$((n + 1)); sleep 0.05; done"


@pytest.mark.parametrize("script", [GROWS, f"{GROWS} & sleep 2; kill $!"], ids=["one", "many connections"])
def test_a_cell_whose_progress_grows_for_ever_is_ended(
    board: Board, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    """And the session is as good as before for the next."""
    monkeypatch.setattr(_flow, "_TIMES_PLANNED", 1.0)
    monkeypatch.setattr(_flow, "_FREE_S", 5.0)
    monkeypatch.setattr(ssh, "STOP_S", 2.0)
    with opened(board.server) as target:
        cell = cell_of(target, 100)
        board.answers("session follow", script)
        with pytest.raises(HowlateError) as caught:
            target.run_cell(cell, tmp_path / "stream", nothing)
        assert caught.value.statement.rule == "target.takes-too-long-there"
        assert "session stop" in board.asked
        board.answers("no such command", "")
        assert measured(target, tmp_path / "again").measured


def test_the_limit_is_far_beyond_what_was_planned() -> None:
    """A cell on a loaded board takes longer than planned and is not ended for it."""
    assert _flow.longest_s(60.0) == 20 * 60 + 600
    _flow.check_length(1800.0, 60.0, "board")
    with pytest.raises(HowlateError, match=r"after 1,?800 s"):
        _flow.check_length(1801.0, 60.0, "board")


PLANS = [
    '{"options":{},"seconds":1e999}', '{"options":{},"bytes":1e30}', '{"options":{},"bytes":-1}',
    '{"options":{},"seconds":NaN}', "[]", "{",
]  # fmt: skip


@pytest.mark.parametrize("answer", PLANS)
def test_a_strange_plan_is_a_sentence(board: Board, answer: str) -> None:
    board.answers("howlate-probe plan", f"cat >/dev/null; printf '%s\\n' '{answer}'")
    with opened(board.server) as target, pytest.raises(HowlateError):
        target.answer([("cyclic", "--activations=10")])


SIGTERM: dict[str, tuple[str, str, list[str]]] = {
    "slow answer": ("facts --json", SLOW, ["doctor"]),
    "endless answer": ("uname -m", "while head -c 100000 /dev/zero; do sleep 1; done", ["doctor"]),
    "slow start": ("session open", SLOW, ["doctor"]),
    "slow plan": ("howlate-probe plan", f"cat >/dev/null; {SLOW}", ["run"]),
    "slow follow": ("session follow", SLOW, ["run"]),
    "endless follow": ("session follow", "while head -c 100000 /dev/zero; do sleep 1; done", ["run"]),
    "endless progress": ("session follow", "while echo progress 1 1 1; do sleep 0.1; done", ["run"]),
    "slow samples": ("session send", f"echo 1000000 5; {SLOW}", ["run"]),
}
STUDY = study_text("board", period="1ms", activations=50, policy="other", axes={"load": ["none"]})


@pytest.mark.parametrize(("when", "script", "words"), SIGTERM.values(), ids=SIGTERM)
def test_howlate_ends_at_sigterm_wherever_it_waits(
    board: Board, tmp_path: Path, when: str, script: str, words: list[str]
) -> None:
    board.answers(when, script)
    (tmp_path / "study.toml").write_text(STUDY)
    more = {"run": [str(tmp_path / "study.toml"), "--out", str(tmp_path / "run")], "doctor": []}[words[0]]
    argv = [sys.executable, "-m", "howlate", *words, *more, "--target", board.server.target]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(argv, env=environment(), stdout=said, stderr=said, cwd=tmp_path)
        try:
            assert until(lambda: when in board.asked or process.poll() is not None, 120)
            assert process.poll() is None, (tmp_path / "said").read_text()
            before = cpu_s(process.pid)
            process.send_signal(signal.SIGTERM)
            board.answers("no such command", "")
            spent: list[float] = []
            ended = until(_sampled(process, spent), 180)
        finally:
            process.kill()
            process.wait()
    text = (tmp_path / "said").read_text()
    assert ended, text
    assert process.returncode == 5, text
    assert "fault" not in text
    assert spent[-1] - before < 1.0


def _sampled(process: subprocess.Popen[bytes], spent: list[float]) -> Callable[[], bool]:
    def look() -> bool:
        if process.poll() is not None:
            return True
        spent.append(cpu_s(process.pid))
        return False

    return look


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
