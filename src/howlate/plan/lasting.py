"""Checks whether a plan's cells last long enough for the work of their loads: a cell that is over before the
load's first fsync was not under that load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howlate.model.answer import FewActions
from howlate.model.plan import Cell
from howlate.model.study import PART
from howlate.words.statement import Statement, message

TOO_SHORT = message(
    "lasting.too-short",
    "{cells} last {length}, too short for {load}: {many} {actions} fit, {least} are needed",
)
TOO_SHORT_SUPPOSED = message(
    "lasting.too-short-supposed",
    "{cells} last {length}, too short for {load}: about {many} {actions} of {each} fit, {least} are needed",
)


def too_short(cells: Iterable[tuple[Cell, Sequence[FewActions]]]) -> tuple[Statement, ...]:
    """A statement for each load and length of cells that leaves no room for the load's work."""
    periods: dict[tuple[str, FewActions, float], set[str]] = {}
    for cell, few in cells:
        for actions in few if not cell.impossible else ():
            key = (cell.labels.get(PART, ""), actions, cell.length.measuring_s)
            periods.setdefault(key, set()).add(cell.labels.get("period", ""))
    return tuple(_too_short(*key, at) for key, at in periods.items())


def _too_short(part: str, actions: FewActions, seconds: float, periods: set[str]) -> Statement:
    values = {
        "cells": _cells(part, sorted(periods) if all(periods) else []),
        "length": _lasting(seconds),
        "load": actions.load,
        "many": actions.many,
        "actions": actions.name,
        "least": actions.least,
    }
    if actions.supposed_s:
        return TOO_SHORT_SUPPOSED(**values, each=_lasting(actions.supposed_s))
    return TOO_SHORT(**values)


def _cells(part: str, periods: Sequence[str]) -> str:
    of = f" of the part {part}" if part else ""
    at = f" at {', '.join(periods)}" if periods else ""
    return f"the cells{of}{at}"


def _lasting(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms" if seconds < 1 else f"{seconds:.4g} s"
