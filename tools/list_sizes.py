"""How large the house is: lines of Python, words of the documentation, messages, asserts of prose.

./dev sizes           the figures, one a line
./dev sizes --pages   the words of each page as well
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from howlate.system.paths import ROOT
from messages import every_message

GENERATED = re.compile(r"<!-- (?:made\b|\./dev )[^>]*-->.*?<!-- end -->", re.DOTALL)
"""A block that a command writes into a page."""
GENERATED_PAGES = {"docs/benchmarks.md", "docs/doctor.md", "CHANGELOG.md"}
"""Pages that commands write, and the record of changes, which only grows."""
PROSE = re.compile(r"(?:\b[A-Za-z]{2,}[,;:]? ){3}[A-Za-z]{2,}")
"""Four words in a row."""


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def lines(*patterns: str) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in tracked(*patterns))


def words_of_pages() -> dict[str, int]:
    """The words of each page that somebody writes, without what commands write into it."""
    pages = {str(path.relative_to(ROOT)): path for path in tracked("*.md")}
    return {
        name: len(GENERATED.sub("", path.read_text(encoding="utf-8")).split())
        for name, path in pages.items()
        if name not in GENERATED_PAGES and "fixtures" not in name
    }


def prose_in(source: str) -> Iterator[int]:
    """The lines of asserts that hold a text of several words in a row."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert):
            texts = (part.value for part in ast.walk(node.test) if isinstance(part, ast.Constant))
            if any(isinstance(text, str) and is_prose(text) for text in texts):
                yield node.lineno


def is_prose(text: str) -> bool:
    return PROSE.search(text) is not None


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--pages"]):
        print(__doc__, file=sys.stderr)
        return 2
    pages = words_of_pages()
    if arguments:
        print(
            "\n".join(
                f"{words:6,} {name}" for name, words in sorted(pages.items(), key=lambda each: -each[1])
            )
        )
    tests = tracked("tests/*.py")
    figures = {
        "lines of Python": lines("src/*.py"),
        "lines of C++ and C": lines("probe/*.cpp", "probe/*.hpp", "kmod/*.c", "kmod/*.h"),
        "lines of tests": lines("tests/*.py"),
        "words of documentation": sum(pages.values()),
        "messages": sum(bool(message.text) for message in every_message()),
        "asserts of prose": sum(len(list(prose_in(path.read_text(encoding="utf-8")))) for path in tests),
    }
    print("\n".join(f"{figure:,} {name}" for name, figure in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
