"""The page of twice as many rows is at most a little more than twice the work, counted in lines of Python."""

import sys
from collections import Counter
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from msgspec.structs import replace

from howlate.document.html import render
from howlate.model.loaded import RunContent
from howlate.system.paths import ROOT
from made_cells import made_cell
from made_runs import made_run

SOURCES = str(ROOT / "src" / "howlate")


def run_of(count: int) -> RunContent:
    """Two kernels, each under half of so many loads."""
    summary, bins, *_ = made_cell("none", 1, 500)
    labels = [{**summary.labels, "load": f"cpu:{n // 2}", "kernel": f"{n % 2}"} for n in range(count)]
    return made_run([(replace(summary, id=f"c{n}-1", labels=own), bins) for n, own in enumerate(labels)])


def lines_of(run: RunContent) -> Counter[tuple[str, int]]:
    """How often each line of howlate's was executed for the page; in a comprehension, once a round."""
    lines: Counter[tuple[str, int]] = Counter()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        if event == "line":
            lines[frame.f_code.co_filename, frame.f_lineno] += 1
        return trace

    sys.settrace(trace)
    try:
        render([run])
    finally:
        sys.settrace(None)
    return lines


def calls_of(run: RunContent) -> int:
    """How often functions of howlate's were called for the page, and generators asked."""
    calls = Counter[str]()
    sys.setprofile(
        lambda frame, event, _: calls.update([event] * frame.f_code.co_filename.startswith(SOURCES))
    )
    try:
        render([run])
    finally:
        sys.setprofile(None)
    return calls["call"]


@pytest.mark.parametrize("counts", [(8, 16), pytest.param((400, 800), marks=pytest.mark.long)])
def test_twice_the_rows_are_at_most_a_little_more_than_twice_the_calls(counts: tuple[int, ...]) -> None:
    """From some 300 rows on a page is drawn anew, with less, until it fits: all counts are on one side of that."""
    render([run_of(4)])
    calls = [calls_of(run_of(count)) for count in counts]
    assert all(more < 2 * 1.2 * few for few, more in pairwise(calls)), calls


@pytest.mark.parametrize("rows", [16, pytest.param(120, marks=pytest.mark.long)])
def test_a_page_grows_with_its_rows(rows: int) -> None:
    render([run_of(4)])  # what is read once
    few, many = lines_of(run_of(rows)), lines_of(run_of(2 * rows))
    steep = {
        place: (few[place], count)
        for place, count in many.items()
        if count > 1_000 and count > 2.6 * few[place]
    }
    assert not steep
