"""Pure functions from binned data to pictures: ONE FILE = ONE CHART (docs/how-to/add-a-chart.md).

A chart's file contains `CHART`, a `Chart`. What charts share is in figures/. The
report shows every chart of the folder, ordered by `Chart.place`; a file that cannot be imported is an error,
never skipped.
"""

from __future__ import annotations

from functools import cache

from howlate.figures.figure import Chart
from howlate.rooms import every_plugin


@cache
def all_charts() -> tuple[Chart, ...]:
    """Every chart of this folder and of the rooms, in the order in which the report shows them."""
    return tuple(sorted(every_plugin(__name__, "CHART", Chart), key=lambda chart: chart.place))
