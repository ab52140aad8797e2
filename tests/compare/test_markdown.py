"""A comparison as Markdown: what a table's cell says of a figure over its seeds."""

import sys

import pytest

from howlate.compare.compare import compare
from howlate.system.paths import ROOT
from made_sides import Made, at, lab_run

sys.path.insert(0, str(ROOT / "tools"))

from markdown_tables import Wanted, number_text, sheet_markdown, summary, table

SEEDS = [
    Made(maximum=21.6, median=8.0),
    Made(maximum=22.4, median=8.2),
    Made(maximum=1187.4, median=8.1, overruns=3),
]
RUN = lab_run(
    {
        "6.1": {at(load="none"): SEEDS, at(load="cpu:100"): [Made(valid=False)] * 3},
        "6.1-rt": {at(load="none"): [Made()] * 3, at(load="cpu:100"): [Made()] * 3},
    }
)
WANTED = Wanted("latency_ns", ("load",), ("mean", "maximum", "overruns"))


def test_numbers_have_three_digits_and_counts_are_whole() -> None:
    assert number_text(8_312, "mean") == "8.31"
    assert number_text(1_187_400, "maximum") == "1,187"
    assert number_text(999_400, "maximum") == "999"
    assert number_text(3, "overruns") == "3"
    assert number_text(23_500_000, "run:hackbench.run_ns_mean") == "23.5"
    assert number_text(0.000_05, "load") == "0.005 %"


def test_a_mean_is_the_median_over_the_seeds_and_an_extreme_has_both_ends() -> None:
    lines = sheet_markdown(table(compare([RUN]), WANTED))
    assert lines[0] == "| load | kernel | mean, us | max, us | overruns |"
    assert "| none | 6.1 | 8.91 | 21.6 to 1,187 | 0 to 3 |" in lines
    assert "| none | 6.1-rt | 4.40 | 10.0 | 0 |" in lines


def test_what_is_not_valid_has_no_figure() -> None:
    assert "| cpu:100 | 6.1 | invalid | invalid | invalid |" in sheet_markdown(table(compare([RUN]), WANTED))


def test_only_places_with_the_labels_that_are_asked_for_are_shown() -> None:
    wanted = Wanted("latency_ns", ("load",), ("mean",), only={"load": "none"})
    lines = sheet_markdown(table(compare([RUN]), wanted))
    assert len(lines) == 4
    with pytest.raises(ValueError, match="no place has the column"):
        table(compare([RUN]), Wanted("point_ns", (), ("mean",)))


def test_the_sentences_of_one_heading_alone_can_be_asked_for() -> None:
    assert any("6.1-rt" in line for line in summary(compare([RUN])))
    with pytest.raises(ValueError, match="no sentence"):
        summary(compare([RUN]), "no such heading")
