"""Another machine, over SSH: the probe is put there for the time of a run, and measures apart from the connection
(docs/ssh.md)."""

from __future__ import annotations

import contextlib
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from howlate.errors import ExitCode, NotPossibleError, TargetError
from howlate.model.answer import Answer, Command, answers_of
from howlate.model.capabilities import Capabilities
from howlate.model.decode import decoded, parse_json
from howlate.model.facts import unpacked
from howlate.model.plan import Cell
from howlate.plan.options import arguments
from howlate.store.files import storing
from howlate.store.frames import crc32c
from howlate.store.job_text import job_text
from howlate.system.paths import machine_probe_path
from howlate.targets._flow import (
    NOT_THE_PROBE,
    EndlessError,
    Forward,
    Got,
    Incoming,
    ProgressLimit,
    check_length,
    check_silence,
)
from howlate.targets._link import ASK_S, Address, Done, Link, LinkError, clipped
from howlate.targets._samples import (
    DAMAGED,
    LOST,
    LOST_THERE,
    NO_PROGRAM,
    NO_SPACE,
    SESSION_GONE,
    Samples,
    code_of,
)
from howlate.targets._session import (
    Owner,
    Report,
    configured_folder,
    is_place,
    put_script,
    session_of,
    status_of,
    why_not,
)
from howlate.targets._target import (
    OneMachine,
    Outcome,
    Progress,
    commands_text,
    failed,
    outcome_of,
    sentence_of,
)
from howlate.targets._tries import Clock, Given, Tries
from howlate.targets.local import parse_progress

SUMMARY = "another machine, over SSH"
LEASE_S = 60.0
"""What a cell there may take beyond its planned length without word from here; then it is stopped."""
KEEP_S = 900.0
"""How long what it measured is kept there for a connection that comes back, and how long one is waited for."""
STOP_S = 75.0
"""A cell that was asked to stop has ended within this: knobs restored, loads ended, its stream whole."""
_MEMORY, _DISK = ("/dev/shm",), ("/tmp", "/var/tmp")
_FULL_BYTES = 64 << 10
"""With less than this free a cell that failed failed for it: not even its sentence can be written there."""
TIDY_S = 30.0
"""What the removal of what was left there may take; it goes by itself later."""
_OUTPUT = "out/0/stdout"


def open_target(argument: str, say: Callable[[str], None] = lambda _: None, *_: object) -> SshTarget:
    """`ssh:user@host` or `ssh:user@host:port`."""
    return SshTarget(argument, say)


class SshTarget(OneMachine):
    """A session on another machine: a folder with the probe, and a process that keeps it."""

    def __init__(
        self,
        argument: str,
        say: Callable[[str], None],
        lease_s: float = LEASE_S,
        keep_s: float = KEEP_S,
        clock: Clock | None = None,
    ) -> None:
        self.name = f"ssh:{argument}"
        self._say, self._lease_s, self._keep_s = say, lease_s, keep_s
        self._clock = clock or Clock()
        self._link = Link(Address.parse(argument))
        self._owner = Owner.this()
        self._folder = ""
        self._begun: set[str] = set()
        """Folders that may be there: an interrupt can come while one is made."""
        self._stopped = threading.Event()
        self._tries = Tries(self._link, say, self._stopped, keep_s, self._clock)
        self._numbers = itertools.count(1)

    def facts(self, machine: str = "") -> dict[str, Any]:
        return unpacked(self._ask("facts"))

    def capabilities(self, machine: str = "") -> Capabilities:
        return self._can

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        answers = self._output_of("plan", commands_text(commands))
        return answers_of(answers, len(commands), f"on {self._link.host}")

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        """Ends the session and all that came of it. Where the machine cannot be reached it does so by itself."""
        try:
            for folder in sorted(self._begun):
                self._tidy(folder)
        finally:
            self._folder = ""
            self._link.close()

    def _tidy(self, folder: str) -> None:
        try:
            done = self._verb(f"session close {folder}", folder, limit_s=TIDY_S)
            if done.code == 0 or _is_over(done):
                self._begun.discard(folder)
                return
            why = clipped(sentence_of(done.errors, done.code))
        except (LinkError, EndlessError) as problem:
            why = problem.message
        self._say(
            f"{folder} on {self._link.host} is still there ({why}); it goes by itself in {self._keep_s / 60:g} min"
        )

    # The session.

    @cached_property
    def _can(self) -> Capabilities:
        return Capabilities.from_json(self._ask("list"))

    def _ask(self, what: str) -> dict[str, Any]:
        return self._decoded(self._output_of(f"{what} --json"), what)

    def _decoded(self, answer: bytes, what: str) -> dict[str, Any]:
        """An object of JSON whose numbers are numbers and whose texts are text: it is stored and printed later."""
        text = answer.decode("utf-8", "replace")
        values = dict(parse_json(text, f"`howlate-probe {what}`", TargetError).values)
        try:
            json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            raise self._strange(what) from None
        return values

    def _strange(self, what: str) -> TargetError:
        return TargetError(NOT_THE_PROBE(host=self._link.host, reason=what))

    def _output_of(self, words: str, given: bytes | None = None) -> bytes:
        done = self._verb(words, self._session(), given)
        if _is_over(done):
            self._folder = ""
            done = self._verb(words, self._session(), given)
        if done.code != 0:
            raise self._failed(words.split()[0], done.errors, done.code)
        return done.output

    def _failed(self, command: str, errors: bytes, code: int) -> TargetError:
        return failed(command, f"on {self._link.host}", clipped(sentence_of(errors, code)))

    def _verb(self, words: str, folder: str, given: bytes | None = None, limit_s: float = ASK_S) -> Done:
        return self._link.run(f"exec {folder}/howlate-probe {words}", given, limit_s)

    def _session(self) -> str:
        """Opens it, if it is not: finds the architecture, puts the probe there, removes what killed howlates left."""
        if not self._folder:
            query = "uname -m; id -u; echo ${XDG_RUNTIME_DIR:--}; echo ${HOME:--}"
            words = self._link.run(query).output.decode("utf-8", "replace").split("\n")
            if len(words) < 4 or not (words[1].isascii() and words[1].isdigit()):
                raise self._strange(clipped(" ".join(words)))
            machine, user, runtime, home = (clipped(word) for word in words[:4])
            probe = machine_probe_path(machine).read_bytes()
            own = [configured_folder(), *_MEMORY, runtime, f"/run/user/{user}", *_DISK, home]
            places = [place for place in dict.fromkeys(own) if is_place(place)]
            self._folder = self._put(probe, places)
            self._sweep(places)
        return self._folder

    def _put(self, probe: bytes, places: list[str]) -> str:
        """The first place that takes the probe and lets it run."""
        reasons = []
        for place in places:
            folder = f"{place}/howlate.{secrets.token_hex(8)}"
            self._begun.add(folder)
            done = self._link.run(put_script(folder, len(probe), self._owner.text, self._keep_s), probe)
            lines = [line for line in done.output.decode("utf-8", "replace").splitlines() if line.strip()]
            if done.code == 0 and lines:
                self._check_copy(lines[-1], probe, folder)
                return folder
            self._begun.discard(folder)
            reasons.append(f"{place} ({clipped(why_not(lines, done.code))})")
        raise NotPossibleError(
            "no folder on {host} takes the probe ({size_mb:significant} MB): {reasons:all}",
            remedy="make room in one of them, or set $HOWLATE_SSH_FOLDER to a folder that may run programs",
            size_mb=len(probe) / 1e6,
            host=self._link.host,
            reasons=reasons,
        )

    def _check_copy(self, answer: str, probe: bytes, folder: str) -> None:
        copy = parse_json(answer, "the session's answer", TargetError).values
        if (copy.get("bytes"), copy.get("crc32c")) != (len(probe), crc32c(probe)):
            self._tidy(folder)
            raise TargetError(DAMAGED(what=f"the probe for {self._link.host}"))

    def _others(self, places: list[str]) -> Iterator[tuple[str, Owner | None]]:
        done = self._verb(f"session list {' '.join(places)}", self._folder)
        for line in done.output.decode("utf-8", "replace").split("\n"):
            session = session_of(line)
            if session is not None and session[0] != self._folder:
                yield session

    def _sweep(self, places: list[str]) -> None:
        """What a howlate left here that was killed is ended. Another that lives is measuring, or is about to: two
        would measure each other."""
        for folder, owner in self._others(places):
            if owner is not None and owner.is_gone(self._owner):
                self._say(f"ending what a killed howlate left on {self._link.host} ({folder})")
                self._tidy(folder)
                continue
            who = f"{owner.who}, process {owner.pid}" if owner else "not known"
            self._tidy(self._folder)
            self._folder = ""
            raise NotPossibleError(
                "another howlate ({owner}) is measuring on {host}",
                remedy="wait until it has finished; if it has died, the lock ends {minutes:number} min after "
                "its last cell",
                owner=clipped(who),
                host=self._link.host,
                minutes=self._keep_s / 60,
            )

    # A cell.

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        try:
            return self._run_cell(cell, stream, on_progress)
        except _SessionOverError:  # this machine slept, or that one was started anew: nothing ran yet
            self._folder = ""
            return self._run_cell(cell, stream, on_progress)
        except LinkError as problem:  # a cell without a connection is not one that is impossible there
            raise TargetError(problem.statement) from None

    def _run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        running = _Running(
            self._session(),
            f"cell-{next(self._numbers)}",
            self._clock.now() + cell.expected_s,
            cell.expected_s,
            stream_bytes=cell.length.stream_bytes,
        )
        with self._ended_in_any_case(running, stream):
            self._start(cell, running)
            running.report = self._follow(running, on_progress)
        return self._outcome(running, stream)

    @contextlib.contextmanager
    def _ended_in_any_case(self, running: _Running, stream: Path) -> Iterator[None]:
        """An interrupt stops it in order and fetches what there is; so does whatever else goes wrong here."""
        try:
            yield
        except _SessionOverError:
            raise
        except BaseException as problem:
            if running.refused:
                raise
            try:
                self._verb(f"session stop {running.name_in_session}", running.folder)
                running.planned_end = self._clock.now()
                report = self._follow(running, lambda _: None, STOP_S)
                if report.lines:
                    self._fetch(running, stream)
                self._drop(running)
            except (LinkError, TargetError) as other:
                rest = running.lease_end - self._clock.now()
                problem.add_note(
                    f"the cell on {self._link.host} could not be stopped ({other.message}); "
                    f"it stops by itself within {max(0.0, rest):.0f} s"
                )
            raise

    def _start(self, cell: Cell, running: _Running) -> None:
        argv = [
            "howlate-probe",
            *arguments(cell.test, cell.parameters),
            "--stream=stream",
            "--progress",
            "--quiet",
        ]
        job = job_text([argv])
        lease_s = cell.expected_s + self._lease_s
        words = f"session run {running.name_in_session} --bytes {len(job)} --lease {int(lease_s * 1000)}ms"
        words += f" --room {cell.length.stream_bytes}B"
        words += "".join(f" --place {place}" for place in (*_DISK[::-1], *_MEMORY))
        done = self._again("start", running, lambda: self._verb(words, running.folder, job))
        if _is_over(done):
            raise _SessionOverError(LOST_THERE(host=self._link.host, what="the session"))
        running.lease_end = self._clock.now() + lease_s
        if done.code != 0:
            running.refused = True
            problem = self._failed(cell.test, done.errors, done.code)
            if done.code == ExitCode.NOT_POSSIBLE:
                raise NotPossibleError(problem.statement)
            raise problem

    def _again(
        self,
        what: str,
        running: _Running,
        once: Callable[[], Given],
        got: Callable[[], float] = lambda: 0.0,
    ) -> Given:
        """Until the connection holds for it; the cell goes on meanwhile."""
        return self._tries.over(what, once, running.planned_end, got)

    def _follow(
        self, running: _Running, on_progress: Callable[[Progress], None], limit_s: float = 0.0
    ) -> Report:
        """Hands on its progress until it has ended; over as many connections as it takes."""
        seen = Forward(on_progress)
        once = partial(self._follow_once, running, seen, limit_s)
        return self._again("follow", running, once, lambda: seen.elapsed_s)

    def _follow_once(self, running: _Running, seen: Forward, limit_s: float) -> Report:
        script = (
            f"exec {running.folder}/howlate-probe session follow {running.name_in_session} {_OUTPUT} 2>&1"
        )
        began = heard = time.monotonic()
        last, pace = b"", ProgressLimit(self._link.host)
        with self._link.started(script) as process:
            assert process.stdout is not None
            with Incoming(process.stdout, self._link.host) as incoming:
                for line in incoming.after_mark():
                    if self._stopped.is_set() and not limit_s:
                        raise KeyboardInterrupt
                    check_silence(heard, began, limit_s)
                    if not limit_s:
                        running.check_length(self._clock.now(), self._link.host)
                    if line is None:
                        self._renew(running)
                        continue
                    pace.count(line)
                    if line.startswith(b"ended "):
                        return self._report_of(line.removeprefix(b"ended "))
                    progress, last = parse_progress(line), line or last
                    if seen(progress):
                        heard = time.monotonic()
                    self._renew(running)
            code = code_of(process)
        if code in LOST:
            reason = "its folder is gone" if code in NO_PROGRAM else clipped(sentence_of(last, code))
            raise TargetError(LOST_THERE(host=self._link.host, what=f"the cell: {reason}"))
        raise self._link.broke()

    def _report_of(self, answer: bytes) -> Report:
        report = decoded(
            Report, self._decoded(answer, "session follow"), "what became of the cell", TargetError
        )
        if not 0 <= report.free_bytes < 2**63 or not -(2**31) <= report.code < 2**31:
            raise self._strange("session follow")
        return report

    def _renew(self, running: _Running) -> None:
        """A cell that takes longer than planned goes on while howlate watches it."""
        if running.lease_end - self._clock.now() < self._lease_s / 2:
            self._verb(
                f"session renew {running.name_in_session} --lease {int(self._lease_s * 1000)}ms",
                running.folder,
            )
            running.lease_end = self._clock.now() + self._lease_s

    def _outcome(self, running: _Running, stream: Path) -> Outcome:
        report = running.report
        assert report is not None
        status = status_of(report)
        if status not in (ExitCode.DONE, ExitCode.FAILED) and report.free_bytes < _FULL_BYTES:
            self._drop(running)
            folder = PurePosixPath(running.folder).parent
            raise TargetError(NO_SPACE(where=f"on {self._link.host}", folder=folder))
        if status is None:
            self._drop(running)
            raise self._failed("session run", report.errors.encode(), report.code)
        outcome = outcome_of(status, report.lines[0].stderr.encode())
        if outcome.measured:
            self._fetch(running, stream)
        self._drop(running)
        if report.code == ExitCode.INCONCLUSIVE:
            raise TargetError(
                "{host} stopped the cell: its lease ran out {lease_s:number} s after its planned end",
                remedy="check the connection, and repeat the command with --out",
                host=self._link.host,
                lease_s=self._lease_s,
            )
        return outcome

    def _drop(self, running: _Running) -> None:
        """Its files; where that fails they go with the session."""
        with contextlib.suppress(LinkError, EndlessError):
            self._verb(f"session drop {running.name_in_session}", running.folder, limit_s=TIDY_S)

    def _fetch(self, running: _Running, stream: Path) -> None:
        """The stream, from where a broken connection left it, and its checksum at the end."""
        samples = Samples(self._link, self._stopped, running.folder, running.name, running.stream_bytes)
        with storing(stream), stream.open("wb") as file:
            for _ in range(2):
                got = Got(file)
                once, count = partial(samples.fetch, got), partial(getattr, got, "count")
                self._again("fetch", running, once, count)
                if got.is_whole:
                    return
                file.seek(0)
                file.truncate()
        raise TargetError(DAMAGED(what=f"the cell's data from {self._link.host}"))


class _Running(Struct):
    """A cell that was started there."""

    folder: str
    name: str
    planned_end: float
    planned_s: float
    lease_end: float = 0.0
    refused: bool = False
    stream_bytes: int = 0
    report: Report | None = None

    @property
    def name_in_session(self) -> str:
        return f"{self.folder} {self.name}"

    def check_length(self, now: float, host: str) -> None:
        """Over all connections: the time since it was started."""
        check_length(now - self.planned_end + self.planned_s, self.planned_s, host)


class _SessionOverError(TargetError):
    """Nothing of the session is there any more."""


def _is_over(done: Done) -> bool:
    """The session's keeper, or its folder, is gone."""
    return done.code in (SESSION_GONE, *NO_PROGRAM)
