"""A signal that comes while howlate waits ends the wait, even one that arrives just before the wait begins."""

import ast
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

import pytest

from howlate.system import interrupts

SOURCES = Path(interrupts.__file__).parents[1]
WAITS = ("result", "get", "join", "wait", "acquire", "shutdown")
ALLOWED = {
    ("lab/guests/guest.py", "wait"): 2,  # a process that was killed
    ("lab/guests/monitor.py", "get"): 2,  # work for a loop that has a deadline
    ("lab/guests/monitor.py", "result"): 1,  # a task that is done
    ("system/interrupts.py", "join"): 1,  # its pipe was closed
    ("system/interrupts.py", "result"): 1,  # of a future that has ended
    ("targets/_flow.py", "wait"): 1,  # killed
    ("targets/_link.py", "wait"): 1,  # killed
    ("targets/local.py", "wait"): 1,  # killed
}


def test_nothing_waits_without_a_limit() -> None:
    waits: dict[tuple[str, str], int] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]) if name in WAITS:
                    key = path.relative_to(SOURCES).as_posix(), name
                    waits[key] = waits.get(key, 0) + 1
                case ast.ImportFrom(module="concurrent.futures", names=names) if path.stem != "interrupts":
                    assert "wait" not in {name.name for name in names}, path
    assert waits == ALLOWED


@pytest.mark.parametrize("waits", ["wait_for", "result_of", "next_of"])
def test_a_signal_that_nobody_was_woken_for_ends_the_wait(waits: str) -> None:
    """Python's flag is set and the sleeping system call is not interrupted, as it is when a signal arrives between
    Python's last look and the sleep: here because another thread takes the signal."""
    taken = threading.Event()

    def interrupt(*_: object) -> None:
        taken.set()
        raise KeyboardInterrupt

    future: Future[None] = Future()
    calls: dict[str, Callable[[], object]] = {
        "wait_for": lambda: interrupts.wait_for([future]),
        "result_of": lambda: interrupts.result_of(future),
        "next_of": lambda: interrupts.next_of(SimpleQueue()),
    }

    def send() -> None:
        while interrupts.__file__ not in _files_of_main_thread():
            time.sleep(0)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    other = threading.Thread(target=send)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            calls[waits]()
    finally:
        other.join()
        signal.signal(signal.SIGUSR1, before)
    assert taken.is_set()


def _files_of_main_thread() -> set[str]:
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    return {one.filename for one in traceback.extract_stack(frame)}


@pytest.mark.parametrize("error", [None, TimeoutError("its own")])
def test_a_futures_own_timeout_is_its_result(error: Exception | None) -> None:
    future: Future[int] = Future()
    if error is None:
        future.set_result(3)
        assert interrupts.result_of(future) == 3
    else:
        future.set_exception(error)
        with pytest.raises(TimeoutError, match="its own"):
            interrupts.result_of(future)
