"""Runs the benchmarks and writes their figures into docs/benchmarks.md.

    ./dev bench table [--deterministic] [--only PART]... [--out FILE]

Every benchmark beside this file, or those that are asked for. The others' sections stay as they are, with the commit
that they were measured at. Exit code 1 if a limit is not kept, 4 if a benchmark could not run though
this machine can run it (one that says with 3 that it cannot is left out).
"""

import argparse
import importlib
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

from figures import Figure, Part, read
from msgspec import Struct

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs/benchmarks.md"
NOT_POSSIBLE, BROKEN = 3, 4
HEAD = """# Benchmarks

`./dev bench table` makes this page: it runs the benchmarks and writes down what they found. A section that was
not run again keeps the figures, the commit and the machine of its last time. `--deterministic` runs those whose
figures do not depend on how busy the machine is; the CI runs the quickest of them. `bench/README.md` says
how to run one alone. In round brackets stands the limit of a figure, in square ones its 95 % interval; what does
not keep its limit is bold.
"""


ENDS = ("lower end", "upper end")


class Entry(Struct, frozen=True):
    """A part of a benchmark, and the file that has it."""

    program: Path
    part: Part


def entries() -> list[Entry]:
    """All parts of all benchmarks."""
    found = []
    for program in sorted(HERE.glob("*.py")):
        if program.name not in ("table.py", "figures.py"):
            found += [Entry(program, part) for part in importlib.import_module(program.stem).PARTS]
    return found


def run(entry: Entry) -> list[Figure] | int:
    """Its figures, or the exit code where it could not run: 3 where this machine cannot, else 4."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, str(entry.program), *entry.part.arguments, "--figures", str(file)]
        code = subprocess.run(command).returncode
        if code in (0, 1) and file.exists():
            return read(file)
        return code if code == NOT_POSSIBLE else BROKEN


def commit() -> str:
    """The commit that is measured, and whether anything but this page was changed since."""
    head, changed = (
        subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout
        for words in (
            ("rev-parse", "--short=10", "HEAD"),
            ("diff", "--name-only", "HEAD", "--", ".", f":!{PAGE.relative_to(ROOT)}"),
        )
    )
    return head.strip() + (", changed since" if changed else "")


def machine() -> str:
    """CPU and kernel."""
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    name = names[0] if names else platform.machine()
    return f"{os.cpu_count()} CPUs ({name}), Linux {platform.release()}"


class Cell(Struct, frozen=True):
    """A figure, and the ends of its interval if it has one."""

    middle: Figure
    ends: tuple[Figure, ...] = ()

    @property
    def text(self) -> str:
        """ "2 % [0.8 (at most 5), 5]", in bold where a limit is not kept."""
        said = _limited(self.middle, self.middle.unit)
        ends = [_limited(end) for end in self.ends]
        said += f" [{', '.join(ends)}]" if len(ends) == len(ENDS) else "".join(f", {end}" for end in ends)
        return said if self.middle.kept and all(end.kept for end in self.ends) else f"**{said}**"


def _limited(figure: Figure, unit: str = "") -> str:
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("at least", figure.at_least), ("at most", figure.at_most))
        if limit is not None
    ]
    if figure.at_least == figure.at_most and figure.limited:
        limits = [f"exactly {figure.at_most:g}"]
    return f"{figure.value:.6g} {unit}".rstrip() + (f" ({' and '.join(limits)})" if limits else "")


def cells(figures: Sequence[Figure]) -> dict[str, Cell]:
    """By name; "X: lower end" and "X: upper end" stand with X."""
    found: dict[str, Cell] = {}
    for figure in figures:
        name, _, last = figure.name.rpartition(": ")
        if last in ENDS and name in found:
            found[name] = Cell(found[name].middle, (*found[name].ends, figure))
        else:
            found[figure.name] = Cell(figure)
    return found


def tables(figures: Sequence[Figure]) -> list[str]:
    """Their lines as Markdown: "CASE: MEASURE" is a line of a case and a column of a measure, and cases that share a
    measure share a table."""
    named = cells(figures)
    begins = zip(*(name.split(", ")[:-1] for name in named), strict=False)
    common = ", ".join(parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, begins))
    common = common if len(named) > 1 else ""
    lines: dict[str, dict[str, Cell]] = {}
    for name, cell in named.items():
        case, _, measure = name.removeprefix(f"{common}, ").rpartition(": ")
        lines.setdefault(case or measure, {})[measure if case else "value"] = cell
    groups: list[tuple[list[str], list[str]]] = []
    for case, measured in lines.items():
        joined = [group for group in groups if not measured.keys().isdisjoint(group[1])]
        groups = [group for group in groups if group not in joined]
        columns = [name for group in joined for name in group[1]]
        groups.append(
            (
                [*(name for group in joined for name in group[0]), case],
                [*dict.fromkeys([*columns, *measured])],
            )
        )
    said = [f"All: {common}.\n"] if common else []
    for cases, columns in groups:
        said += [f"| of | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for case in cases:
            row = (lines[case][name].text if name in lines[case] else "" for name in columns)
            said.append(f"| {case} | {' | '.join(row)} |")
        said.append("")
    return said


def heading(part: Part) -> str:
    shows = part.shows[0].upper() + part.shows[1:]
    return f"## {part.name}\n\n{shows}.\n\n"


def section(part: Part, figures: list[Figure]) -> str:
    """What stands under a benchmark's heading."""
    when = f"{datetime.now(UTC):%Y-%m-%d}"
    said = f"Measured on {when} at commit {commit()}, {machine()}.\n\n"
    return heading(part) + said + "\n".join(tables(figures))


def sections(page: Path) -> dict[str, str]:
    """The sections that the page has, by their headings."""
    text = page.read_text() if page.exists() else ""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0].removeprefix("## "): part.rstrip() + "\n" for part in parts}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = entries()
    names = [entry.part.name for entry in known]
    parser.add_argument(
        "--deterministic", action="store_true", help="those that a busy machine does not change"
    )
    parser.add_argument("--only", action="append", choices=names, metavar="PART", help=", ".join(names))
    parser.add_argument("--out", type=Path, default=PAGE, metavar="FILE", help="the page to write")
    asked = parser.parse_args()
    written = sections(asked.out)
    code = 0
    for entry in known:
        part = entry.part
        skipped = asked.only is not None and part.name not in asked.only
        if skipped or (asked.deterministic and not part.deterministic):
            written.setdefault(part.name, heading(part) + "Not measured yet.\n")
            continue
        print(f"== {part.name}", flush=True)
        figures = run(entry)
        if isinstance(figures, int):
            print(f"{part.name} could not run", file=sys.stderr)
            written.setdefault(part.name, heading(part) + "Not measured yet.\n")
            code = code if figures == NOT_POSSIBLE else BROKEN
            continue
        for figure in figures:
            if not figure.kept:
                print(f"{part.name}: not kept: {figure.name} is {figure.value:g} {figure.unit}".rstrip())
        written[part.name] = section(part, figures)
        code = max(code, 0 if all(figure.kept for figure in figures) else 1)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text("\n".join([HEAD, *(written[name] for name in names)]))
    print(f"written: {asked.out}")
    return code


if __name__ == "__main__":
    sys.exit(main())
