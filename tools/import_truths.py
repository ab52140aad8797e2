#!/usr/bin/env python3
"""Imports files of every format whose truth is known, and altered ones: ./dev imports [FILES] [--format NAME]

Each figure that is not the truth is printed, and ends the command with 1; so does an alteration of which the table in
docs/import.md says something else.
"""

import argparse
from collections import Counter

from howlate.errors import HowlateError
from imports.shown import SHOWN, table
from imports.truths import ALTERATIONS, MAKERS, columns_of, made, outcome, recognised, untrue

ALTERED = 5
"""One in so many files is altered, in each way."""


def _untrue(format: str, seed: int) -> list[str]:
    data = made(format, seed)
    try:
        found, damaged = columns_of(data)
    except HowlateError as problem:
        return [f"refused: {problem}"]
    wrong = untrue(found, data.truth) + (["a contradiction is seen"] if damaged else [])
    return wrong if recognised(data) == format else [*wrong, f"taken for {recognised(data)}"]


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("files", type=int, nargs="?", default=1000)
    arguments.add_argument("--format", choices=MAKERS)
    asked = arguments.parse_args()
    failures = 0
    for format in [asked.format] if asked.format else MAKERS:
        wrong = {seed: problems for seed in range(asked.files) if (problems := _untrue(format, seed))}
        for seed, problems in wrong.items():
            print(f"{format}, seed {seed}: {'; '.join(problems)}")
        print(f"{format}: {asked.files - len(wrong):,} of {asked.files:,} files are as they were made")
        failures += len(wrong)
        for name in ALTERATIONS:
            found = Counter(outcome(format, name, seed) for seed in range(-(-asked.files // ALTERED)))
            told = set(found) <= SHOWN[format][name]
            print(
                f"  {name}: " + ", ".join(f"{count} {what}" for what, count in sorted(found.items())), end=""
            )
            print("" if told else "  (docs/import.md says otherwise)")
            failures += not told
    print(f"\n{table()}")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
