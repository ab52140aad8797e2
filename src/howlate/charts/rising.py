"""The maximum against a load's number (hackbench's groups): a line a side, and a measured column where there are
several. It shows medians of the repetitions' maxima with their range; what it hides: how often a value came near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.figures.figure import Chart, Figure, Subject, title_of_column
from howlate.figures.scale import OWN_AXES, Axes
from howlate.figures.sides import (
    Spot,
    columns_of,
    curves,
    keys_of,
    legend,
    maxima,
    measured,
    panel_of,
    scales,
    spots_of,
)
from howlate.statistics.spread import Spread
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    spots = measured(spots_of(subjects))
    several = len({name for spot in spots for name in columns_of(spot)}) > 1

    def lines(spot: Spot) -> Mapping[Text, Spread]:
        spreads = {name: maxima(spot, name) for name in columns_of(spot)}
        return {
            Listed((spot.side, title_of_column(name) if several else "")): spread
            for name, spread in spreads.items()
            if spread is not None
        }

    panels = curves(spots, lines)
    if not panels:
        return None
    x, y = scales(panels, axes)
    places = keys_of(panels)
    return Figure(
        name="rising",
        title=Caption("The largest latency against the load"),
        reading=Caption(
            "Each mark is the median of the maxima over the repetitions (in virtual time: "
            "seeds), its bar reaches from the smallest to the largest of them. Lines only join "
            "the marks: nothing was measured between."
        ),
        x_title=Caption("Argument of the load"),
        y_title=Caption("Largest latency"),
        panels=tuple(panel_of(t, drawn, x, y, places, "maximum") for t, drawn in panels.items()),
        keys=legend(places),
    )


CHART = Chart("rising", 6, draw, "sides", axes=("number", "latency"))
