"""Times as options have them."""

from __future__ import annotations

from howlate.words.statement import rule

NOT_A_DURATION = rule("cli.not-a-duration", "{option}: {reason}")
NOT_POSITIVE = rule(
    "cli.not-positive", "{option} must be above 0", remedy="write it like 200us, 1ms or 30min"
)


def deadline_text(text: str) -> str:
    """A deadline, checked, as a study's setting."""
    from howlate.model.units import format_duration

    return format_duration(limit_ns_of("--deadline", text))


def duration_ns(option: str, text: str) -> int:
    """A time with its unit."""
    from howlate.errors import UsageError
    from howlate.model.units import parse_duration_ns

    try:
        return parse_duration_ns(text)
    except ValueError as reason:
        raise UsageError(NOT_A_DURATION(option=option, reason=str(reason))) from None


def limit_ns_of(option: str, text: str) -> int:
    """A time that a latency may have: above 0."""
    from howlate.errors import UsageError

    if not (limit_ns := duration_ns(option, text)):
        raise UsageError(NOT_POSITIVE(option=option))
    return limit_ns
