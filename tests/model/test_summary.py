"""Summaries and bins: encoding and decoding are exact inverses, and what is not theirs is a sentence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.errors import DamagedError
from howlate.model.bins import CellBins, Histogram, LoadCourse, Tail, TimeBlocks
from howlate.model.counted import Counted, Counters
from howlate.model.disturbances import Others, OtherTask
from howlate.model.knowledge import Knowledge
from howlate.model.summary import (
    Accounting,
    CellSummary,
    ColumnSummary,
    DeadlineSummary,
    LargestAlone,
    LoadSummary,
)
from howlate.statistics.valid import STEAL
from howlate.words.printable import printable
from howlate.words.say import english
from howlate.words.statement import Statement

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(printable)
"""As what is read is: howlate/words/printable.py."""
ints = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(0, 2**63 - 1)
few = st.integers(0, 2**50)
reals = st.floats(-1e30, 1e30)
shares = st.floats(0, 1)
columns = st.builds(
    ColumnSummary,
    count=counts,
    min=st.none() | ints,
    mean=st.none() | reals,
    max=st.none() | ints,
    stddev=st.none() | reals,
    period_exceeded=st.none() | counts,
    quantiles=st.dictionaries(st.sampled_from(["0.5", "0.99", "0.99999"]), st.none() | ints, max_size=3),
    max_at_s=st.none() | reals,
)
loads = st.builds(
    LoadSummary, texts, st.none() | reals, st.none() | reals, st.dictionaries(texts, ints, max_size=2)
)
summaries = st.builds(
    CellSummary,
    id=texts,
    test=texts,
    labels=st.dictionaries(texts, texts, max_size=3),
    accounting=st.builds(Accounting, *[counts] * 7, late_policy=texts),
    stop_reason=texts,
    clocksource=st.dictionaries(texts, texts, max_size=2),
    valid=st.booleans(),
    columns=st.dictionaries(texts, columns, max_size=2),
    outcomes=st.dictionaries(texts, ints, max_size=2),
    loads=st.lists(loads, max_size=2).map(tuple),
    warnings=st.lists(st.builds(Statement.verbatim, texts), max_size=2).map(tuple),
    repetition=st.integers(1, 99),
    deadline=st.none() | st.builds(DeadlineSummary, *[counts] * 4),
    known=st.builds(
        Knowledge, st.booleans(), st.booleans(), st.none() | counts, st.none() | ints, st.booleans(), counts
    ),
)


@given(summaries)
@settings(max_examples=settings().max_examples // 2)
def test_summaries_are_read_back(summary: CellSummary) -> None:
    text = json.dumps(summary.to_json())
    assert CellSummary.from_json(json.loads(text)) == summary
    assert json.dumps(CellSummary.from_json(json.loads(text)).to_json()) == text


@st.composite
def some_bins(draw: st.DrawFn) -> CellBins:
    def same(n: int, values: st.SearchStrategy[Any]) -> tuple[Any, ...]:
        return tuple(draw(st.lists(values, min_size=n, max_size=n)))

    n = draw(st.integers(0, 3))
    return CellBins(
        draw(texts),
        Histogram(same(n, ints), same(n, ints), same(n, few)),
        TimeBlocks(
            same(n, reals),
            draw(st.floats(1e-9, 1e30)),
            same(n, few),
            same(n, ints),
            same(n, ints),
            same(n, ints),
        ),
        Tail(same(n, ints), same(n, shares)),
        tuple(
            LoadCourse(draw(texts), same(n, reals), same(n, shares)) for _ in range(draw(st.integers(0, 2)))
        ),
    )


@given(some_bins())
def test_bins_are_read_back(bins: CellBins) -> None:
    assert CellBins.from_json(json.loads(json.dumps(bins.to_json()))) == bins


EXAMPLE = CellSummary(
    "c",
    "cyclic",
    {"load": "none"},
    Accounting(1, 1, 0, 0, 0, 0, 0, "skip"),
    "activations",
    {"before": "tsc", "after": "tsc"},
    True,
    {"latency_ns": ColumnSummary(1, 5, 5.0, 5, None, 0, {"0.5": None}, 0.0)},
    loads=(LoadSummary("cpu", 0.5, 0.49, {}),),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a value."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list | tuple)
        else ()
    )
    return [path] * bool(path) + [place for key, part in inside for place in places(part, (*path, key))]


def altered(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copied = json.loads(json.dumps(value))
    part = copied
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = new
    return copied


@pytest.mark.parametrize("path", places(EXAMPLE.to_json()), ids=str)
def test_a_value_of_another_type_is_a_sentence(path: tuple[Any, ...]) -> None:
    with pytest.raises(DamagedError, match=r"summary\.json"):
        CellSummary.from_json(altered(EXAMPLE.to_json(), path, [[]]))


def test_keys_of_newer_versions_are_left_alone() -> None:
    assert CellSummary.from_json(EXAMPLE.to_json() | {"new": 1, "schema": 1}) == EXAMPLE
    with pytest.raises(DamagedError, match="schema 2"):
        CellSummary.from_json(EXAMPLE.to_json() | {"schema": 2})


FIRST = {
    "": "id test labels accounting stop_reason clocksource valid columns outcomes loads warnings",
    "accounting": "releases recorded overruns dropped late_starts early warm_up late_policy",
    "columns": "count",
    "loads": "name target_cpu achieved_cpu results",
}
"""The members that the first summaries had and that a summary is nothing without. What is missing here was added
later, or is a figure that may not be stated: no older run has it, so no reader may need it."""

WHOLE = CellSummary(
    "load-0123456789-3",
    "cyclic",
    {"load": "cpu:50"},
    Accounting(20, 20, 0, 0, 0, 0, 0, "skip"),
    "activations",
    {"before": "tsc", "after": "tsc"},
    True,
    {
        "latency_ns": ColumnSummary(
            20, 5, 5.0, 50, 1.0, 0, {"0.5": 5}, 0.0, LargestAlone(3, 6, 0.1), {"0": 50, "1": 7}
        )
    },
    loads=(LoadSummary("cpu", 0.5, 0.2, {}, "cpu:50", "CPU", 0.5, 0.4, 0.2, 0.5),),
    warnings=(STEAL(steal_ns=5, share=0.1),),
    deadline=DeadlineSummary(100, 20, 1, 0),
    starved=True,
    repetition=3,
    others=Others(10, 9, 9, 0, 0, alone=False, expected=False, tasks=(OtherTask("sh", 7, 9),)),
    known=Knowledge(time_order=False),
)


def added(path: tuple[Any, ...]) -> bool:
    """Whether a member was added after the first summaries; what is below a name of the user's is not one."""
    names = [part for part in path if isinstance(part, str)]
    if not isinstance(path[-1], str) or names[0] in ("labels", "clocksource", "outcomes"):
        return False
    table = "" if len(names) == 1 else names[0]
    if table == "columns":  # the figures of `alone` came together: none is without the others
        return len(names) > 2 and names[2] != FIRST["columns"] and names[2:-1] != ["alone"]
    return table not in FIRST or names[-1] not in FIRST[table].split()


def without(value: Any, path: tuple[Any, ...]) -> Any:
    copied = json.loads(json.dumps(value))
    part = copied
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return copied


ADDED = [path for path in places(WHOLE.to_json()) if added(path)]


@given(st.sampled_from(ADDED))
def test_a_member_that_was_added_later_may_be_missing(path: tuple[Any, ...]) -> None:
    """A new member of a summary never makes an older run unreadable."""
    read = CellSummary.from_json(without(WHOLE.to_json(), path))
    assert (read.id, read.repetition, len(read.warnings)) == (WHOLE.id, 3, 1)


def test_what_was_added_is_known_by_name() -> None:
    """Were one of these required, that test would not look at it."""
    names = {path[-1] for path in ADDED}
    later = {
        "statements",
        "repetition",
        "deadline",
        "starved",
        "others",
        "alone",
        "max_by_cpu",
        "spec",
        "share",
    }
    assert later <= names
    assert "max" in names and "window_ns" in names and not {"id", "accounting", "count"} & names


def test_an_older_summary_has_its_texts_verbatim() -> None:
    texts = ["it slept.", "not loaded: the load cpu:50 achieved 0 %."]
    older = {**WHOLE.to_json(), "warnings": texts}
    del older["statements"]
    assert CellSummary.from_json(older).warnings == (
        Statement.verbatim(texts[0]),
        Statement.verbatim(texts[1], "load.not-loaded"),
    )


def test_a_rule_of_a_newer_howlate_keeps_its_text() -> None:
    value = WHOLE.to_json()
    value["statements"] = [{"rule": "cell.of-tomorrow", "values": {"x": 1}, "text": "it flew."}]
    (warning,) = CellSummary.from_json(value).warnings
    assert (warning.rule, english(warning)) == ("cell.of-tomorrow", "it flew.")


BINS = CellBins(
    "latency_ns",
    Histogram((0,), (1,), (2,)),
    TimeBlocks((0.0,), 1.0, (2,), (0,), (0,), (0,)),
    Tail((0,), (0.0,)),
    (LoadCourse("cpu 0 busy", (0.0,), (0.5,)),),
    counters=Counters(1.0, (), (Counted("interrupt", "LOC", "", 0, -1, 2, 1.0, 1, 1),)),
)
TEXTS = ("column", "name", "kind", "label")
UNKNOWN = ("scatter", "second_s", "total", "usual", "most", "at_max")
"""Members that may be null."""


@pytest.mark.parametrize("path", places(BINS.to_json()), ids=str)
def test_bins_of_another_type_are_a_sentence(path: tuple[Any, ...]) -> None:
    others: list[Any] = ["x", True, [[]], None]
    for new in others:
        if (path[-1] in TEXTS and new == "x") or (path[-1] in UNKNOWN and new is None):
            continue
        with pytest.raises(DamagedError, match=r"bins\.json"):
            CellBins.from_json(altered(BINS.to_json(), path, new))


@pytest.mark.parametrize("width", [0.0, -1.0])
def test_blocks_have_a_length(width: float) -> None:
    with pytest.raises(DamagedError, match="no length"):
        CellBins.from_json(altered(BINS.to_json(), ("blocks", "width_s"), width))


def test_lists_that_are_not_equally_long_are_a_sentence() -> None:
    with pytest.raises(DamagedError, match="equally long"):
        CellBins.from_json(altered(BINS.to_json(), ("tail", "latency_ns"), [1, 2]))
