"""The question of the study `timers` is answered in words, by what was seen alone."""

from msgspec.structs import replace

from howlate.compare.least_late import AT, TOO_FEW, WAY, least_late
from howlate.document import html
from howlate.model.summary import CellSummary
from made_cells import made_cell
from made_runs import made_run


def way(
    timer: str, median_us: float, max_us: float, load: str = "none", policy: str = "fifo:80"
) -> CellSummary:
    summary = made_cell(load, 1, 200, labels={"timer": timer, "policy": policy})[0]
    column = summary.columns["latency_ns"]
    quantiles = {**column.quantiles, "0.5": round(median_us * 1000)}
    return replace(
        summary,
        id=f"{load}, {policy}",
        columns={"latency_ns": replace(column, max=round(max_us * 1000), quantiles=quantiles)},
    )


def test_the_smallest_median_and_maximum_are_named_for_each_load() -> None:
    first, second, caution = least_late(
        [
            way("futex", 5, 40),
            way("ppoll", 4, 90),
            way("futex", 9, 400, "cpu:100"),
            way("ppoll", 10, 300, "cpu:100"),
        ]
    )
    assert first == AT(
        place=("load none",),
        medians=(WAY(timer="ppoll", time_ns=4_000), WAY(timer="futex", time_ns=5_000)),
        maxima=(WAY(timer="futex", time_ns=40_000), WAY(timer="ppoll", time_ns=90_000)),
    )
    assert second.values["place"] == ("load cpu:100",)
    assert second.values["medians"][0] == WAY(timer="futex", time_ns=9_000)
    assert caution == TOO_FEW(count=1, needed=8)


def test_policies_are_not_ranked_among_each_other() -> None:
    policies = ("fifo:80", "other")
    *ranked, _caution = least_late(
        [
            way(timer, 4 + 50 * n, 9 + 50 * n, policy=p)
            for timer in ("futex", "ppoll")
            for n, p in enumerate(policies)
        ]
    )
    medians = {statement.values["place"]: statement.values["medians"] for statement in ranked}
    assert [way.values["time_ns"] for way in medians["policy fifo:80",]] == [4_000, 4_000]
    assert [way.values["time_ns"] for way in medians["policy other",]] == [54_000, 54_000]


def test_nothing_is_said_of_one_way_or_of_an_invalid_one() -> None:
    assert least_late([way("futex", 5, 40)]) == []
    assert least_late([way("futex", 5, 40), replace(way("ppoll", 4, 90), valid=False)]) == []


def test_the_page_answers_in_its_head() -> None:
    cells = [(way(timer, 5, 40), made_cell("none", 1, 200)[1]) for timer in ("futex", "ppoll")]
    page = html.render([made_run(cells)])
    assert "mallest median futex 5.00 µs" in page[: page.index("</header>")]
