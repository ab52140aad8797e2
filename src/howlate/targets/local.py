"""This machine: the probe as a child that ends with howlate, however that dies."""

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

from howlate.errors import HowlateError, TargetError, UsageError
from howlate.interrupts import interrupts_held
from howlate.model.capabilities import Capabilities
from howlate.model.decode import parse_json
from howlate.model.plan import Cell
from howlate.places import probe_path
from howlate.targets._target import (
    Checked,
    OneMachine,
    Outcome,
    Progress,
    arguments,
    checks_of,
    commands,
    outcome_of,
    sentence_of,
)

SUMMARY = "this machine"
ASK_S = 60.0
"""`list` and `facts` answer within this, or something is broken."""
SILENT_S = 120.0
"""The probe writes a line a second; one that writes none for so long hangs."""
STOP_S = 30.0
"""A probe that was asked to stop restores knobs, ends loads and completes its stream within this."""


def open_target(argument: str, _say: Callable[[str], None]) -> LocalTarget:
    """`local`; there is only one, so it takes no argument."""
    if argument:
        raise UsageError(f'the target local takes no argument ("{argument}")', "write --target local")
    return LocalTarget(probe_path())


class LocalTarget(OneMachine):
    """Runs the probe that was built for this machine."""

    def __init__(self, probe: Path, silent_s: float = SILENT_S, stop_s: float = STOP_S) -> None:
        self._probe = probe
        self._silent_s = silent_s
        self._stop_s = stop_s
        self._stopped = threading.Event()
        self._probes: set[subprocess.Popen[bytes]] = set()
        self._hold = threading.Lock()

    @property
    def name(self) -> str:
        return "local"

    def facts(self, machine: str = "") -> dict[str, Any]:
        return self._ask("facts")

    def capabilities(self, machine: str = "") -> Capabilities:
        return Capabilities.from_json(self._ask("list"))

    def checked(self, cells: Sequence[Cell]) -> list[Checked]:
        given = "".join(f"{line}\n" for line in commands(cells)).encode()
        return checks_of(self._said("plan", given=given), len(cells), "here")

    def stop(self) -> None:
        with self._hold:
            self._stopped.set()
            for probe in self._probes:
                if probe.poll() is None:
                    probe.send_signal(signal.SIGINT)

    def close(self) -> None:
        pass

    def _ask(self, what: str) -> dict[str, Any]:
        text = self._said(what, "--json").decode("utf-8", "replace")
        try:
            return dict(parse_json(text, f"`howlate-probe {what} --json`", TargetError).values)
        except TargetError as problem:
            raise TargetError(problem.message, _another_program(self._probe)) from None

    def _said(self, what: str, *more: str, given: bytes = b"") -> bytes:
        """What a command of the probe prints that answers at once."""
        try:
            done = subprocess.run(
                [str(self._probe), what, *more],
                input=given,
                capture_output=True,
                timeout=ASK_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TargetError(f"`howlate-probe {what}` gave no answer within {ASK_S:g} s") from None
        except OSError as problem:
            raise _not_started(self._probe, problem) from None
        if done.returncode != 0:
            raise TargetError(f"`howlate-probe {what}` failed: {sentence_of(done.stderr, done.returncode)}")
        return done.stdout

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        argv = [str(self._probe), *arguments(cell), f"--stream={stream}"]
        argv += ["--progress", "--quiet", "--end-with-parent", f"--parent={os.getpid()}"]
        with tempfile.TemporaryFile() as errors:
            with self._running(argv, errors, knobs="knob" in cell.parameters) as probe:
                assert probe.stdout is not None
                self._follow(probe.stdout, on_progress)
                status = self._wait(probe)
            if self._stopped.is_set():
                raise KeyboardInterrupt
            errors.seek(0)
            return outcome_of(status, errors.read())

    @contextlib.contextmanager
    def _running(self, argv: list[str], errors: IO[bytes], knobs: bool) -> Iterator[subprocess.Popen[bytes]]:
        """Whatever happens inside, the probe is asked to stop once, waited for, then killed, and its knobs are
        restored in its place."""
        probe: subprocess.Popen[bytes] | None = None
        try:
            with interrupts_held():  # until the process is in our hands: an unknown one could not be stopped
                # A process group of its own: Ctrl-C reaches howlate alone, which passes it on once.
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
            self._end(probe, problem, knobs)
            raise
        except BaseException as problem:
            if probe is not None:
                self._end(probe, problem, knobs)
            raise
        finally:
            if probe is not None:
                with self._hold:
                    self._probes.discard(probe)
                if probe.stdout is not None:
                    probe.stdout.close()

    def _end(self, probe: subprocess.Popen[bytes], why: BaseException, knobs: bool) -> None:
        if probe.poll() is None:
            probe.send_signal(signal.SIGINT)
        try:
            probe.wait(self._stop_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            with interrupts_held():  # a third Ctrl-C must not leave them changed
                probe.kill()
                probe.wait()
                if knobs:
                    self._restore(why)

    def _restore(self, why: BaseException) -> None:
        """What the killed probe could not; where it cannot be done, the error on its way tells it."""
        try:
            restore_knobs(self._probe)
        except HowlateError as problem:
            if isinstance(why, HowlateError):
                why.message += f"; {problem.message}"
                why.remedy = problem.remedy
            else:
                why.add_note(f"{problem.message}; {problem.remedy}")

    def _wait(self, probe: subprocess.Popen[bytes]) -> int:
        """It closed its output, so it is about to end."""
        try:
            return probe.wait(self._stop_s)
        except subprocess.TimeoutExpired:
            raise TargetError(
                "the probe did not end after its last line", "see whether this repeats"
            ) from None

    def _follow(self, output: IO[bytes], on_progress: Callable[[Progress], None]) -> None:
        """Reads progress lines until the probe closes its output."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            heard = time.monotonic()
            while True:
                if selector.select(max(0.0, heard + self._silent_s - time.monotonic())):
                    data = os.read(output.fileno(), 65536)
                    if not data:
                        return
                    heard = time.monotonic()
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        progress = parse_progress(line)
                        if progress is not None:
                            on_progress(progress)
                elif time.monotonic() - heard >= self._silent_s:
                    raise TargetError(
                        f"the probe has said nothing for {self._silent_s:g} s, so it was stopped",
                        "see whether a real-time task holds all CPUs (`howlate doctor`)",
                    )


def parse_progress(line: bytes) -> Progress | None:
    """`progress <activations> <elapsed_ns> <latency_ns_max>`, or None for any other line."""
    words = line.split()
    if len(words) != 4 or words[0] != b"progress":
        return None
    try:
        activations, elapsed_ns, latency_ns_max = (int(w) for w in words[1:])
    except ValueError:
        return None
    return Progress(activations, elapsed_ns / 1e9, latency_ns_max)


def _another_program(probe: Path) -> str:
    """The remedy where what answers is no probe, or one of another version."""
    if "HOWLATE_PROBE" in os.environ:
        return f"unset HOWLATE_PROBE, which names {probe}, or have it name the probe of this howlate"
    return f"remove {probe}; ./howlate builds it again"


def _not_started(probe: Path, problem: OSError) -> HowlateError:
    return TargetError(
        f"{probe} could not be started: {problem.strerror}", "let `howlate check` build it again"
    )


_RESTORE = "restore them as root with `howlate doctor --restore`"


def restore_knobs(probe: Path) -> str:
    """`howlate-probe restore`: undoes what a killed probe left changed in this boot; its own words."""
    try:
        done = subprocess.run(
            [str(probe), "restore"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_S,
            check=False,
            process_group=0,  # Ctrl-C must not end it half way
        )
    except subprocess.TimeoutExpired:
        raise TargetError(
            f"knobs were not restored: `howlate-probe restore` gave no answer within {ASK_S:g} s", _RESTORE
        ) from None
    except OSError as problem:
        raise _not_started(probe, problem) from None
    if done.returncode != 0:
        raise TargetError(f"knobs were not restored: {sentence_of(done.stderr, done.returncode)}", _RESTORE)
    return done.stdout.decode("utf-8", "replace").strip() or "nothing was left to restore"
