#!/usr/bin/env python3
"""Alters the files of other tools in tests/fixtures/imported for as long as asked, and imports each:

    PYTHONPATH=src:tests tools/mutate_imports.py --executions 1000000 [--seed 1] [--seconds 240]

Whatever is neither a run nor the documented error ends it, with the seed and the data.
"""

import argparse
import random
import time
from pathlib import Path

from imports.foreign import BY_NAME
from imports.mutate import judged, mutated


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--executions", type=int, default=1_000_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=float("inf"))
    asked = arguments.parse_args()
    files = [(file, file.path.read_bytes()) for file in BY_NAME.values()]
    end, done, imported = time.monotonic() + asked.seconds, 0, 0
    while done < asked.executions and time.monotonic() < end:
        file, data = files[done % len(files)]
        altered = mutated(data, random.Random(f"{asked.seed}-{done}"))
        try:
            imported += judged(file, altered, f"{file.name}, seed {asked.seed}, execution {done}")
        except AssertionError:
            Path(f"mutated-{file.name}").write_bytes(altered)
            raise
        done += 1
    print(f"{done:,} executions, {imported:,} imported, the others refused as documented")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
