"""What loads report, alone and beside a test, and what they refuse."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lacks import needs_root
from probe.drive import probe_path
from probe.loads_drive import NOBODY, ROOT, come_first, load_once, running
from processes import completed

AHEAD = ",nice=-20" if ROOT else ""


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


@pytest.mark.beside
def test_a_load_ends_after_its_duration_and_reports_once_a_second(probe: Path) -> None:
    with running("cpu:5", "--duration", "2500ms") as load:
        reports = []
        while (report := load.report()) is not None:
            reports.append(report)
        out, _ = load.process.communicate(timeout=60)
    told = json.loads(out)
    # When ready, after one second, after two, at the end; a report that could not be made in time is left out.
    assert 2 <= len(reports) <= 4
    ready_ns = reports[-1].time_ns - told["duration_ns"]
    for second, report in enumerate(reports[:-1]):
        assert report.time_ns - ready_ns >= second * 1_000_000_000
    assert [r.units for r in reports] == sorted(r.units for r in reports)
    assert [r.cpu_ns for r in reports] == sorted(r.cpu_ns for r in reports)
    assert reports[-1].units == told["units"] and reports[-1].cpu_ns == told["cpu_ns"]
    assert told["duration_ns"] >= 2_500_000_000


def test_a_report_can_be_asked_for(probe: Path) -> None:
    """One comes each second; more than that come because they were asked for."""
    with running("cpu:5") as load:
        reports = [load.report()]
        for _ in range(20):
            load.process.send_signal(signal.SIGUSR1)
            reports.append(load.report())
            first, last = reports[0], reports[-1]
            assert first is not None and last is not None
            unasked = (last.time_ns - first.time_ns) // 1_000_000_000 + 1
            if len(reports) > unasked + 2:
                break
        else:
            raise AssertionError(f"{len(reports)} reports, {unasked} would have come without asking")
        load.stop()


@needs_root
def test_rights_that_lack_are_named(probe: Path, everybodys: Path) -> None:
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    for option, word in (("--nice=-5", "ulimit -e"), ("--policy=fifo:10", "cap_sys_nice")):
        done = completed(
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
        (["cpu,cpus=4000"], 3, "4000"),
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
        (["network,to=192.0.2.7,card=rtl8139"], 2, "one of the three"),
        (["network:flood,card=rtl8139"], 3, "howlate lab run"),
        (["disk:max,device=null_blk"], 3, "howlate lab run"),
        (["none:1"], 2, "target"),
        ([], 2, "name"),
        (["cpu", "--report-fd=900"], 2, "900"),
        (["cpu", "--slots-fd=900"], 2, "900"),
    ],
)
def test_what_cannot_be_is_one_sentence(probe: Path, words: list[str], code: int, hint: str) -> None:
    done = load_once(*words)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("howlate-probe: ") and done.stderr.count("\n") == 1
    assert hint in done.stderr
    assert done.stdout == ""


def test_none_stands_alone_and_does_nothing(probe: Path) -> None:
    done = load_once("none", "--duration", "200ms", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["units"] == 0
    refused = completed(
        [str(probe_path()), "cyclic", "--load", "none", "--load", "cpu:50", "--activations", "10"], timeout=60
    )
    assert refused.returncode == 2 and "none" in refused.stderr
