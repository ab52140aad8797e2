"""An interrupt at any moment of reading or writing a run: it ends the block as an interrupt, never as an error of the
files, as where a descriptor is closed twice."""

import itertools
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import pytest

from howlate.store.duck import connection, reading, writing
from howlate.store.files import make_folder, remove_folder, write_text, written_beside
from howlate.store.lock import locked
from howlate.system.interrupts import interrupts_held
from howlate.system.opening import open_file, opened_folder, read_bytes


def _run_folder(place: Path) -> Path:
    cell = place / "r" / "cells" / "one"
    cell.mkdir(parents=True, exist_ok=True)
    (cell / "cell.json").write_text("{}")
    return cell


def _open_folder(cell: Path) -> None:
    with opened_folder(cell):
        pass


def _read(cell: Path) -> None:
    read_bytes(cell / "cell.json")


def _read_folder(cell: Path) -> None:
    with suppress(IsADirectoryError):
        open_file(cell)


def _write(cell: Path) -> None:
    write_text(cell / "cell.json", "{}")


def _write_beside(cell: Path) -> None:
    with written_beside(cell / "table.json") as made:
        made.write_text("{}")


def _make_and_remove(cell: Path) -> None:
    make_folder(cell / ".pieces")
    for name in ("a", "b"):
        (cell / ".pieces" / name).mkdir(exist_ok=True)
    remove_folder(cell / ".pieces")


def _lock(cell: Path) -> None:
    with locked(cell.parent.parent):
        pass


def interrupted_after(number: int, block: Callable[[Path], None], cell: Path) -> bool:
    """Whether SIGINT was sent amid the block, after its call of this number to a function in C. It must not be
    lost."""
    left = number

    def profile(_frame: object, event: str, _what: object) -> None:
        nonlocal left
        if event == "c_return":
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    came = False
    sys.setprofile(profile)
    try:
        block(cell)
    except KeyboardInterrupt:
        came = True
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    assert came == (left <= 0)
    return came


@pytest.mark.parametrize(
    "block",
    [_open_folder, _read, _read_folder, _write, _write_beside, _make_and_remove, _lock],
    ids=lambda block: block.__name__.strip("_"),
)
def test_an_interrupt_is_an_interrupt_wherever_it_comes(
    tmp_path: Path, block: Callable[[Path], None]
) -> None:
    cells = (_run_folder(tmp_path / str(number)) for number in itertools.count())
    times = next(n for n in range(1000) if not interrupted_after(n + 1, block, next(cells)))
    assert times > 3


@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_that_is_held_comes_at_the_end_of_the_outermost_block(fails: bool) -> None:
    """And is not lost where the block fails."""
    ended = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_held():
            with suppress(OSError), interrupts_held():
                signal.raise_signal(signal.SIGINT)
                if fails:
                    raise OSError
            ended.append("inner")
        assert ended == ["inner"]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("block", [nullcontext, reading, writing])
def test_an_interrupt_in_any_statement_of_a_database_is_one(
    tmp_path: Path, block: Callable[[Path], AbstractContextManager[object]]
) -> None:
    """DuckDB answers a signal with this error of its own (`./dev hostile signals` sends real ones)."""
    with pytest.raises(KeyboardInterrupt), connection(tmp_path), block(tmp_path):
        raise RuntimeError("Query interrupted")
    with pytest.raises(RecursionError), connection(tmp_path), block(tmp_path):
        raise RecursionError
