"""What rtla prints: buckets, figures, units and what its versions leave out."""

import re
from pathlib import Path

import pytest

from howlate.errors import DamagedError
from imports.foreign import FIXTURES
from imports.test_foreign import cell_of, importer_of, written
from imports.test_wild import line_of, refused

RTLA = """\
# RTLA osnoise histogram
# Time unit is microseconds (us)
# Duration:   0 00:01:00
Index   CPU-003
0         42982
10        12224
20            8
over:         0
count:    55214
min:          0
avg:          4
max:         25
"""


@pytest.mark.parametrize("largest", [20, 25, 29])
def test_wide_buckets_of_rtla_are_wide_wherever_the_extremes_lie(largest: int, tmp_path: Path) -> None:
    path = written(tmp_path, RTLA.replace("25\n", f"{largest}\n"))
    cell = cell_of(path, tmp_path / "run")
    assert cell.valid and cell.known.resolution_ns == 10_000
    column = cell.columns["noise_ns"]
    assert column.max == largest * 1000 and column.stddev is None


def test_a_maximum_outside_of_its_bucket_is_a_contradiction(tmp_path: Path) -> None:
    path = written(tmp_path, RTLA.replace("25\n", "41\n"))
    assert importer_of(path).read([path], {}).damaged


def test_what_a_tool_left_out_is_not_to_be_copied_again_alone(tmp_path: Path) -> None:
    """A file that was written so is as whole as it can be."""
    xml = (FIXTURES / "rteval.xml").read_text()
    no_core = re.sub(r"<core .*</core>", "", xml, flags=re.DOTALL)
    no_tool = re.sub(r"<cyclictest .*</cyclictest>", "", xml, flags=re.DOTALL)
    for text, name, line, how in (
        (RTLA[: RTLA.index("over:")], "rtla.txt", 7, "without --no-summary"),
        (no_core, "summary.xml", None, "buckets"),
        (no_tool, "other.xml", None, "with one of them"),
    ):
        path = written(tmp_path, text, name)
        with pytest.raises(DamagedError) as caught:
            importer_of(path).read([path], {})
        assert how in caught.value.remedy
        assert line in (None, line_of(caught.value.statement.values))


@pytest.mark.parametrize(
    "figures", ["over:\ncount:\nmin:\navg:\nmax:\n", "over: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n"]
)
def test_no_noise_at_all_is_a_result(figures: str, tmp_path: Path) -> None:
    head = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:05\nIndex\n"
    cell = cell_of(written(tmp_path, head + figures), tmp_path / "run")
    assert cell.valid and cell.columns["noise_ns"].count == 0 and cell.columns["noise_ns"].max is None


def test_a_mean_that_old_rtla_adds_wrongly_is_left_out(tmp_path: Path) -> None:
    text = RTLA.replace("10  ", "11  ").replace("avg:          4", "avg:          0").replace("25\n", "20\n")
    cell = cell_of(written(tmp_path, text), tmp_path / "run")
    assert cell.valid and cell.columns["noise_ns"].mean == pytest.approx((11 * 12224 + 20 * 8) / 55214 * 1000)


def test_a_unit_that_rtla_does_not_have_is_refused_with_the_line(tmp_path: Path) -> None:
    assert refused(written(tmp_path, RTLA.replace("microseconds (us)", "milliseconds (ms)"))) == (
        "import.bad-file",
        2,
    )


def test_hwnoise_is_not_osnoise(tmp_path: Path) -> None:
    text = (FIXTURES / "osnoise-top.txt").read_text(encoding="utf-8")
    text = text.replace("Operating System Noise", "Hardware-related Noise")
    assert cell_of(written(tmp_path, text), tmp_path / "run").test == "hwnoise"
