"""The signals that end howlate: deferred while something must not be left half done, and enforced where a library
looks at none."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from howlate.errors import ExitCode
from howlate.words import say
from howlate.words.statement import message

if TYPE_CHECKING:
    from concurrent.futures import Future

INTERRUPTED = message("main.interrupted", "interrupted")
GRACE_CPU_S, GRACE_S = 0.5, 5.0
"""What a block may still take of the CPU, and on the clock, after such a signal."""
_LOOK_AGAIN_S = 0.05
_WAKE_S = 0.5
"""Python runs a signal's handler between two of its own instructions: a wait without a limit sleeps through a signal
that arrives just before it sleeps. The waits below wake up this often."""

T = TypeVar("T")


def wait_for(futures: Iterable[Future[Any]]) -> None:
    """Until each has ended. A future that was cancelled before it ran never does."""
    from concurrent.futures import wait

    running = set(futures)
    while running:
        running = wait(running, _WAKE_S).not_done


def result_of(future: Future[T]) -> T:
    """Its result or its error, once it has ended."""
    while not future.done():
        with contextlib.suppress(TimeoutError):
            return future.result(_WAKE_S)
    return future.result()


def next_of(queue: SimpleQueue[T]) -> T:
    while True:
        with contextlib.suppress(Empty):
            return queue.get(timeout=_WAKE_S)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer signals that end howlate until the block ends. This uses handlers, because child processes would
    inherit a mask. In other threads than the main one there is nothing to defer. May be nested."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda which, _: came.append(which))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for which in came:  # raised here, or deferred further by the block around this one
            handled[signal.Signals(which)](which, None)


@contextlib.contextmanager
def ended_in_time(clean_up: Callable[[], None]) -> Iterator[None]:
    """For a block that may be in another library's code for minutes, in which Python sees no signal. If it has not
    ended soon after one, another thread cleans up and ends the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(reader, over, clean_up), daemon=True)
    watch.start()
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writer)
        watch.join()  # without a limit: the closed pipe ends it
        os.close(reader)


def _watch(reader: int, over: threading.Event, clean_up: Callable[[], None]) -> None:
    """Python writes the number of each signal that it handles to the pipe."""
    while not {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} & set(came := os.read(reader, 64)):
        if not came:
            return
    cpu_s, clock_s = time.process_time(), time.monotonic()
    while not over.wait(_LOOK_AGAIN_S):
        if time.process_time() - cpu_s > GRACE_CPU_S or time.monotonic() - clock_s > GRACE_S:
            _end(clean_up)


def _end(clean_up: Callable[[], None]) -> NoReturn:
    try:
        clean_up()
        print(f"howlate: {say.advice(say.english(INTERRUPTED()), '')}", file=sys.stderr, flush=True)
    finally:
        os._exit(ExitCode.INCONCLUSIVE)
