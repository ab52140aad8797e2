"""The pages of docs/studies: prose with blocks that runs of the lab fill in.

    ./dev pages make [PAGE ...] [--runs DIR]    measure each page's runs (cells that are whole in DIR are kept), then
                                                write its blocks, its pictures and the origin of its digits
    ./dev pages measure [PAGE ...] [--runs DIR] the first half alone
    ./dev pages write [PAGE ...] [--runs DIR]   the second half alone

A page names its runs in a comment at its head, a line each, and has blocks of these kinds; what stands in a block is
written by this program alone:

    <!-- runs
    tosh: lab run toshiba-2010 --seeds 7
    again tosh: --set load=none --kernels 6.1-rt
    -->
    <!-- made: commands -->                     the commands, as a reader types them
    <!-- made: origin -->                       commit, guest, kernels and QEMU of the digits
    <!-- made: table tosh latency_ns by=load,period figures=mean,maximum published=mean,maximum part=uio -->
    <!-- made: summary tosh [about words of a heading] -->
    <!-- made: listing tosh tut2017 6.1-rt, load none -->
    <!-- made: picture tosh matrix What it shows -->
    <!-- end -->

`again` narrows a run to the part that tests/lab/test_pages.py measures anew and holds against the page's tables.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from markdown_tables import Wanted, sheet_markdown, summary, table
from msgspec import Struct

from howlate.compare.compare import Comparison, compare
from howlate.document.pictures import figures_of, write_pictures
from howlate.model.loaded import RunContent
from howlate.store.loaded import load_run

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "studies"
PICTURES = ROOT / "docs" / "pictures"
_RUNS = re.compile(r"<!-- runs\n(?P<lines>.*?)-->\n", re.S)
_BLOCK = re.compile(r"(?P<open><!-- made: (?P<words>[^\n]*) -->\n)(?P<body>.*?)(?P<close><!-- end -->)", re.S)


class Block(Struct, frozen=True):
    """A block of a page."""

    kind: str
    words: tuple[str, ...]
    body: str

    @property
    def options(self) -> dict[str, str]:
        """The words with an "=" in them."""
        return dict(word.split("=", 1) for word in self.words if "=" in word)


class Page(Struct, frozen=True):
    """A page as it stands in its file."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, path.read_text(encoding="utf-8"))

    @property
    def runs(self) -> dict[str, list[str]]:
        """By name the words of the command that makes the run, without --out."""
        return {name: words for name, words in self._named.items() if not name.startswith("again ")}

    @property
    def again(self) -> dict[str, list[str]]:
        """By the run's name the words that narrow it to what is measured anew by a test."""
        return {
            name.removeprefix("again "): words
            for name, words in self._named.items()
            if name.startswith("again ")
        }

    @property
    def _named(self) -> dict[str, list[str]]:
        match = _RUNS.search(self.text)
        lines = match["lines"].strip().splitlines() if match else []
        named = (line.split(": ", 1) for line in lines)
        return {name.strip(): shlex.split(words) for name, words in named}

    @property
    def blocks(self) -> list[Block]:
        return [_block(match) for match in _BLOCK.finditer(self.text)]

    @property
    def prose(self) -> str:
        """What no block holds."""
        return _BLOCK.sub("", _RUNS.sub("", self.text))

    def filled(self, fill: Callable[[Block], Sequence[str]]) -> str:
        """The text with the body of every block made anew."""

        def made(match: re.Match[str]) -> str:
            lines = fill(_block(match))
            return f"{match['open']}\n" + "\n".join(lines) + f"\n\n{match['close']}"

        return _BLOCK.sub(made, self.text)


def _block(match: re.Match[str]) -> Block:
    kind, *words = match["words"].split()
    return Block(kind, tuple(words), match["body"].strip("\n"))


def pages(names: Sequence[str] = ()) -> list[Page]:
    """Those that have runs, or those of these names."""
    paths = [PAGES / f"{name}.md" for name in names] or sorted(PAGES.glob("*.md"))
    found = [Page.read(path) for path in paths]
    return [page for page in found if page.runs or names]


# --- the blocks ---


class Filled:
    """What the blocks of one page are filled with: its runs, read once each."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder = page, folder

    @cache  # noqa: B019  (one page at a time, and the program ends)
    def content(self, run: str) -> RunContent:
        return load_run(self._folder / run, bins=False)

    @cache  # noqa: B019
    def comparison(self, run: str) -> Comparison:
        return compare([self.content(run)])

    def __call__(self, block: Block, *, partial: bool = False) -> Sequence[str]:
        """The block's lines. `partial`: of a run that was narrowed, where a table may have nothing to show."""
        kinds: dict[str, Callable[[Block], Sequence[str]]] = {
            "commands": self._commands,
            "origin": self._origin,
            "table": self._table,
            "summary": self._summary,
            "listing": self._listing,
            "picture": self._picture,
        }
        if block.kind not in kinds:
            raise SystemExit(f"{self._page.path.name}: there is no block of the kind {block.kind!r}")
        try:
            return kinds[block.kind](block)
        except ValueError:
            if partial:
                return ()
            raise

    def _commands(self, _block: Block) -> Sequence[str]:
        return [
            f"    howlate {shlex.join(words)} --out {name}".replace("'\"'\"'", "'")
            for name, words in self._page.runs.items()
        ]

    def _origin(self, _block: Block) -> Sequence[str]:
        commits = {(self._folder / f"{name}.commit").read_text() for name in self._page.runs}
        return origin({name: self.content(name) for name in self._page.runs}, " and ".join(sorted(commits)))

    def _table(self, block: Block) -> Sequence[str]:
        run, *columns = (word for word in block.words if "=" not in word)
        column = columns[0] if columns else ""  # none: the loads' own runs alone
        options = block.options
        lists = {name: tuple(options.pop(name, "").split(",")) for name in ("by", "figures", "published")}
        split = {name: tuple(filter(None, values)) for name, values in lists.items()}
        wanted = Wanted(column, split["by"], split["figures"], split["published"], options)
        return sheet_markdown(table(self.comparison(run), wanted))

    def _summary(self, block: Block) -> Sequence[str]:
        run, *about = block.words
        return summary(self.comparison(run), " ".join(about))

    def _listing(self, block: Block) -> Sequence[str]:
        run, form, *title = block.words
        with tempfile.TemporaryDirectory(prefix="howlate-page-") as scratch:
            to = Path(scratch) / "listing"
            _howlate("export", str(self._folder / run), "--format", form, "-o", str(to))
            return listing(to.read_text(encoding="utf-8"), " ".join(title))

    def _picture(self, block: Block) -> Sequence[str]:
        run, chart, *alt = block.words
        name = f"{self._page.path.stem}-{chart}.svg"
        shutil.copyfile(self._pictures(run) / f"{chart}.svg", PICTURES / name)
        return [f"![{' '.join(alt)}](../pictures/{name})"]

    @cache  # noqa: B019
    def _pictures(self, run: str) -> Path:
        folder = self._folder / f"{run}-pictures"
        contents = [load_run(self._folder / run)]
        known = {name for name, _figure in figures_of(contents, published=True)}
        wanted = {b.words[1] for b in self._page.blocks if b.kind == "picture" and b.words[0] == run}
        if unknown := wanted - known:
            raise SystemExit(
                f"{run} has no chart {', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}"
            )
        write_pictures(contents, folder, "svg", published=True, only=wanted)
        return folder


def origin(contents: Mapping[str, RunContent], revision: str) -> list[str]:
    """Where the digits are from: a line for the program, one for each kernel, one for each command's cells."""
    lines, seen = [f"Made by `./dev pages` from commit {revision}:", ""], set()
    for name, content in contents.items():
        valid = sum(cell.summary.valid for cell in content.cells)
        lines.append(f"- `{name}`: {len(content.cells)} cells, {valid} valid")
        for label, facts in content.run.machines.items():
            values = _values(facts)
            words = (
                label,
                values.get("lab.kernel_package", ""),
                values.get("lab.emulator", ""),
                values.get("lab.guest", ""),
            )
            if words not in seen:
                seen.add(words)
                emulator = words[2].removeprefix("QEMU emulator version ")
                lines.append(f"- `{label}`: {words[1]}, QEMU {emulator}, guest {words[3][:16]}")
    return lines


def _values(facts: Mapping[str, object]) -> Mapping[str, str]:
    values = facts.get("values")
    return {key: str(value) for key, value in values.items()} if isinstance(values, dict) else {}


def listing(text: str, title: str) -> list[str]:
    """Of an export with a heading a listing, the one of this title, indented as code."""
    parts = re.split(r"^(?=Listing: )", text, flags=re.M)
    chosen = next((part for part in parts if part.startswith(f"Listing: {title}\n")), None)
    if chosen is None:
        titles = [part.splitlines()[0] for part in parts if part.startswith("Listing: ")]
        raise SystemExit(f"there is no listing {title!r}; there are {titles}")
    return [f"    {line}".rstrip() for line in chosen.rstrip().splitlines()]


# --- measuring ---


def commit() -> str:
    """The commit that is checked out; SystemExit where what measures differs from it."""
    changed = subprocess.run(
        ["git", "-C", str(ROOT), "status", "--porcelain", "--", "src", "probe", "kmod"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if changed:
        raise SystemExit(f"commit first: a page names the commit that its digits are of\n{changed}")
    words = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _howlate(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "howlate", *words], check=True)


def measure(page: Page, folder: Path) -> None:
    """Every run of the page, each in a folder of its name; one that is whole is only read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in page.runs.items():
        note = folder / f"{name}.commit"
        if note.exists() and note.read_text() != commit():
            raise SystemExit(
                f"{folder / name} was measured at commit {note.read_text()}: remove it, or name other --runs"
            )
        note.write_text(commit())
        _howlate(*words, "--out", str(folder / name))


def write(page: Page, folder: Path) -> None:
    text = page.filled(Filled(page, folder))
    page.path.write_text(text, encoding="utf-8")
    print(json.dumps({"page": page.path.name, "changed": text != page.text}))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev pages", description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("make", "measure", "write"))
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--runs", type=Path, default=ROOT / "build" / "pages", help="where the runs are kept")
    asked = parser.parse_args(argv)
    for page in pages(asked.pages):
        folder = asked.runs / page.path.stem
        if asked.command != "write":
            measure(page, folder)
        if asked.command != "measure":
            write(page, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
