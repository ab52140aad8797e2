"""Axes on the command line: what is understood, and a sentence for what is not."""

import pytest

from howlate.document.axes import parse_axes
from howlate.errors import UsageError
from howlate.figures.scale import AxisRange


def test_ranges_are_in_the_units_of_the_axis() -> None:
    asked = parse_axes(["latency=0:1000us,linear", "counts=0:1000000", "time=500ms:2s", "number=:20"])
    assert asked == {
        "latency": AxisRange(0, 1_000_000, False),
        "counts": AxisRange(0, 1_000_000, None),
        "time": AxisRange(0.5, 2.0, None),
        "number": AxisRange(None, 20, None),
    }
    assert parse_axes(["latency=log", "runtime=linear,10ms:"]) == {
        "latency": AxisRange(log=True),
        "runtime": AxisRange(10_000_000, None, False),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latency", "must name"),
        ("latency=", "must name"),
        ("latncy=log", 'no chart has an axis "latncy"'),
        ("latency=0:1000", "has no unit"),
        ("latency=5us:2us", "is empty"),
        ("latency=0:1ms,log", "starts at 0"),
        ("time=log", "starts at 0"),
        ("time=1s:2s,log", "starts at 0"),
        ("latency=:", "must name"),
        ("latency=linear,log", "must name"),
        ("latency=0:1ms,0:2ms", "must name"),
        ("counts=0:many", "--axis counts"),
        ("counts=-5:10", "a number of an axis"),
        ("counts=0:nan", "a number of an axis"),
    ],
)
def test_what_is_not_understood_is_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        parse_axes([text])
    assert caught.value.remedy
    with pytest.raises(UsageError, match="given twice"):
        parse_axes(["latency=log", "latency=0:1ms"])


def test_the_axis_that_is_proposed_instead_of_a_logarithmic_one_from_0_is_taken() -> None:
    with pytest.raises(UsageError) as caught:
        parse_axes(["latency=0:1000us,log"])
    proposed = caught.value.remedy.rpartition(" ")[2]
    assert parse_axes([proposed]) == parse_axes(["latency=0:1000us,linear"])
