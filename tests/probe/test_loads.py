"""The loads through the real binary: what they hold, what they leave behind, what they refuse."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from probe.drive import probe_path
from processes import children_of, is_running, until

CPUS = len(os.sched_getaffinity(0))
ROOT = os.geteuid() == 0
TICKS = os.sysconf("SC_CLK_TCK")
HELD = ["cpu", "memory-alloc", "memory-fault", "memory-access"]
ALL = [*HELD, "disk:5MiB/s", "hackbench:2", "hackbench:2,threads", "network:200"]
AHEAD = ",nice=-20" if ROOT else ""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@dataclass(frozen=True)
class Report:
    time_ns: int
    cpu_ns: int
    units: int
    restarts: int


class Load:
    """A load that runs, with its report pipe."""

    def __init__(self, *words: str | Path, before: list[str] | None = None) -> None:
        self.read_fd, write_fd = os.pipe()
        self.process = subprocess.Popen(
            [
                *(before or []),
                str(probe_path()),
                "load",
                *map(str, words),
                "--json",
                f"--report-fd={write_fd}",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[write_fd],
            start_new_session=True,
        )
        os.close(write_fd)

    def come_first(self) -> None:
        come_first(self.process.pid)

    def report(self) -> Report | None:
        """The next report, waited for; None when the load has ended."""
        got = os.read(self.read_fd, 32)
        return Report(*struct.unpack("<4q", got)) if got else None

    def tree(self) -> list[int]:
        return [self.process.pid, *children_of(self.process.pid)]

    def stop(self, number: int = signal.SIGTERM) -> Any:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return json.loads(out)


@contextlib.contextmanager
def running(*words: str | Path, before: list[str] | None = None) -> Iterator[Load]:
    load = Load(*words, before=before)
    try:
        yield load
    finally:
        if load.process.poll() is None:
            load.process.kill()
        load.process.communicate()
        os.close(load.read_fd)


def come_first(leader: int) -> None:
    """Lets a session come before whoever else works on this machine, where that is allowed."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{leader}/autogroup").write_text("-20")


def of_session(leader: int) -> list[int]:
    """Every process of a session that runs, zombies aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state not in "ZX":
                    found.append(int(folder.name))
    return found


def load_once(*words: str, before: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [*(before or []), str(probe_path()), "load", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def cpu_seconds(pids: list[int]) -> float:
    """What the kernel says that these processes have used, and their children that ended."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def wanted_seconds(pids: list[int]) -> float:
    """How long these processes have run or waited for a CPU. 0 where the kernel does not count it."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            ran, waited, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
            total += (ran + waited) / 1e9
    return total


@dataclass(frozen=True)
class Seen:
    """A tree of processes over some seconds, as the kernel sees it; shares of all CPUs."""

    ran: float
    wanted: float  # ran or waited for a CPU that others had

    def holds(self, target: float) -> bool:
        """It keeps its target, or others leave it less than that and it takes all that they leave."""
        return abs(self.ran - target) < 0.03 or (self.ran < target and self.wanted > 0.9)


def seen(load: Load, seconds: float) -> Seen:
    pids = load.tree()
    start_s, start_cpu, start_wanted = time.monotonic(), cpu_seconds(pids), wanted_seconds(pids)
    while time.monotonic() < start_s + seconds:
        assert load.report() is not None
    wall_s = (time.monotonic() - start_s) * CPUS
    return Seen((cpu_seconds(pids) - start_cpu) / wall_s, (wanted_seconds(pids) - start_wanted) / wall_s)


@pytest.mark.parametrize("name", HELD)
def test_half_of_the_cpus_is_held_within_three_points(probe: Path, name: str) -> None:
    with running(f"{name}:50{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        there = seen(load, 4)
        told = load.stop()
    told_share = 100 * told["achieved_cpu"]
    print(f"{name}: target 50 %, seen by the kernel {100 * there.ran:.2f} %, told {told_share:.2f} %")
    assert there.holds(0.5), there
    assert abs(told["achieved_cpu"] - there.ran) < 0.03 or there.wanted > 0.9
    assert told["target_cpu"] == 0.5
    assert told["units"] > 0


@pytest.mark.parametrize("name", HELD)
def test_a_tenth_and_all_are_held(probe: Path, name: str) -> None:
    with running(f"{name}:10{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        tenth = seen(load, 3)
    with running(f"{name}:100{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        whole = seen(load, 2)
    print(f"{name}: target 10 %, seen {100 * tenth.ran:.2f} %; target 100 %, seen {100 * whole.ran:.2f} %")
    assert tenth.holds(0.1), tenth
    assert whole.holds(1.0), whole


def test_nothing_is_asked_for_and_nothing_is_used(probe: Path) -> None:
    with running("cpu:0") as load:
        assert load.report() is not None
        assert load.report() is not None
        assert load.stop()["achieved_cpu"] < 0.02


def test_a_worker_stays_on_its_cpu(probe: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    with running(f"cpu:20,cpus={cpu},nice=3") as load:
        assert load.report() is not None
        (worker,) = children_of(load.process.pid)
        assert os.sched_getaffinity(worker) == {cpu}
        assert os.getpriority(os.PRIO_PROCESS, worker) == 3
        told = load.stop()
    assert told["cpus"] == str(cpu) and told["nice"] == 3


def test_a_fault_load_does_not_pile_up_areas(probe: Path) -> None:
    with running("memory-fault:50,size=32MiB") as load:
        assert load.report() is not None
        areas = [
            len(Path(f"/proc/{pid}/maps").read_text().splitlines()) for pid in children_of(load.process.pid)
        ]
        assert max(areas) < 60
        load.stop()


@pytest.mark.parametrize("spec", ALL)
def test_a_load_whose_supervisor_is_killed_leaves_nothing(probe: Path, spec: str) -> None:
    with running(spec) as load:
        assert load.report() is not None
        assert len(of_session(load.process.pid)) > 1
        load.process.kill()
        assert until(lambda: not of_session(load.process.pid))


@pytest.mark.parametrize("spec", ALL)
@pytest.mark.parametrize("stopped", [False, True])
def test_a_load_does_not_outlive_its_parent(probe: Path, spec: str, stopped: bool) -> None:
    """The parent is a shell that is killed; a load that is stopped at that moment ends as well."""
    read_fd, write_fd = os.pipe()
    script = f'"$0" load {spec} --json --end-with-parent --report-fd={write_fd} & wait'
    parent = subprocess.Popen(
        ["sh", "-c", script, str(probe_path())],
        pass_fds=[write_fd],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(write_fd)
    try:
        assert len(os.read(read_fd, 32)) == 32
        assert len(of_session(parent.pid)) > 2
        if stopped:
            os.kill(children_of(parent.pid)[0], signal.SIGSTOP)
        parent.kill()
        parent.wait()
        assert until(lambda: not of_session(parent.pid))
    finally:
        parent.kill()
        parent.wait()
        os.close(read_fd)


def test_a_load_does_not_outlive_a_killed_probe(probe: Path) -> None:
    words = ["--load", "cpu:10", "--load", "hackbench:1", "--load", "network:100", "--load", "disk:1MiB/s"]
    one = subprocess.Popen(
        [str(probe_path()), "cyclic", *words, "--duration", "1h", "--progress"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert one.stdout is not None
        assert one.stdout.readline().startswith("progress ")
        assert len(of_session(one.pid)) >= 1 + 4 + CPUS + 3  # itself, the supervisors, their workers
    finally:
        one.kill()
        one.wait()
    assert until(lambda: not of_session(one.pid))


def test_loads_of_a_test_are_told_in_its_summary(probe: Path) -> None:
    words = ["--load", f"cpu:30{AHEAD}", "--load", "disk:1MiB/s", "--duration", "3s", "--json"]
    one = subprocess.Popen(
        [str(probe_path()), "cyclic", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    come_first(one.pid)
    out, err = one.communicate(timeout=120)
    assert one.returncode == 0, err
    cpu, disk = json.loads(out)["cells"][0]["loads"]
    print(f"cpu:30 beside cyclic: achieved {100 * cpu['achieved_cpu']:.2f} %")
    assert (cpu["name"], disk["name"]) == ("cpu", "disk")
    assert cpu["target_cpu"] == 0.3
    assert 0 < cpu["achieved_cpu"] < 0.35
    assert disk["results"]["fsyncs"] > 0


def test_a_load_that_cannot_start_ends_the_test_with_its_own_sentence(probe: Path) -> None:
    words = ["--load", "cpu:10", "--load", "disk:1MiB/s,directory=/not/there", "--duration", "1s"]
    done = subprocess.run([str(probe_path()), "cyclic", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 3
    assert "/not/there" in done.stderr and "disk:1MiB/s" in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_the_signals_that_end_a_load_end_it_whole(probe: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with running("hackbench:1") as load:
            assert load.report() is not None
            pids = load.tree()
            load.stop(number)
            assert not any(is_running(pid) for pid in pids)


def test_a_worker_that_is_killed_ends_the_load_with_a_sentence(probe: Path) -> None:
    with running("cpu:10") as load:
        assert load.report() is not None
        os.kill(children_of(load.process.pid)[0], signal.SIGKILL)
        _, err = load.process.communicate(timeout=60)
    assert load.process.returncode == 4
    assert "signal 9" in err and err.count("\n") == 1


def test_a_load_ends_after_its_duration_and_reports_once_a_second(probe: Path) -> None:
    with running("cpu:5", "--duration", "2500ms") as load:
        reports = []
        while (report := load.report()) is not None:
            reports.append(report)
        out, _ = load.process.communicate(timeout=60)
    told = json.loads(out)
    assert len(reports) == 4  # ready, after one second, after two, at the end
    assert [r.units for r in reports] == sorted(r.units for r in reports)
    assert [r.cpu_ns for r in reports] == sorted(r.cpu_ns for r in reports)
    assert reports[-1].units == told["units"] and reports[-1].cpu_ns == told["cpu_ns"]
    assert told["duration_ns"] >= 2_500_000_000


def test_a_report_can_be_asked_for(probe: Path) -> None:
    with running("cpu:5") as load:
        first = load.report()
        load.process.send_signal(signal.SIGUSR1)
        second = load.report()
        assert first is not None and second is not None
        assert second.time_ns - first.time_ns < 900_000_000 or second.units > first.units
        load.stop()


def test_hackbench_counts_its_messages_and_times_its_runs(probe: Path) -> None:
    with running("hackbench:3,loops=5,fds=4") as load:
        last = load.report()
        while last is not None and last.restarts < 3:
            last = load.report()
        tasks = len(load.tree()) - 2
        told = load.stop()
    results = told["results"]
    assert 0 <= tasks <= 3 * 4 * 2
    assert told["units"] == results["runs"] * 3 * 4 * 4 * 5
    times = results["run_ns"]
    assert results["runs"] >= 2 and len(times) == min(results["runs"], 635)
    if len(times) == results["runs"]:
        assert results["run_ns_min"] == min(times) and results["run_ns_max"] == max(times)
        assert results["run_ns_mean"] == pytest.approx(statistics.fmean(times))


def test_hackbench_accounts_for_tasks_that_ended(probe: Path) -> None:
    """Its tasks come and go between two looks; the kernel gives the whole account to whoever waits."""
    before = os.times()
    with running("hackbench:4") as load:
        last = load.report()
        while last is not None and last.restarts < 4:
            last = load.report()
        told = load.stop()
    after = os.times()
    kernel_s = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"hackbench:4 told {told['cpu_ns'] / 1e9:.3f} s, the kernel {kernel_s:.3f} s")
    assert last is not None and told["cpu_ns"] >= last.cpu_ns > 0
    # The kernel's figure has the start and the end of the load as well, and comes in ticks.
    assert told["cpu_ns"] / 1e9 <= kernel_s + 0.05
    assert told["cpu_ns"] / 1e9 >= 0.8 * kernel_s - 0.05


@pytest.mark.skipif(shutil.which("hackbench") is None, reason="hackbench of rt-tests is not installed")
def test_hackbench_takes_as_long_as_the_known_one(probe: Path) -> None:
    """Runs in turn on the same machine; the ratio of the medians is printed."""
    ours, theirs = [], []
    for _ in range(5):
        done = subprocess.run(
            ["hackbench", "-g", "10", "-l", "100"], capture_output=True, text=True, timeout=120
        )
        match = re.search(r"Time: ([0-9.]+)", done.stdout)
        assert match is not None, done.stdout
        theirs.append(float(match.group(1)))
        with running("hackbench:10") as load:
            last = load.report()
            while last is not None and last.units == 0:
                last = load.report()
            ours.append(load.stop()["results"]["run_ns"][0] / 1e9)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"hackbench -g 10 -l 100: ours {ours} s, rt-tests' {theirs} s, ratio of the medians {ratio:.2f}")
    assert 0.33 < ratio < 3


def test_the_disk_load_is_bounded_and_leaves_nothing(probe: Path, tmp_path: Path) -> None:
    with running("disk:20MiB/s", "--size=4MiB", "--sync=1MiB", "--directory", tmp_path) as load:
        last = load.report()
        while last is not None and last.units < 8 << 20:
            last = load.report()
            assert list(tmp_path.iterdir()) == []  # its file has no name
        load.process.kill()
        load.process.wait()
    assert list(tmp_path.iterdir()) == []
    with running("disk:20MiB/s", "--size=4MiB", "--directory", tmp_path) as load:
        assert load.report() is not None
        assert load.report() is not None
        results = load.stop()["results"]
    assert results["file_bytes"] <= 4 << 20
    assert results["fsyncs"] > 0 and results["fsync_ns_max"] >= results["fsync_ns_mean"] > 0


def test_the_disk_load_keeps_its_rate(probe: Path, tmp_path: Path) -> None:
    with running("disk:2MiB/s", "--directory", tmp_path, "--duration", "3s") as load:
        out, err = load.process.communicate(timeout=60)
    assert load.process.returncode == 0, err
    told = json.loads(out)
    rate = told["units"] / (told["duration_ns"] / 1e9) / (2 << 20)
    print(f"disk: target 2 MiB/s, achieved {2 * rate:.2f} MiB/s")
    assert 0.5 < rate < 1.2


@pytest.mark.skipif(not ROOT, reason="mounting a small file system needs root")
def test_the_disk_load_refuses_a_small_disk(probe: Path, tmp_path: Path) -> None:
    if (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "howlate-test", str(tmp_path)]).returncode
        != 0
    ):
        pytest.skip("a file system cannot be mounted here")
    try:
        done = load_once("disk:1MiB/s", f"--directory={tmp_path}", "--duration", "1s")
        assert done.returncode == 3 and "--size" in done.stderr
        # Where it fits at first and somebody else fills the disk, it stops growing and works on.
        with running("disk:2MiB/s", "--size=7MiB", "--block=4KiB", "--directory", tmp_path) as load:
            assert load.report() is not None
            (tmp_path / "other").write_bytes(b"x" * (6 << 20))
            last = load.report()
            while last is not None and last.units < 5 << 20:
                last = load.report()
            told = load.stop()
        assert told["results"]["stopped_growing"]
        assert told["results"]["file_bytes"] <= 4 << 20
        assert any("memory" in warning for warning in told["warnings"])
        free = os.statvfs(tmp_path)
        assert free.f_bavail * free.f_frsize >= (60 << 20)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def network_names() -> set[str]:
    return {card.name for card in Path("/sys/class/net").iterdir()}


def network_namespaces() -> set[str]:
    """The network namespaces that any process is in."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.add(str((folder / "ns/net").readlink()))
            except OSError:
                continue
    return found


def test_the_network_load_changes_nothing_outside_and_vanishes(probe: Path) -> None:
    cards, here = network_names(), str(Path("/proc/self/ns/net").readlink())
    with running("network:500") as load:
        first = load.report()
        if first is None:
            _, err = load.process.communicate()
            assert load.process.returncode == 3 and err.count("\n") == 1  # it says why not
            pytest.skip(err)
        (worker,) = children_of(load.process.pid)
        inside = str(Path(f"/proc/{worker}/ns/net").readlink())
        assert network_names() == cards
        assert load.report() is not None
        told = load.stop()
    results = told["results"]
    assert results["path"] in ("veth", "loopback")
    assert (inside != here) == (results["path"] == "veth")
    assert results["path"] == "veth" or any("loopback" in warning for warning in told["warnings"])
    assert results["sent"] == results["received"] + results["lost"] + results["on_the_way"]
    assert (
        results["received"] > 0
        and 0 < results["rtt_ns_min"] <= results["rtt_ns_mean"] <= results["rtt_ns_max"]
    )
    if results["path"] == "veth":
        assert until(lambda: inside not in network_namespaces())
    assert network_names() == cards


def test_a_flood_sends_more_than_a_rate(probe: Path) -> None:
    sent = {}
    for target in ("100", "flood"):
        with running(f"network:{target}", "--path=loopback") as load:
            if load.report() is None:
                pytest.skip(load.process.communicate()[1])
            assert load.report() is not None
            told = load.stop()
            assert told["results"]["path"] == "loopback"
            sent[target] = told["units"] / told["duration_ns"]
    assert sent["flood"] > 2 * sent["100"]


@pytest.mark.skipif(not ROOT, reason="giving up rights needs root")
def test_the_network_load_works_without_rights_or_says_why_not(probe: Path, everybodys: Path) -> None:
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    done = subprocess.run(
        [*NOBODY, str(binary), "load", "network:100", "--duration", "1s", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode == 0:
        told = json.loads(done.stdout)
        assert told["results"]["path"] in ("veth", "loopback") and told["results"]["received"] > 0
    else:
        assert done.returncode == 3
        assert "ICMP" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(not ROOT, reason="giving up rights needs root")
def test_rights_that_lack_are_named(probe: Path, everybodys: Path) -> None:
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    for option, word in (("--nice=-5", "CAP_SYS_NICE"), ("--policy=fifo:10", "cap_sys_nice")):
        done = subprocess.run(
            [
                *NOBODY,
                "prlimit",
                "--rtprio=0:0",
                "--nice=0:0",
                str(binary),
                "load",
                "cpu:10",
                option,
                "--duration",
                "1s",
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 3, done.stderr
        assert word in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["cup:50"], 2, "cpu"),
        (["cpu:101"], 2, "101"),
        (["cpu:-1"], 2, "-1"),
        (["cpu:fifty"], 2, "fifty"),
        (["cpu,cpus=4000"], 2, "4000"),
        (["cpu,cpus=other"], 2, "test"),
        (["cpu,nice=99"], 2, "99"),
        (["cpu,nise=1"], 2, "--nice"),
        (["memory-alloc,size=900TiB"], 3, "--size"),
        (["memory-access,working-set=900TiB"], 3, "--working-set"),
        (["disk:10"], 2, "/s"),
        (["disk:0"], 2, "rate"),
        (["disk,size=1KiB"], 2, "--block"),
        (["hackbench:0"], 2, "1"),
        (["hackbench:100000"], 2, "groups"),
        (["network:never"], 2, "flood"),
        (["network,to=nowhere"], 2, "IPv4"),
        (["network,to=224.0.0.1"], 2, "one machine"),
        (["none:1"], 2, "target"),
        ([], 2, "name"),
        (["cpu", "--report-fd=900"], 2, "900"),
    ],
)
def test_what_cannot_be_is_one_sentence(probe: Path, words: list[str], code: int, hint: str) -> None:
    done = load_once(*words)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert hint in done.stderr
    assert done.stdout == ""


def test_a_limit_of_tasks_is_a_sentence(probe: Path, everybodys: Path) -> None:
    if not ROOT:
        pytest.skip("giving up rights needs root")
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    done = subprocess.run(
        [*NOBODY, "prlimit", "--nproc=30:30", str(binary), "load", "hackbench:10", "--duration", "1s"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3
    assert "ulimit -u" in done.stderr and done.stderr.count("\n") == 1


def test_none_stands_alone_and_does_nothing(probe: Path) -> None:
    done = load_once("none", "--duration", "200ms", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["units"] == 0
    refused = subprocess.run(
        [str(probe_path()), "cyclic", "--load", "none", "--load", "cpu:50", "--activations", "10"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode == 2 and "none" in refused.stderr
