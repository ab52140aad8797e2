"""The whole probe is stopped for a second in mid-run, for every way to sleep and late policy."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct

from probe.drive import Running, Stream, probe_list, probe_path, read_stream, running, stall

pytestmark = pytest.mark.beside

PERIOD_NS = 1_000_000
STALL_NS = 1_000_000_000

Case = tuple[str, str]


def _timers() -> dict[str, list[str]]:
    """The late policies of each way to sleep."""
    if not probe_path().is_file():
        return {"clock_nanosleep": ["skip"]}  # the fixture `probe` then says what is missing
    return {one["name"]: one["late_policies"] for one in probe_list()["timers"] if one["available"]}


def _with_windows() -> set[str]:
    """These keep the CPU to themselves."""
    return {one["name"] for one in probe_list()["timers"] if one["windows"]}


CASES = [(timer, policy) for timer, policies in _timers().items() for policy in policies]


class Stalled(Struct, frozen=True):
    stream: Stream
    stopped_ns: int
    continued_ns: int

    def medians(self) -> tuple[float, float]:
        """Of the latencies of activations before the stall, and of those well after it."""
        latency_ns = self.stream.columns[0]["latency_ns"]
        woken_ns = self.stream.header.t0_ns + self.stream.columns[0]["release_ns"] + latency_ns
        before = latency_ns[woken_ns < self.stopped_ns - 10 * PERIOD_NS]
        after = latency_ns[woken_ns > self.continued_ns + 300 * PERIOD_NS]
        assert before.size > 20 and after.size > 20
        return float(np.median(before)), float(np.median(after))


def _stalled(folder: Path, cases: list[Case]) -> dict[Case, Stalled]:
    """All of them at once, stopped together."""
    with contextlib.ExitStack() as stack:
        started: list[Running] = []
        for timer, policy in cases:
            words = [
                "cyclic",
                "--timer",
                timer,
                "--late-policy",
                policy,
                "--period",
                "1ms",
                "--duration",
                "1h",
            ]
            if timer in _with_windows():
                words.append("--occupy-all")  # there may be one CPU only
            path = folder / f"{timer}-{policy}"
            started.append(stack.enter_context(running(*words, "--quiet", "--stream", path)))
        for one in started:
            one.progress()
        stopped_ns, continued_ns = stall(started[0], STALL_NS, *started[1:])
        for _ in range(6):  # five a second, and one may be of before: a second after the stall
            for one in started:
                one.progress()
        for one in started:
            code, _, err = one.stop()
            assert code == 0, err
    return {
        (timer, policy): Stalled(read_stream(folder / f"{timer}-{policy}"), stopped_ns, continued_ns)
        for timer, policy in cases
    }


@pytest.fixture(scope="module")
def stalled(probe: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Stalled]:
    """The runs are made together when the first of them is asked for; a way to sleep with windows has the CPU
    alone."""
    alone = _with_windows()
    made: dict[Case, Stalled] = {}

    def of(case: Case) -> Stalled:
        if case not in made:
            mates = [one for one in CASES if one[0] not in alone]
            made.update(_stalled(tmp_path_factory.mktemp("stall"), [case] if case[0] in alone else mates))
        return made[case]

    return of


@pytest.mark.parametrize(("timer", "policy"), CASES)
def test_a_stall_loses_no_release_and_leaves_no_trace(
    stalled: Callable[[Case], Stalled], timer: str, policy: str
) -> None:
    found = stalled((timer, policy))
    assert found.stream.trailer is not None
    account = found.stream.trailer["accounting"][0]
    samples = found.stream.columns[0]
    assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
    assert account["dropped"] == 0
    assert account["recorded"] == samples["release"].size
    assert account["latency_ns_max"] == samples["latency_ns"].max()
    assert account["releases"] > samples["release"].max()
    # The schedule of windows has releases in half of the time.
    slept_ns = STALL_NS // 2 if timer in _with_windows() else STALL_NS
    if timer not in _with_windows():
        assert np.array_equal(samples["release_ns"], samples["release"] * PERIOD_NS)
    assert account["latency_ns_max"] >= 0.9 * slept_ns

    before, after = found.medians()
    missed = 0.9 * slept_ns / PERIOD_NS
    if policy == "as-published":
        assert after - before > slept_ns / 2, "the loop that the studies print finds back: it is not theirs"
    else:
        assert after - before < slept_ns / 10, "after the stall it is not what it was before"
    if policy == "skip":
        assert account["overruns"] >= missed
        assert account["late_starts"] == 0
    if policy == "backlog":
        assert account["late_starts"] >= missed
        assert np.array_equal(samples["release"], np.arange(samples["release"].size))
