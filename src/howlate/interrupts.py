"""Defer the signals that end howlate while something must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer signals that end howlate until the block ends. This uses handlers, because child processes would
    inherit a mask. In other threads than the main one there is nothing to defer."""
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
    if came:
        raise KeyboardInterrupt
