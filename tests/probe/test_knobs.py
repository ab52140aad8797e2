"""Knobs on this machine with the real probe: applied, read back, restored, also after its crash where its
guardian was killed as well (test_guardian.py: where it was not)."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lacks import KERNEL, MACHINE, needs_root, skip
from probe.drive import probe_path, read_stream
from processes import children_of, completed, guardian_of, journals_of, kill_unguarded, until

PROBE = probe_path()
RT_RUNTIME = Path("/proc/sys/kernel/sched_rt_runtime_us")
MIGRATION = Path("/proc/sys/kernel/timer_migration")
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
OTHER_BOOT = "00000000-0000-4000-8000-000000000000"

pytestmark = [
    needs_root,
    pytest.mark.xdist_group("knobs"),
]

Hold = Callable[..., "subprocess.Popen[str]"]


def chosen(path: Path) -> str:
    """A file's value; of a list of choices the one in brackets."""
    text = path.read_text().strip()
    return text.partition("[")[2].partition("]")[0] or text


def in_force(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The line that the probe prints when the knobs are in force."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the probe ended with {process.wait()}: {process.stderr.read() if process.stderr else ''}"
    told: dict[str, Any] = json.loads(line)
    assert told["state"] == "in force"
    return told


@pytest.fixture(autouse=True)
def machine_as_before() -> Iterator[None]:
    """Whatever a test does, the machine is as it was, and a test that left it changed fails."""
    files = [path for path in (RT_RUNTIME, MIGRATION, THP) if path.exists() and os.access(path, os.W_OK)]
    before = {path: chosen(path) for path in files}
    yield
    changed = {path: chosen(path) for path in files if chosen(path) != before[path]}
    for path in changed:
        path.write_text(before[path])
    assert not changed


@pytest.fixture
def hold() -> Iterator[Hold]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: str, before: Sequence[str] = (), **more: str) -> subprocess.Popen[str]:
        argv = [*before, str(PROBE), "hold", *words]
        pipe = subprocess.PIPE
        one = subprocess.Popen(argv, env={**os.environ, **more}, stdout=pipe, stderr=pipe, text=True)
        started.append(one)
        return one

    yield start
    for process in started:
        process.kill()
        process.communicate()
    restore()


def restore(*before: str, **more: str) -> subprocess.CompletedProcess[str]:
    argv = [*before, str(PROBE), "restore"]
    return completed(argv, env={**os.environ, **more})


def available() -> dict[str, str]:
    """Every knob and why it cannot be set here ("" = it can)."""
    listed = completed([str(PROBE), "list", "--json"], check=True)
    return {knob["name"]: knob["reason"] for knob in json.loads(listed.stdout)["knobs"]}


def need(*names: str) -> None:
    for name in names:
        if reason := available()[name]:
            skip(f"the knob {name} ({reason})", KERNEL)


WANTED = {
    "rt_throttling": (RT_RUNTIME, "off", "-1"),
    "timer_migration": (MIGRATION, "off", "0"),
    "thp": (THP, "never", "never"),
}


@pytest.mark.parametrize("name", sorted(WANTED))
def test_an_orderly_end_restores_by_itself(name: str, hold: Hold) -> None:
    need(name)
    path, word, value = WANTED[name]
    before = chosen(path)
    process = hold("--knob", f"{name}={word}")
    setting = in_force(process)["knobs"][0]["settings"][0]
    assert chosen(path) == value == setting["read_back"]
    assert setting["before"] == before
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["knobs"][0]["settings"][0]["restored"] is True
    assert chosen(path) == before
    assert not journals_of(process.pid)


@pytest.mark.parametrize("name", sorted(WANTED))
def test_after_a_kill_restore_brings_the_value_back(name: str, hold: Hold) -> None:
    need(name)
    path, word, value = WANTED[name]
    before = chosen(path)
    if before == value:
        skip(f"a machine on which {path} is not {value} already", MACHINE)
    process = hold("--knob", f"{name}={word}")
    in_force(process)
    kill_unguarded(process.pid)
    process.wait()
    assert chosen(path) == value
    done = restore()
    assert done.returncode == 0, done.stderr
    assert f"{path}: {value} -> {before}" in done.stdout
    assert chosen(path) == before
    assert f"process {process.pid} " not in restore().stdout


def test_another_boots_journal_is_not_restored_and_says_so(hold: Hold) -> None:
    need("timer_migration")
    before = chosen(MIGRATION)
    if before == "0":
        skip("timer migration that is on", "sudo sysctl kernel.timer_migration=1")
    process = hold("--knob", "timer_migration=off")
    in_force(process)
    kill_unguarded(process.pid)
    process.wait()
    (journal,) = journals_of(process.pid)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    journal.write_text(journal.read_text().replace(boot, OTHER_BOOT))
    done = restore()
    try:
        assert chosen(MIGRATION) == "0"
        assert done.returncode == 0
        assert "another boot" in done.stdout
        assert not journals_of(process.pid)
    finally:
        MIGRATION.write_text(before)


def test_two_probes_keep_journals_of_their_own_and_refuse_each_others_knobs(hold: Hold) -> None:
    need("timer_migration", "thp")
    first, second = hold("--knob", "timer_migration=off"), hold("--knob", "thp=never")
    in_force(first)
    in_force(second)
    if not (journals_of(first.pid) and journals_of(second.pid)):
        skip("a machine on which these values are not in force already", MACHINE)
    third = hold("--knob", "timer_migration=on")
    _, err = third.communicate(timeout=120)
    assert third.returncode == 3
    assert "by another probe" in err
    kill_unguarded(first.pid)
    first.wait()
    done = restore()
    assert "restored" in done.stdout
    assert f"process {second.pid} still runs" in done.stdout
    assert chosen(THP) == "never"
    second.send_signal(signal.SIGTERM)
    second.communicate(timeout=120)


def test_a_request_for_latency_is_read_back_and_goes_with_the_process(hold: Hold) -> None:
    need("cpu_dma_latency")
    process = hold("--knob", "cpu_dma_latency=7")
    told = in_force(process)["knobs"][0]["settings"][0]
    assert told["read_back"] == "7"
    process.kill()
    process.wait()
    now = int.from_bytes(Path("/dev/cpu_dma_latency").read_bytes()[:4], "little")
    assert str(now) == told["before"]


def test_the_cpuset_goes_with_its_folders(hold: Hold) -> None:
    need("cpuset")
    online = os.cpu_count() or 1
    if online < 2:
        skip("a second CPU", MACHINE)
    process = hold("--knob", f"cpuset={online - 1}")
    folders = [
        Path(setting["path"])
        for setting in in_force(process)["knobs"][0]["settings"]
        if Path(setting["path"]).is_dir()
    ]
    assert folders
    kill_unguarded(process.pid)
    process.wait()
    assert all(folder.is_dir() for folder in folders)
    assert restore().returncode == 0
    assert not any(folder.exists() for folder in folders)


def test_a_deadline_task_is_pinned_in_an_exclusive_cpuset(tmp_path: Path) -> None:
    need("cpuset")
    last = max(os.sched_getaffinity(0))
    if last == 0:
        skip("a second CPU", MACHINE)
    path = tmp_path / "stream"
    words = ["--policy", "deadline:100us:1ms:1ms", "--knob", f"cpuset={last}", "--activations", "200"]
    argv = [str(PROBE), "cyclic", *words, "--json", "--stream", str(path)]
    done = completed(argv)
    if done.returncode == 3:
        skip(done.stderr, KERNEL)  # cgroup v2, or no bandwidth left
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["labels"]["cpu"] == str(last)
    assert cell["threads"][0]["migrations"] == 0
    header = read_stream(path).raw_header["in_force"]
    (thread,) = header["threads"]
    assert thread["pinned"] is True and thread["cpus"] == thread["cpuset"] == str(last)
    assert thread["policy"] == "deadline:100us:1ms:1ms"
    folders = [Path(one["path"]) for one in header["knobs"][0]["settings"] if "howlate-" in one["path"]]
    assert folders and not any(folder.exists() for folder in folders)


def test_the_stream_says_that_a_knob_was_restored(tmp_path: Path) -> None:
    need("thp")
    if chosen(THP) == "never":
        skip("transparent huge pages that are not off already", KERNEL)
    words = ["--knob", "thp=never", "--activations", "20", "--policy", "other", "--quiet", "--stream"]
    argv = [str(PROBE), "cyclic", *words, str(tmp_path / "stream")]
    done = completed(argv)
    assert done.returncode == 0, done.stderr
    stream = read_stream(tmp_path / "stream")
    assert stream.trailer is not None
    (set_,), (ended,) = stream.raw_header["in_force"]["knobs"], stream.trailer["knobs"]
    assert set_["settings"][0]["restored"] is False and ended["settings"][0]["restored"] is True
    assert {**set_["settings"][0], "found": "never", "restored": True} == ended["settings"][0]


@pytest.mark.parametrize("meanwhile", ["another value", "put back"])
def test_a_knob_that_was_not_held_to_the_end_is_told_and_the_code_says_so(
    tmp_path: Path, meanwhile: str
) -> None:
    need("thp")
    before = chosen(THP)
    if before == "never":
        skip("transparent huge pages that are not off already", KERNEL)
    theirs = before if meanwhile == "put back" else {"always": "madvise", "madvise": "always"}[before]
    words = ["--knob", "thp=never", "--duration", "30s", "--policy", "other", "--quiet", "--progress"]
    argv = [str(PROBE), "cyclic", *words, "--stream", str(tmp_path / "stream")]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline().startswith("progress ")
            THP.write_text(theirs)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            assert chosen(THP) == theirs  # somebody else's by now
        finally:
            process.kill()
            THP.write_text(before)
    assert process.returncode == 4
    warning, last = err.strip().splitlines()[-2:]
    assert warning.startswith("howlate-probe: warning: ") and "by somebody else" in warning
    assert last.startswith("howlate-probe: ") and "by somebody else" in last
    trailer = read_stream(tmp_path / "stream").trailer
    assert trailer is not None
    (setting,) = trailer["knobs"][0]["settings"]
    assert (setting["read_back"], setting["found"]) == ("never", theirs)
    assert setting["restored"] is (meanwhile == "put back")


def test_a_request_that_another_process_overrules_is_told(hold: Hold) -> None:
    need("cpu_dma_latency")
    process = hold("--knob", "cpu_dma_latency=7")
    in_force(process)
    with Path("/dev/cpu_dma_latency").open("r+b", buffering=0) as stricter:
        stricter.write((3).to_bytes(4, "little"))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    assert "/dev/cpu_dma_latency is 3, no longer 7" in err


OTHER_NAMESPACES = {
    "time": ["unshare", "--time", "--boottime", "1000", "--fork"],
    "PID": ["unshare", "--pid", "--fork", "--mount-proc"],
    "both": ["unshare", "--time", "--boottime", "-5", "--pid", "--fork", "--mount-proc"],
}


@pytest.mark.parametrize("kind", sorted(OTHER_NAMESPACES))
def test_what_a_living_probe_holds_is_known_in_other_namespaces(kind: str, hold: Hold) -> None:
    need("timer_migration")
    inside = OTHER_NAMESPACES[kind]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        skip(f"a {kind} namespace of its own", KERNEL)
    before = chosen(MIGRATION)
    process = hold("--knob", f"timer_migration={'off' if before == '1' else 'on'}")
    in_force(process)
    held = chosen(MIGRATION)
    assert held != before
    done = restore(*inside)
    assert done.returncode == 0 and f"process {process.pid}" in done.stdout and "still runs" in done.stdout
    assert chosen(MIGRATION) == held and journals_of(process.pid)
    for there in (inside, []):  # and the other way round
        second = hold("--knob", "timer_migration=on", before=there)
        _, err = second.communicate(timeout=120)
        assert second.returncode == 3 and "by another probe" in err
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert chosen(MIGRATION) == before
    within = hold("--knob", f"timer_migration={'off' if before == '1' else 'on'}", before=inside)
    in_force(within)
    assert "still runs" in restore().stdout and chosen(MIGRATION) == held
    with_hold = [pid for pid in children_of(within.pid) if guardian_of(pid)] or [within.pid]
    os.kill(with_hold[0], signal.SIGTERM)
    assert until(lambda: chosen(MIGRATION) == before)


def test_probes_with_state_folders_of_their_own_know_of_each_others_knobs(hold: Hold, tmp_path: Path) -> None:
    need("timer_migration")
    before = chosen(MIGRATION)
    first, other = str(tmp_path / "first"), str(tmp_path / "other")
    process = hold("--knob", f"timer_migration={'off' if before == '1' else 'on'}", HOWLATE_STATE_DIR=first)
    in_force(process)
    second = hold("--knob", "timer_migration=on", HOWLATE_STATE_DIR=other)
    _, err = second.communicate(timeout=120)
    assert second.returncode == 3 and "by another probe" in err
    kill_unguarded(process.pid)
    process.wait()
    assert f"{MIGRATION}: " in restore(HOWLATE_STATE_DIR=other).stdout
    assert chosen(MIGRATION) == before


def test_knobs_that_cannot_be_set_here_say_why() -> None:
    for name, reason in available().items():
        if reason:
            process = completed([str(PROBE), "hold", "--knob", f"{name}=1"])
            assert process.returncode == 3
            assert name in process.stderr


def test_without_root_a_knob_is_refused_with_the_remedy(tmp_path: Path) -> None:
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(PROBE)]
    if subprocess.run([*argv, "--version"], capture_output=True, check=False).returncode != 0:
        skip("a checkout that other users may read", MACHINE)
    process = completed([*argv, "hold", "--knob", "rt_throttling=off"])
    assert process.returncode == 3
    assert "Run as root" in process.stderr
