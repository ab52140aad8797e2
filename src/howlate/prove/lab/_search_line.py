"""The line that shows how far the search of a landscape is."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from howlate.system.outputs import obeys_escapes
from howlate.words.quantities import exact_text, seconds_text

if TYPE_CHECKING:
    from howlate.prove.landscape import Search


@contextmanager
def showing(name: str) -> Iterator[tuple[Callable[[Search], None], Callable[[Search], None]]]:
    """The progress of a search before and during it; nothing is left of the line after it."""
    try:
        yield _progress(name), _begins(name)
    finally:
        _show("")


def _show(line: str) -> None:
    """In place of the line before on a terminal, where "" leaves nothing of it; elsewhere on a line of its own."""
    is_terminal = obeys_escapes(sys.stderr)
    if is_terminal:
        line = f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}"
    if line:
        click.echo(line, err=True, nl=not is_terminal)


def _begins(name: str) -> Callable[[Search], None]:
    """Once, before the search: how many probes it takes at least, and how long."""
    began = time.monotonic()

    def report(search: Search) -> None:
        _show("")
        least, each_s = search.least, (time.monotonic() - began) / len(search.probes)
        left_s = each_s * max(0, least - len(search.probes))
        click.echo(
            f"{name}: {len(search.probes)} probes were asked before the search, which takes {least} in all at least: "
            f"{seconds_text(left_s, ' ', math.floor)} more at least",
            err=True,
        )

    return report


def _progress(name: str) -> Callable[[Search], None]:
    """Found and bound as they approach each other, at most once a second, elsewhere than on a terminal once a minute;
    the least number of probes, and how long those take that are left of it."""
    began = last = time.monotonic()
    every_s = 1 if obeys_escapes(sys.stderr) else 60

    def report(search: Search) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < every_s:
            return
        last = now
        least = search.least
        each_s = (now - began) / len(search.probes)
        left_s = each_s * (least - len(search.probes))
        left = f", {seconds_text(left_s, ' ', math.floor)} left at least" if left_s > 0 else ""
        _show(
            f"{name}: found {exact_text(search.found_ns)}, bound {exact_text(search.bound_ns)}, "
            f"{len(search.probes)} probes of at least {least} ({each_s:.2f} s each{left})"
        )

    return report
