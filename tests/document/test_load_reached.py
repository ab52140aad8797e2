"""Loads that were not there, in a comparison: the share is a column, and nothing is said of a starved load."""

from collections.abc import Callable

from msgspec.structs import replace

from document.sheets import row, sheet, who
from howlate.compare.compare import compare, to_json
from howlate.compare.conclusions import LEFT_OUT, conclusions
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary, LoadSummary
from howlate.sides.sides import LOAD
from howlate.statistics.load_reached import BELOW_TARGET, NOT_LOADED
from howlate.words.say import english
from made_sides import NONE, RT, Machine, Made, at, real_run

LOADED = {at(load="cpu:100", period="1ms"): [Made(maximum=50)]}


def with_share(share: float, machine: Machine, run_id: str, **changes: object) -> RunContent:
    load = LoadSummary("cpu", 1.0, share, {}, "cpu:100", "CPU", 1.0, None, share, share)

    def altered(summary: CellSummary) -> CellSummary:
        return replace(summary, loads=(load,), **changes)

    return _each(real_run(LOADED, machine, run_id), altered)


def _each(content: RunContent, change: Callable[[CellSummary], CellSummary]) -> RunContent:
    cells = tuple(replace(cell, summary=change(cell.summary)) for cell in content.cells)
    return replace(content, cells=cells)


def test_the_share_is_a_column_of_the_comparison_and_of_its_json() -> None:
    found = compare([with_share(0.97, NONE, "run-a"), with_share(0.5, RT, "run-b")])
    its = sheet(found, found.blocks[0])
    assert [row(its, i)[LOAD].text for i in (0, 1)] == ["97 %", "50 %"]
    rows = to_json(found)["tables"][0]["rows"]
    assert [each["load"]["median"] for each in rows] == [0.97, 0.5]


def test_a_side_that_was_not_loaded_has_that_in_place_of_its_figures() -> None:
    why = (NOT_LOADED(reason=BELOW_TARGET(load="cpu:100", achieved="0.8 % CPU", expected="100 % CPU")),)
    found = compare(
        [with_share(0.97, NONE, "run-a"), with_share(0.008, RT, "run-b", valid=False, warnings=why)]
    )
    its = sheet(found, found.blocks[0])
    assert who(its)[1][1] == "not loaded"
    assert [cell.value for cell in row(its, 1).values() if cell.value is not None] == [0.008]


def test_no_sentence_is_made_of_a_load_that_was_starved_as_expected() -> None:
    found = compare([with_share(0.97, NONE, "run-a"), with_share(0.008, RT, "run-b", starved=True)])
    sentences = [one for _title, of_one in conclusions(found) for one in of_one]
    assert [one for one in sentences if "6.1.0-rt" in english(one)] == [
        LEFT_OUT(sides=("6.1.0-rt (rt), cpu:100",))
    ]
    assert "starved (expected)" in who(sheet(found, found.blocks[0]))[1][0]
