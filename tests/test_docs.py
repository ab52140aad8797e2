"""The documentation: its links lead somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import howlate
from howlate.system.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ENTRANCES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: Path) -> list[tuple[Path, str]]:
    """The files of this repository that a page links, each with the heading."""
    text = page.read_text(encoding="utf-8")
    targets = [link.partition("#") for link in LINK.findall(text) if "://" not in link]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in targets]


def anchors(page: Path) -> set[str]:
    """Of its headings, as forges and the site make them."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*ENTRANCES, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{page.name}: {target}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {target.name}#{anchor}"


def test_the_site_names_pages_that_are_there() -> None:
    named = re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert len(named) > 30 and [name for name in named if not (ROOT / name).is_file()] == []


def test_the_index_links_every_page() -> None:
    """From docs/README.md, by links, without a detour over pages outside of docs/."""
    reached: set[Path] = set()
    ahead = [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached:
            continue
        reached.add(page)
        linked = [target / "README.md" if target.is_dir() else target for target, _ in links(page)]
        ahead += [target for target in linked if target.suffix == ".md" and target.is_relative_to(DOCS)]
    assert [str(page.relative_to(DOCS)) for page in PAGES if page not in reached] == []


def test_the_readme_leads_to_the_index_and_to_the_contributors_page() -> None:
    reached = {target for target, _ in links(ROOT / "README.md")}
    assert {DOCS / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"} <= reached


def test_the_glossary_is_in_order_and_has_each_term_once() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[1:]
    terms = [term for term in terms if not term.startswith("-")]
    assert terms == sorted(set(terms))


def test_architecture_names_every_room_of_the_package() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "src" / "howlate").iterdir() if (path / "__init__.py").exists()]
    assert [room for room in rooms if f"`{room}/`" not in text] == []


def test_files_that_the_page_of_where_to_add_names_are_there() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Where does X go?")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:probe|src|tests|docs|kmod|tools)/[^`]+)`", section)
    assert len(named) > 20
    absent = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert not absent


def test_the_change_log_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## ([0-9.]+)", text, re.MULTILINE)[0] == howlate.__version__


NAME_THE_WHEEL = [DOCS / "install.md", DOCS / "ci.md"]


@pytest.mark.parametrize("page", NAME_THE_WHEEL, ids=lambda page: page.name)
def test_the_wheel_is_called_as_it_is_built(page: Path) -> None:
    names = set(re.findall(r"howlate-[0-9.]+-py3-none-any\.whl", page.read_text(encoding="utf-8")))
    assert names == {f"howlate-{howlate.__version__}-py3-none-any.whl"}
