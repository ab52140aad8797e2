"""Which side is ahead, by how many points say so: as fair to one side as to the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.compare.relations import judge
from howlate.sides.sides import Direction


@pytest.mark.parametrize(
    ("directions", "judged"),
    [
        (["smaller"] * 3, "first"),
        (["smaller", "smaller", "larger"], "mixed"),
        (["larger", "larger", "smaller"], "mixed"),
        (["smaller"] * 99 + ["larger"], "mixed"),
        (["smaller", "smaller", "indistinct"], "first"),
        (["smaller", "larger"], "mixed"),
        (["smaller", "indistinct"], "first where told"),
        (["larger", "indistinct", "indistinct"], "second where told"),
        (["smaller", "larger", "indistinct"], "mixed"),
        (["smaller", "smaller", "larger", "indistinct", "indistinct"], "mixed"),
        (["indistinct"], "indistinct"),
        (["equal", "equal"], "equal"),
        (["equal", "indistinct"], "indistinct"),
        (["smaller", "equal"], "first where told"),
        (["smaller", "larger", "equal"], "mixed"),
        (["unstated", "unstated"], "unstated"),
        (["unstated", "smaller"], "first"),
        ([], "unstated"),
    ],
)
def test_one_side_is_ahead_where_it_is_at_more_than_half_and_nowhere_behind(
    directions: list[Direction], judged: str
) -> None:
    assert judge(directions) == judged


@given(st.lists(st.sampled_from(["smaller", "larger", "equal", "indistinct", "unstated"])))
def test_judging_is_fair_to_both(directions: list[Direction]) -> None:
    turn: dict[Direction, Direction] = {"smaller": "larger", "larger": "smaller"}
    one, other = judge(directions), judge([turn.get(d, d) for d in directions])
    swapped = {"first": "second", "second": "first"}
    assert other == " ".join(swapped.get(word, word) for word in one.split())
    told_apart = {"smaller", "larger"} & set(directions)
    assert (one == "mixed") == (len(told_apart) == 2)
