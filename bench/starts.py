"""Where the largest value of a lab's cell lies, and what another build of the probe changes.

    ./dev bench starts [--only places|rebuilds] [--kernels LIST] [--lengths LIST] [--tests LIST]

places: six tests (cyclic, irq, uio, timer, preemption, switch) x three loads (a disk's file, allocations, a flood) x
four kernels x three lengths, one seed each, with every result measured anew. Of each valid cell the place of the
largest value of the column that answers "how late", of switch that of a switch (of equal ones any, drawn), is in its
first 5 % or not; chance has
the sum of ceil(0.05 samples) / samples of them there. The limit: the binomial tail of what was counted is at least
1 % (one-sided).
rebuilds: the probe linked anew behind an unused function of 16, 256 and 4,096 bytes measures nine cells each (cyclic,
irq, uio under the three loads, on the first kernel); a rank test (Mann and Whitney) at 5 % tells at most one cell in
nine from the original's. Exit code 0 or 1.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import duckdb
from figures import Figure, Part, add_option, all_kept
from scipy.stats import binom, mannwhitneyu

PARTS = (
    Part(
        "starts places",
        "where the largest values of 216 cells of the lab lie",
        ("--only", "places"),
        deterministic=True,
    ),
    Part(
        "starts rebuilds",
        "cells that another build of the probe changes",
        ("--only", "rebuilds"),
        deterministic=True,
    ),
)
KERNELS = "6.1[preempt=none],6.1[preempt=full],6.1-rt,7.2"
LOADS = ("disk:max", "memory-alloc:100", "network:flood")
LENGTHS = (200, 400, 800)
"""Activations or data points."""
TESTS = {
    "cyclic": "activations",
    "irq": "points",
    "uio": "points",
    "timer": "points",
    "preemption": "points",
    "switch": "points",
}
"""With the parameter that is the length."""
MEASURES = {"switch": ["switch_ns"]}
"""Columns of a test that has none which answers "how late": a switch is no lateness."""
START = 0.05
LEVEL = 0.01
ROOT = Path(__file__).resolve().parent.parent


UNUSED = (16, 256, 4096)
"""Bytes of a function that nothing calls, before all others."""


def study(length: int, tests: list[str]) -> str:
    """One part a test."""
    parts = "".join(
        f'[[part]]\nid = "{test}"\ntitle = "{test}"\ntest = "{test}"\nstarvation = "expected"\n[part.settings]\n'
        f'{TESTS[test]} = "{length}"\n[part.axes]\nload = {json.dumps(LOADS)}\n'
        for test in tests
    )
    return f'schema = 1\nid = "starts"\ntitle = "Starts"\nquestion = "Where is the largest value?"\n{parts}'


def measured(folder: Path, length: int, kernels: str, tests: list[str], probe: Path | None = None) -> Path:
    """The run's folder."""
    (folder / "starts.toml").write_text(study(length, tests))
    out = folder / f"{length}-{probe.name if probe else 'own'}"
    words = ["lab", "run", str(folder / "starts.toml"), "--kernels", kernels, "--seeds", "1", "--no-cache"]
    done = subprocess.run(
        [str(ROOT / "howlate"), *words, "--out", str(out), "--json"],
        stdout=subprocess.DEVNULL,
        env={**os.environ, **({"HOWLATE_PROBE": str(probe)} if probe else {})},
        check=False,
    )
    if done.returncode not in (0, 5):
        sys.exit(done.returncode)
    return out


def values_of(run: Path) -> Iterator[tuple[str, list[int]]]:
    """Of each valid cell its id and the column that answers "how late", of several the one with the largest value."""
    for cell in sorted((run / "cells").iterdir()):
        summary = json.loads((cell / "summary.json").read_text())
        answers = summary.get("answers") or MEASURES.get(summary["test"], [])
        columns = [name for name in answers if name in summary["columns"]]
        if not summary["valid"] or not columns:
            print(f"{cell.name}: not valid, or no column to look at", file=sys.stderr)
            continue
        latest = max(columns, key=lambda name: summary["columns"][name]["max"])
        rows = duckdb.execute(f"SELECT {latest} FROM read_parquet(?)", [str(cell / "samples.parquet")])
        yield cell.name, [value for (value,) in rows.fetchall()]


def in_places(folder: Path, kernels: str, lengths: list[int], tests: list[str]) -> list[Figure]:
    draw = random.Random(1)
    early, cells, chance = 0, 0, 0.0
    for length in lengths:
        for cell, values in values_of(measured(folder, length, kernels, tests)):
            at = draw.choice([at for at, value in enumerate(values) if value == max(values)])
            first = math.ceil(START * len(values))
            cells += 1
            chance += first / len(values)
            early += at < first
            if at < first:
                print(f"{cell}: {at} of {len(values)}")
    p = float(binom.sf(early - 1, cells, chance / cells)) if cells else 0.0
    print(
        f"{early} of {cells} largest values in the first 5 % of their cells; chance has {chance:.1f}; p = {p:.3f}"
    )
    return [
        Figure("largest values in the first 5 % of their cells", early, ""),
        Figure("as chance has it", round(chance, 1), ""),
        Figure("binomial tail", round(p, 3), "", at_least=LEVEL),
    ]


def linked_anew(folder: Path, unused: int) -> Path:
    """The probe behind a function that nothing calls."""
    source, pad, probe = folder / "pad.S", folder / "pad.o", folder / f"unused-{unused}"
    source.write_text(
        f'.text\n.globl unused\nunused:\n.skip {unused}, 0x90\n.section .note.GNU-stack,"",@progbits\n'
    )
    subprocess.run(["cc", "-c", "-o", str(pad), str(source)], check=True)
    build = ROOT / "build" / "probe"
    told = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", "howlate-probe"], stdout=PIPE, text=True
    )
    link = told.stdout.splitlines()[-1].replace(" -o howlate-probe", f" {pad} -o {probe}")
    subprocess.run(link, shell=True, cwd=build, check=True)
    return probe


def of_rebuilds(folder: Path, kernel: str, length: int) -> list[Figure]:
    tests = ["cyclic", "irq", "uio"]
    own = dict(values_of(measured(folder, length, kernel, tests)))
    told, cells = 0, 0
    for unused in UNUSED:
        for cell, values in values_of(measured(folder, length, kernel, tests, linked_anew(folder, unused))):
            p = float(mannwhitneyu(own[cell], values).pvalue)
            cells += 1
            told += p < 0.05
            print(f"{unused:5d} bytes {cell}: largest {max(own[cell])} and {max(values)} ns, p = {p:.3f}")
    return [Figure("cells told from the original's", 100 * told / max(cells, 1), "%", at_most=100 / 9)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("places", "rebuilds"))
    parser.add_argument("--kernels", default=KERNELS)
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--tests", default=",".join(TESTS))
    add_option(parser)
    asked = parser.parse_args()
    figures: list[Figure] = []
    lengths = [int(length) for length in asked.lengths.split(",")]
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as name:
        if asked.only in (None, "places"):
            figures += in_places(Path(name), asked.kernels, lengths, asked.tests.split(","))
        if asked.only in (None, "rebuilds"):
            figures += of_rebuilds(Path(name), asked.kernels.split(",")[0], lengths[0])
    kept = all_kept(figures, asked.figures)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
