"""Faults planted in howlate, each of which the harness must find."""

import os
from collections.abc import Callable
from typing import Any


def _changed_figures() -> None:
    """Nothing is compared with its checksums."""
    from howlate.store import checksums, run_folder

    for module in (checksums, run_folder):
        vars(module)["changed"] = lambda *_, **__: None


def _foreign_cells() -> None:
    """A cell does not say of which run it is."""
    from howlate.store import run_folder

    whole = vars(run_folder)["read_checksums"]
    vars(run_folder)["read_checksums"] = lambda folder, run="": whole(folder)


def _silent_loss() -> None:
    """A cell that is gone is not named."""
    from howlate.document import missing

    vars(missing)["missing_named"] = lambda gone, unmeasured: ()


def _raw_text() -> None:
    """What a terminal obeys goes there as it is."""
    from howlate.store import loaded

    _before(loaded, "load_run", lambda: os.write(1, b"\x1b]0;title\x07"))


def _memory() -> None:
    from howlate.store import loaded

    _before(loaded, "load_run", lambda: bytearray(2 << 30))


def _traceback() -> None:
    from howlate.store import loaded

    _before(loaded, "load_run", lambda: 1 // 0)


def _unverified() -> None:
    """Nothing is computed from the samples once more."""
    from howlate.store import verified

    vars(verified)["_other_figures"] = lambda *_: []


def _before(module: Any, name: str, fault: Callable[[], Any]) -> None:
    whole = vars(module)[name]

    def planted(*words: Any, **options: Any) -> Any:
        fault()
        return whole(*words, **options)

    vars(module)[name] = planted


PLANTS: dict[str, Callable[[], None]] = {
    "changed figures": _changed_figures,
    "foreign cells": _foreign_cells,
    "silent loss": _silent_loss,
    "raw text": _raw_text,
    "memory": _memory,
    "traceback": _traceback,
    "unverified": _unverified,
}
