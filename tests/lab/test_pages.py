"""The pages of docs/studies are what the code gives: their blocks are whole, and a part of each is measured anew."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from howlate.published.load import references
from howlate.system.paths import ROOT
from lab.guests import warm_cache
from processes import environment

TOLERANCE = 0.1
"""A probe of another commit is another guest: its instructions, and so its digits, differ by a little."""


def _tool() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))  # as for a program that is started there
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pages"] = module
    spec.loader.exec_module(module)
    return module


tool = _tool()
PAGES = tool.pages()
IDS = [page.path.stem for page in PAGES]
QUICK = {"toshiba-mem-2010"}
"""The page of which a part is measured anew by every run of the tests; the others take half a minute."""
AGAIN = [
    pytest.param(page, id=page.path.stem, marks=() if page.path.stem in QUICK else pytest.mark.sweep)
    for page in PAGES
]


def test_a_page_of_runs_is_about_a_published_study() -> None:
    assert set(IDS) == set(references())


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_says_where_its_digits_are_from(page: object) -> None:
    """The commit is one of this history; each kernel has package, QEMU and guest; every block is filled."""
    blocks = page.blocks  # type: ignore[attr-defined]
    assert all(block.body for block in blocks)
    origin = next(block.body for block in blocks if block.kind == "origin")
    commit = re.search(r"commit ([0-9a-f]{12})", origin)
    assert commit is not None
    if (ROOT / ".git").exists() and not (ROOT / ".git" / "shallow").exists():
        subprocess.run(["git", "-C", str(ROOT), "merge-base", "--is-ancestor", commit[1], "HEAD"], check=True)
    kernels = [line for line in origin.splitlines() if "linux-image" in line]
    assert kernels and all(re.search(r"QEMU \d+\.\d+\.\d+ .*, guest [0-9a-f]{16}$", line) for line in kernels)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_filling_a_page_changes_nothing_but_its_blocks(page: object) -> None:
    filled = tool.Page(page.path, page.filled(lambda _block: ["x"]))  # type: ignore[attr-defined]
    assert filled.prose == page.prose  # type: ignore[attr-defined]
    assert {block.body for block in filled.blocks} == {"x"}
    again = tool.Page(filled.path, filled.filled(lambda _block: ["x"]))
    assert again.text == filled.text


def test_the_pictures_of_the_pages_are_those_that_their_blocks_make() -> None:
    """None is missing, and none is left of a block that is no longer there."""
    shown = [name for page in PAGES for name in re.findall(r"\]\(\.\./pictures/([^)]+)\)", page.text)]
    wanted = [
        f"{page.path.stem}-{block.words[1]}"
        for page in PAGES
        for block in page.blocks
        if block.kind == "picture"
    ]
    assert [Path(name).stem for name in shown] == wanted
    there = {path.name for path in tool.PICTURES.iterdir() if path.name.startswith(tuple(IDS))}
    assert there == set(shown)


def test_a_listing_is_found_by_its_title() -> None:
    text = "head\nListing: a, load none\n\n  1\nListing: b, load none\n\n  2\n"
    assert tool.listing(text, "b, load none") == ["    Listing: b, load none", "", "      2"]
    with pytest.raises(SystemExit, match="there are"):
        tool.listing(text, "c")


def _rows(lines: list[str], labels: int) -> dict[tuple[str, ...], list[str]]:
    """A Markdown table by its labels."""
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")
    ]
    return {tuple(row[:labels]): row[labels:] for row in cells[2:]}


def _alike(name: str, first: str, second: str) -> bool:
    """Of another guest: means and medians within a tenth; its extremes are a case of their own."""
    numbers = [re.fullmatch(r"[0-9.]+", text.replace(",", "")) for text in (first, second)]
    if name not in ("mean", "0.5") or None in numbers:
        return True
    one, other = (float(found[0]) for found in numbers if found is not None)
    return abs(one - other) <= TOLERANCE * max(one, other)


@pytest.mark.long
@pytest.mark.parametrize("page", AGAIN)
def test_a_part_measured_anew_has_the_page_s_digits(tmp_path: Path, page: object) -> None:
    """To the last digit where the guest is the page's own; elsewhere means and medians within a tenth."""
    runs, again = page.runs, page.again  # type: ignore[attr-defined]
    (name, narrowed), *_ = again.items()
    kernel = next(word for word in narrowed if word.startswith("--kernels=")).removeprefix("--kernels=")
    cache = warm_cache(tmp_path / "cache", kernel)
    subprocess.run(
        [sys.executable, "-m", "howlate", *runs[name], *narrowed, "--out", str(tmp_path / name)],
        env=environment(HOWLATE_CACHE=str(cache)),
        capture_output=True,
        check=True,
        timeout=1200,
    )
    filled = tool.Filled(page, tmp_path)
    guest = re.search(r"guest ([0-9a-f]{16})", "\n".join(tool.origin({name: filled.content(name)}, "")))
    origin = next(block.body for block in page.blocks if block.kind == "origin")  # type: ignore[attr-defined]
    same_guest = guest is not None and guest[1] in origin
    compared = 0
    for block in page.blocks:  # type: ignore[attr-defined]
        if block.kind != "table" or block.words[0] != name:
            continue
        labels = len(block.options.get("by", "").split(",")) + 1
        shown = _rows(block.body.splitlines(), labels)
        for key, figures in _rows(list(filled(block, partial=True)), labels).items():
            assert key in shown
            names = block.options["figures"].split(",")
            for figure, ours, theirs in zip(names, figures, shown[key], strict=False):
                assert ours == theirs if same_guest else _alike(figure, ours, theirs), (key, figure)
            compared += 1
    assert compared
