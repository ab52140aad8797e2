"""Times as options have them."""

from __future__ import annotations

from collections.abc import Callable

from howlate.errors import UsageError
from howlate.model.decode import IN_FILE, WRONG_OPTION
from howlate.model.units import format_duration, parse_duration_ns, parse_seconds_ns

WEEK_NS = 7 * 24 * 3600 * 10**9


def limit_text(option: str, text: str) -> str:
    """What a latency may have, checked, as a study's setting."""
    return format_duration(limit_ns_of(option, text))


def duration_ns(option: str, text: str) -> int:
    return _parsed(option, text, parse_duration_ns)


def limit_ns_of(option: str, text: str) -> int:
    """A time with its unit, above 0: what a latency may have."""
    if not (limit_ns := duration_ns(option, text)):
        raise UsageError(WRONG_OPTION(option=option, kind="above 0", given=text, example="200us"))
    return limit_ns


def within_ns(option: str, text: str, least_ns: int, most_ns: int) -> int:
    """A time from one limit to the other. A number without a unit is in seconds."""
    time_ns = _parsed(option, text, parse_seconds_ns)
    if not least_ns <= time_ns <= most_ns:
        least, most = format_duration(least_ns), format_duration(most_ns)
        kind = f"between {least} and {most}"
        raise UsageError(WRONG_OPTION(option=option, kind=kind, given=text, example=least))
    return time_ns


def _parsed(option: str, text: str, parse: Callable[[str], int]) -> int:
    try:
        return parse(text)
    except ValueError as reason:
        raise UsageError(IN_FILE(file=option, problem=reason)) from None
