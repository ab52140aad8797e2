"""./dev hostile signals [--command COMMAND] [--tries N] [--seed SEED] [--minutes M]: SIGTERM at random instants of
each command over a large run. From the signal on a command takes less than a second of CPU time."""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hostile.alter import reseal
from hostile.harness import COMMANDS, words_of
from howlate.model.plan import Plan
from howlate.store.run_folder import RunFolder
from howlate.system.paths import ROOT
from processes import until

ENDED_S = 1.0
"""Of CPU time, from the signal on."""
INCONCLUSIVE = 5
CELLS, SAMPLES, CSV_LINES = 150, 1_500_000, 200_000
BIG, SMALL = "big", "none"
MORE = {
    "import csv": ["import", "big.csv", "--map", "latency_us=latency_us", "--out", "imported"],
    "import stream": ["import", "big.stream", "--out", "imported"],
}
"""Beside those that read a run."""
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def make(place: Path) -> None:
    """A run of many cells and one large one, whose bins are to be made again, and large files of other tools."""
    from made_evidence import quiet
    from store.runs import a_folder, a_run
    from store.streams import stream

    samples = [int(value) for value in quiet(20_000)] * (SAMPLES // 20_000)
    big = stream(samples)
    (place / "big.stream").write_bytes(big)
    (place / "big.csv").write_text(
        "latency_us\n" + "".join(f"{value / 1000}\n" for value in samples[:CSV_LINES])
    )
    folder = a_folder(place / "run", {SMALL: stream(samples[:2000]), BIG: big}, run=a_run(SMALL, BIG))
    first, last = folder.read_run().plan.cells
    others = [replace(first, id=f"cell-{n}", labels={"load": f"cpu:{n}"}) for n in range(CELLS)]
    folder.write_run(replace(folder.read_run(), plan=Plan((first, last, *others))))
    for cell in others:
        copy_cell(folder, first.id, cell.id, cell.labels["load"])
    (folder.path / "finished.txt").write_text(
        "".join(f"{name}\n" for name in RunFolder(place / "run").whole_cells())
    )
    (folder.cell_path(BIG) / "bins.json").unlink()


def copy_cell(folder: RunFolder, name: str, to: str, load: str) -> None:
    place = folder.cell_path(to)
    shutil.copytree(folder.cell_path(name), place)
    value = json.loads((place / "summary.json").read_text())
    value |= {"id": to, "labels": {"load": load}}
    (place / "summary.json").write_text(json.dumps(value))
    reseal(place)


class Ended(Struct, frozen=True):
    code: int
    whole_s: float
    """The CPU time that it took."""
    after_s: float = 0.0
    """From the signal on."""
    said: str = ""
    """The end of standard error."""


def ended(words: Sequence[str], place: Path, at_s: float | None = None) -> Ended:
    """The command, with SIGTERM once it took so much CPU time."""
    command = [sys.executable, "-P", "-m", "howlate", *words]
    with (
        tempfile.TemporaryFile() as err,
        subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=err) as process,
    ):
        before_s = 0.0
        if at_s is not None:
            until(lambda: process.poll() is not None or cpu_s(process.pid) >= at_s, 600)
            before_s = cpu_s(process.pid)
            process.send_signal(signal.SIGTERM)
        if process.returncode is not None:
            return Ended(process.returncode, 0.0)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read()[-300:].decode("utf-8", "replace")
    taken_s = used.ru_utime + used.ru_stime
    return Ended(process.returncode, taken_s, taken_s - before_s, said)


def cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * TICK_S


def main() -> int:
    calls = {**{name: words_of(name) for name in COMMANDS}, **MORE}
    parser = argparse.ArgumentParser(
        prog="./dev hostile signals", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--command", action="append", choices=list(calls), help="these commands alone")
    parser.add_argument("--tries", type=int, default=6)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=60.0)
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    ends_at = time.monotonic() + 60 * asked.minutes
    tries = faults = 0
    most_s = 0.0
    with tempfile.TemporaryDirectory(prefix="howlate-signals-") as folder:
        place = Path(folder)
        make(place)
        for name in asked.command or calls:
            if time.monotonic() > ends_at:
                break
            whole = ended(calls[name], place)
            chance = random.Random(f"{asked.seed}-{name}")
            for _ in range(asked.tries):
                shutil.rmtree(place / "imported", ignore_errors=True)
                at_s = chance.uniform(0, whole.whole_s)
                end = ended(calls[name], place, at_s)
                tries += 1
                most_s = max(most_s, end.after_s)
                if end.code not in (INCONCLUSIVE, -signal.SIGTERM, whole.code) or end.after_s >= ENDED_S:
                    faults += 1
                    print(f"{name}, after {at_s:.2f} of {whole.whole_s:.2f} s: {end}", flush=True)
            print(f"  {name}: {whole.whole_s:.1f} s, code {whole.code}", flush=True)
    print(f"signals: {tries} tries, at most {most_s:.2f} s of CPU time from the signal on; {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
