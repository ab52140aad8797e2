"""Whether a whole cell is what was measured: its bytes are those of its checksums, and its figures those of its
samples. The second finds what somebody changed who made new checksums, unless the samples were changed too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from howlate.errors import DamagedError
from howlate.model.run import Run
from howlate.model.summary import SCHEMA
from howlate.statistics.groups import IN_FORCE
from howlate.store.files import read_json
from howlate.store.run_folder import BINS, SUMMARY, RunFolder
from howlate.store.summarise import computed
from howlate.system.version import __version__
from howlate.words.say import english

SENTENCES = ("warnings", "statements")
"""Each version words them in its own way, so those of another version cannot be computed again."""
_NEARLY = 1e-9
"""Sums of floats depend on their order."""
_NAMED = 5


def differences(folder: RunFolder, run: Run, cell_id: str) -> list[str]:
    """The differences in a whole cell's folder, each as the end of a sentence."""
    try:
        return folder.differences(cell_id) or _other_figures(folder, run, cell_id)
    except DamagedError as problem:
        return [english(problem.statement)]


def _other_figures(folder: RunFolder, run: Run, cell_id: str) -> list[str]:
    """Members of summary.json and bins.json that are not those of the samples. What another howlate computed is
    compared in all members that both have, but for its sentences."""
    if not folder.has_checksums(cell_id):
        return []
    planned = next((cell for cell in run.plan.cells if cell.id == cell_id), None)
    files = folder.files(cell_id, run)
    stored = files.stored_summary()
    expected = stored.starved if planned is None else planned.starvation_expected
    repetition = stored.repetition if planned is None else planned.repetition
    planned_labels = {} if planned is None else planned.labels
    others = [
        name
        for name, text in planned_labels.items()
        if name not in IN_FORCE and stored.labels.get(name) != text
    ]
    if others:
        return [f"{SUMMARY} has other labels than the plan: {', '.join(others)}"]
    summary, bins = computed(
        files.folder, cell_id, stored.labels, starvation_expected=expected, repetition=repetition
    )
    pairs = {SUMMARY: (read_json(files.folder / SUMMARY), {"schema": SCHEMA, **summary.to_json()})}
    if (files.folder / BINS).is_file():
        pairs[BINS] = (read_json(files.folder / BINS), bins.to_json())
    is_own = run.versions.get("howlate") == __version__
    wrong = []
    for file, (was, now) in pairs.items():
        if not is_own:
            was, now = _shared(was, now), _shared(now, was)
        if places := list(_unlike(was, now)):
            rest = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
            wrong.append(f"{file} does not follow from the samples: {', '.join(places[:_NAMED])}{rest}")
    return wrong


def _shared(value: Any, other: Any) -> Any:
    """The value with the members alone that the other one has too, without sentences."""
    if not (isinstance(value, dict) and isinstance(other, dict)):
        return value
    return {
        name: _shared(member, other[name])
        for name, member in value.items()
        if name in other and name not in SENTENCES
    }


def _unlike(was: Any, now: Any, place: str = "") -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*was, *now)):
            yield from _unlike(was.get(name), now.get(name), f"{place}.{name}" if place else name)
    elif isinstance(was, list | tuple) and isinstance(now, list | tuple) and len(was) == len(now):
        if any(each for at in zip(was, now, strict=True) for each in _unlike(*at, "item")):
            yield place
    elif not _equal(was, now):
        yield place


def _equal(was: Any, now: Any) -> bool:
    if isinstance(was, float) and isinstance(now, int | float):
        return math.isclose(was, now, rel_tol=_NEARLY)
    return bool(was == now)
