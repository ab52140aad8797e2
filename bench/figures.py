"""What the benchmarks share: their figures as data, and the parts that the table in docs/benchmarks.md has of each.

Every file beside this one with a tuple PARTS is a benchmark.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """A benchmark, or a part of one that is called apart."""

    name: str
    shows: str
    arguments: tuple[str, ...] = ()
    deterministic: bool = False
    """Whether its figures are the same however busy the machine is."""


@dataclass(frozen=True)
class Figure:
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
    def kept(self) -> bool:
        """Whether its limits are kept; true without any."""
        above = self.at_most is not None and not self.value <= self.at_most
        below = self.at_least is not None and not self.value >= self.at_least
        return not above and not below


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
