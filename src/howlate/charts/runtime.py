"""How long a load's own runs take against its number: a line a side, and a part of the study where one part measures
under the load and another does not. What response costs in throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.figures.figure import Chart, Figure, Subject
from howlate.figures.scale import OWN_AXES, Axes
from howlate.figures.sides import UNMEASURED, Spot, curves, keys_of, legend, panel_of, scales, spots_of
from howlate.sides.sides import RUN_TIME
from howlate.statistics.spread import Spread, spread_of
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    spots = [spot for spot in spots_of(subjects) if run_times(spot) is not None]
    tests = {cell.test for spot in spots for cell in (spot.subject.group.cells if spot.subject.group else ())}

    def lines(spot: Spot) -> Mapping[Text, Spread]:
        spread = run_times(spot)
        what = (
            Caption("nothing measured")
            if spot.subject.summary.test == UNMEASURED
            else Caption("while measured")
        )
        parts: list[Text] = [spot.side, what if len(tests) > 1 else ""]
        several = {s.rest.get("part") for s in spots if s.subject.summary.test == spot.subject.summary.test}
        parts.append(spot.rest.get("part", "") if len(several) > 1 else "")
        return {} if spread is None else {Listed(tuple(parts)) if any(parts) else "runs": spread}

    of_load = {"load", "part"}
    named = {name for spot in spots for name in spot.rest} - of_load
    panels = curves(spots, lines, 3, ("part", *sorted(named)))
    if not panels:
        return None
    x, y = scales(panels, axes, "runtime")
    places = keys_of(panels)
    return Figure(
        name="runtime",
        title=Caption("What the load's own runs take"),
        reading=Caption(
            "Each mark is the median over the repetitions of a run's mean time, its bar reaches "
            "from the smallest to the largest of them. What a measurement or a kernel costs is "
            "the distance between lines at one number."
        ),
        x_title=Caption("Argument of the load"),
        y_title=Caption("Mean time of a run"),
        panels=tuple(panel_of(t, drawn, x, y, places, Caption("mean time")) for t, drawn in panels.items()),
        keys=legend(places),
    )


def run_times(spot: Spot) -> Spread | None:
    """The run times of the first load that counts its runs."""
    group = spot.subject.group
    values = []
    for cell in group.counted if group is not None else ():
        found = (load.results.get(RUN_TIME) for load in cell.loads)
        value = next((v for v in found if isinstance(v, int | float) and not isinstance(v, bool)), None)
        if value is not None and value > 0:
            values.append(float(value))
    return spread_of(values)


CHART = Chart("runtime", 61, draw, "sides", axes=("number", "runtime"), folded=True)
