"""What the recording of events adds to the median wake-up latency: switched on and off within one run.

    ./dev bench recording [--with auto|bpf|bpf-by-address|tracefs] [--events auto|few|all] [--pairs N]
                          [--block-ms B] [--cpu C] [--load LOAD]

While `cyclic` runs, recording is off for one block of time, on for the next two, then off for two, and so on. Two
blocks that follow one another are a pair, whose order alternates. A machine whose idle CPUs answer now in 25 us and
now in 55, as a guest's do, changes little between them, while two runs (bench/explain.py) may fall into two such
times. What is not in the difference: the recorder's look at the samples every 50 ms.

tracefs: the events of the probe's own trace instance are switched; pages that the recorder reads are read while they
are on. bpf: a first probe is ended as soon as its programs are loaded; they are kept by descriptors of this process,
which attaches them and lets them go. Nobody reads what they record, and events that are recorded of the measuring
threads alone (page faults, migrations) come to nothing. auto: as the probe chooses.

Printed: the Hodges-Lehmann ratio of the blocks' medians (on / off) with its exact 95 % interval, the same in
nanoseconds, and the middle half of the medians without. The limit: the ratio is at most 5 % above 1, or the median at
most 1 us above, whichever is larger; blocks are added, at most --most pairs, until the interval says so. The
measuring task has no page fault and loses no sample. Exit code 0 when the limits are kept, 1 when not, 3 where this
kind of recording is not to be had.
"""

import argparse
import contextlib
import ctypes
import errno
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np
from explain import NOT_POSSIBLE, allowed, cyclic
from figures import Figure, Part, add_option, all_kept
from msgspec import Struct

from howlate.sides.paired import RatioInterval, ratio_interval
from howlate.store.stream import StreamReader

PARTS = (
    Part(
        "recording",
        "the median wake-up latency with the events recorded over that without, in alternating blocks of one run",
    ),
)
TRACEFS = Path("/sys/kernel/tracing")
MARGIN_NS = 5_000_000
"""At both ends of a block: the kernel has just rewritten its code."""
FEWEST = 20
"""Samples of a block."""
PROGRAM, LINK = "anon_inode:bpf-prog", "anon_inode:bpf_link"
MANY = 3
"""Programs of a probe that records: one alone is that by which it measures what an event costs."""
LIBC = ctypes.CDLL(None, use_errno=True)
SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine, -1)
SYS_PIDFD_GETFD = 438
BPF_RAW_TRACEPOINT_OPEN = 17


class Switch(Protocol):
    def __call__(self, *, on: bool) -> None: ...


class Block(Struct, frozen=True):
    on: bool
    begin_ns: int
    end_ns: int
    """Both of CLOCK_MONOTONIC."""


class Outcome(Struct, frozen=True):
    medians_ns: list[tuple[float, float]]
    """Of the blocks of each pair, on and off."""
    faults: int
    dropped: int


def instance_of(probe: subprocess.Popen[str]) -> Path:
    """The probe's trace instance, as soon as it records; where tracefs is mounted nowhere, through its descriptor."""
    while probe.poll() is None:
        with contextlib.suppress(OSError):
            for folder in (TRACEFS, *Path(f"/proc/{probe.pid}/fd").iterdir()):
                instance = folder / "instances" / f"howlate-{probe.pid}"
                if instance.is_dir() and (instance / "tracing_on").read_text().strip() == "1":
                    return instance
        time.sleep(0.01)
    return refused(probe)


@contextlib.contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A probe with this command, ended afterwards."""
    probe = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield probe
    finally:
        probe.terminate()
        probe.wait()


def refused(probe: subprocess.Popen[str]) -> NoReturn:
    """Ends with what an ended probe said."""
    print((probe.stderr.read() if probe.stderr else "").strip(), file=sys.stderr)
    sys.exit(probe.returncode or NOT_POSSIBLE)


def ring_switch(probe: subprocess.Popen[str]) -> Switch:
    """Records the events of its trace instance, or none."""
    folder = instance_of(probe)
    time.sleep(1)  # its warm-up, and some
    files = [
        folder / "events" / event.replace(":", "/") / "enable"
        for event in (folder / "set_event").read_text().split()
    ]

    def switch(*, on: bool) -> None:
        for file in files:
            file.write_text(str(int(on)))

    return switch


@contextlib.contextmanager
def bpf_switch(programs: list[int]) -> Iterator[Switch]:
    """Attaches these programs, or none."""
    links: list[int] = []

    def switch(*, on: bool) -> None:
        if on == bool(links):
            return
        while links:
            os.close(links.pop())
        if on:
            links.extend(map(attach, programs))

    try:
        yield switch
    finally:
        switch(on=False)
        for program in programs:
            os.close(program)


def attach(program: int) -> int:
    """A link; the program runs until it is closed."""
    attributes = ctypes.create_string_buffer(struct.pack("QI4x", 0, program))
    return system_call(SYS_BPF, BPF_RAW_TRACEPOINT_OPEN, ctypes.addressof(attributes), len(attributes) - 1)


def programs_of(command: list[str]) -> list[int]:
    """Descriptors of the BPF programs that a probe with this command has attached; it is ended."""
    with running(command) as probe:
        while True:
            kinds = [kind for _, kind in descriptors(probe.pid)]
            if MANY <= kinds.count(PROGRAM) == kinds.count(LINK):
                break
            if probe.poll() is not None:
                refused(probe)
            time.sleep(0.01)
        of_probe = os.pidfd_open(probe.pid)
        try:
            return [
                system_call(SYS_PIDFD_GETFD, of_probe, number, 0)
                for number, kind in descriptors(probe.pid)
                if kind == PROGRAM
            ]
        finally:
            os.close(of_probe)


def descriptors(pid: int) -> list[tuple[int, str]]:
    """A process's descriptors, with what they are."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append((int(link.name), str(link.readlink())))
    return found


def system_call(number: int, *arguments: int) -> int:
    """What it returns; an OSError where that is an error."""
    done = int(LIBC.syscall(*map(ctypes.c_long, (number, *arguments))))
    if done < 0:
        raise OSError(ctypes.get_errno(), errno.errorcode[ctypes.get_errno()])
    return done


def blocks_of(switch: Switch, pairs: int, block_s: float) -> list[Block]:
    """Switches the events while the probe measures."""
    blocks: list[Block] = []
    for number in range(2 * pairs):
        on = number % 4 in (1, 2)
        switch(on=on)
        begin_ns = time.monotonic_ns()
        time.sleep(block_s)
        blocks.append(Block(on, begin_ns, time.monotonic_ns()))
    return blocks


def medians(blocks: list[Block], times_ns: np.ndarray, latency_ns: np.ndarray) -> list[tuple[float, float]]:
    """The medians of each pair's blocks, on and off; a pair of which one has too few samples is left out."""
    pairs = []
    for first, second in zip(blocks[::2], blocks[1::2], strict=True):
        values = {}
        for block in (first, second):
            low, high = np.searchsorted(times_ns, [block.begin_ns + MARGIN_NS, block.end_ns - MARGIN_NS])
            if high - low >= FEWEST:
                values[block.on] = float(np.median(latency_ns[low:high]))
        if len(values) == 2:
            pairs.append((values[True], values[False]))
    return pairs


def chosen(options: argparse.Namespace) -> tuple[str, str]:
    """Who records here, and which events, as a short run's header says."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        stream = Path(folder) / "stream"
        words = ("--explain", f"--explain-with={options.recorder}", f"--explain-events={options.events}")
        done = subprocess.run([*cyclic(options, 1, stream), *words], stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(done.stderr.strip(), file=sys.stderr)
            sys.exit(done.returncode)
        with StreamReader.open(stream) as reader:
            in_force = reader.header.raw["in_force"]["trace"]
    told = in_force["with"] if options.recorder == "auto" else options.recorder
    return told, in_force["detail"]


def run(options: argparse.Namespace, pairs: int) -> Outcome:
    """One run of `howlate-probe cyclic`, and its pairs of blocks."""
    block_s = options.block_ms / 1000
    length_s = int(2 * pairs * (block_s + 0.1) + 10)  # more than is needed: it is stopped
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        stream = Path(folder) / "stream"
        command = cyclic(options, length_s, stream)
        words = ("--explain", f"--explain-with={options.recorder}", f"--explain-events={options.events}")
        with contextlib.ExitStack() as at_end:
            if options.recorder.startswith("bpf"):
                donor = cyclic(options, length_s, Path(folder) / "donor")
                try:
                    switch = at_end.enter_context(bpf_switch(programs_of([*donor, *words])))
                    switch(on=True)
                    switch(on=False)
                except OSError as error:
                    print(f"the programs of a probe are not to be had: {error}", file=sys.stderr)
                    sys.exit(NOT_POSSIBLE)
                probe = at_end.enter_context(running(command))
                time.sleep(1)  # its warm-up, and some
            else:
                probe = at_end.enter_context(running([*command, *words]))
                switch = ring_switch(probe)
            blocks = blocks_of(switch, pairs, block_s)
        with StreamReader.open(stream) as reader:
            t0_ns = reader.header.t0_ns
            batches = [batch.columns for batch in reader.batches() if batch.table.name == "samples"]
            trailer = reader.trailer
    assert trailer is not None
    (account,) = trailer["accounting"]
    found = medians(
        blocks,
        t0_ns + np.concatenate([columns["release_ns"] for columns in batches]),
        np.concatenate([columns["latency_ns"] for columns in batches]),
    )
    faults = account["minor_faults"] + account["major_faults"]
    return Outcome(found, faults, account["dropped"])


def main() -> int:
    """Run the blocks; print the interval."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=300, help="pairs of blocks in each run")
    parser.add_argument("--most", type=int, default=1200, help="pairs at most")
    parser.add_argument("--block-ms", type=int, default=150)
    parser.add_argument("--cpu", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--load", default="none")
    parser.add_argument(
        "--with", dest="recorder", choices=("auto", "bpf", "bpf-by-address", "tracefs"), default="auto"
    )
    parser.add_argument("--events", choices=("auto", "few", "all"), default="auto")
    add_option(parser)
    options = parser.parse_args()
    options.recorder, options.events = chosen(options)
    on_ns: list[float] = []
    off_ns: list[float] = []
    faults = dropped = 0
    interval: RatioInterval | None = None
    limit = 0.0
    while len(on_ns) < options.most:
        found = run(options, options.pairs)
        on_ns += [on for on, _ in found.medians_ns]
        off_ns += [off for _, off in found.medians_ns]
        faults += found.faults
        dropped += found.dropped
        interval = ratio_interval(on_ns, off_ns)
        if interval is None:
            print("too few pairs for an interval of 95 %", file=sys.stderr)
            return 2
        base_ns = float(np.median(off_ns))
        limit = allowed(base_ns)
        low_ns, high_ns = np.percentile(off_ns, [25, 75])
        print(
            f"{interval.pairs} pairs of {options.block_ms} ms: median {base_ns:.0f} ns without (middle half "
            f"{low_ns:.0f} to {high_ns:.0f}); ratio {interval.ratio:.4f}, {interval.confidence:.1%} interval "
            f"[{interval.low:.4f}, {interval.high:.4f}], that is {(interval.ratio - 1) * base_ns:+.0f} ns; "
            f"limit {limit:.4f}; load {options.load}, {options.recorder}, events {options.events}",
            flush=True,
        )
        if interval.high <= limit:
            break
    assert interval is not None
    figures = [
        Figure("ratio of medians", round(interval.ratio, 4)),
        Figure("upper end of its interval", round(interval.high, 4), at_most=round(limit, 4)),
        Figure("added to the median", round((interval.ratio - 1) * float(np.median(off_ns))), "ns"),
        Figure("page faults of the measuring task", faults, at_most=0),
        Figure("dropped samples", dropped, at_most=0),
        Figure("pairs of blocks", interval.pairs),
    ]
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
