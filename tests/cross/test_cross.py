"""The probes for other machines, as ./dev cross builds them, under QEMU user-mode emulation: it turns their system
calls into this kernel's, so the probe's own code is what is tried here, and no latency."""

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from howlate.model.capabilities import Capabilities
from howlate.system.paths import ARCHITECTURES, ROOT
from lacks import skip
from probe.drive import probe_list, probe_path, read_stream

EMULATORS = {
    "x86_64": "qemu-x86_64",
    "aarch64": "qemu-aarch64",
    "armv7": "qemu-arm",
    "riscv64": "qemu-riscv64",
}
ELF = {"x86_64": (2, 62), "aarch64": (2, 183), "armv7": (1, 40), "riscv64": (2, 243)}
"""Class (1: of 32 bits) and machine of the file's head."""
_INTERPRETER = 3


class Foreign(Struct, frozen=True):
    """A probe for another machine."""

    arch: str
    path: Path
    before: tuple[str, ...]

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[bytes]:
        argv = [*self.before, str(self.path), *map(str, words)]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)


@pytest.fixture(params=sorted(set(ARCHITECTURES.values())))
def foreign(request: pytest.FixtureRequest) -> Foreign:
    arch = request.param
    path = ROOT / "build" / "cross" / arch / "howlate-probe"
    stamp = path.with_name(".built")  # the probe itself stays as old as it is where a change leaves it alone
    if not path.is_file() or not stamp.is_file():
        skip(f"the probe for {arch}", f"./dev cross {arch}")
    if stamp.stat().st_mtime < newest_source():
        skip(f"a probe for {arch} that is not older than its sources", f"./dev cross {arch}")
    if ARCHITECTURES.get(os.uname().machine) == arch:
        return Foreign(arch, path, ())
    emulator = shutil.which(EMULATORS[arch])
    if emulator is None:
        skip(EMULATORS[arch], "apt-get install qemu-user")
    return Foreign(arch, path, (emulator,))


def newest_source() -> float:
    """When the probe's sources were changed last."""
    sources = [path for path in (ROOT / "probe").rglob("*") if path.suffix in (".cpp", ".hpp", ".txt", ".in")]
    return max(path.stat().st_mtime for path in sources)


def program_headers(elf: bytes) -> Sequence[int]:
    """The types of an ELF file's program headers."""
    wide = elf[4] == 2
    (at,) = struct.unpack_from("<Q" if wide else "<I", elf, 32 if wide else 28)
    size, count = struct.unpack_from("<HH", elf, 54 if wide else 42)
    return [struct.unpack_from("<I", elf, at + n * size)[0] for n in range(count)]


def test_the_file_is_of_its_machine_and_static(foreign: Foreign) -> None:
    elf = foreign.path.read_bytes()
    assert elf[:4] == b"\x7fELF"
    assert (elf[4], struct.unpack_from("<H", elf, 18)[0]) == ELF[foreign.arch]
    assert _INTERPRETER not in program_headers(elf)


def test_it_has_the_same_tests_loads_and_ways_to_sleep(foreign: Foreign) -> None:
    done = foreign.run("list", "--json")
    assert done.returncode == 0, done.stderr
    its = json.loads(done.stdout)
    assert Capabilities.from_json(its).probe == probe_list()["probe"]
    for kind in ("tests", "loads", "timers", "switches", "knobs"):
        assert [one["name"] for one in its[kind]] == [one["name"] for one in probe_list()[kind]], kind
    assert [t["params"] for t in its["tests"]] == [t["params"] for t in probe_list()["tests"]]


def test_it_says_what_the_machine_is(foreign: Foreign) -> None:
    done = foreign.run("facts", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["values"]["kernel.release"] == os.uname().release


@pytest.mark.parametrize(
    "timer", ["clock_nanosleep", "setitimer", "timerfd", "timer_create", "futex", "spin"]
)
def test_a_short_cell_leaves_a_whole_stream(foreign: Foreign, tmp_path: Path, timer: str) -> None:
    stream = tmp_path / "stream"
    words = ["cyclic", "--policy=other", f"--timer={timer}", "--period=5ms", "--activations=40", "--quiet"]
    done = foreign.run(*words, f"--stream={stream}")
    assert done.returncode == 0, done.stderr
    read = read_stream(stream)
    assert read.trailer is not None
    (account,) = read.trailer["accounting"]
    assert account["recorded"] == len(read.columns[0]["latency_ns"]) == 40
    assert account["releases"] == 40 + account["overruns"] + account["dropped"]
    for reader in (foreign.run("check-stream", stream), _native("check-stream", stream)):
        assert reader.returncode == 0
        assert b"40 rows" in reader.stdout


def test_it_reads_and_refuses_what_this_machines_probe_does(foreign: Foreign, tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    done = _native("cyclic", "--policy=other", "--activations=50", "--quiet", f"--stream={stream}")
    assert done.returncode == 0
    assert foreign.run("check-stream", stream).stdout == _native("check-stream", stream).stdout
    stream.write_bytes(stream.read_bytes()[:-9] + b"x" * 9)
    assert foreign.run("check-stream", stream).returncode == 4


def test_a_load_runs_and_reports(foreign: Foreign) -> None:
    done = foreign.run("load", "cpu:20", "--duration=300ms", "--json")
    assert done.returncode == 0, done.stderr
    its = json.loads(done.stdout)
    assert its["units"] > 0
    assert its["cpu_ns"] > 0


def test_what_user_mode_emulation_cannot_do_is_said(foreign: Foreign, tmp_path: Path) -> None:
    """A load beside a test is this program executed anew, which the kernel can only if it knows of the emulator."""
    words = ["cyclic", "--policy=other", "--period=5ms", "--activations=40", "--quiet", "--load=cpu:5"]
    done = foreign.run(*words, f"--stream={tmp_path / 'stream'}")
    if not foreign.before or _kernel_knows(foreign):
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 3
    assert b"cannot be executed" in done.stderr


def test_no_way_to_sleep_of_the_kernel_is_lost_in_silence(foreign: Foreign) -> None:
    """What is not there (io_uring under emulation) is refused with the reason that the list gives."""
    for timer in json.loads(foreign.run("list", "--json").stdout)["timers"]:
        if not timer["available"]:
            done = foreign.run("cyclic", "--policy=other", f"--timer={timer['name']}", "--activations=1")
            assert done.returncode == 3, timer
            assert done.stderr.decode().startswith("howlate-probe: ")


def _native(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([probe_path(), *words], capture_output=True, timeout=300, check=False)


def _kernel_knows(foreign: Foreign) -> bool:
    try:
        return subprocess.run([foreign.path, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
