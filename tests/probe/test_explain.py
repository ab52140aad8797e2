"""`cyclic --explain` with this machine's own kernel: which samples are kept, that their stretch is whole, that the
measuring task pays with nothing but time, and that the kernel's tracing is as it was whatever ends the probe."""

import json
import os
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from howlate.model.facts import Facts
from lacks import AS_ROOT, KERNEL, MACHINE, lack, needs_program, needs_root, skip
from probe.drive import Stream, as_nobody, read_stream, run, running
from processes import kill_unguarded, until
from trace_state import tracing

pytestmark = pytest.mark.skipif(
    run("cyclic", "--explain", "--activations=1", "--quiet").returncode == 3,
    reason=lack("the kernel's tracing", AS_ROOT if os.geteuid() != 0 else KERNEL),
)

ALL = ("cyclic", "--explain", "--quiet")
RING = (*ALL, "--explain-with=tracefs")
HARD = 8
"""The flag of a hard interrupt."""
A_SECOND = 1_000_000_000
"""Further from its event than this is what a timer of another clock tells."""


def explained(path: Path, *words: str) -> Stream:
    done = run(*ALL, *words, "--stream", path)
    assert done.returncode == 0, done.stderr
    return read_stream(path)


def table(stream: Stream, name: str) -> Mapping[str, Any]:
    """The columns of a table; none where it has no rows."""
    number = next(one.id for one in stream.header.tables if one.name == name)
    return stream.columns.get(number, {})


def trace(stream: Stream) -> Mapping[str, Any]:
    assert stream.trailer is not None
    found: Mapping[str, Any] = stream.trailer["trace"]
    return found


@pytest.mark.parametrize("record", ["stream", "memory"])
def test_the_worst_of_each_thread_are_kept_with_the_switch_to_them(
    probe: Path, tmp_path: Path, record: str
) -> None:
    stream = explained(
        tmp_path / "stream",
        *("--activations=700", "--cpus=all", "--explain-worst=7", "--warm-up=20ms", f"--record={record}"),
    )
    cases, events = table(stream, "trace_cases"), table(stream, "trace_events")
    names = stream.raw_header["in_force"]["trace"]["events"]
    threads = trace(stream)["threads"]
    assert len(threads) == len(os.sched_getaffinity(0))
    for thread in threads:
        samples = stream.columns[thread["thread"]]
        own = cases["thread"] == thread["thread"]
        kept = dict(zip(cases["release"][own].tolist(), cases["latency_ns"][own].tolist(), strict=True))
        measured = samples["latency_ns"][samples["flags"] & 1 == 0]
        assert sorted(kept.values()) == np.sort(measured)[-7:].tolist()
        for at in np.flatnonzero(own):
            release_ns = cases["release_ns"][at]
            assert (
                cases["latency_ns"][at]
                == samples["latency_ns"][samples["release"] == cases["release"][at]][0]
            )
            if cases["state"][at]:
                continue
            # Where there is room, up to 2 ms more before it.
            assert release_ns - 2_200_000 <= cases["from_ns"][at] <= release_ns - 200_000
            assert cases["to_ns"][at] == release_ns + cases["latency_ns"][at] + 200_000
            within = (
                (events["time_ns"] >= cases["from_ns"][at])
                & (events["time_ns"] <= cases["to_ns"][at])
                & (events["cpu"] == stream.trailer["accounting"][thread["thread"]]["cpu"])  # type: ignore[index]
            )
            assert within.sum() == cases["events"][at]
            switched = (
                within & (events["event"] == names.index("sched_switch")) & (events["c"] == thread["pid"])
            )
            # A task that was still busy at its release is not switched to.
            assert switched.any() or (events["pid"][within] == thread["pid"]).any()
            assert (events["d"][switched] == thread["prio"]).all()


def test_events_are_in_order_each_once_and_their_functions_are_named(probe: Path, tmp_path: Path) -> None:
    stream = explained(tmp_path / "stream", "--activations=500", "--explain-above=1ns", "--period=300us")
    cases, events = table(stream, "trace_cases"), table(stream, "trace_events")
    assert cases["release"].size == 500  # every one is above
    order = np.lexsort((events["time_ns"], events["cpu"]))
    assert (order == np.arange(order.size)).all()
    names, said = stream.raw_header["in_force"]["trace"]["events"], trace(stream)
    expiries = events["event"] == names.index("hrtimer_expire_entry")
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip()
    in_force = stream.raw_header["in_force"]["trace"]
    by_counter = in_force["with"] == "tracefs" and source == "tsc"
    assert in_force["clock"] == ("x86-tsc" if by_counter else "mono")
    # When the interrupt of our timer began: where few events are recorded, this one alone tells it.
    if stream.raw_header["in_force"]["trace"]["detail"] == "few":
        began_ns = events["b"] - stream.header.t0_ns
        ours = expiries & (events["flags"] & HARD != 0) & (np.abs(began_ns - events["time_ns"]) < A_SECOND)
        assert ours.sum() >= 0.9 * cases["release"].size
        assert (began_ns[ours] <= events["time_ns"][ours]).all()
    functions = {said["functions"].get(str(address)) for address in events["c"][expiries].tolist()}
    assert "hrtimer_wakeup" in functions
    assert said["cases_lost"] == 0
    pid = said["threads"][0]["pid"]
    assert said["tasks"][str(pid)].startswith("measure/")
    # The expiry, the waking, the switch: once in every wake-up, but for those that found their task awake.
    wakings = (events["event"] == names.index("sched_waking")) & (events["a"] == pid)
    assert wakings.sum() >= 0.9 * cases["release"].size
    assert said["event_cost_ns"] > 0


def test_the_measuring_task_has_no_fault_and_loses_no_sample(probe: Path, tmp_path: Path) -> None:
    stream = explained(tmp_path / "stream", "--period=200us", "--duration=1s", "--load=hackbench:4")
    assert stream.trailer is not None
    (account,) = stream.trailer["accounting"]
    assert (account["minor_faults"], account["major_faults"], account["dropped"]) == (0, 0, 0)
    assert table(stream, "trace_cases")["release"].size == 20


@pytest.mark.parametrize(
    "words", [(), ("--cpus=all",), ("--work=50us",), ("--cpus=all", "--record=memory")], ids=" ".join
)
def test_the_recording_ends_with_the_sample_above_the_threshold(
    probe: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    delays = ("--inject=fifo-task", "--inject-size=4ms", "--inject-every=50", "--period=4ms")
    done = run(
        *(*ALL, *delays, *words, "--threshold=2ms", "--duration=30s"),
        *("--stream", tmp_path / "stream"),
    )
    assert done.returncode == 1, done.stderr
    stream = read_stream(tmp_path / "stream")
    cases, events = table(stream, "trace_cases"), table(stream, "trace_events")
    names, threads = stream.raw_header["in_force"]["trace"]["events"], trace(stream)["threads"]
    first = min(np.flatnonzero(cases["latency_ns"] > 2_000_000), key=lambda at: stamps(cases)[at])
    assert cases["state"][first] == 0
    assert cases["events"][first] > 0
    # Before the task left its CPU nobody recorded any more, so that nothing could be overwritten.
    pid = threads[int(cases["thread"][first])]["pid"]
    left = (events["event"] == names.index("sched_switch")) & (events["pid"] == pid)
    assert not (left & (events["time_ns"] > stamps(cases)[first])).any()


def stamps(cases: Mapping[str, Any]) -> Any:
    """When each case had its time stamp."""
    return cases["release_ns"] + cases["latency_ns"]


def test_without_it_nothing_of_it_is_in_the_stream(probe: Path, tmp_path: Path) -> None:
    done = run("cyclic", "--activations=10", "--quiet", "--stream", tmp_path / "stream")
    assert done.returncode == 0, done.stderr
    stream = read_stream(tmp_path / "stream")
    assert "trace" not in stream.raw_header["in_force"]
    assert [one.name for one in stream.header.tables] == ["samples", "cpus", "loads", "counters"]
    assert stream.trailer is not None
    assert "trace" not in stream.trailer


@pytest.mark.parametrize("how", ["end", "stop", "threshold", "disk"])
def test_the_kernels_tracing_is_as_it_was_after_each_way_to_end(
    probe: Path, tmp_path: Path, request: pytest.FixtureRequest, how: str
) -> None:
    before = tracing(tmp_path / "look")
    if how == "disk":
        full = request.getfixturevalue("small_disk") / "stream"
        done = run(*RING, "--period=50us", "--duration=20s", "--stream", full)
        assert done.returncode == 4, done.stderr
        assert "No space left" in done.stderr
    elif how == "stop":
        with running(*RING, "--duration=1h") as one:
            one.progress()
            assert tracing(tmp_path / "look") != before
            one.process.send_signal(signal.SIGINT)
            assert one.end()[0] == 0
    else:
        more = ("--threshold=1ns",) if how == "threshold" else ()
        assert run(*RING, "--activations=100", *more).returncode == (1 if how == "threshold" else 0)
    assert tracing(tmp_path / "look") == before


@pytest.mark.parametrize("by", ["restore", "the next probe"])
def test_what_a_probe_left_that_was_killed_with_its_guardian_is_removed(
    probe: Path, tmp_path: Path, by: str
) -> None:
    before = tracing(tmp_path / "look")
    with running(*RING, "--duration=1h") as one:
        one.progress()
        kill_unguarded(one.pid)
        one.process.wait()
        assert f"howlate-{one.pid}\n" in tracing(tmp_path / "look")
    if by == "restore":
        done = run("restore")
        assert f"howlate-{one.pid}: removed" in done.stdout
    else:
        assert run(*RING, "--activations=10").returncode == 0
    assert until(lambda: tracing(tmp_path / "look") == before)
    assert not list((tmp_path / "state").glob("*.journal"))


def test_two_probes_explain_beside_each_other(probe: Path, tmp_path: Path) -> None:
    before = tracing(tmp_path / "look")
    with running(*RING, "--duration=1h") as one:
        one.progress()
        stream = explained(tmp_path / "stream", "--activations=100", "--explain-with=tracefs")
        assert table(stream, "trace_cases")["release"].size == 20
        assert f"howlate-{one.pid}\n" in tracing(tmp_path / "look")
        assert one.stop()[0] == 0
    assert tracing(tmp_path / "look") == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--explain-worst=5",), "--explain-worst says what --explain keeps"),
        (("--explain", "--explain-worst=1001"), "--explain-worst can be at most 1000"),
        (("--explain", "--explain-above=0ns"), "--explain-above must be more than 0"),
        (("--explain", "--explain-buffer=4KiB"), "from 64KiB to 1GiB"),
        (("--explain-with=bpf",), "--explain-with says what --explain keeps"),
        *(
            (("--explain", "--explain-stacks", f"--explain-with={by}"), "for the kernel's trace ring alone")
            for by in ("bpf", "bpf-by-address")
        ),
    ],
)
def test_bad_options_are_refused_with_the_reason(probe: Path, words: tuple[str, ...], said: str) -> None:
    done = run("cyclic", *words, "--activations=10")
    assert done.returncode == 2
    assert said in done.stderr


def test_who_recorded_is_told_and_bpf_is_refused_where_it_was_not_possible(
    probe: Path, tmp_path: Path
) -> None:
    in_force = explained(tmp_path / "auto", "--activations=20").raw_header["in_force"]["trace"]
    ring = explained(tmp_path / "ring", "--activations=20", "--explain-with=tracefs")
    assert ring.raw_header["in_force"]["trace"]["with"] == "tracefs"
    assert "no_bpf" not in ring.raw_header["in_force"]["trace"]
    planned = run("plan", '["cyclic","--explain","--explain-with=bpf"]')
    done = run(*ALL, "--explain-with=bpf", "--activations=20")
    if in_force["with"] == "bpf":
        assert done.returncode == 0, done.stderr
        return
    assert (in_force["with"], in_force["detail"]) == ("tracefs", "few")
    assert done.returncode == 3
    for said in (done.stderr, planned.stdout):
        assert "--explain-with bpf " in said and in_force["no_bpf"] in said


@pytest.mark.parametrize("by", ["bpf", "bpf-by-address"])
def test_a_guest_on_hardware_records_few_events_by_default(probe: Path, tmp_path: Path, by: str) -> None:
    if run(*ALL, f"--explain-with={by}", "--activations=1").returncode == 3:
        skip(f"a kernel that takes {by}", KERNEL)
    in_force = explained(tmp_path / by, "--activations=20", f"--explain-with={by}").raw_header["in_force"]
    bare = hypervisor() in ("", "TCGTCGTCGTCG") and os.uname().machine == "x86_64"
    assert in_force["trace"]["detail"] == ("all" if bare else "few")


def test_a_deadline_task_that_may_run_on_every_cpu_is_explained_by_the_same_recorder(
    probe: Path, tmp_path: Path
) -> None:
    words = ("--policy=deadline:300us:1ms:1ms", "--period=1ms", "--activations=50")
    if run("cyclic", "--quiet", *words).returncode == 3:
        skip("bandwidth for a task of SCHED_DEADLINE", MACHINE)
    usual = explained(tmp_path / "usual", "--activations=20")
    deadline = explained(tmp_path / "deadline", *words)
    assert deadline.raw_header["in_force"]["trace"]["with"] == usual.raw_header["in_force"]["trace"]["with"]
    assert table(deadline, "trace_cases")["release"].size == 20


def test_bpf_tells_the_events_of_a_wake_up_in_the_contexts_that_the_trace_ring_tells(
    probe: Path, tmp_path: Path
) -> None:
    by = next(
        (
            one
            for one in ("bpf", "bpf-by-address")
            if run(*ALL, f"--explain-with={one}", "--activations=1").returncode == 0
        ),
        None,
    )
    if by is None:
        skip("a kernel that takes BPF programs", KERNEL)
    # A load, so that the timer always interrupts a task.
    words = ("--activations=300", "--explain-worst=300", "--explain-events=all", "--load=cpu:100")
    ring, bpf = (explained(tmp_path / with_, *words, f"--explain-with={with_}") for with_ in ("tracefs", by))
    assert bpf.raw_header["in_force"]["trace"]["with"] == "bpf"
    assert usual_contexts(bpf) == usual_contexts(ring)


def hypervisor() -> str:
    """As it names itself; empty where there is none."""
    return Facts.from_json(json.loads(run("facts", "--json").stdout)).text("machine.hypervisor") or ""


def usual_contexts(stream: Stream) -> Mapping[str, tuple[int, int]]:
    """Of each event that comes in every wake-up the flags and the depth of preemption that it most often has."""
    events = table(stream, "trace_events")
    names = stream.raw_header["in_force"]["trace"]["events"]
    usual = {}
    for name in ("hrtimer_expire_entry", "hrtimer_expire_exit", "sched_waking", "sched_switch"):
        if name not in names:
            continue
        of_it = events["event"] == names.index(name)
        counts = Counter(
            zip(events["flags"][of_it].tolist(), (events["preempt"][of_it] & 0x0F).tolist(), strict=True)
        )
        ((context, _),) = counts.most_common(1)
        usual[name] = context
    return usual


def test_stacks_are_left_to_the_trace_ring(probe: Path, tmp_path: Path) -> None:
    stream = explained(tmp_path / "stream", "--activations=20", "--explain-stacks")
    assert stream.raw_header["in_force"]["trace"]["with"] == "tracefs"
    assert "stacks" in stream.raw_header["in_force"]["trace"]["no_bpf"]


@needs_root
@needs_program("setpriv", "util-linux")
def test_without_the_right_it_is_refused_with_reason_and_remedy(probe: Path, everybodys: Path) -> None:
    done = as_nobody(everybodys, "cyclic", "--explain", "--policy=other", "--activations=10")
    assert done.returncode == 3
    assert "--explain " in done.stderr and "root" in done.stderr
    done = as_nobody(everybodys, "plan", '["cyclic","--explain","--policy=other"]')
    answer = json.loads(done.stdout)
    assert answer["exit_code"] == 3 and answer["message"].startswith("--explain ")


def test_the_summary_says_how_many_cases_were_kept(probe: Path) -> None:
    done = run("cyclic", "--explain", "--activations=50", "--explain-worst=3")
    assert "explained: 3 cases kept" in done.stdout
