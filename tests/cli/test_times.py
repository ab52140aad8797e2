"""Times of options: one parser, one message."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.cli._options import within_ns
from howlate.errors import UsageError
from howlate.model.units import format_duration
from test_sources import SOURCES


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.integers(0, 10**15))
def test_a_time_is_taken_between_its_limits_and_refused_outside(one: int, other: int, ns: int) -> None:
    least, most = sorted((one, other))
    text = format_duration(ns)
    if least <= ns <= most:
        assert within_ns("--duration", text, least, most) == ns
        return
    with pytest.raises(UsageError) as refused:
        within_ns("--duration", text, least, most)
    limits = f"between {format_duration(least)} and {format_duration(most)}"
    asked = {"option": "--duration", "kind": limits, "given": text}
    assert asked.items() <= refused.value.statement.values.items()


@given(st.text(max_size=12))
def test_any_text_is_a_time_or_an_error_that_names_the_option(text: str) -> None:
    try:
        within_ns("--duration", text, 0, 2**63)
    except UsageError as refused:
        assert str(refused).startswith("--duration: ")


def test_no_other_command_reads_a_time() -> None:
    """Options are read by cli/_options.py, and by it alone; the parser itself is model/units.py."""
    readers = [
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("cli/**/*.py")
        if re.search(r"parse_(duration|seconds)_ns", path.read_text())
    ]
    assert readers == ["cli/_options.py"]
