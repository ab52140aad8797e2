"""`howlate lab bisect` over ten real builds of a kernel: one change makes a long section, one only moves code.

    ./dev bench bisection TREE [--repetitions 20] [--only named|never]

TREE is a configured source tree of Linux, built once, that boots in the lab (docs/lab/own-kernels.md); mm/memory.c
is changed and changed back. Four kernels are built of it: as it is, with a change without a meaning (code that nobody
calls, before the page fault), with a known long section (each 1,024th page fault keeps interrupts off for 1 ms),
with both. Each repetition is a list of ten builds with the two changes at random places, and cells of another length.

named: both changes are in the list; the limit lies between; the long section must be named each time.
never: the meaningless change alone; the limit is the lowest at which its neighbour is good; it must never be named.
Exit code 0 or 1.
"""

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402

from howlate.prove.bisected import MARGIN, StepSide  # noqa: E402

PARTS: tuple[Part, ...] = ()
"""Not in the table: it needs a tree."""
BUILDS, REPETITIONS = 10, 20
MARK = "vm_fault_t handle_mm_fault("
MEANINGLESS = """
int howlate_unused(int number);
int howlate_unused(int number)
{
	volatile int sum = number;
	int turn;

	for (turn = 0; turn < 64; turn++)
		sum += turn * number;
	return sum;
}

"""
LONG = """
static void howlate_hold(void)
{
	static unsigned int faults;

	if (++faults % 1024 == 0) {
		local_irq_disable();
		udelay(1000);
		local_irq_enable();
	}
}

"""
STUDY = """\
schema = 1
id = "fault"
title = "Page faults"
question = "How late beside page faults?"
test = "cyclic"
[settings]
timer = "clock_nanosleep"
policy = "fifo:80"
period = "1ms"
dither = true
activations = "{activations}"
load = "memory-alloc:100"
"""


def changed(source: str, *, meaningless: bool, long: bool) -> str:
    """mm/memory.c with these changes."""
    at = source.index(MARK)
    text = source[:at] + (MEANINGLESS if meaningless else "") + (LONG if long else "") + source[at:]
    if long:
        body = text.index("{", text.index(MARK)) + 1
        end = text.index(";", body) + 1  # after the first declaration
        while text[end:].lstrip().startswith(("vm_fault_t", "struct", "int", "bool", "unsigned")):
            end = text.index(";", end) + 1
        text = f"{text[:end]}\n\thowlate_hold();{text[end:]}"
        text = text.replace("#include <linux/mm.h>", "#include <linux/delay.h>\n#include <linux/mm.h>", 1)
    return text


def built(tree: Path, folder: Path) -> dict[tuple[bool, bool], Path]:
    """The four kernels, by (meaningless, long)."""
    memory = tree / "mm" / "memory.c"
    source = memory.read_text()
    kernels = {}
    try:
        for meaningless, long in ((False, False), (True, False), (False, True), (True, True)):
            memory.write_text(changed(source, meaningless=meaningless, long=long))
            subprocess.run(["make", "-s", "-j2", "bzImage"], cwd=tree, check=True, stdout=sys.stderr)
            kernel = folder / f"kernel-{meaningless:d}{long:d}"
            shutil.copy(tree / "arch" / "x86" / "boot" / "bzImage", kernel)
            kernels[meaningless, long] = kernel
    finally:
        memory.write_text(source)
    return kernels


def bisected(
    folder: Path,
    kernels: dict[tuple[bool, bool], Path],
    places: tuple[int, int],
    limit_us: float,
    length: int,
) -> dict[str, Any]:
    """The end of a search; `places`: from which build on each change is there."""
    lines = [
        f"build{number:02} {kernels[number >= places[0], number >= places[1]]}" for number in range(BUILDS)
    ]
    here = Path(tempfile.mkdtemp(dir=folder))
    (here / "revisions").write_text("\n".join(lines) + "\n")
    (here / "fault.toml").write_text(STUDY.format(activations=length))
    build = 'cp "$(sed -n "s/^$HOWLATE_REVISION //p" revisions)" "$HOWLATE_KERNEL"'
    command = [str(ROOT / "howlate"), "lab", "bisect", "fault.toml", "--json", f"--limit={limit_us:.0f}us"]
    done = subprocess.run(
        [*command, "--revisions=revisions", f"--build={build}"],
        cwd=here,
        stdout=subprocess.PIPE,
        check=False,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures_of(only: str | None, tree: Path, repetitions: int) -> list[Figure]:
    """How often what was named."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as name:
        folder = Path(name)
        kernels = built(tree, folder)
        draws = random.Random(1)
        if only in (None, "named"):
            right = 0
            for _ in range(repetitions):
                long, meaningless = draws.sample(range(1, BUILDS), 2)
                found = bisected(folder, kernels, (meaningless, long), 400, draws.choice((60, 80, 100)))
                right += found["found"] == "named" and found["culprit"].startswith(f"build{long:02} ")
                print(f"long section in {long}, meaningless change in {meaningless}: {found['sentence']}")
            figures.append(Figure("the long section named", right, f"of {repetitions}", at_least=repetitions))
        if only in (None, "never"):
            named = good = 0
            for _ in range(repetitions):
                length = draws.choice((60, 80, 100))
                first = bisected(folder, kernels, (1, BUILDS), 10_000, length)
                limit_us = math.ceil(max(first["steps"][0]["largest_ns"]) / 1000 / (1 - MARGIN))
                found = bisected(folder, kernels, (draws.randrange(1, BUILDS), BUILDS), limit_us, length)
                named += found["found"] == "named"
                good += found["steps"][0]["side"] == StepSide.GOOD.value  # else nothing could be named
                print(f"no long section, limit {limit_us} us: {found['sentence']}")
            figures.append(Figure("the meaningless change named", named, f"of {repetitions}", at_most=0))
            figures.append(Figure("its neighbour good", good, f"of {repetitions}", at_least=repetitions))
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--only", choices=("named", "never"))
    add_option(parser)
    options = parser.parse_args()
    figures = figures_of(options.only, options.tree.resolve(), options.repetitions)
    for figure in figures:
        print(f"{figure.name}: {figure.value:.0f} {figure.unit}")
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
