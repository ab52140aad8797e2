"""After a kill the guardian undoes what the probe changed, with the real probe on this machine: however the probe
dies, and its own changes alone. While the probe lives it costs nothing."""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lacks import AS_ROOT, KERNEL, lack, skip
from probe.drive import probe_path, run, running
from processes import children_of, completed, guardian_of, is_running, journals_of, until, with_word
from trace_state import tracing

PROBE = probe_path()
MIGRATION = Path("/proc/sys/kernel/timer_migration")
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or not os.access(MIGRATION, os.W_OK),
        reason=lack("the right to change a setting of this machine", AS_ROOT),
    ),
    pytest.mark.xdist_group("knobs"),
]

Hold = Callable[..., "subprocess.Popen[bytes]"]


def other(text: str) -> str:
    return "off" if text.strip() == "1" else "on"


@pytest.fixture
def before() -> Iterator[str]:
    """The setting before the test; a test that leaves it changed fails."""
    text = MIGRATION.read_text()
    yield text
    left = MIGRATION.read_text()
    MIGRATION.write_text(text)
    assert left == text


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Starts a probe that holds knobs, and waits until they are in force."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*knobs: str, **more: Any) -> subprocess.Popen[bytes]:
        words = [word for knob in knobs for word in ("--knob", knob)]
        process = subprocess.Popen([PROBE, "hold", *words], stdout=subprocess.PIPE, **more)
        started.append(process)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["state"] == "in force"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    run("restore")


def journals() -> list[Path]:
    """Those that name what these tests change, which nobody else can hold beside them."""
    found = []
    for journal in Path("/run/howlate").glob("*.journal"):
        with suppress(FileNotFoundError):
            text = journal.read_text()
            found += [journal] if str(MIGRATION) in text or str(THP) in text else []
    return found


def is_put_back(before: str) -> bool:
    return until(lambda: MIGRATION.read_text() == before and not journals())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_knob_is_put_back_and_the_guardian_ends(before: str, hold: Hold, number: signal.Signals) -> None:
    process = hold(f"timer_migration={other(before)}")
    guardian = guardian_of(process.pid)
    assert guardian and MIGRATION.read_text() != before
    process.send_signal(number)
    assert process.wait() == -number
    assert is_put_back(before)
    assert until(lambda: not is_running(guardian))
    assert f"process {process.pid} " not in run("restore").stdout


def test_it_undoes_before_the_killed_probe_is_waited_for(before: str, hold: Hold) -> None:
    process = hold(f"timer_migration={other(before)}")
    process.kill()
    assert is_put_back(before)
    assert Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_trace_instance_is_removed(probe: Path, tmp_path: Path) -> None:
    ring = ("cyclic", "--explain", "--explain-with=tracefs", "--quiet")
    if run(*ring, "--activations=1").returncode == 3:
        skip("the kernel's tracing", KERNEL)
    seen = tracing(tmp_path / "look")
    with running(*ring, "--duration=1h") as one:
        one.progress()
        assert f"howlate-{one.pid}\n" in tracing(tmp_path / "look")
        one.process.kill()
        assert until(lambda: tracing(tmp_path / "look") == seen)
    assert until(lambda: not journals_of(one.pid))


def test_the_end_of_the_probes_group_is_not_its_own(before: str, hold: Hold) -> None:
    process = hold(f"timer_migration={other(before)}", start_new_session=True)
    guardian = guardian_of(process.pid)
    assert os.getsid(guardian) == os.getpgid(guardian) == guardian
    os.killpg(process.pid, signal.SIGKILL)
    assert is_put_back(before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_asks_a_probe_to_end_does_not_end_it(before: str, hold: Hold, number: signal.Signals) -> None:
    process = hold(f"timer_migration={other(before)}")
    os.kill(guardian_of(process.pid), number)
    process.kill()
    assert is_put_back(before)


IN_A_WORLD_OF_ITS_OWN = """
"$0" hold --knob "timer_migration=$1" >"$2" &
until [ -s "$2" ]; do sleep 0.02; done
cat "$4"
pkill -9 $3 howlate
wait
while pgrep -x knob-guardian >"$2"; do sleep 0.02; done
"""


@pytest.mark.parametrize("how", ["", "-f"])
def test_it_outlives_a_kill_by_name(before: str, tmp_path: Path, how: str) -> None:
    """In a namespace where no other probe is to be found."""
    if not shutil.which("pkill") or not shutil.which("unshare"):
        skip("pkill or unshare", "apt-get install procps util-linux")
    words = map(str, (PROBE, other(before), tmp_path / "out", how, MIGRATION))
    unshared = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", IN_A_WORLD_OF_ITS_OWN, *words]
    done = completed(unshared, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout not in ("", before)
    assert MIGRATION.read_text() == before and not journals()


def test_who_reads_the_probe_sees_its_end_at_once(before: str, hold: Hold) -> None:
    """The guardian stands still meanwhile: what it held open would not end."""
    reads, writes = os.pipe()
    process = hold(f"timer_migration={other(before)}", pass_fds=(writes,), stderr=subprocess.PIPE)
    os.close(writes)
    guardian = guardian_of(process.pid)
    os.kill(guardian, signal.SIGSTOP)
    process.kill()
    process.wait()
    assert process.stdout is not None and process.stderr is not None
    try:
        ends = {reads, process.stdout.fileno(), process.stderr.fileno()}
        for end in ends:
            assert select.select([end], [], [], 30)[0] and os.read(end, 1) == b""
    finally:
        os.kill(guardian, signal.SIGCONT)
        os.close(reads)
    assert is_put_back(before)


def test_it_has_ended_when_the_probe_has_put_all_back(before: str, hold: Hold) -> None:
    process = hold(f"timer_migration={other(before)}")
    guardian = guardian_of(process.pid)
    process.terminate()
    assert process.wait() == 0
    assert not Path(f"/proc/{guardian}").exists()
    assert MIGRATION.read_text() == before


def test_a_probe_that_lives_on_afterwards_has_neither_guardian_nor_zombie(before: str) -> None:
    """It cannot print its result, which comes after its knobs are put back."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writes, bytes(4000))
    words = (
        "cyclic",
        f"--knob=timer_migration={other(before)}",
        "--policy=other",
        "--activations=50",
        "--json",
    )
    process = subprocess.Popen([PROBE, *words], stdout=writes, stderr=subprocess.DEVNULL)
    os.close(writes)
    try:
        guardians: set[int] = set()

        def has_put_back() -> bool:
            guardians.add(guardian_of(process.pid))
            return guardians != {0} and MIGRATION.read_text() == before and not journals()

        assert until(has_put_back)
        assert until(lambda: not children_of(process.pid)) and process.poll() is None
    finally:
        while os.read(reads, 65536):
            pass
        os.close(reads)
        assert process.wait() == 0


@pytest.mark.parametrize("knob", ["none", "as it is already", "cpu_dma_latency=9"])
def test_without_a_change_there_is_none(before: str, knob: str) -> None:
    given = knob if "=" in knob else f"timer_migration={before.strip()}"
    more = () if knob == "none" else (f"--knob={given}",)
    if run("plan", json.dumps(["cyclic", *more])).stdout.startswith('{"ok": false'):
        skip(f"a kernel in which {given} can be set", KERNEL)
    with running("cyclic", "--quiet", "--policy=other", "--duration=1h", *more) as one:
        one.progress()
        assert guardian_of(one.pid) == 0 and not journals_of(one.pid)
        assert one.stop()[0] == 0


def test_each_undoes_its_own_probes_changes_alone(before: str, hold: Hold) -> None:
    if not THP.exists() or "[never]" in THP.read_text():
        skip("transparent huge pages that are not off already", KERNEL)
    huge = THP.read_text()
    first, second = hold(f"timer_migration={other(before)}"), hold("thp=never")
    try:
        first.kill()
        assert until(lambda: MIGRATION.read_text() == before and len(journals()) == 1)
        assert "[never]" in THP.read_text() and guardian_of(second.pid)
        second.kill()
        assert until(lambda: THP.read_text() == huge and not journals())
    finally:
        THP.write_text(huge.partition("[")[2].partition("]")[0])


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


@pytest.mark.parametrize("change", ["knob", "trace instance"])
def test_it_is_never_woken_and_keeps_away_from_the_measuring_cpu(before: str, change: str) -> None:
    cpu = max(os.sched_getaffinity(0))
    ring = ("--explain", "--explain-with=tracefs")
    more = (f"--knob=timer_migration={other(before)}",) if change == "knob" else ring
    if run("plan", json.dumps(["cyclic", *more])).stdout.startswith('{"ok": false'):
        skip(f"a kernel with the {change}", KERNEL)
    with running("cyclic", "--quiet", f"--cpus={cpu}", "--duration=1h", *more) as one:
        one.progress()
        guardian = guardian_of(one.pid)
        assert until(lambda: status_of(guardian)["State"].startswith("S"))
        first = status_of(guardian)
        for _ in range(3):
            one.progress()
        last = status_of(guardian)
        switches = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
        assert [first[one] for one in switches] == [last[one] for one in switches]
        assert last["VmLck"] == "0 kB" and last["Threads"] == "1"
        assert os.sched_getscheduler(guardian) == os.SCHED_OTHER
        others = os.sched_getaffinity(0) - {cpu}
        assert os.sched_getaffinity(guardian) == (others or {cpu})
        assert one.stop()[0] == 0
    assert MIGRATION.read_text() == before


def test_a_probe_whose_guardian_was_killed_goes_on(before: str, hold: Hold) -> None:
    process = hold(f"timer_migration={other(before)}")
    os.kill(guardian_of(process.pid), signal.SIGKILL)
    process.terminate()
    assert process.wait() == 0
    assert MIGRATION.read_text() == before and not journals()


def test_a_probe_that_is_killed_at_any_moment_leaves_nothing(before: str, hold: Hold) -> None:
    knob = f"timer_migration={other(before)}"
    lengths_s = []
    for _ in range(3):
        begin_s = time.monotonic()
        process = hold(knob)
        lengths_s.append(time.monotonic() - begin_s)
        process.kill()
        assert is_put_back(before)
    words, turns, changed = [str(PROBE), "hold", "--knob", knob], 40, 0
    for turn in range(turns):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        # From before its first line to after its last: the moment that is tried.
        time.sleep(2 * max(lengths_s) * turn / turns)
        changed += MIGRATION.read_text() != before
        process.kill()
        process.wait()
        assert is_put_back(before)
    assert 0 < changed < turns  # kills on both sides of the change


def test_in_a_job_the_next_line_finds_the_setting_as_it_was(before: str, tmp_path: Path) -> None:
    hold = ["howlate-probe", "hold", "--knob", f"timer_migration={other(before)}"]
    lines = [hold, ["/bin/cat", str(MIGRATION)]]
    (tmp_path / "job").write_text("".join(json.dumps(line) + "\n" for line in lines))
    argv = [str(PROBE), "job", str(tmp_path / "job"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        assert until(lambda: MIGRATION.read_text() != before)
        (held,) = with_word(" hold --knob").keys() & set(children_of(process.pid))
        os.kill(held, signal.SIGKILL)
        assert process.wait(timeout=120) == 1
    finally:
        process.terminate()
        process.wait()
    assert (tmp_path / "out/0/status").read_text() == "signal 9\n"
    assert (tmp_path / "out/1/stdout").read_text() == before


def test_the_word_for_it_is_for_the_probe_alone(probe: Path) -> None:
    done = run("guardian")
    assert done.returncode == 2 and "the probe itself" in done.stderr
    assert "guardian" not in run("--help").stdout
