"""This machine: the probe is a child process that ends with howlate, however that dies."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from howlate.errors import REMEDIED, HowlateError, TargetError, UsageError
from howlate.model.answer import Answer, Command, answers_of
from howlate.model.capabilities import Capabilities
from howlate.model.decode import WRONG_OPTION, parse_json
from howlate.model.facts import unpacked
from howlate.model.plan import Cell
from howlate.plan.options import arguments
from howlate.system.interrupts import interrupts_held
from howlate.system.paths import NOT_STARTED, probe_path
from howlate.targets._target import (
    CpuProgress,
    Enough,
    OneMachine,
    Outcome,
    Progress,
    commands_text,
    failed,
    outcome_of,
    sentence_of,
)
from howlate.words.statement import Statement, message

NO_ANSWER = message("target.no-answer", "`howlate-probe {command}` gave no answer within {limit_s:number} s")
NOT_RESTORED = message(
    "target.not-restored",
    "the settings that a killed probe changed were not restored: {reason}",
    remedy="restore them as root with `howlate doctor --restore`",
)

SUMMARY = "this machine"
ASK_S = 60.0
"""`list` and `facts` answer within this time, or something is broken."""
SILENT_S = 120.0
"""The probe writes a line a second; one that writes none for this long hangs."""
STOP_S = 30.0
"""Within this time a probe that was asked to stop restores knobs, ends loads and completes its stream."""


def open_target(argument: str, *_: object) -> LocalTarget:
    """`local`; there is only one, so it takes no argument."""
    if argument:
        given = f"local:{argument}"
        raise UsageError(WRONG_OPTION(option="--target", kind="local", given=given, example="local"))
    return LocalTarget(probe_path())


class LocalTarget(OneMachine):
    """Runs the probe that was built for this machine."""

    name = "local"

    def __init__(
        self, probe: Path, silent_s: float = SILENT_S, stop_s: float = STOP_S, *, restores_first: bool = False
    ) -> None:
        """`restores_first`: before each cell, and before the machine is looked at, undo the knobs that a killed
        probe left changed."""
        self._probe = probe
        self._restores_first = restores_first
        self._silent_s = silent_s
        self._stop_s = stop_s
        self._stopped = threading.Event()
        self._probes: set[subprocess.Popen[bytes]] = set()
        self._hold = threading.Lock()

    def _restore_first(self) -> None:
        if self._restores_first:
            restore_knobs(self._probe)

    def facts(self, machine: str = "") -> dict[str, Any]:
        self._restore_first()
        return unpacked(self._ask("facts"))

    def capabilities(self, machine: str = "") -> Capabilities:
        return Capabilities.from_json(self._ask("list"))

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        return answers_of(self._output_of("plan", given=commands_text(commands)), len(commands), "here")

    def answer_elsewhere(self, commands: Sequence[Command], cpus: str = "") -> list[Answer]:
        """The answer for a machine with these CPUs ("": any), of which nothing else is known."""
        stated = (f"--cpus={cpus}",) if cpus else ()
        answers = self._output_of("plan", "--elsewhere", *stated, given=commands_text(commands))
        return answers_of(answers, len(commands), "here")

    def stop(self) -> None:
        with self._hold:
            self._stopped.set()
            for probe in self._probes:
                if probe.poll() is None:
                    probe.send_signal(signal.SIGINT)

    def close(self) -> None:
        pass

    def _ask(self, what: str) -> dict[str, Any]:
        text = self._output_of(what, "--json").decode("utf-8", "replace")
        try:
            return dict(parse_json(text, f"`howlate-probe {what} --json`", TargetError).values)
        except TargetError as problem:
            raise TargetError(_another_program(self._probe, problem)) from None

    def _output_of(self, what: str, *more: str, given: bytes = b"") -> bytes:
        """The output of a command of the probe that answers at once."""
        try:
            done = subprocess.run(
                [str(self._probe), what, *more],
                input=given,
                capture_output=True,
                timeout=ASK_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TargetError(NO_ANSWER(command=what, limit_s=ASK_S)) from None
        except OSError as problem:
            raise _not_started(self._probe, problem) from None
        if done.returncode != 0:
            raise failed(what, "here", sentence_of(done.stderr, done.returncode))
        return done.stdout

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        self._restore_first()
        argv = [str(self._probe), *arguments(cell.test, cell.parameters), f"--stream={stream}"]
        argv += ["--progress", "--quiet", "--end-with-parent", f"--parent={os.getpid()}"]
        with tempfile.TemporaryFile() as errors:
            with self._running(argv, errors) as probe:
                assert probe.stdout is not None
                is_cut = self._follow(probe, probe.stdout, on_progress)
                status = self._wait(probe)
            errors.seek(0)
            outcome = replace(outcome_of(status, errors.read()), is_cut=is_cut)
            if self._stopped.is_set():
                interrupt = KeyboardInterrupt()
                if status < 0:
                    with interrupts_held():
                        self._restore(interrupt)
                raise interrupt
            return self._restored(outcome) if status < 0 else outcome

    @contextlib.contextmanager
    def _running(self, argv: list[str], errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
        """Whatever happens inside, the probe is asked to stop once, waited for, then killed, and what it changed
        is restored on its behalf."""
        probe: subprocess.Popen[bytes] | None = None
        try:
            with interrupts_held():  # until the process is recorded: an unrecorded one could not be stopped
                # A process group of its own: Ctrl-C reaches only howlate, which passes it on once.
                probe = subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, process_group=0
                )
            with self._hold:
                self._probes.add(probe)
                if self._stopped.is_set():
                    probe.send_signal(signal.SIGINT)
            yield probe
        except OSError as problem:
            if probe is None:
                raise _not_started(self._probe, problem) from None
            self._end(probe, problem)
            raise
        except BaseException as problem:
            if probe is not None:
                self._end(probe, problem)
            raise
        finally:
            if probe is not None:
                with self._hold:
                    self._probes.discard(probe)
                if probe.stdout is not None:
                    probe.stdout.close()

    def _end(self, probe: subprocess.Popen[bytes], why: BaseException) -> None:
        if probe.poll() is None:
            probe.send_signal(signal.SIGINT)
        try:
            status = probe.wait(self._stop_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            with interrupts_held():  # a third Ctrl-C must not leave them changed
                probe.kill()
                probe.wait()
                self._restore(why)
            return
        if status < 0:  # something else killed it before it had put everything back
            with interrupts_held():
                self._restore(why)

    def _restore(self, why: BaseException) -> None:
        """Restore what the killed probe could not; if that fails, the error that is being raised says so."""
        try:
            restore_knobs(self._probe)
        except HowlateError as problem:
            if isinstance(why, HowlateError):
                both = f"{why.message}; {problem.message}"
                why.statement = REMEDIED(problem=both, remedy=problem.remedy)
            else:
                why.add_note(f"{problem.message}; {problem.remedy}")

    def _restored(self, killed: Outcome) -> Outcome:
        try:
            with interrupts_held():
                restore_knobs(self._probe)
        except HowlateError as problem:
            return replace(killed, message=f"{killed.message}; {problem.message}; {problem.remedy}")
        return killed

    def _wait(self, probe: subprocess.Popen[bytes]) -> int:
        try:
            return probe.wait(self._stop_s)
        except subprocess.TimeoutExpired:
            raise silent(self._stop_s) from None

    def _follow(
        self, probe: subprocess.Popen[bytes], output: IO[bytes], on_progress: Callable[[Progress], None]
    ) -> bool:
        """Read progress lines until the probe closes its output. Returns whether it was told to end (`Enough`)."""
        rest, is_cut = b"", False
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            heard = time.monotonic()
            while True:
                if selector.select(max(0.0, heard + self._silent_s - time.monotonic())):
                    data = os.read(output.fileno(), 65536)
                    if not data:
                        return is_cut
                    heard = time.monotonic()
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        progress = parse_progress(line)
                        if progress is None or is_cut:
                            continue
                        try:
                            on_progress(progress)
                        except Enough:
                            is_cut = True
                            probe.send_signal(signal.SIGINT)
                elif time.monotonic() - heard >= self._silent_s:
                    raise silent(self._silent_s)


def parse_progress(line: bytes) -> Progress | None:
    """`progress <activations> <elapsed_ns> <latency_ns_max>`, then `<cpu>:<activations>:<latency_ns_max>` for each
    CPU, perhaps with `:<bin>+<more>,...`; None for any other line."""
    words = line.split()
    if len(words) < 4 or words[0] != b"progress":
        return None
    try:
        activations, elapsed_ns, latency_ns_max = (int(word) for word in words[1:4])
        split = [word.split(b":") for word in words[4:]]
        rows = [tuple(map(int, parts[:3])) for parts in split]
        bins = [tuple(_pair(pair) for text in parts[3:] for pair in text.split(b",")) for parts in split]
        cpus = tuple(
            CpuProgress(cpu, made, largest_ns, more)
            for (cpu, made, largest_ns), more in zip(rows, bins, strict=True)
        )
    except (ValueError, TypeError):
        return None
    numbers = ((activations, elapsed_ns, latency_ns_max), *rows, *(pair for more in bins for pair in more))
    if any(abs(number) >> 63 for row in numbers for number in row):
        return None
    return Progress(activations, elapsed_ns / 1e9, latency_ns_max, cpus=cpus)


def _pair(text: bytes) -> tuple[int, int]:
    """A bin and how many came into it."""
    from howlate.model.bins import COARSE_BINS

    place, count = map(int, text.split(b"+"))
    if not (0 <= place < COARSE_BINS and count >= 0):
        raise ValueError
    return place, count


def _another_program(probe: Path, problem: HowlateError) -> Statement:
    """The error about an answer that comes from another program, or from another version of the probe."""
    given = "HOWLATE_PROBE" in os.environ
    remedy = f"unset HOWLATE_PROBE ({probe})" if given else f"remove {probe}; ./howlate builds it again"
    return REMEDIED(problem=problem.statement, remedy=remedy)


def silent(silent_s: float, options: str = "") -> TargetError:
    """The error about a probe without output. `options`: of the doctor's command that looks at its machine."""
    return TargetError(
        "the probe was silent for {silent_s:number} s, so it was stopped",
        remedy="check whether a real-time task holds all CPUs (`howlate doctor{options}`)",
        silent_s=silent_s,
        options=options,
    )


def _not_started(probe: Path, problem: OSError) -> HowlateError:
    return TargetError(NOT_STARTED(path=probe, reason=problem.strerror))


def restore_knobs(probe: Path) -> str:
    """`howlate-probe restore`: undo what a killed probe left changed in this boot; return its output."""
    try:
        done = subprocess.run(
            [str(probe), "restore"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_S,
            check=False,
            process_group=0,  # Ctrl-C must not interrupt it half-way
        )
    except subprocess.TimeoutExpired:
        raise TargetError(NOT_RESTORED(reason=NO_ANSWER(command="restore", limit_s=ASK_S))) from None
    except OSError as problem:
        raise _not_started(probe, problem) from None
    if done.returncode != 0:
        raise TargetError(NOT_RESTORED(reason=sentence_of(done.stderr, done.returncode)))
    return done.stdout.decode("utf-8", "replace").strip() or "nothing to restore"
