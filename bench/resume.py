"""The promise of going on: a run killed at any moment and finished later is the run that nothing disturbed.

    ./dev bench resume [--kills 50] [--seed 1] [--kernels-in CACHE]

Runs a small study of two parts on two kernels of the lab, undisturbed; then as often as said: starts it anew, kills
howlate with -9 at a random moment (drawn from the seed: so many cells whole, then a share of what a cell takes), runs
the same command again to its end, and compares every file of every cell, samples by value. No result comes from the
cache, and a cell that was whole is never made again. A run that ended before its moment came does not count: another
moment is drawn. Prints a line for each; exit code 1 if any differs. About half a minute for each.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from figures import Figure, Part, add_option, all_kept

from howlate.lab.cache import cache_folder
from lab.resuming import Kill, Place, differences, resumed, values, whole

PARTS = (
    Part(
        "resume",
        "lab runs killed at random moments and gone on with: every file equals an undisturbed run's",
    ),
)


def main() -> int:
    """Exit code 0 or 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels-in", type=Path, default=cache_folder(), help="a cache that has kernels")
    add_option(parser)
    asked = parser.parse_args()
    different = met = runs = 0
    with tempfile.TemporaryDirectory(prefix="howlate-resume-") as text:
        folder = Path(text)
        cache = folder / "cache"
        cache.mkdir()
        for name in ("kernels", "apt"):
            (asked.kernels_in / name).mkdir(parents=True, exist_ok=True)
            (cache / name).symlink_to((asked.kernels_in / name).absolute())
        place = Place(folder, cache)
        place.finish("warm")
        seconds = place.finish("alone")
        alone, cells = values(folder / "alone"), len(whole(folder / "alone"))
        print(f"undisturbed: {cells} cells, {len(alone)} files, {seconds:.1f} s", flush=True)
        while met < asked.kills and runs < 2 * asked.kills:
            kill = Kill.drawn(asked.seed * 1_000_003 + runs, cells)
            found, hit = resumed(place, "killed", [kill], seconds / cells)
            unlike = differences(alone, found)
            runs, met, different = runs + 1, met + hit, different + bool(unlike)
            moment = f"after {kill.cells} cells and {kill.share:.2f} of one"
            said = f"{len(unlike)} files differ: {', '.join(unlike[:4])}" if unlike else "equal"
            print(f"{runs:3d}  {moment:32s} {'killed' if hit else 'had ended':9s} {said}", flush=True)
            shutil.rmtree(folder / "killed")
    print(f"{runs - different} of {runs} equal; {met} were killed while they were going on")
    figures = [
        Figure("killed while going on", met, "runs", at_least=asked.kills),
        Figure("different afterwards", different, "runs", at_most=0),
    ]
    return 0 if all_kept(figures, asked.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
