"""The loads that take memory, where a control group leaves little of it."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from lacks import AS_ROOT, MACHINE, skip
from probe.drive import probe_path
from probe.loads_drive import ROOT, load_once, running
from processes import children_of, until

MIB = 1 << 20
PLACES = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))


class Group(Struct, frozen=True):
    """A control group with 96 MiB."""

    folder: Path

    def into(self) -> list[str]:
        """What a command begins with to run in it."""
        return ["sh", "-c", f'echo $$ >"{self.folder}/cgroup.procs" && exec "$0" "$@"']


def make_group() -> Path | None:
    """A group with a limit, where the controller is in the first or the second hierarchy."""
    for place, limit in PLACES:
        folder = Path(place) / f"howlate-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            try:
                (folder / limit).write_text(str(96 * MIB))
                return folder
            except OSError:
                folder.rmdir()
    return None


@pytest.fixture
def group() -> Iterator[Group]:
    folder = make_group() if ROOT else None
    if folder is None:
        skip("the right to make a control group with a memory limit", AS_ROOT if not ROOT else MACHINE)
    yield Group(folder)
    assert until(lambda: not (folder / "cgroup.procs").read_text())
    folder.rmdir()


@pytest.mark.parametrize(
    "words", [["memory-alloc,size=64MiB"], ["memory-fault,size=64MiB"], ["memory-access,working-set=64MiB"]]
)
def test_a_limit_of_memory_is_what_is_available(probe: Path, group: Group, words: list[str]) -> None:
    cpu = f",cpus={min(os.sched_getaffinity(0))}"
    done = load_once(words[0] + cpu, "--duration", "1s", before=group.into())
    assert done.returncode == 3
    assert "available" in done.stderr and done.stderr.count("\n") == 1
    fits = load_once(words[0].replace("64MiB", "32MiB") + cpu, "--duration", "1s", before=group.into())
    assert fits.returncode == 0, fits.stderr


def take_memory(group: Group) -> None:
    """Somebody else in the group wants more than there is."""
    command = [*group.into(), "sh", "-c", "head -c 200M /dev/zero | tail -c 200M >/dev/null"]
    subprocess.run(command, capture_output=True, timeout=120)


def be_first_to_go(pids: list[int]) -> None:
    for pid in pids:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")


def test_a_load_that_ran_out_of_memory_says_so(probe: Path, group: Group) -> None:
    cpu = min(os.sched_getaffinity(0))
    with running(f"memory-access:50,working-set=24MiB,cpus={cpu}", before=group.into()) as load:
        assert load.report() is not None
        be_first_to_go(children_of(load.process.pid))
        take_memory(group)
        _, err = load.process.communicate(timeout=60)
    assert load.process.returncode == 3
    assert "memory-access was killed" in err and err.count("\n") == 1


def test_a_test_whose_load_ran_out_of_memory_is_told_that(probe: Path, group: Group) -> None:
    cpu = min(os.sched_getaffinity(0))
    words = ["cyclic", "--duration", "1h", "--policy", "other", "--record", "stream", "--progress", "--load"]
    spec = f"memory-access:50,working-set=24MiB,cpus={cpu}"
    with subprocess.Popen(
        [*group.into(), str(probe_path()), *words, spec],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("progress "), line
            (supervisor,) = [pid for pid in children_of(process.pid) if len(children_of(pid)) == 1]
            workers = children_of(supervisor)
            be_first_to_go(workers)
            take_memory(group)
            process.terminate()
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "memory-access was killed" in out and "under this load" in out
