"""The whole probe is stopped for a second in mid-run, for every way to sleep and late policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probe.drive import Stream, probe_list, probe_path, read_stream, running, stall

PERIOD_NS = 1_000_000
STALL_NS = 1_000_000_000


def _cases() -> list[tuple[str, str]]:
    if not probe_path().is_file():
        return [("clock_nanosleep", "skip")]  # the fixture `probe` then says what is missing
    return [
        (timer["name"], policy)
        for timer in probe_list()["timers"]
        if timer["available"]
        for policy in timer["late_policies"]
    ]


def _medians(stream: Stream, stopped_ns: int, continued_ns: int) -> tuple[float, float]:
    """Of the latencies of activations before the stall, and of those well after it."""
    latency_ns = stream.columns[0]["latency_ns"]
    woken_ns = stream.header.t0_ns + stream.columns[0]["release_ns"] + latency_ns
    before = latency_ns[woken_ns < stopped_ns - 10 * PERIOD_NS]
    after = latency_ns[woken_ns > continued_ns + 100 * PERIOD_NS]
    assert before.size > 100 and after.size > 100
    return float(np.median(before)), float(np.median(after))


@pytest.mark.parametrize(("timer", "policy"), _cases())
def test_a_stall_loses_no_release_and_leaves_no_trace(
    probe: Path, tmp_path: Path, timer: str, policy: str
) -> None:
    path = tmp_path / "stream"
    words = [
        "cyclic",
        "--timer",
        timer,
        "--late-policy",
        policy,
        "--period",
        "1ms",
        "--duration",
        "3s",
        "--quiet",
    ]
    with running(*words, "--stream", path) as one:
        one.progress()
        stopped_ns, continued_ns = stall(one, STALL_NS)
        code, _, err = one.end()
    assert code == 0, err

    stream = read_stream(path)
    assert stream.trailer is not None
    account = stream.trailer["accounting"][0]
    samples = stream.columns[0]
    assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
    assert account["dropped"] == 0
    assert account["recorded"] == samples["release"].size
    assert account["latency_ns_max"] == samples["latency_ns"].max()

    known = next(one for one in probe_list()["timers"] if one["name"] == timer)
    slept_ns = STALL_NS // 2 if known["windows"] else STALL_NS  # of the schedule, windows have half
    if not known["windows"]:
        assert 2990 <= account["releases"] <= 3000
    assert account["latency_ns_max"] >= 0.9 * slept_ns

    before, after = _medians(stream, stopped_ns, continued_ns)
    missed = 0.9 * slept_ns / PERIOD_NS
    if policy == "as-published":
        assert after > 100 * before, "the loop that the studies print finds back: it is not theirs"
    else:
        assert after - before < slept_ns / 100, "after the stall it is not what it was before"
    if policy == "skip":
        assert account["overruns"] >= missed
        assert account["late_starts"] == 0
    if policy == "backlog":
        assert account["late_starts"] >= missed
        assert np.array_equal(samples["release"], np.arange(samples["release"].size))
