"""What howlate and its probe both know: runs of older probes are read, and plans made, where no probe can be asked,
so these rules stand in both. Here the two are compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model.in_force import WITHOUT_SLACK
from howlate.model.units import UNITS_OF_TIME, parse_duration_ns
from howlate.plan.asked_for import UNRECORDED_CHOICES
from howlate.plan.cost import LOADS_S, SHARES
from howlate.prove.searched import LEAD_NS

from .drive import run

pytestmark = pytest.mark.beside
TEN_YEARS_NS = 87_600 * 3600 * 10**9
NUMBERS = st.from_regex(r"[0-9]{1,20}(\.[0-9]{0,4})?", fullmatch=True) | st.text(max_size=4).filter(
    str.isprintable
)
UNITS = st.sampled_from([*UNITS_OF_TIME, "", "w", "MS", " us"])


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("list", "--json").stdout)
    return found


@given(st.lists(st.builds("{}{}".format, NUMBERS, UNITS), min_size=20, max_size=20))
def test_a_time_is_one_for_both_or_for_neither(texts: list[str]) -> None:
    lines = "".join(json.dumps(["cyclic", f"--deadline={text}"]) + "\n" for text in texts)
    answers = map(json.loads, run("plan", given=lines).stdout.splitlines())
    for text, answer in zip(texts, answers, strict=True):
        try:
            ns = parse_duration_ns(text)
        except ValueError:
            assert not answer["ok"] and answer["exit_code"] == 2, text
            continue
        assert answer["ok"] == (0 < ns <= TEN_YEARS_NS), text  # what is no deadline is a time
        if answer["ok"]:
            assert parse_duration_ns(answer["options"]["deadline"]) == ns, text


def test_the_loads_whose_cost_is_known_are_the_probe_s(listed: dict[str, Any]) -> None:
    loads = {load["name"]: load["target"] for load in listed["loads"]}
    assert {name.partition(":")[0] for name in LOADS_S} <= set(loads)
    assert set(SHARES) == {name for name, target in loads.items() if target["type"] == "percent"}


def test_ways_to_sleep_without_slack_are_the_probe_s(listed: dict[str, Any]) -> None:
    assert {timer["name"] for timer in listed["timers"]} >= WITHOUT_SLACK


def test_options_that_the_probe_once_chose_without_a_word_are_its_own(listed: dict[str, Any]) -> None:
    every = [*listed["common"], *(param for test in listed["tests"] for param in test["params"])]
    assert {param["name"] for param in every} >= set(UNRECORDED_CHOICES)


def test_a_guest_stops_where_the_window_of_a_proof_may_begin() -> None:
    """The constant of the header: no answer of the probe has it, and a proof asks none before it begins."""
    header = (Path(__file__).parents[2] / "probe/src/job/single.hpp").read_text()
    (lead,) = re.findall(r"single_lead_ns = ([0-9']+);", header)
    assert int(lead.replace("'", "")) == LEAD_NS
