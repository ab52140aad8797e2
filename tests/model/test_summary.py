"""Summaries and bins: encoding and decoding are exact inverses, and what is not theirs is a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.errors import DamagedError
from howlate.model.bins import CellBins, Histogram, LoadCourse, Tail, TimeBlocks
from howlate.model.summary import Accounting, CellSummary, ColumnSummary, DeadlineSummary, LoadSummary

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ints = st.integers(-(2**63), 2**63 - 1)
reals = st.floats(allow_nan=False, allow_infinity=False)
columns = st.builds(
    ColumnSummary,
    count=ints,
    min=st.none() | ints,
    mean=st.none() | reals,
    max=st.none() | ints,
    stddev=st.none() | reals,
    period_exceeded=st.none() | ints,
    quantiles=st.dictionaries(texts, st.none() | ints, max_size=3),
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
    accounting=st.builds(Accounting, *[ints] * 7, late_policy=texts),
    stop_reason=texts,
    clocksource=st.dictionaries(texts, texts, max_size=2),
    valid=st.booleans(),
    columns=st.dictionaries(texts, columns, max_size=2),
    outcomes=st.dictionaries(texts, ints, max_size=2),
    loads=st.lists(loads, max_size=2).map(tuple),
    warnings=st.lists(texts, max_size=2).map(tuple),
    deadline=st.none() | st.builds(DeadlineSummary, *[ints] * 4),
)


@given(summaries)
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
        Histogram(same(n, ints), same(n, ints), same(n, ints)),
        TimeBlocks(same(n, reals), draw(reals), same(n, ints), same(n, ints), same(n, ints), same(n, ints)),
        Tail(same(n, ints), same(n, reals)),
        tuple(
            LoadCourse(draw(texts), same(n, reals), same(n, reals)) for _ in range(draw(st.integers(0, 2)))
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
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
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


BINS = CellBins(
    "latency_ns",
    Histogram((0,), (1,), (2,)),
    TimeBlocks((0.0,), 1.0, (2,), (0,), (0,), (0,)),
    Tail((0,), (0.0,)),
    (LoadCourse("cpu 0 busy", (0.0,), (0.5,)),),
)


@pytest.mark.parametrize("path", places(BINS.to_json()), ids=str)
def test_bins_of_another_type_are_a_sentence(path: tuple[Any, ...]) -> None:
    others: list[Any] = ["x", True, [[]], None]
    for new in others:
        if (path[-1] in ("column", "name") and new == "x") or (path[-1] == "scatter" and new is None):
            continue
        with pytest.raises(DamagedError, match=r"bins\.json"):
            CellBins.from_json(altered(BINS.to_json(), path, new))


def test_lists_that_are_not_equally_long_are_a_sentence() -> None:
    with pytest.raises(DamagedError, match="equally long"):
        CellBins.from_json(altered(BINS.to_json(), ("tail", "latency_ns"), [1, 2]))
