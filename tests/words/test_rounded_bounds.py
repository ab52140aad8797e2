"""Bounds stay bounds when they are written: an upper one is rounded up, a lower one down."""

import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.summary import DeadlineSummary
from howlate.statistics.ladder import Ladder
from howlate.words.quantities import QUANTITIES
from howlate.words.say import text_of
from howlate.words.statement import MESSAGES
from messages import import_all

import_all()

SIZES = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PROMISED = re.compile(r"(later than|in the next) \{\w+:([\w-]+)\}")
"""What a sentence promises."""


def seconds_of(text: str) -> float:
    """ "1 h 30 min" as seconds."""
    return sum(float(number) * SIZES[unit] for number, unit in re.findall(r"(-?[\d.]+) (\S+)", text))


@given(st.floats(1e-6, 1e9))
@example(0.052631578)
@example(119.7)
@example(599.5)
@example(719.0)
@example(7199.9)
def test_a_duration_is_no_longer_than_its_lower_and_no_shorter_than_its_upper_text(seconds: float) -> None:
    low, high = (seconds_of(QUANTITIES[f"seconds-{kind}"](seconds)) for kind in ("at-least", "at-most"))
    assert low <= seconds * (1 + 1e-6) + 1e-6 and high >= seconds * (1 - 1e-6) - 1e-6
    nearest = seconds_of(QUANTITIES["seconds"](seconds))
    assert low <= nearest * (1 + 1e-9) and nearest <= high * (1 + 1e-9)
    assert high - low <= max(0.11 * seconds, 60)


@given(st.integers(0, 10**12) | st.floats(1, 1e12))
@example(2_004_000)
@example(999_600)
@example(123.4)
def test_a_time_lies_between_its_texts(ns: int) -> None:
    low, high = (1e9 * seconds_of(QUANTITIES[f"time-{kind}"](ns)) for kind in ("at-least", "at-most"))
    assert low <= ns * (1 + 1e-6) and high >= ns * (1 - 1e-6)
    assert high - low <= max(1e-9, 0.011 * ns)


@given(st.integers(0, 10**13))
@example(999_600)
@example(100_400)
def test_a_stated_time_reads_as_it_was_stated(ns: int) -> None:
    number, unit = QUANTITIES["given"](ns).split(" ")
    assert Decimal(number) * Decimal(SIZES[unit]).quantize(Decimal("1e-9")) == Decimal(ns).scaleb(-9)
    assert not number.endswith(".") and ("." not in number or not number.endswith("0"))


@given(st.integers(1, 10**6), st.integers(0, 10**6))
@example(99, 12)
@example(40, 72)
def test_odds_of_a_ladder_have_two_digits_and_at_least_is_rounded_up(misses: int, kept: int) -> None:
    step = DeadlineSummary(1_000_000, misses + kept, misses, 0)
    times = (misses + kept) / misses
    exact, least = (
        float(
            text_of(Ladder("", "latency_ns", 0.0, (of,)).statement())
            .rpartition(" in ")[2]
            .strip(".")
            .replace(",", "")
        )
        for of in (step, replace(step, at_least=True))
    )
    assert abs(exact - times) <= 0.0501 * times
    assert times * (1 - 1e-6) <= least <= 1.11 * times


@pytest.mark.parametrize(
    ("quantity", "value", "text"),
    [
        ("seconds-at-least", 1 / 19, "0.052 s"),
        ("seconds-at-most", 1 / 19, "0.053 s"),
        ("seconds-at-most", 68_400.5, "19 h 1 min"),
        ("seconds-at-least", 3600.0, "60 min"),
        ("time-at-most", 2_000_001, "2.01 ms"),
        ("time-at-least", 2_009_999, "2.00 ms"),
        ("time-at-most", 2_000_000, "2.00 ms"),
        ("time-at-most", -2_009_000, "-2.00 ms"),
    ],
)
def test_what_is_written(quantity: str, value: float, text: str) -> None:
    assert QUANTITIES[quantity](value) == text


def test_every_time_that_a_verdict_promises_is_written_as_a_bound() -> None:
    """The largest value upwards, the time for which it is promised downwards."""
    kinds = {"later than": "time-at-most", "in the next": "seconds-at-least"}
    verdicts = [message for message in MESSAGES.values() if message.id.startswith("verdict.")]
    promised = [found for message in verdicts for found in PROMISED.finditer(message.text)]
    assert len(promised) >= 3
    for found in promised:
        assert found[2] == kinds[found[1]], found[0]
    assert "{time_ns:time-at-least}" in MESSAGES["time.at-least"].text
    assert "{upper_ns:time-at-most}" in MESSAGES["extrapolation.stated"].text
    for message_id in ("time.within", "history.moved-by"):
        assert {"time-at-least", "time-at-most"} <= {*re.findall(r":([\w-]+)\}", MESSAGES[message_id].text)}


@pytest.mark.parametrize("quantity", sorted(QUANTITIES.keys() - {"shell"}))
@given(st.floats(0, 1))
@example(5e-324)
@example(2.2250738585072014e-308)
def test_every_quantity_writes_the_least_of_numbers(quantity: str, value: float) -> None:
    assert QUANTITIES[quantity](value)
