"""Pure functions from binned data to pictures: ONE FILE = ONE CHART (docs/how-to/add-a-chart.md).

A chart's file contains `CHART`, a `Chart`. Files that begin with an underscore are shared by charts. The
report shows every chart of the folder, ordered by `Chart.place`; a file that cannot be imported is an error,
never skipped.
"""

from __future__ import annotations

import importlib
from functools import cache

from howlate.charts._figure import Chart, Figure, Panel, Picture, Subject
from howlate.rooms import plugins

__all__ = ["Chart", "Figure", "Panel", "Picture", "Subject", "all_charts"]


@cache
def all_charts() -> tuple[Chart, ...]:
    """Every chart of this folder and of the rooms, in the order in which the report shows them."""
    charts = [importlib.import_module(module).CHART for module in plugins(__name__).values()]
    return tuple(sorted(charts, key=lambda chart: chart.place))
