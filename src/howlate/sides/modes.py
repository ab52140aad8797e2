"""Whether rows of user space and of the kernel stand together (model/mode.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from howlate.model.loaded import RunContent
from howlate.model.mode import MODE, with_mode
from howlate.sides.printed_figures import of_both_modes
from howlate.words.statement import Statement, message

Telling = Callable[[Mapping[str, str]], dict[str, str]]
"""The labels that a cell is shown with, from its own."""
IN_MODE = message("run.in-mode", "every activation is in {mode} mode")


def telling(contents: Sequence[RunContent]) -> Telling:
    """The modes of the cells of these runs. Each says its mode if one of the cells has a
    core's timer, or if the document of a study has rows of both modes."""
    documents = {content.run.study.reference for content in contents} - {""}
    told = any(map(of_both_modes, documents)) or any(
        MODE in cell.summary.labels for content in contents for cell in content.cells
    )
    return with_mode if told else dict


def mode_of_all(labels: Iterable[Mapping[str, str]]) -> Statement | None:
    """The mode of all cells; None if they do not say it, or differ in it: then their names have it."""
    modes = {own.get(MODE, "") for own in labels}
    mode = modes.pop() if len(modes) == 1 else ""
    return IN_MODE(mode=mode) if mode else None
