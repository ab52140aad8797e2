"""Does the recorder keep up? Periods of 20 us, on one CPU and on all, without load and under heavy ones.

    ./dev bench recorder [--seconds 60]

Printed for each cell: releases, the share that was recorded, what was dropped, and the probe's memory a quarter of
the way through and at its end. The limits: nothing is dropped; without load at least 99 % of the releases are
recorded; memory does not grow by more than 1 MiB between the two. Exit code 0 or 1.

The late policy is `backlog`: each release is served, so the recorder gets 50,000 samples a second and CPU however
late the machine is. The limit of 99 % then says little beside that nothing is dropped: only what is unserved at the
end can be missing. It is one of its own with `--late-policy skip`, where a machine whose wake-up takes longer than
the period leaves out what it cannot serve: the share then says how late the machine is, and it is held to it too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Figure, Part, add_option, all_kept

from howlate.store.stream import StreamReader

PARTS = (
    Part(
        "recorder",
        "20 us periods on one CPU and on all, without and under loads: recorded, dropped, memory",
    ),
)
LOADS = ("none", "cpu:100", "hackbench:40")
RECORDED_SHARE = 0.99
GROWTH_KIB = 1024


def resident_kib(pid: int) -> int:
    """Memory of one process now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def cell(probe: str, cpus: str, load: str, seconds: int, late_policy: str) -> list[Figure]:
    """Measure one cell; print its line; its figures."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        stream = Path(folder) / "stream"
        command = [
            probe,
            "cyclic",
            "--period",
            "20us",
            "--duration",
            f"{seconds}s",
            "--cpus",
            cpus,
            "--late-policy",
            late_policy,
            "--progress",
        ]
        command += ["--quiet", "--stream", str(stream), *([] if load == "none" else ["--load", load])]
        memory: list[int] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("progress ") and int(line.split()[2]) > seconds * 250_000_000:
                    memory.append(resident_kib(process.pid))
        if process.returncode != 0 or len(memory) < 2:
            short = "too short to see whether memory grows" if process.returncode == 0 else "it failed"
            print(f"cpus {cpus:4} load {load:13} {short} (exit code {process.returncode})")
            return [Figure(f"cpus {cpus}, {load}: failed or too short", 1, at_most=0)]
        with StreamReader.open(stream) as reader:
            rows = sum(batch.rows for batch in reader.batches() if batch.table.name == "samples")
            assert reader.trailer is not None, "the probe did not end its stream"
            accounts = reader.trailer["accounting"]
    releases, recorded, overruns, dropped = (
        sum(account[name] for account in accounts) for name in ("releases", "recorded", "overruns", "dropped")
    )
    assert rows == recorded, f"{rows} rows stand for {recorded} recorded activations"
    share, growth = recorded / releases, memory[-1] - memory[0]
    print(
        f"cpus {cpus:4} load {load:13} releases {releases:9d} recorded {share:8.3%} overruns {overruns:8d} "
        f"dropped {dropped:6d} memory {memory[0]} -> {memory[-1]} KiB",
        flush=True,
    )
    name = f"cpus {cpus}, {load}"
    least = RECORDED_SHARE if load == "none" else None
    return [
        Figure(f"{name}: recorded", share, at_least=least),
        Figure(f"{name}: dropped", dropped, at_most=0),
        Figure(f"{name}: growth", growth, "KiB", at_most=GROWTH_KIB),
    ]


def main() -> int:
    """All cells."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--late-policy", choices=("backlog", "skip"), default="backlog")
    add_option(parser)
    options = parser.parse_args()
    probe = os.environ["HOWLATE_PROBE"]
    one = str((os.cpu_count() or 1) - 1)
    figures = [
        figure
        for cpus in (one, "all")
        for load in LOADS
        for figure in cell(probe, cpus, load, options.seconds, options.late_policy)
    ]
    kept = all_kept(figures, options.figures)
    print("limits kept" if kept else "limits NOT kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
