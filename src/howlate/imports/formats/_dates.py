"""When what is imported was measured: a file's time, or one that a tool wrote down. File systems hold years that no
calendar has."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from howlate.errors import DamagedError


def date_of(seconds: float, path: Path) -> tuple[str, str]:
    """Seconds since 1970 as the beginning of a run's id, and as its `started`. DamagedError, with the file, if
    they are not a date."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, OSError, ValueError):
        raise DamagedError(
            "{path} is dated {seconds:number} s after 1970, outside of the years 1 to 9999",
            remedy="correct the date: `touch {path:shell}` sets it to now",
            seconds=seconds,
            path=path,
        ) from None
    text = moment.strftime("-%m-%dT%H:%M:%S")
    year = f"{moment.year:04d}"
    return f"{year}{text.replace('-', '').replace(':', '')}", f"{year}{text}Z"
