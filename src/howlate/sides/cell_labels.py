"""The labels of cells of several runs: what distinguishes them is in them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary
from howlate.sides.joined import KERNEL, Joined
from howlate.sides.side_names import telling


def names_of_sides(joined: Joined) -> dict[tuple[int, str], str] | None:
    """The name of the side, by run and by the cells' label `kernel`; None if kernel and preemption do not
    distinguish the sides."""
    sides = joined.sides
    if len({(side.kernel, side.preemption) for side in sides}) < len(sides):
        return None
    return {
        (member.run, member.group.labels.get(KERNEL, "")): sides[i].name
        for place in joined.places
        for i, member in place.members.items()
    }


def labels_of(contents: Sequence[RunContent], joined: Joined | None) -> list[dict[str, str]]:
    """The labels of all cells of all runs, one after the other. Cells of several runs are distinguished by
    the kernel if that suffices, else by the run; those of several tests by the test."""
    kernels = names_of_sides(joined) if joined is not None and len(contents) > 1 else None
    told = telling(contents)
    tests = {cell.summary.test for content in contents for cell in content.cells}
    labels = []
    for number, content in enumerate(contents):
        for cell in content.cells:
            own = told(cell.summary.labels)
            if len(tests) > 1:
                own = {"test": cell.summary.test, **own}
            if kernels is not None:
                own[KERNEL] = kernels[number, own.get(KERNEL, "")]
            labels.append(
                {"run": content.name or content.run.id, **own}
                if len(contents) > 1 and kernels is None
                else own
            )
    return labels


def labelled(contents: Sequence[RunContent], joined: Joined | None) -> list[CellSummary]:
    cells = [cell.summary for content in contents for cell in content.cells]
    labels = labels_of(contents, joined)
    return [replace(cell, labels=own) for cell, own in zip(cells, labels, strict=True)]
