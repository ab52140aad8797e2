"""Knobs on this machine with the real probe: applied, read back, restored, also after its crash where its
guardian was killed as well (test_guardian.py: where it was not)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lacks import KERNEL, MACHINE, needs_root, skip
from probe.drive import probe_path, read_stream
from processes import kill_unguarded

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


def environment(state: Path) -> dict[str, str]:
    return {**os.environ, "HOWLATE_STATE_DIR": str(state)}


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
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def hold(state: Path) -> Iterator[Hold]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        argv = [str(PROBE), "hold", *words]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(argv, env=environment(state), stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()
    subprocess.run([str(PROBE), "restore"], env=environment(state), check=False, capture_output=True)


def restore(state: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROBE), "restore"], env=environment(state), capture_output=True, text=True, check=False
    )


def available() -> dict[str, str]:
    """Every knob and why it cannot be set here ("" = it can)."""
    listed = subprocess.run([str(PROBE), "list", "--json"], capture_output=True, text=True, check=True)
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
def test_an_orderly_end_restores_by_itself(name: str, hold: Hold, state: Path) -> None:
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
    assert not list(state.glob("*.journal"))


@pytest.mark.parametrize("name", sorted(WANTED))
def test_after_a_kill_restore_brings_the_value_back(name: str, hold: Hold, state: Path) -> None:
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
    done = restore(state)
    assert done.returncode == 0, done.stderr
    assert f"{path}: {value} -> {before}" in done.stdout
    assert chosen(path) == before
    assert "nothing to restore" in restore(state).stdout


def test_another_boots_journal_is_not_restored_and_says_so(hold: Hold, state: Path) -> None:
    need("timer_migration")
    before = chosen(MIGRATION)
    if before == "0":
        skip("timer migration that is on", "sudo sysctl kernel.timer_migration=1")
    process = hold("--knob", "timer_migration=off")
    in_force(process)
    kill_unguarded(process.pid)
    process.wait()
    (journal,) = state.glob("*.journal")
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    journal.write_text(journal.read_text().replace(boot, OTHER_BOOT))
    done = restore(state)
    try:
        assert chosen(MIGRATION) == "0"
        assert done.returncode == 0
        assert "another boot" in done.stdout
        assert not list(state.glob("*.journal"))
    finally:
        MIGRATION.write_text(before)


def test_two_probes_keep_journals_of_their_own_and_refuse_each_others_knobs(hold: Hold, state: Path) -> None:
    need("timer_migration", "thp")
    first, second = hold("--knob", "timer_migration=off"), hold("--knob", "thp=never")
    in_force(first)
    in_force(second)
    if chosen(MIGRATION) == "0" and len(list(state.glob("*.journal"))) < 2:
        skip("a machine on which these values are not in force already", MACHINE)
    third = hold("--knob", "timer_migration=on")
    _, err = third.communicate(timeout=120)
    assert third.returncode == 3
    assert "is held by another probe" in err
    kill_unguarded(first.pid)
    first.wait()
    done = restore(state)
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


def test_the_cpuset_goes_with_its_folders(hold: Hold, state: Path) -> None:
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
    assert restore(state).returncode == 0
    assert not any(folder.exists() for folder in folders)


def test_a_deadline_task_is_pinned_in_an_exclusive_cpuset(state: Path, tmp_path: Path) -> None:
    need("cpuset")
    last = max(os.sched_getaffinity(0))
    if last == 0:
        skip("a second CPU", MACHINE)
    path = tmp_path / "stream"
    words = ["--policy", "deadline:100us:1ms:1ms", "--knob", f"cpuset={last}", "--activations", "200"]
    argv = [str(PROBE), "cyclic", *words, "--json", "--stream", str(path)]
    done = subprocess.run(argv, env=environment(state), capture_output=True, text=True, check=False)
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


def test_the_stream_says_that_a_knob_was_restored(state: Path, tmp_path: Path) -> None:
    need("thp")
    if chosen(THP) == "never":
        skip("transparent huge pages that are not off already", KERNEL)
    words = ["--knob", "thp=never", "--activations", "20", "--policy", "other", "--quiet", "--stream"]
    argv = [str(PROBE), "cyclic", *words, str(tmp_path / "stream")]
    done = subprocess.run(argv, env=environment(state), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stream = read_stream(tmp_path / "stream")
    assert stream.trailer is not None
    (set_,), (ended,) = stream.raw_header["in_force"]["knobs"], stream.trailer["knobs"]
    assert set_["settings"][0]["restored"] is False and ended["settings"][0]["restored"] is True
    assert {**set_["settings"][0], "restored": True} == ended["settings"][0]


def test_a_knob_that_was_not_restored_is_told_and_the_code_says_so(state: Path) -> None:
    need("thp")
    before = chosen(THP)
    theirs = next(word for word in ("always", "madvise") if word != before)
    words = ["--knob", "thp=never", "--duration", "30s", "--policy", "other", "--quiet", "--progress"]
    if before == "never":
        skip("transparent huge pages that are not off already", KERNEL)
    argv = [str(PROBE), "cyclic", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env=environment(state), stdout=pipe, stderr=pipe, text=True) as process:
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
    assert warning.startswith("howlate-probe: warning: a knob was changed by somebody else")
    assert last.startswith("howlate-probe: a knob was changed by somebody else")


def test_knobs_that_cannot_be_set_here_say_why() -> None:
    for name, reason in available().items():
        if reason:
            process = subprocess.run(
                [str(PROBE), "hold", "--knob", f"{name}=1"], capture_output=True, text=True, check=False
            )
            assert process.returncode == 3
            assert name in process.stderr


def test_without_root_a_knob_is_refused_with_the_remedy(tmp_path: Path) -> None:
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(PROBE)]
    if subprocess.run([*argv, "--version"], capture_output=True, check=False).returncode != 0:
        skip("a checkout that other users may read", MACHINE)
    process = subprocess.run(
        [*argv, "hold", "--knob", "rt_throttling=off"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 3
    assert "Run as root" in process.stderr
