"""What a guest says of itself ends `lab prove` before its search, unless what a search finds is wanted anyway."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.test_every_option import called
from howlate.system.paths import probe_path
from lab.guests import RT, warm_cache

IDLE, REAL_TIME = "cpu:30", "memory-alloc:100+cpu:5,policy=fifo:50"


@pytest.mark.long
@pytest.mark.parametrize(
    ("load", "reason"), [(IDLE, "the CPU was idle for"), (REAL_TIME, "real-time tasks (")]
)
def test_a_command_probes_beside_an_objection_only_for_a_deadline_or_for_late_releases(
    load: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The real-time load's is known from the command and the guest's facts, and from no release."""
    monkeypatch.setenv("HOWLATE_CACHE", str(warm_cache(tmp_path / "cache", RT)))
    monkeypatch.setenv("HOWLATE_PROBE", str(probe_path()))
    monkeypatch.setattr("howlate.prove.flow.PAIRS", 2)

    def proved(*more: str) -> tuple[int, dict[str, Any]]:
        asked = f"lab prove --load {load} --kernels {RT} --window 60us --checks 0 --json"
        code = called(" ".join([asked, *more]))
        (landscape,) = json.loads(capfd.readouterr().out)["landscapes"]
        return code, landscape

    code, unsearched = proved()
    assert (code, unsearched["ruling"], unsearched["probes"]) == (5, "withheld", 0)
    assert len(unsearched["objections"]) == 1 and reason in unsearched["objections"][0]
    assert unsearched["why"]["latency_ns"] == unsearched["found_ns"] > 0
    assert proved() == (code, unsearched)

    for deadline_ns in (1_000, unsearched["found_ns"]):  # the witness's own release misses the first
        code, missed = proved(f"--deadline {deadline_ns}ns")
        assert (code, missed["ruling"], missed["found_ns"] > deadline_ns) == (1, "missed", True)
    code, searched = proved("--worst 2", "--within 50%")
    assert (code, searched["ruling"], searched["objections"]) == (5, "withheld", unsearched["objections"])
    assert searched["probes"] > 0 == searched["uncovered_ns"]
    assert searched["found_ns"] >= unsearched["found_ns"]
