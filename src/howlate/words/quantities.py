"""The formats of times, counts and shares for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from howlate.words.printable import shell_path
from howlate.words.statement import Caption

NARROW_SPACE = "\u202f"
"""Between a number and its unit, and between groups of thousands."""


def sentence_case(text: str) -> str:
    """With a capital first letter, unless a path is the first word; the others unchanged."""
    return text if "/" in text.partition(" ")[0] else text[:1].upper() + text[1:]


UNITS = (("s", 9), ("ms", 6), ("µs", 3))
"""With their powers of ten nanoseconds."""

Rounds = Callable[[float], int]
"""`round`; `math.ceil` for an upper bound and `math.floor` for a lower one, so that they stay bounds."""


def time_text(ns: float, micro: str = "µs", space: str = NARROW_SPACE, rounds: Rounds = round) -> str:
    """A time in the unit that reads best, with three significant digits, never fewer than its whole
    digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), (micro, 1e3)):
        if abs(ns) >= size * 0.9995:
            return f"{significant(_to_digits(ns / size, 3, rounds))}{space}{unit}"
    return f"{significant(_to_digits(ns, 3, rounds)) if ns != int(ns) else int(ns)}{space}ns"


def significant(value: float, digits: int = 3) -> str:
    """Three significant digits: 1.20, 12.0, 120, 1200."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞"
    whole = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))) + 1
    return f"{value:.{max(0, digits - whole)}f}"


def _to_digits(value: float, digits: int, rounds: Rounds) -> float:
    """The value in steps of its last significant digit; nearest is left to how it is written."""
    if rounds is round or not value or not math.isfinite(value):
        return value
    step = min(10.0 ** (math.floor(math.log10(abs(value))) - digits + 1), 1.0)
    return rounds(round(value / step, 6)) * step if step else value  # 0: below the least double


def ratio_text(value: float, rounds: Rounds = round) -> str:
    """Two digits, of those between 1 and 2 three: 0.013, 0.95, 1.02, 4.0."""
    digits = 3 if 1 <= value < 1.995 else 2
    return significant(_to_digits(value, digits, rounds), digits)


def ratio_interval(ratio: float, low: float, high: float) -> str:
    """ "0.95 [0.92, 0.98]", rounded so that it stays a bound; "∞" for an end that is none."""
    upper = "∞" if math.isinf(high) else ratio_text(high, math.ceil)
    return f"{ratio_text(ratio)} [{ratio_text(low, math.floor)}, {upper}]"


def grouped(value: float, space: str = NARROW_SPACE) -> str:
    return f"{value:,}".replace(",", space)


def one_in(times: float) -> Caption:
    """A share as odds: "1 in 1 000", "1 in 10⁶"."""
    power = round(math.log10(times)) if times > 0 else 0
    if power >= 5 and math.isclose(times, 10.0**power, rel_tol=1e-9):
        many = f"10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    else:
        many = grouped(odds(times))
    return Caption("1 in {many}", many=many)


def odds(times: float, rounds: Rounds = round) -> float:
    """The N of "1 in N": below 10 with two digits, a float only where it is not whole."""
    if times >= 10 or times == int(times):
        return rounds(times)
    return float(significant(_to_digits(times, 2, rounds), 2))


def seconds_text(seconds: float, space: str = NARROW_SPACE, rounds: Rounds = round) -> str:
    """A duration: "12 s", "4 min", "1 h 30 min"."""
    if seconds < 10:
        return f"{significant(_to_digits(seconds, 2, rounds), 2).removesuffix('.0')}{space}s"
    if seconds < 120:
        return f"{rounds(round(seconds, 6))}{space}s"
    if seconds < 600:
        minutes, rest = divmod(rounds(round(seconds, 6)), 60)
        return f"{minutes}{space}min" + (f" {rest}{space}s" if rest else "")
    if seconds < 2 * 3600:
        return f"{rounds(round(seconds / 60, 6))}{space}min"
    hours, rest = divmod(rounds(round(seconds / 60, 6)), 60)
    return f"{hours}{space}h" + (f" {rest}{space}min" if rest else "")


def clock(seconds: float) -> str:
    """Remaining time for people: "0:34", "1:02:03"."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def percent(share: float) -> str:
    """ "33 %", "0.005 %"."""
    value = 100 * share
    if value == 0 or value >= 9.95:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if value >= 0.95 else f"{value:.1g} %"


def level_text(share: float) -> str:
    """A quantile's share: "99.99 %". As many digits as it takes to be below 100 %."""
    percents = (significant(share * 100, digits) for digits in range(4, 18))
    percent = next((text for text in percents if float(text) < 100), "100")
    return f"{percent.rstrip('0').rstrip('.') if '.' in percent else percent} %"


def share_text(share: float, digits: int = 2, *, up: bool = True) -> str:
    """A share that is a bound, rounded so that it stays one: "3.1e-06", and 0.0031 up to 0.0032."""
    if not 1e-300 < share < 1:  # a step below has no exact power of ten
        return f"{share:g}"
    step = 10.0 ** (math.floor(math.log10(share)) - digits + 1)
    steps = share / step
    whole = math.ceil(steps - 1e-9) if up else math.floor(steps + 1e-9)
    return f"{whole * step:.{digits}g}"


def bytes_text(size: float) -> str:
    """A number of bytes in the unit that reads best: "4.9 MB"."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.3g} B"


def rate_text(value: float) -> str:
    """A rate per second: "7.5", "34200"."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def rate_bound(value: float) -> str:
    """A rate that is an upper bound, rounded up so that it stays one: "0.32" for 0.311, "10,800" for 10785."""
    if value >= 1000:
        step = 10 ** (math.floor(math.log10(value)) - 2)
        return f"{math.ceil(value / step) * step:,}"
    text = rate_text(value)
    step = 10.0 ** (math.floor(math.log10(value)) - 1) if 0 < value < 10 else 1
    return text if float(text) >= value else rate_text(float(text) + step)


def given_text(ns: float) -> str:
    """A time as a user stated it, to its last nanosecond: "200 µs", "1.234567 ms"."""
    exact = round(ns)
    unit, digits = next((found for found in UNITS if abs(exact) >= 10 ** found[1]), ("ns", 0))
    number = f"{Decimal(exact).scaleb(-digits):f}"
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def exact_text(ns: float) -> str:
    """A time of virtual time to its last nanosecond: "561.937 µs", "143.207000 ms"."""
    if abs(ns) < 1e6:
        return f"{ns / 1e3:.3f} µs"
    return f"{ns / 1e6:.6f} ms" if math.isfinite(ns) else "∞"


QUANTITIES: Mapping[str, Callable[[Any], str]] = {
    "time": lambda ns: time_text(ns, space=" "),
    "time-at-most": lambda ns: time_text(ns, space=" ", rounds=math.ceil),
    "time-at-least": lambda ns: time_text(ns, space=" ", rounds=math.floor),
    "exact": exact_text,
    "percent": percent,
    "count": lambda count: f"{count:,}",
    "significant": significant,
    "level": level_text,
    "bytes": bytes_text,
    "rate": rate_text,
    "rate-bound": rate_bound,
    "given": given_text,
    "number": lambda value: f"{value:g}",
    "probability": lambda p: f"{p:.2g}",
    "at-most": share_text,
    "at-least": lambda share: share_text(share, up=False),
    "seconds": lambda seconds: seconds_text(seconds, space=" "),
    "seconds-at-most": lambda seconds: seconds_text(seconds, space=" ", rounds=math.ceil),
    "seconds-at-least": lambda seconds: seconds_text(seconds, space=" ", rounds=math.floor),
    "shell": lambda path: shell_path(getattr(path, "exact", path)),
}
"""The formats that a field of a message's template may name: `{steal_ns:time}`."""

SEPARATORS = {"list": ", ", "all": ", ", "items": "; ", "words": " "}
"""What separates the texts of a list: `{places:items}`."""
MOST_LISTED = 6
"""Of longer lists, the first ones up to this number are written, and how many more there are; `all` writes
every one."""
