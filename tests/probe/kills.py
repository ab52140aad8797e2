"""./dev hostile kills [COUNT] [--seed SEED] [--minutes M]: the probe killed, stopped and interrupted at random
instants of starting, measuring and ending, with eleven settings held, each load in turn, and events recorded."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from probe.drive import run
from probe.stops import LOADS, ends, whole_s
from probe.test_stops import ANY, check_stream, held, machine
from processes import until


def words_of(load: str) -> list[str]:
    words = ["cyclic", "--load", load, "--duration=200ms", "--policy=other", "--json", *held(), "--cpus=0"]
    return [*words, "--explain"] if run("cyclic", "--explain", "--activations=1").returncode == 0 else words


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev hostile kills", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0)
    asked = parser.parse_args()
    ends_at = time.monotonic() + 60 * asked.minutes
    before = machine()
    codes: Counter[str] = Counter()
    faults = restored = 0
    each = -(-asked.count // len(LOADS))
    for load in LOADS:
        words = words_of(load)
        with tempfile.TemporaryDirectory(prefix="howlate-kills-") as folder:
            stream = Path(folder) / "stream"
            instants = ends([*words, "--stream", str(stream)], ANY, whole_s(words), asked.seed)
            for end in islice(instants, min(each, asked.count - codes.total())):
                codes[f"{end.number.name} {end.code}"] += 1
                try:
                    end.check()
                    if not until(lambda: machine() == before, 30):
                        restored += 1
                        run("restore")
                    assert machine() == before, "a setting is left"
                    check_stream(stream, end)
                except AssertionError as fault:
                    faults += 1
                    print(f"{load}, {end.number.name} after {end.after_s:.4f} s: {fault}", flush=True)
                stream.unlink(missing_ok=True)
                if time.monotonic() > ends_at:
                    break
        if time.monotonic() > ends_at:
            break
    told = ", ".join(f"{many:,} {what}" for what, many in sorted(codes.items()))
    print(
        f"kills: {codes.total():,} ({told}), settings: {len(held())}; {restored} restored by hand; {faults} faults"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
