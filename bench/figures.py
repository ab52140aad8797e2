"""What the benchmarks share: their figures as data, and the parts that the table in docs/benchmarks.md has of each.

Every file beside this one with a tuple PARTS is a benchmark.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict


class Part(Struct, frozen=True):
    """A benchmark, or a part of one that is called apart."""

    name: str
    shows: str
    arguments: tuple[str, ...] = ()
    deterministic: bool = False
    """Whether its figures are the same however busy the machine is."""


class Figure(Struct, frozen=True):
    """One number, and the limit that it is held to if there is one."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def limited(self) -> bool:
        return self.at_most is not None or self.at_least is not None

    @property
    def line(self) -> str:
        """For people."""
        limits = [f"at least {self.at_least:g}"] if self.at_least is not None else []
        limits += [f"at most {self.at_most:g}"] if self.at_most is not None else []
        bracket = f" ({', '.join(limits)})" if limits else ""
        return f"{self.value:6.1f} {self.unit}  {self.name}{bracket}{'' if self.kept else '  NOT KEPT'}"

    @property
    def kept(self) -> bool:
        """Whether its limits are kept; true without any."""
        above = self.at_most is not None and not self.value <= self.at_most
        below = self.at_least is not None and not self.value >= self.at_least
        return not above and not below


Measure = Callable[[np.random.Generator], list[Figure]]
"""A part of a simulation, with its own generator."""


def asked_of(about: str | None, repetitions: int, **more: int) -> argparse.Namespace:
    """The command line of a simulation: --repetitions, --seed, --only, --figures, and `more` whole numbers."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"repetitions": repetitions, "seed": 1, **more}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    only = "what is measured whose name contains this"
    parser.add_argument("--only", default="", metavar="TEXT", help=only)
    add_option(parser)
    return parser.parse_args()


def simulated(measures: Sequence[tuple[str, Measure]], asked: argparse.Namespace) -> int:
    """Measure what is asked for and print it. Each has a generator of its own, so that none moves another: new ones
    go to the end. The exit code says whether the limits are kept."""
    found: list[Figure] = []
    seeds = np.random.SeedSequence(asked.seed).spawn(len(measures))
    for (name, measure), own in zip(measures, seeds, strict=True):
        if asked.only in name:
            figures = measure(np.random.default_rng(own))
            print("".join(f"{figure.line}\n" for figure in figures), end="", flush=True)
            found += figures
    return 0 if all_kept(found, asked.figures) else 1


def add_option(parser: argparse.ArgumentParser) -> None:
    """--figures FILE."""
    parser.add_argument("--figures", type=Path, metavar="FILE", help="write the figures to this file as JSON")


def all_kept(figures: Sequence[Figure], path: Path | None) -> bool:
    """Writes the figures where they are asked for; were all limits kept?"""
    if path is not None:
        path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    return all(figure.kept for figure in figures)


def read(path: Path) -> list[Figure]:
    """What all_kept() wrote."""
    return [Figure(**members) for members in json.loads(path.read_text())]
