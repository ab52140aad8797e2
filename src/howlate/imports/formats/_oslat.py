"""What both formats of oslat mean: a bucket holds the turns of the loop up to its label, the last one all longer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.imports.formats._checks import checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known
from howlate.imports.formats._text import UNITS
from howlate.model.stated import Stated
from howlate.model.summary import WATCHED

COLUMN = "gap_ns"
FIRST_ALONE = (
    "oslat adds the first core's overflow to the mean of every core: the means of the others are left out, and with "
    "them the mean of all"
)


class Core(Struct, frozen=True):
    """What oslat prints of one core."""

    cpu: int
    min: str
    mean: str
    max: str
    bins: Mapping[int, int]
    """By label; the last bucket is not among them."""
    last: int
    """Samples of the last bucket."""
    last_from_ns: int | None
    width_ns: int
    line: int
    seconds: float = 0.0


def foreign_of(path: Path, cores: Sequence[Core], known: Foreign) -> Foreign:
    """The measurement; `known`: what the format says besides."""
    series, contradictions = checked([_series(number, core) for number, core in enumerate(cores)], path)
    # A turn of the loop is no release: how many there are says how fast the machine is.
    watched_ns = round(sum(core.seconds for core in cores) * UNITS["s"])
    overflowed = len(cores) > 1 and any(core.last for core in cores)
    if overflowed:
        series = (
            series[0],
            *(replace(its, stated=replace(its.stated, mean=None)) for its in series[1:]),
        )
    return replace(
        known,
        series=series,
        known=histogram_known(series, max(core.width_ns for core in cores), missed_releases=True),
        contradictions=contradictions,
        notes=(*known.notes, *([f"{path}: {FIRST_ALONE}"] if overflowed else [])),
        seconds=max(core.seconds for core in cores),
        outcomes={WATCHED: watched_ns},
    )


def _series(number: int, core: Core) -> ForeignSeries:
    some = bool(sum(core.bins.values()) + core.last)
    stated = Stated(
        COLUMN,
        number,
        core.cpu,
        min=core.min if some else None,
        mean=core.mean if some else None,
        max=core.max if some else None,
        count=sum(core.bins.values()) + core.last,
        beyond=core.last,
        beyond_from_ns=core.last_from_ns,
        width_ns=core.width_ns,
    )
    return ForeignSeries(stated, core.bins, core.line)
