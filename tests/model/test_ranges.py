"""Numbers and texts that no file of howlate's holds: refused with file and place, in every member."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from howlate.errors import DamagedError, UsageError
from howlate.model.bins import CellBins
from howlate.model.decode import parse_json, parse_toml
from howlate.model.summary import CellSummary
from howlate.store.checksums import write_checksums
from made_cells import made_cell
from store.runs import a_folder
from store.streams import stream

SUMMARY, BINS, _ = made_cell("none", 1, 2_000)
READERS = {"summary.json": CellSummary.from_json, "bins.json": CellBins.from_json}
VALUES = {"summary.json": SUMMARY.to_json(), "bins.json": BINS.to_json()}


def numbers(value: Any, kinds: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a number; of a list the first and the last."""
    if isinstance(value, bool) or path[:1] in (("warnings",), ("statements",), ("schema",)):
        return []
    if isinstance(value, int | float):
        return [path] * isinstance(value, kinds)
    inside = (
        list(value.items() if isinstance(value, dict) else enumerate(value))
        if isinstance(value, dict | list | tuple)
        else []
    )
    ends = inside if isinstance(value, dict) else inside[:1] + inside[1:][-1:]
    return [place for key, part in ends for place in numbers(part, kinds, (*path, key))]


def text_with(value: Any, path: tuple[Any, ...], new: str) -> str:
    """The JSON with this text in place of a member."""
    copied = json.loads(json.dumps(value))
    part = copied
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = "HERE"
    return json.dumps(copied).replace('"HERE"', new)


@pytest.mark.parametrize("file", READERS)
@pytest.mark.parametrize(
    "new", ["9223372036854775808", f"1{'0' * 39}", "9" * 1_000_000, "1e308", "1e999", "NaN", '"\\ud800"']
)
def test_no_member_takes_what_its_column_cannot_hold(file: str, new: str) -> None:
    places = numbers(VALUES[file], int if new == "9223372036854775808" else int | float)
    assert len(places) > 10
    for path in places:
        with pytest.raises(DamagedError, match=re.escape(file)):
            READERS[file](parse_json(text_with(VALUES[file], path, new), file).values, file)


def grid(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(BINS.to_json()))
    value["scatter"] |= changes
    return value


SCATTER = json.loads(json.dumps(BINS.to_json()))["scatter"]


@pytest.mark.parametrize(
    "changes",
    [
        {"at": [*SCATTER["at"][:-1], 10**18]},
        {"at": [-1, *SCATTER["at"][1:]]},
        {"at": SCATTER["at"][::-1]},
        {"cells": [*SCATTER["cells"][:-1], SCATTER["columns"] * SCATTER["rows"]]},
        {"knee_ns": SCATTER["high_ns"] + 1},
        {"low_ns": SCATTER["knee_ns"] + 1},
        {"high_ns": SCATTER["high_ns"] - 1},
        {"largest_ns": [2**62, *SCATTER["largest_ns"][1:]]},
        {"smallest_ns": [-(2**62), *SCATTER["smallest_ns"][1:]]},
        *({name: 0} for name in ("rows", "columns", "linear", "per_column")),
        {"rows": 2**40, "columns": 2**40},
        {"linear": SCATTER["rows"] + 1},
    ],
    ids=str,
)
def test_a_grid_holds_what_it_says(changes: dict[str, Any]) -> None:
    assert CellBins.from_json(grid()).scatter == BINS.scatter
    with pytest.raises(DamagedError, match=r"bins\.json, scatter"):
        CellBins.from_json(grid(**changes))


@pytest.mark.parametrize("kept", [0, 1])
def test_a_histogram_has_at_least_the_samples_of_the_scatter(kept: int) -> None:
    value: dict[str, Any] = json.loads(json.dumps(BINS.to_json()))
    value["histogram"] = {name: values[:kept] for name, values in value["histogram"].items()}
    with pytest.raises(DamagedError, match=r"bins\.json"):
        CellBins.from_json(value)


@pytest.mark.parametrize("share", [-0.1, 1.1, 1e308])
def test_shares_are_shares(share: float) -> None:
    value: dict[str, Any] = json.loads(json.dumps(BINS.to_json()))
    value["tail"]["share_beyond"][0] = share
    with pytest.raises(DamagedError, match=r"bins\.json, tail\.share_beyond"):
        CellBins.from_json(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"\\ud800": 1}',
        '{"a": ["\\udc00x"]}',
        f'{{"a": {"[" * 100_000}',
        '{"a": 1e999}',
        '{"a": 18446744073709551616}',
    ],
)
def test_what_no_file_of_howlates_holds_is_refused_in_its_text(text: str) -> None:
    with pytest.raises(DamagedError, match=r"x\.json is not JSON"):
        parse_json(text, "x.json")
    assert parse_json('{"a": "\\ud83d\\ude00", "b": 18446744073709551615}', "x.json").values["b"] == 2**64 - 1


@pytest.mark.parametrize(
    "text",
    [
        f"a = 1{'0' * 39}",
        "a = [{b = 0xffffffffffffffffff}]",
        f"a = {'9' * 1_000_000}",
        f"a = {'[' * 100_000}",
    ],
)
def test_a_study_has_numbers_of_64_bits(text: str) -> None:
    with pytest.raises(UsageError, match=r"s\.toml"):
        parse_toml(text, "s.toml")


@pytest.mark.parametrize(
    "place", [("histogram", "counts", 0), ("blocks", "counts", 0), ("scatter", "counts", 0)]
)
def test_counts_that_no_column_of_64_bits_can_sum_are_refused(place: tuple[Any, ...]) -> None:
    with pytest.raises(DamagedError, match=r"bins\.json"):
        CellBins.from_json(parse_json(text_with(BINS.to_json(), place, str(2**63 - 1)), "bins.json").values)


WRONG = {
    ("header",): "[1]",
    ("header", "in_force", "threads"): "-9223372036854775808",
    ("header", "in_force", "threads", 0, "cpu"): '"a"',
    ("header", "parameters"): "[]",
    ("header", "tables"): '"x"',
    ("trailer", "steal_ns"): '"text"',
    ("trailer", "duration_ns"): '{"a": 1}',
    ("trailer", "accounting"): "true",
    ("trailer", "accounting", 0, "latency_ns_max"): '"x"',
}


@pytest.mark.parametrize("place", WRONG, ids=lambda place: ".".join(map(str, place)))
def test_a_record_of_another_kind_is_refused(tmp_path: Path, place: tuple[Any, ...]) -> None:
    folder = a_folder(tmp_path / "run", {"none": stream([5, 2] * 50)})
    file = folder.cell_path("none") / "cell.json"
    file.write_text(text_with(json.loads(file.read_text()), place, WRONG[place]))
    write_checksums(folder.cell_path("none"), "")
    for read in (folder.files("none").record, lambda: folder.cell("none")):
        with pytest.raises(DamagedError, match=r"cell\.json"):
            read()
