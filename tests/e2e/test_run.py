"""`howlate` end to end with the real probe: whole runs, each way in which one can end, going on after it."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.commands import PROBE, STUDY, howlate, start
from howlate.model.facts import Aim, Facts
from howlate.settings._check import measuring_cpus
from lacks import AS_ROOT, KERNEL, skip
from processes import children_of, is_running, kill_unguarded, until, with_word, working_in
from trace_state import tracing


def shown(folder: Path, run: str = "r", ends_with: int = 0) -> list[dict[str, Any]]:
    """Its cells; the code is 5 where a planned one was not measured."""
    code, out, err = howlate(folder, "show", run, "--json")
    assert code == ends_with, err
    cells: list[dict[str, Any]] = json.loads(out)["cells"]
    return cells


def whole(folder: Path) -> dict[str, int]:
    """Whole cells with the time at which they became whole."""
    return {p.parent.name: p.stat().st_mtime_ns for p in (folder / "r" / "cells").glob("[!.]*/summary.json")}


def started_cells(folder: Path) -> int:
    return len(list((folder / "r" / "cells").glob(".*.part"))) + len(whole(folder))


def probes_of(process: subprocess.Popen[str]) -> list[int]:
    return [pid for pid in children_of(process.pid) if is_running(pid)]


def long_run(folder: Path, *more: str) -> subprocess.Popen[str]:
    """A run whose cells measure for an hour each, beside a load; the first has begun."""
    text = STUDY.replace("activations = 300", "activations = 3600000")
    (folder / "long.toml").write_text(text.replace('id = "tiny"', 'id = "long"'))
    process = start(folder, "run", "long.toml", "--set", "load=cpu:5", "--out", "r", *more)
    if not until(lambda: len(probes_of(process)) >= 2 or process.poll() is not None):
        process.kill()
        raise AssertionError(process.communicate()[1])
    assert process.poll() is None, process.communicate()[1]
    return process


@pytest.mark.parametrize(
    ("timer", "core", "option"), [("cobalt", "Cobalt", "--with-cobalt"), ("evl-sleep", "EVL", "--with-evl")]
)
def test_a_timer_of_a_core_on_the_plain_probe_is_refused_before_anything_is_written(
    tmp_path: Path, timer: str, core: str, option: str
) -> None:
    only = f"timer={timer}"
    code, out, err = howlate(tmp_path, "run", "tiny.toml", "--set", only, "--out", "r")
    assert (code, out) == (3, "")
    said = " ".join(err.split())
    assert f'"{timer}" is {core}' in said and f"`./dev probe {option}`" in said
    assert howlate(tmp_path, "run", "tiny.toml", "--set", only)[0] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.toml"]


def test_a_study_is_measured_once_and_shown(tmp_path: Path) -> None:
    code, out, err = howlate(tmp_path, "run", "tiny.toml", "--out", "r")
    assert code == 0, err
    assert out.split()[-1] == "r"
    cells = shown(tmp_path)
    assert len({c["id"] for c in cells}) == 4
    facts = Facts.from_json(json.loads((tmp_path / "r" / "run.json").read_text())["facts"])
    for cell in cells:
        account = cell["accounting"]
        assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
        assert account["recorded"] == 300
        assert cell["labels"]["policy"] == "other"
        assert {int(cell["labels"]["cpu"])} == measuring_cpus(facts, Aim()), "the doctor judges another CPU"
        latency = cell["columns"]["latency_ns"]
        assert 0 <= latency["min"] <= latency["mean"] <= latency["max"]
        assert [load["name"] for load in cell["loads"]] == (
            ["cpu"] if cell["labels"]["load"] != "none" else []
        )
    before = whole(tmp_path)
    code, _, err = howlate(tmp_path, "run", "tiny.toml", "--out", "r")
    assert code == 0, err
    assert whole(tmp_path) == before
    assert not working_in(tmp_path)


def test_export_has_a_line_for_each_activation(tmp_path: Path) -> None:
    howlate(tmp_path, "run", "tiny.toml", "--set", "load=none", "--out", "r")
    for form, name in (("text3", "t.txt"), ("csv", "t.csv")):
        code, _, err = howlate(tmp_path, "export", "r", "--format", form, "-o", name)
        assert code == 0, err
    lines = [line.split() for line in (tmp_path / "t.txt").read_text().splitlines() if line[:1].isdigit()]
    assert len(lines) == 600
    assert {line[2] for line in lines} == {"nan"}
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 601


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_whatever_ends_howlate_nothing_is_left_running(tmp_path: Path, number: int) -> None:
    process = long_run(tmp_path)
    below = probes_of(process)
    assert set(below) <= set(working_in(tmp_path)), "what is left could not be seen"
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == (-9 if number == signal.SIGKILL else 5), err
    assert until(lambda: not any(is_running(pid) for pid in below)), [pid for pid in below if is_running(pid)]
    assert not working_in(tmp_path)
    if number != signal.SIGKILL:
        assert "interrupted with 0 of 2 cells complete" in err
        (part,) = (tmp_path / "r" / "cells").glob(".*.part")
        assert (part / "stream").is_file()
        assert json.loads((part / "error.json").read_text())["message"] == "interrupted"


def test_a_second_howlate_into_the_same_folder_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    first = long_run(tmp_path)
    try:
        before = (tmp_path / "r" / "run.json").read_bytes()
        code, out, err = howlate(tmp_path, "run", "long.toml", "--set", "load=cpu:5", "--out", "r")
        assert (code, out) == (2, "")
        assert "another --out" in err, err
        assert (tmp_path / "r" / "run.json").read_bytes() == before
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=120)
    assert (tmp_path / "r" / "run.json").read_bytes() == before


def test_of_two_howlates_at_once_one_measures_each_cell_once(tmp_path: Path) -> None:
    argv = ("run", "tiny.toml", "--out", "r")
    both = [start(tmp_path, *argv) for _ in range(2)]
    said = [process.communicate(timeout=300) for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 2], [0, 0]), said  # the slower of the two may have begun when the other was done
    for process, (_, err) in zip(both, said, strict=True):
        assert process.returncode == 0 or "another --out" in err
    assert len(shown(tmp_path)) == 4
    assert not list((tmp_path / "r" / "cells").glob(".*"))


def test_a_killed_run_goes_on_and_each_cell_is_measured_once(tmp_path: Path) -> None:
    argv = ("run", "tiny.toml", "--set", "activations=1500", "--out", "r")
    process = start(tmp_path, *argv)
    reached = until(lambda: len(whole(tmp_path)) >= 1 and len(probes_of(process)) >= 1, within_s=120)
    process.kill()
    process.communicate()
    assert reached
    before = whole(tmp_path)
    assert 1 <= len(before) < 4
    code, _, err = howlate(tmp_path, *argv)
    assert code == 0, err
    after = whole(tmp_path)
    assert len(after) == 4
    assert {cell: after[cell] for cell in before} == before
    assert len(shown(tmp_path)) == 4
    assert not list((tmp_path / "r" / "cells").glob(".*"))
    assert not working_in(tmp_path)


def test_a_killed_probe_fails_its_cell_alone(tmp_path: Path) -> None:
    process = long_run(tmp_path)
    measuring = next(
        pid for pid, line in with_word("--stream=").items() if pid in probes_of(process) and "cyclic" in line
    )
    below = probes_of(process)
    os.kill(measuring, signal.SIGKILL)
    assert until(lambda: started_cells(tmp_path) == 2)
    assert until(lambda: not any(is_running(pid) for pid in below)), "loads outlive their probe"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert "SIGKILL" in err
    messages = [
        json.loads(p.read_text())["message"] for p in (tmp_path / "r" / "cells").glob(".*.part/error.json")
    ]
    interrupted, killed = sorted(messages)
    assert interrupted == "interrupted" and "SIGKILL" in killed


def test_a_killed_probe_leaves_no_trace_instance(tmp_path: Path) -> None:
    """The only cell: a next one with --explain would remove it."""
    words = ("--explain", "--explain-with=tracefs", "--activations=1", "--quiet")
    tried = subprocess.run([PROBE, "cyclic", *words], check=False)
    if tried.returncode == 3:
        skip("the kernel's tracing", AS_ROOT if os.geteuid() != 0 else KERNEL)
    before = tracing(tmp_path / "look")
    ring = ("--set", "explain=true", "--set", "explain-with=tracefs")
    process = long_run(tmp_path, "--set", "timer=timerfd", *ring)
    try:
        (measuring,) = (p for p, line in with_word("--stream=").items() if p in probes_of(process))
        assert until(lambda: f"howlate-{measuring}\n" in tracing(tmp_path / "look"))
    except BaseException:
        process.kill()
        raise
    os.kill(measuring, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4 and "SIGKILL" in err
    own = f"howlate-{measuring}"
    left, was = (
        [line for line in look.splitlines() if line == own or not re.fullmatch(r"howlate-\d+", line)]
        for look in (tracing(tmp_path / "look"), before)
    )
    assert left == was  # other tests' probes have instances of their own meanwhile


def test_what_the_probe_would_refuse_is_told_before_and_the_code_is_two(tmp_path: Path) -> None:
    code, out, err = howlate(
        tmp_path, "run", "tiny.toml", "--set", "period=5us", "--set", "load=none", "--out", "r"
    )
    assert (code, out) == (2, ""), out + err
    assert "--period" in err
    assert not (tmp_path / "r").exists(), "it is refused before anything is measured"


def test_an_exceeded_threshold_is_code_one_and_its_cell_whole(tmp_path: Path) -> None:
    argv = ("run", "tiny.toml", "--set", "load=none", "--set", "timer=timerfd", "--set", "threshold=1ns")
    code, out, err = howlate(tmp_path, *argv, "--out", "r")
    assert code == 1, out + err
    (cell,) = shown(tmp_path)
    assert cell["stop_reason"] == "threshold"


MIGRATION = Path("/proc/sys/kernel/timer_migration")


def has_pending(pid: int, number: int) -> bool:
    status = dict(line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(status["ShdPnd"], 16) & 1 << (number - 1))


def measuring_of(process: subprocess.Popen[str]) -> int:
    (measuring,) = (p for p, line in with_word("--stream=").items() if p in probes_of(process))
    return measuring


def end_both(process: subprocess.Popen[str]) -> None:
    """Without a moment between them: the probe stands still already."""
    measuring = measuring_of(process)
    os.kill(measuring, signal.SIGSTOP)
    process.kill()
    os.kill(measuring, signal.SIGKILL)


def end_all(process: subprocess.Popen[str]) -> None:
    measuring = measuring_of(process)
    process.send_signal(signal.SIGSTOP)  # first: a guardian undoes what it can as soon as its probe has ended
    kill_unguarded(measuring)
    process.kill()


def interrupt_twice(process: subprocess.Popen[str]) -> None:
    """The second while the probe, which is stopped, still has the first before it."""
    measuring = measuring_of(process)
    os.kill(measuring, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    assert until(lambda: has_pending(measuring, signal.SIGINT))
    process.send_signal(signal.SIGINT)


ENDS: dict[str, Callable[[subprocess.Popen[str]], None]] = {
    "interrupt": lambda process: process.send_signal(signal.SIGINT),
    "two interrupts": interrupt_twice,
    "kill of howlate alone": lambda process: process.kill(),
    "kill of howlate and its probe": end_both,
    "kill of all": end_all,
}


@pytest.mark.alone
@pytest.mark.parametrize("end", sorted(ENDS))
def test_a_knob_is_put_back_however_the_run_ends(tmp_path: Path, end: str) -> None:
    """By the probe itself where it can; by its guardian, or by howlate, where it was killed; by `doctor --restore`
    where nobody was left."""
    if not os.access(MIGRATION, os.W_OK):
        skip("the right to change a setting of this machine", AS_ROOT)
    before = MIGRATION.read_text()
    other = "0" if before.strip() == "1" else "1"
    process = long_run(tmp_path, "--set", f"knob=timer_migration={other}")
    try:  # probe, guardian and load
        assert until(lambda: MIGRATION.read_text().strip() == other and len(probes_of(process)) >= 3)
        below = probes_of(process)
        ENDS[end](process)
        process.communicate(timeout=120)
        assert until(lambda: not any(is_running(pid) for pid in below))
        left = MIGRATION.read_text()
    finally:
        process.kill()
        code, out, err = howlate(tmp_path, "doctor", "--restore")
    assert left.strip() == (other if end == "kill of all" else before.strip())
    assert code == 0, out + err
    assert MIGRATION.read_text() == before


def test_a_full_disk_is_a_sentence_and_whole_cells_are_kept(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        skip("the right to mount", AS_ROOT)
    try:
        code, out, err = howlate(
            tmp_path,
            "run",
            "tiny.toml",
            "--set",
            "load=none",
            "--set",
            "activations=300,400,500,600,700,30000",
            "--set",
            "order.kind=blocked",  # the largest last
            "--set",
            "period=100us",
            "--out",
            str(disk / "r"),
        )
        assert code == 4, out + err
        assert os.strerror(errno.ENOSPC) in err and "make room" in err.lower()
        cells = shown(tmp_path, str(disk / "r"), ends_with=5)
        assert cells
        assert all(cell["accounting"]["recorded"] > 0 for cell in cells)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_an_altered_samples_file_is_a_sentence(tmp_path: Path) -> None:
    howlate(tmp_path, "run", "tiny.toml", "--set", "load=none", "--out", "r")
    for file in (tmp_path / "r" / "cells").glob("*/samples.parquet"):
        file.write_bytes(file.read_bytes()[:100])
        (file.parent / "bins.json").unlink()
    for argv in (("export", "r", "--format", "csv"), ("report", "r", "-o", "x.html")):
        code, _, err = howlate(tmp_path, *argv)
        assert code == 4
        assert err.startswith("howlate: ")
        assert "samples.parquet" in err
        assert "a fault in howlate" not in err
    for _ in range(2):  # as the sentence says, one after the other
        _, _, err = howlate(tmp_path, "report", "r", "-o", "x.html")
        named = re.search(r"Remove (r/cells/\S+) and continue", err)
        assert named is not None, err
        shutil.rmtree(tmp_path / named[1])
    code, _, err = howlate(tmp_path, "run", "tiny.toml", "--set", "load=none", "--out", "r")
    assert code == 0, err
    assert len(whole(tmp_path)) == 2


@pytest.mark.alone
def test_check_answers_on_this_machine(tmp_path: Path) -> None:
    code, out, err = howlate(tmp_path, "check", "--duration", "3")
    assert code == 0, err
    *first, brief = out.strip().splitlines()
    folder = brief.split()[-1]
    assert brief.startswith("MEASURED max=") and len(first) <= 22
    assert first[0].startswith("max ") and f"{folder}/report.html" in first
    assert "worst case" not in out.lower()
    cells = shown(tmp_path, folder)
    assert [c["labels"]["load"] for c in cells] == [
        "none",
        "cpu:100",
        "memory-alloc:100",
        "disk",
        "hackbench",
    ]
    html = (tmp_path / folder / "report.html").read_text()
    assert len(html) < 2_000_000


def test_the_study_of_timers_names_every_way_to_sleep(tmp_path: Path) -> None:
    listed = json.loads(subprocess.run([PROBE, "list", "--json"], capture_output=True, check=True).stdout)
    code, out, err = howlate(tmp_path, "run", "timers", "--dry-run", "--json")
    assert code == 0, err
    planned = json.loads(out)
    assert {c["labels"]["timer"] for c in planned["cells"]} == {t["name"] for t in listed["timers"]}
    assert 90 <= planned["expected_s"] <= 180
    code, out, err = howlate(tmp_path, "run", "check", "--dry-run", "--json")
    assert code == 0, err
    assert 60 <= json.loads(out)["expected_s"] <= 70
