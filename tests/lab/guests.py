"""Real kernels on a bench, for tests: kernels are fetched once a checkout, everything else is made in folders of its
own."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from howlate.errors import NotPossibleError
from howlate.lab.archive.apt import AptArchive
from howlate.lab.archive.packages import silent
from howlate.lab.bench import PROBE, Bench
from howlate.lab.guests.emulator import with_emulator
from howlate.lab.guests.machine import TURN_NS, Machine
from howlate.lab.guests.snapshot import Snapshots
from howlate.lab.guests.watch import Limits
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import of_loads
from howlate.lab.results import Results
from howlate.store.stream import StreamReader
from howlate.system.paths import ROOT, guest_probe_path
from howlate.targets import open_target
from lacks import MACHINE, skip
from processes import completed, environment

KERNELS = Path(os.environ.get("HOWLATE_TEST_KERNELS") or ROOT / "build" / "test-kernels")
"""A cache of its own: what the tests need stays between their runs, and nothing of the user's cache is touched."""
SNAPSHOT_BYTES = 3 << 30
"""So much of booted guests is kept between runs; those of an older build of the probe go first."""
LIMITS = Limits(600.0)
STANDARD, RT = "6.1[preempt=none]", "6.1-rt"


def with_kernels(cache: Path) -> Path:
    """An empty cache that has the tests' kernels."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in ("kernels", "apt", "unpacked"):
        (KERNELS / name).mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(KERNELS / name)
    return cache


def warm_cache(cache: Path, *kernels: str) -> Path:
    """A cache without results for a `howlate` of its own: it has what the tests keep for each other (booted guests,
    modules and what they are built with, a fetched QEMU), and these kernels."""
    with_kernels(cache)
    for name in ("snapshots", "headers", "modules", "roots", "emulators"):
        (KERNELS / name).mkdir(exist_ok=True)
        (cache / name).symlink_to(KERNELS / name)
    for kernel in kernels:
        bench(cache, kernel)
    return cache


def booted_guests() -> Path:
    """A folder of snapshots for all tests, in whichever process and session they run. Each is kept by the hash of all
    that it is made of, the probe among it, and checked before it is used."""
    folder = KERNELS / "snapshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def _fetched(label: Label) -> None:
    get(label, AptArchive(KERNELS / "apt"), KERNELS)


def bench(
    cache: Path,
    name: str = RT,
    extra: Mapping[str, bytes] | None = None,
    stop: threading.Event | None = None,
    fresh: bool = False,
    snapshots: Path | None = None,
    devices: tuple[str, ...] = (),
    machine: Machine | None = None,
) -> Bench:
    """A kernel on a bench whose cache has nothing but kernels to begin with, and guests that are booted already if
    `snapshots` is given."""
    label = Label.parse(name)
    _fetched(label.base)
    if not (cache / "kernels").exists():
        with_kernels(cache)
    loads = {load.name: load for load in open_target("local").capabilities().loads}
    return Bench(
        label,
        get(label, AptArchive(KERNELS / "apt"), cache, of_loads(loads.values())),
        replace(machine or Machine.of(label.arch), devices=devices),
        guest_probe_path(label.arch).read_bytes(),
        cache,
        Snapshots(snapshots or cache / "snapshots", SNAPSHOT_BYTES),
        Results(cache / "results", fresh),
        stop or threading.Event(),
        extra or {},
        loads=loads,
    )


@cache
def with_cpus(cpus: int) -> Machine:
    """A machine with several CPUs, in turns that are four times the usual ones, because each takes the host's time. A
    QEMU that can run it is fetched once a checkout where none is installed."""
    machine = Machine.of("amd64", cpus=cpus, turn_ns=4 * TURN_NS)
    try:
        return with_emulator(machine, AptArchive(KERNELS / "apt"), KERNELS, silent)
    except NotPossibleError as problem:
        skip(f"an emulator with what these guests need ({problem.message})", MACHINE)


def printed_by(
    words: Sequence[str], folder: Path, cache: Path, timeout_s: float, codes: Collection[int] = (0,)
) -> Any:
    """The JSON of a command, in this folder; `codes`: with which it may end."""
    argv = [sys.executable, "-m", "howlate", *words]
    done = completed(argv, cwd=folder, env=environment(HOWLATE_CACHE=str(cache)), timeout=timeout_s)
    assert done.returncode in codes, done.stderr + done.stdout
    return json.loads(done.stdout)


def run_study(
    study: str, kernels: Sequence[str], cache: Path, folder: Path, *more: str, timeout_s: float = 1200
) -> Any:
    """What `howlate lab run --json` prints of a study with one seed. The run is the folder's "r"."""
    words = ["lab", "run", study, f"--kernels={','.join(kernels)}", "--seeds=1", *more, "--out=r", "--json"]
    return printed_by(words, folder, cache, timeout_s)


def cell(activations: int = 200, *more: str) -> list[str]:
    """The line of a small cell."""
    return [
        *(PROBE, "cyclic", "--policy=fifo:80", "--period=1ms", f"--activations={activations}"),
        *(*more, "--stream=stream", "--record=memory", "--quiet"),
    ]


def stream_of(
    on: Bench,
    line: Sequence[str],
    before: Sequence[Sequence[str]] = (),
    tick: Callable[[float], None] = lambda _: None,
) -> bytes:
    """The stream that a cell left, all lines having ended well."""
    lines = on.run([*before, line], LIMITS, tick)
    for done in lines:
        assert done.status == "0", done.stderr.decode()
    return lines[-1].files["stream"]


def difference(first: bytes, second: bytes) -> str:
    """Where two streams differ first, in a line; "" if they are equal."""
    if first == second:
        return ""
    one, other = StreamReader(BytesIO(first)), StreamReader(BytesIO(second))
    for at, (ours, theirs) in enumerate(zip(_said(one), _said(other), strict=False)):
        if ours != theirs:
            return f"{at} values are equal, then {ours} against {theirs}"
    return f"the values are equal, but {len(first)} bytes against {len(second)} are not"


def _said(stream: StreamReader) -> Iterator[str]:
    """All that a stream says, a value at a time."""
    yield from (f"{key} {stream.header.raw[key]}" for key in sorted(stream.header.raw))
    for batch in stream.batches():
        before = batch.totals.rows_total - batch.rows
        for row in range(batch.rows):
            for name, column in batch.columns.items():
                yield f"{batch.table.name} {batch.table.id} row {before + row} {name} {column[row]}"
        yield f"{batch.table.name} {batch.table.id} {batch.totals}"
    trailer = stream.trailer or {}
    yield from (f"{key} {trailer[key]}" for key in sorted(trailer))


def program(name: str) -> str | None:
    """A program of this host: Ubuntu's perf is a script that looks for one of this kernel's version."""
    places = (shutil.which(name), *sorted(map(str, Path("/usr/lib").glob(f"linux-tools*/**/{name}"))))
    return next((path for path in places if path and Path(path).read_bytes()[:4] == b"\x7fELF"), None)


def with_libraries(name: str) -> dict[str, bytes]:
    """A program of this host and the libraries that it is linked to, for a guest."""
    path = program(name)
    assert path is not None, f"{name} is not installed"
    said = completed(["ldd", path], check=True).stdout
    files = {f"bin/{name}": Path(path).read_bytes()}
    return files | {w.lstrip("/"): Path(w).read_bytes() for w in said.split() if w.startswith("/")}


def peers() -> dict[str, bytes]:
    """Other programs that measure what the probe measures, for one guest."""
    return with_libraries("perf") | with_libraries("chrt") | with_libraries("cyclictest")


def preload(folder: Path, source: str) -> Path:
    """A library of the tests, for LD_PRELOAD."""
    library = folder / f"{source}.so"
    file = Path(__file__).parent / source
    subprocess.run(
        ["g++", "-O2", "-ftls-model=initial-exec", "-shared", "-fPIC", "-o", str(library), str(file)],
        check=True,
    )
    return library
