"""A run in the lab that is killed and goes on, beside one that is left alone: what bench/resume.py and the suite have
in common.

The moment of a kill is drawn from a seed: so many cells whole, then a share of what a cell takes. Nothing comes from
the cache of results, or it would be equal for that reason."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from processes import children_of, environment, is_running, until

STUDY = """schema = 1
id = "resumed"
title = "Killed and gone on with"
question = "Is it the same?"
[lab]
kernels = ["6.1[preempt=none]", "6.1-rt"]
[settings]
policy = "fifo:80"
[[part]]
id = "wake"
test = "cyclic"
[part.settings]
period = "1ms"
activations = 60
[part.axes]
load = ["none", "memory-alloc:100"]
[[part]]
id = "switch"
test = "switch"
[part.settings]
points = 20
switches-per-point = 100
"""
SEEDS = 2
LIMIT_S = 1800.0


class Place(Struct, frozen=True):
    """A folder to work in, and the cache that its guests come from."""

    folder: Path
    cache: Path
    kernels: tuple[str, ...] = ()
    """Those of the study, where none are named."""

    def start(self, out: str) -> subprocess.Popen[str]:
        """`howlate lab run` of the study into `out`."""
        (self.folder / "resumed.toml").write_text(STUDY)
        words = ["lab", "run", "resumed.toml", "--seeds", str(SEEDS), "--no-cache", "--out", out]
        if self.kernels:
            words += ["--kernels", ",".join(self.kernels)]
        return subprocess.Popen(
            [sys.executable, "-m", "howlate", *words],
            cwd=self.folder,
            env=environment(HOWLATE_CACHE=str(self.cache)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, out: str) -> float:
        """Runs it to its end; seconds."""
        began = time.monotonic()
        process = self.start(out)
        said, error = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, f"exit code {process.returncode}\n{said}\n{error}"
        return time.monotonic() - began


class Kill(Struct, frozen=True):
    """When a run is to be killed: after so many whole cells, a share of a cell later."""

    cells: int
    share: float

    @classmethod
    def drawn(cls, seed: int, cells: int) -> Kill:
        draw = random.Random(seed)
        return cls(draw.randrange(cells), draw.random())


def whole(run: Path) -> dict[str, tuple[int, int]]:
    """The whole cells, with what tells that they were not made again: inode and time of their summary."""
    found = {}
    for path in run.glob("cells/[!.]*/summary.json"):
        status = path.stat()
        found[path.parent.name] = (status.st_ino, status.st_mtime_ns)
    return found


def killed(place: Place, out: str, kill: Kill, cell_s: float) -> bool:
    """Starts the run, kills it with -9 at that moment, and waits until its guests are gone; False where it had ended
    before."""
    process = place.start(out)
    run = place.folder / out
    while len(whole(run)) < kill.cells and process.poll() is None:
        time.sleep(0.005)
    try:
        process.wait(kill.share * cell_s)
    except subprocess.TimeoutExpired:
        below = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert until(lambda: not any(map(is_running, below)), 60), "guests outlive a howlate that was killed"
        return True
    process.communicate()
    return False


def values(run: Path) -> dict[str, Any]:
    """All that a run measured and says of it, by file: samples by value, everything else as it stands."""
    import duckdb

    found: dict[str, Any] = {}
    database = duckdb.connect()
    for path in sorted(run.glob("cells/[!.]*/*")):
        name = str(path.relative_to(run))
        if path.suffix == ".parquet":
            query = f"SELECT * FROM read_parquet('{path}')"
            names = [row[0] for row in database.execute(f"DESCRIBE {query}").fetchall()]
            found[name] = (names, database.execute(query).fetchall())
        else:
            found[name] = json.loads(path.read_text())
            if path.name == "checksums.json":
                del found[name]["run"]  # which of all runs it is: drawn when a run begins
    return found


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Files that only one has, or that hold something else."""
    return sorted(
        name for name in {*one, *other} if name not in one or name not in other or one[name] != other[name]
    )


def resumed(place: Place, out: str, kills: list[Kill], cell_s: float) -> tuple[dict[str, Any], int]:
    """The run's values after it was killed at these moments and then finished, and how many kills met it running. A
    cell that was whole is never made again."""
    met = 0
    for kill in kills:
        before = whole(place.folder / out)
        met += killed(place, out, kill, cell_s)
        after = whole(place.folder / out)
        assert before.items() <= after.items(), "a whole cell was made again"
    before = whole(place.folder / out)
    place.finish(out)
    assert before.items() <= whole(place.folder / out).items(), "a whole cell was made again"
    return values(place.folder / out), met
