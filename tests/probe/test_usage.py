"""Wrong arguments, missing rights, and what parameters do."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lacks import AS_ROOT, needs_program, needs_root, needs_two_cpus, skip
from probe.drive import as_nobody, cell, probe_path, read_stream, run, running
from sentences import meant

pytestmark = pytest.mark.beside


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--perod", "1ms"], "--period"),
        (["--period", "1us"], "20us"),
        (["--period", "0ms"], "20us"),
        (["--period", "17"], "period"),
        (["--timer", "clock_nanoslep"], "clock_nanosleep"),
        (["--policy", "fifo:100"], "1 to 99"),
        (["--policy", "fifo"], "priority"),
        (["--policy", "fair"], "fifo:80"),
        (["--policy", "deadline:2ms:1ms:1ms"], "runtime <= deadline"),
        (["--policy", "batch"], "other"),
        (["--priorities", "80,79"], "one priority"),
        (["--break-trace"], "--threshold"),
        (["--seed", "1"], "--dither"),
        (["--activations", "0"], "more than 0"),
        (["--duration", "9223372036s"], "ten years"),
        (["--first", "9223372036s"], "ten years"),
        (["--work", "9223372036s"], "ten years"),
        (["--stagger", "2h"], "1h"),
        (["--stream", "/no/such/folder/stream"], "/no/such/folder/stream"),
        (["--knob", "no_such_knob=1"], "no_such_knob"),
    ],
)
def test_wrong_usage_is_a_sentence_with_exit_code_2(probe: Path, words: list[str], said: str) -> None:
    if "--priorities" in words and os.geteuid() != 0:
        skip("the right to a priority, without which that is said first", AS_ROOT)
    done = run("cyclic", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--late-policy", "as-published"], "setitimer"),
        (["--timer", "setitimer", "--dither"], "dither"),
    ],
)
def test_what_a_timer_cannot_do_is_not_possible_here(probe: Path, words: list[str], said: str) -> None:
    """The other cells of a study that asks for it are measured."""
    done = run("cyclic", *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    "words", [["cyclic", "--cpus=4095"], ["cyclic", "--load=cpu:5,cpus=4095"], ["load", "cpu:5,cpus=4095"]]
)
def test_a_cpu_that_is_not_there_is_not_possible_here(probe: Path, words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 3
    assert "CPU 4095 " in done.stderr and "--cpus" in done.stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["lsit"], "list"),
        (["cyclic", "--perod", "1ms"], "--period"),
        (["cyclic", "--late-policy", "skp"], "skip"),
        (["cyclic", "--timer", "timrefd"], "timerfd"),
        (["cyclic", "--load", "cpuu:50", "--duration", "1s"], "cpu"),
        (["load", "cup:50"], "cpu"),
        (["load", "cpu:50,nise=1"], "--nice"),
        (["facts", "--jsno"], "--json"),
        (["hold", "--knob", "cpu_dma_latenci=0"], "cpu_dma_latency"),
    ],
)
def test_a_name_that_was_probably_meant_is_told_in_one_way(probe: Path, words: list[str], name: str) -> None:
    done = run(*words)
    assert (done.returncode, meant(done.stderr)) == (2, name), done.stderr


@pytest.mark.parametrize("words", [["load", "cpu:10"], ["hold", "--knob", "thp=never"]])
def test_a_time_that_no_clock_holds_is_wrong_usage_everywhere(probe: Path, words: list[str]) -> None:
    done = run(*words, "--duration", "9223372036s")
    assert done.returncode == 2
    assert "ten years" in done.stderr


def test_memory_that_is_not_there_is_refused_before_anything_starts(probe: Path) -> None:
    done = run("cyclic", "--record", "memory", "--period", "20us", "--duration", "1000h")
    assert done.returncode == 3
    assert "MiB" in done.stderr and "--record stream" in done.stderr


@pytest.mark.parametrize("words", [["cyclic", "--duration", "10ms"], ["list", "--json"], ["--help"]])
def test_what_a_full_disk_swallows_is_not_done(probe: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [probe_path(), *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 4
    assert "standard output " in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_the_summary_never_lands_in_the_stream(probe: Path, tmp_path: Path, closed: str) -> None:
    path = tmp_path / "stream"
    words = f'"{probe_path()}" cyclic --activations 20 --stream "{path}" {closed}'
    assert subprocess.run(["/bin/sh", "-c", words], check=False).returncode == 0
    assert "whole" in run("check-stream", path).stdout.splitlines()[0]


def test_check_stream_does_not_wait_for_a_pipe(probe: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = run("check-stream", tmp_path / "pipe")
    assert done.returncode == 2 and "not a regular file" in done.stderr


def test_work_of_hours_is_stopped_at_once(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ("cyclic", "--work", "100h", "--period", "1ms", "--policy", "other", "--stream")
    with running(*words, path) as started:
        started.progress()
        started.process.terminate()
        assert started.process.wait(timeout=60) == 0
    stream = read_stream(path)
    assert stream.trailer is not None and stream.trailer["stop_reason"] == "stopped"
    account = stream.trailer["accounting"][0]
    assert account["recorded"] == 0 and account["releases"] == account["overruns"] > 0


@needs_root
def test_a_deadline_task_is_not_pinned(probe: Path) -> None:
    done = run("cyclic", "--policy", "deadline:100us:1ms:1ms", "--cpus", "0")
    assert done.returncode == 3
    assert "exclusive cpuset" in done.stderr and "--knob cpuset=0" in done.stderr


def test_a_deadline_task_in_a_cpuset_is_not_put_elsewhere(probe: Path) -> None:
    done = run(
        "cyclic",
        "--policy",
        "deadline:100us:1ms:1ms",
        "--cpus",
        "0",
        "--knob",
        "cpuset=1",
        "--duration",
        "1s",
    )
    assert done.returncode == 3
    assert "which is 1 and not 0" in done.stderr


def test_both_record_modes_keep_the_same(probe: Path, tmp_path: Path) -> None:
    for mode in ("stream", "memory"):
        path = tmp_path / mode
        summary = cell(run("cyclic", "--record", mode, "--activations", "1500", "--json", "--stream", path))
        stream = read_stream(path)
        assert stream.raw_header["in_force"]["recorder"]["record"] == mode
        assert summary["accounting"]["recorded"] == stream.columns[0]["release"].size == 1500
        assert summary["columns"]["latency_ns"]["max"] == stream.columns[0]["latency_ns"].max()
        assert stream.trailer is not None and stream.trailer["accounting"][0]["recorded"] == 1500


@pytest.mark.parametrize("late_policy", ["skip", "backlog"])
def test_the_warm_up_is_in_the_account_and_in_no_sample(
    probe: Path, tmp_path: Path, late_policy: str
) -> None:
    """Of the grid of releases, a hundred before t0: none is a row, and there are as many rows as were asked for."""
    path = tmp_path / "stream"
    words = ("cyclic", "--late-policy", late_policy, "--activations", "300", "--json", "--stream", path)
    for warm_up, before in (((), 100), (("--warm-up=20ms",), 20), (("--warm-up=0ns",), 0)):
        path.unlink(missing_ok=True)
        summary = cell(run(*words, *warm_up))
        stream = read_stream(path)
        assert stream.trailer is not None
        (own,) = stream.trailer["accounting"]
        assert own["before_t0"]["releases"] == before
        assert own["before_t0"]["activations"] + own["before_t0"]["overruns"] == before
        assert own["recorded"] == stream.columns[0]["release"].size == 300
        assert summary["columns"]["latency_ns"]["count"] == 300
        assert stream.columns[0]["release_ns"].min() >= 0 and not stream.columns[0]["flags"].any()


def test_dither_draws_its_gaps_from_the_seed_that_is_recorded(probe: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    cell(run("cyclic", "--dither", "--activations", "200", "--json", "--stream", first))
    stream = read_stream(first)
    seed = str(stream.raw_header["parameters"]["seed"])
    second = tmp_path / "second"
    cell(run("cyclic", "--dither", "--seed", seed, "--activations", "200", "--json", "--stream", second))
    again = dict(
        zip(
            *(read_stream(second).columns[0][name].tolist() for name in ("release", "release_ns")),
            strict=True,
        )
    )
    pairs = zip(*(stream.columns[0][name].tolist() for name in ("release", "release_ns")), strict=True)
    common = [(at, again[release]) for release, at in pairs if release in again]
    assert len(common) > 50
    assert all(one == other for one, other in common)
    gaps = np.diff([one for one, _ in common])
    assert gaps.min() >= 500_000 and len(set(gaps.tolist())) > 40


@needs_root
@needs_two_cpus
def test_staggered_threads_are_released_apart_with_priorities_of_their_own(
    probe: Path, tmp_path: Path
) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    path = tmp_path / "stream"
    words = [
        "--cpus",
        ",".join(map(str, cpus)),
        "--stagger",
        "50us",
        "--priorities",
        "81,79",
        "--activations",
        "100",
    ]
    cell(run("cyclic", *words, "--json", "--stream", path))
    stream = read_stream(path)
    for thread, first_ns in enumerate((0, 50_000)):  # whichever release was the first that could be served
        rows = stream.columns[thread]
        assert np.array_equal(rows["release_ns"], first_ns + rows["release"] * 1_000_000)
    threads = stream.raw_header["in_force"]["threads"]
    assert [thread["policy"] for thread in threads] == ["fifo:81", "fifo:79"]
    assert [thread["cpus"] for thread in threads] == [str(cpu) for cpu in cpus]
    assert stream.raw_header["in_force"]["recorder"]["policy"] == "fifo:78"


@pytest.mark.alone
def test_work_lengthens_the_response_and_not_the_latency(probe: Path, tmp_path: Path) -> None:
    medians = {}
    for work in ("200us", "2ms"):
        path = tmp_path / work
        words = ["--work", work, "--period", "10ms", "--activations", "100", "--deadline", "1ns"]
        summary = cell(run("cyclic", *words, "--json", "--stream", path))
        samples = read_stream(path).columns[0]
        assert np.all(samples["response_ns"] > samples["latency_ns"])
        assert summary["columns"]["latency_ns"]["deadline_misses"] == samples["release"].size
        medians[work] = float(np.median(samples["response_ns"] - samples["latency_ns"]))
    assert 5 < medians["2ms"] / medians["200us"] < 20


def test_timer_slack_is_set_and_read_back(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["--policy", "other", "--timer-slack", "123us", "--activations", "50"]
    cell(run("cyclic", *words, "--json", "--stream", path))
    in_force = read_stream(path).raw_header["in_force"]
    assert in_force["threads"][0]["timer_slack_ns"] == 123_000
    own_cpu = in_force["recorder"]["place"] == "on a CPU of its own"
    assert in_force["recorder"]["policy"] == ("fifo:79" if own_cpu and os.geteuid() == 0 else "other")


@needs_root
@needs_program("setpriv", "util-linux")
class TestWithoutRights:
    def test_it_measures_as_other_and_says_what_lacks(self, probe: Path, everybodys: Path) -> None:
        path = everybodys / "stream"
        summary = cell(
            as_nobody(everybodys, "cyclic", "--activations", "100", "--json", "--stream", str(path))
        )
        assert summary["labels"]["policy"] == "other"
        assert any("CAP_SYS_NICE" in text.upper() and "ulimit -r" in text for text in summary["warnings"])
        stream = read_stream(path)
        assert stream.raw_header["parameters"]["policy"] == "other"
        assert stream.raw_header["in_force"]["threads"][0]["policy"] == "other"

    @pytest.mark.parametrize("asked", [("--policy", "fifo:80"), ("--priorities", "80")])
    def test_what_was_asked_for_is_refused_with_the_remedy(
        self, probe: Path, everybodys: Path, asked: tuple[str, str]
    ) -> None:
        done = as_nobody(everybodys, "cyclic", *asked, "--activations", "100")
        assert done.returncode == 3
        assert "cap_sys_nice" in done.stderr and "ulimit -r" in done.stderr

    def test_stopping_the_trace_is_refused(self, probe: Path, everybodys: Path) -> None:
        done = as_nobody(everybodys, "cyclic", "--threshold", "1ms", "--break-trace", "--activations", "10")
        assert done.returncode == 3
        assert "tracefs" in done.stderr


def _faults_unlocked(path: Path, timer: str) -> int:
    """Page faults of the measuring thread in a run that may not lock its memory."""
    before = (
        "setpriv",
        "--bounding-set",
        "-ipc_lock",
        "--inh-caps",
        "-ipc_lock",
        "prlimit",
        "--memlock=65536",
    )
    words = ["--timer", timer, "--duration", "200ms", "--load", "cpu:10", "--json", "--stream", str(path)]
    summary = cell(run("cyclic", *words, before=before))
    assert read_stream(path).raw_header["in_force"]["memory_lock"] == "none"
    return int(summary["threads"][0]["minor_faults"]) + int(summary["threads"][0]["major_faults"])


@needs_program("setpriv", "util-linux")
@pytest.mark.parametrize("timer", ["clock_nanosleep", "setitimer", "timerfd"])
def test_the_measuring_thread_takes_no_page_fault_where_memory_cannot_be_locked(
    probe: Path, tmp_path: Path, timer: str
) -> None:
    # The kernel may take a page away at any time; a fault of the probe's own would be in every run.
    assert min(_faults_unlocked(tmp_path / f"stream-{turn}", timer) for turn in range(3)) == 0


def test_a_stream_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    options = ("cyclic", "--activations", "10", "--quiet", "--stream", str(stream))
    assert run(*options).returncode == 0
    before = stream.read_bytes()
    again = run(*options)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert stream.read_bytes() == before
