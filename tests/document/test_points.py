"""A report and tables of points: the spread, what is said of virtual time, and how kernels differ."""

import io
import json
import re

import pytest
from msgspec.structs import replace
from rich.console import Console

from howlate.document import html
from howlate.document.cautions import HYPERVISOR, ONE_SEED
from howlate.document.kernels import DIFFER, UNKNOWN, about, document
from howlate.document.text import escaped
from howlate.errors import UsageError
from howlate.model.loaded import RunContent
from howlate.sides.configs import compared, differences, options_of, that_matter, why
from howlate.statistics.groups import VIRTUAL_TIME as VIRTUAL_TIME_RULE
from howlate.words.say import english, say
from made_cells import invalid
from made_points import KERNELS, Cells, made_points, virtual_run
from made_runs import five_cells, made_run
from printed import lines_of, print_cells, show_json

VIRTUAL_TIME = english(VIRTUAL_TIME_RULE())
NOTE = VIRTUAL_TIME[1:]


def printed(cells: Cells, width: int = 100, every: bool = False) -> str:
    out = io.StringIO()
    run = virtual_run(cells).run
    print_cells(Console(file=out, width=width), [s for s, _ in cells], None, run, every)
    return out.getvalue()


def test_a_table_of_points_has_a_row_a_point_and_says_what_it_is() -> None:
    cells = made_points()
    text = printed(cells)
    assert "spread over 4 seeds" in text
    assert VIRTUAL_TIME in text
    for label in ("timer clock_nanosleep", "period 1ms", "policy fifo:80"):
        assert label in text
    rows = [line for line in text.splitlines() if line.startswith("6.1")]
    assert len(rows) == 6
    own = [(s.columns["latency_ns"].max or 0) / 1000 for s, _ in cells[:4]]
    assert f"{min(own):.1f}" in rows[0] and f"{max(own):.1f}" in rows[0]
    assert say(ONE_SEED()) not in " ".join(text.split())


def test_a_row_without_a_value_is_not_called_invalid() -> None:
    """That no gap was found on a CPU is a result."""
    cells = made_points()
    nothing = replace(cells[0][0].columns["latency_ns"], max=None, quantiles={})
    cells[:4] = [(replace(summary, columns={"latency_ns": nothing}), bins) for summary, bins in cells[:4]]
    (row, *_rest) = [line for line in printed(cells).splitlines() if line.startswith("6.1")]
    assert "invalid" not in row and " - " in row


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_number_of_a_spread_is_cut_off(width: int) -> None:
    for line in printed(made_points(), width).splitlines():
        assert len(line) <= width
        assert "…" not in line


def test_one_seed_is_never_called_a_kernels_value() -> None:
    cells = made_points(seeds=1)
    text = " ".join(printed(cells).split())
    assert say(ONE_SEED()) in text
    page = html.render([virtual_run(cells)])
    assert escaped(say(ONE_SEED())) in page


def test_every_cell_can_be_shown_too() -> None:
    text = printed(made_points(), every=True)
    assert len([line for line in text.splitlines() if line.startswith("6.1-rt")]) == 8
    assert VIRTUAL_TIME in text


def test_warnings_are_told_once_with_how_many_repetitions_they_are_about() -> None:
    cells = made_points()
    why = "its clock source changed."
    cells[0] = (invalid(cells[0][0], why), cells[0][1])
    text = " ".join(printed(cells).split())
    assert f"(1 of 4, invalid): {why}" in text
    assert "3 of 4" in text


def test_json_keeps_each_cell_and_adds_groups() -> None:
    cells = made_points()
    value = json.loads(show_json([s for s, _ in cells], virtual_run(cells).run))
    assert len(value["cells"]) == 24
    assert value["clock"] == "virtual"
    assert value["note"] == VIRTUAL_TIME
    assert len(value["groups"]) == 6
    group = value["groups"][0]
    assert (group["counted"], group["planned"], len(group["cells"])) == (4, 4, 4)
    assert set(group["columns"]["latency_ns"]["max"]) == {"smallest", "median", "largest"}
    alone = json.loads(show_json([s for s, _ in five_cells(200)]))
    assert len(alone["groups"]) == 5


def test_a_page_says_once_what_virtual_time_is_before_the_first_number() -> None:
    page = html.render([virtual_run(made_points())])
    assert page.count(f'<p class="virtual">V{NOTE}') == 1
    assert page.index(f'<p class="virtual">V{NOTE}') < page.index('class="plot')
    assert escaped(say(HYPERVISOR())) not in page
    assert NOTE not in html.render([made_run(five_cells(200))])


def test_a_report_of_points_shows_each_once_and_every_cell_folded_away() -> None:
    page = html.render([virtual_run(made_points())])
    assert len(re.findall(r"data-point=", page)) == 6
    assert page.count('id="kernels"') == page.count('id="overview"') == 1
    folded = re.search(
        r'<details class="cells"><summary>Every repetition: 24 cells</summary>(.*?)</details>', page
    )
    assert folded is not None
    assert folded[1].count("data-cell=") == 24
    assert len(page.encode()) < html.LARGEST


def test_many_points_still_fit() -> None:
    kernels = tuple(f"{a}.{b}" for a in (5, 6, 7) for b in range(12))
    page = html.render([virtual_run(made_points(kernels, seeds=2, n=400), kernels)])
    assert len(page.encode()) < html.LARGEST
    assert 'id="versions"' in page


def test_real_and_virtual_time_are_not_joined() -> None:
    cells = made_points()
    with pytest.raises(UsageError, match="two clocks"):
        html.render([virtual_run(cells), virtual_run(cells, clock="real")])


def test_repetitions_in_real_time_are_a_spread_too_without_that_note() -> None:
    page = html.render([virtual_run(made_points(), clock="real")])
    assert re.search(r"spread over \d+ repetitions", page)
    assert NOTE not in page


CONFIG = (
    'CONFIG_HZ=250\n# CONFIG_PREEMPT_RT is not set\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_NAME="a"\nCONFIG_X25=m\n'
)
RT = 'CONFIG_HZ=1000\nCONFIG_PREEMPT_RT=y\nCONFIG_RCU_BOOST=y\nCONFIG_NAME="b"\n'


def test_a_configuration_is_read_as_the_kernel_writes_it() -> None:
    assert options_of(CONFIG) == {"HZ": "250", "PREEMPT_DYNAMIC": "y", "NAME": "a", "X25": "m"}


def test_differences_that_matter_come_first_with_their_reason() -> None:
    found = differences([options_of(CONFIG), options_of(RT)])
    assert [d.option for d in found] == ["PREEMPT_RT", "PREEMPT_DYNAMIC", "HZ", "RCU_BOOST", "NAME", "X25"]
    assert found[0].values == ("n", "y")
    assert len(that_matter(found)) == 4
    assert differences([options_of(RT)] * 2) == []


@pytest.mark.parametrize(
    "option",
    ["PREEMPT", "PREEMPT_NONE", "HZ_1000", "NO_HZ_FULL", "RCU_NOCB_CPU", "TREE_RCU", "PREEMPT_RCU", "SCHED_MC",
     "HIGH_RES_TIMERS", "CPU_FREQ", "CPU_IDLE", "LOCKDEP", "PROVE_LOCKING", "KASAN", "RT_GROUP_SCHED",
     "TRANSPARENT_HUGEPAGE_ALWAYS", "MITIGATION_RETPOLINE", "PAGE_TABLE_ISOLATION"],
)  # fmt: skip
def test_what_is_known_to_matter_has_a_sentence(option: str) -> None:
    assert why(option).endswith(".")


def test_what_is_not_known_to_matter_has_none() -> None:
    assert why("X25") == why("HZZ") == why("USB_HID") == ""


def test_kernels_are_told_with_version_and_command_line_and_escaped() -> None:
    content = virtual_run(made_points())
    page = html.render([content])
    assert "quiet &lt;b&gt;" in page and "quiet <b>" not in page
    assert "Spinlocks sleep" in page
    names, found = compared(content.kernels)
    assert names == ["6.1[preempt=none], 6.1[preempt=full]", "6.1-rt"]
    assert about(names, found, content.kernels) == (DIFFER(count=1, matter=1),)
    text = shown(content)
    assert all(kernel in text for kernel in KERNELS)
    assert "PREEMPT_RT: n (6.1[preempt=none], 6.1[preempt=full]); y (6.1-rt)" in text


def of_kernels(*labels: str) -> RunContent:
    return virtual_run(made_points(labels, seeds=1), labels)


def shown(content: RunContent) -> str:
    return lines_of(document(content.kernels, every=False))


def test_of_a_single_kernel_no_difference_is_announced() -> None:
    alone, two = of_kernels("6.1"), of_kernels("6.1", "6.1-rt")
    assert 'class="differences"' in html.render([two])
    page = html.render([alone])
    assert 'class="kernels"' in page
    assert 'class="differences"' not in page
    assert not re.search(r"<p[^>]*></p>", page)
    assert "\n\n" in shown(two)
    assert shown(alone).splitlines()[0] == "6.1"
    assert all(line.strip() for line in shown(alone).splitlines())


def test_a_configuration_that_is_not_known_is_not_called_the_same() -> None:
    content = of_kernels("6.1", "6.6", "6.12-rt")
    kernels = [replace(kernel, config={}) if kernel.label == "6.6" else kernel for kernel in content.kernels]
    names, found = compared(kernels)
    unknown = UNKNOWN(kernels=("6.6",))
    assert about(names, found, kernels)[-1] == unknown
    names, found = compared(kernels[:2])
    assert about(names, found, kernels[:2]) == (unknown,)
