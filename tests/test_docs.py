"""The documentation: its links lead somewhere, and every page can be reached from the index."""

import importlib
import re
from pathlib import Path

import pytest

import howlate
from howlate.system.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ENTRANCES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: Path) -> list[tuple[Path, str]]:
    """The files of this repository that a page links, each with the heading."""
    text = page.read_text(encoding="utf-8")
    targets = [link.partition("#") for link in LINK.findall(text) if "://" not in link]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in targets]


def anchors(page: Path) -> set[str]:
    """Of its headings, as forges and the site make them."""
    return {slug(heading) for heading in HEADING.findall(page.read_text(encoding="utf-8"))}


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


IMPORT = re.compile(r"^ *from (howlate[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def test_what_an_example_imports_is_there() -> None:
    found = [
        each for page in [*ENTRANCES, *PAGES] for each in IMPORT.findall(page.read_text(encoding="utf-8"))
    ]
    missing = [
        f"{module}: {name}"
        for module, names in found
        for name in names.split(", ")
        if not hasattr(importlib.import_module(module), name)
    ]
    assert found and not missing, missing


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


DECIDED = re.compile(r"`((?:[a-z_]+/)+[A-Za-z_.]+\.[a-z]+)`")


def test_files_that_the_page_of_where_it_is_decided_names_are_there() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Where is it decided?")[2].partition("\n## ")[0]
    named = DECIDED.findall(section)
    assert len(named) > 20
    package = ROOT / "src" / "howlate"
    assert [name for name in named if not ((package / name).is_file() or (ROOT / name).is_file())] == []


QUESTIONS = {
    "where does the percentage on the screen of `why` come from?": ("why/on_screen.py", "def kinds"),
    "where would a check of an i.MX governor go?": ("src/howlate/settings/", "settings/governor.py"),
    "which file decides that a cell is invalid?": ("statistics/valid.py", "valid"),
    "cause: what makes a sample's time `blocked`?": ("why/pieces.py", "BLOCKED"),
    "knob: what is written back after a kill?": ("sys/guardian.hpp", "journal"),
    "importer: microseconds or nanoseconds?": ("imports/formats/_checks.py", "nanoseconds"),
    "statistic: why has this cell no p99.9?": ("statistics/describe.py", "quantile"),
    "load: what holds cpu:50 at a half?": ("probe/src/loads/base/held.hpp", "HeldController"),
    "chart: where are ticks chosen?": ("figures/scale.py", "ticks"),
    "exporter: what writes the file for Perfetto?": ("ROOM/export/NAME.py", "why/export/perfetto.py"),
    "timer: where is the clock read after the sleep?": ("timers/measure.hpp", "measure"),
    "doctor check: what orders the findings?": ("doctor/__init__.py", "weight"),
    "lab device: which one may a guest have?": ("lab/devices.py", "device_arguments"),
}
"""What somebody asks about the code: the file that docs/architecture.md names, and what is in it (or its example)."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_architecture_leads_to_the_file_that_answers(question: str) -> None:
    name, answer = QUESTIONS[question]
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert name in text
    folders = [ROOT / "src" / "howlate", ROOT / "probe" / "src", ROOT]
    if "/" in answer:
        assert (folders[0] / answer).is_file()
    else:
        file = next(folder / name for folder in folders if (folder / name).is_file())
        assert answer in file.read_text(encoding="utf-8")


TASKS = {
    "pin the interrupts away": ("knobs.md", "irq_affinity=away"),
    "what does overrun mean": ("glossary.md", "| overrun |"),
    "how overruns count": ("glossary.md > statistics.md#the-account", "releases that got no activation"),
    "compare two kernels in the lab": ("commands.md#kernels-side-by-side", "howlate compare runs/kernels"),
    "why does it say INCONCLUSIVE": ("verdict.md#why-it-says-inconclusive", "what to do"),
    "measure my board over SSH": ("how-to/measure-a-board-over-ssh.md", "--target ssh:"),
    "import a cyclictest histogram": ("import.md", "`cyclictest -q -h 400"),
    "fail my CI when latency grows": ("history.md#a-gate-for-ci", "howlate history runs --fail-on worse"),
    "how long for one in a million": ("verdict.md#how-much-to-measure-howlate-plan", "3,099,727 activations"),
    "what does it change, and put back": ("security.md#what-it-changes-and-puts-back", "doctor --restore"),
    "measure while my own program runs": ("loads/README.md#your-own-program-as-a-load", "others=expected"),
    "write my own load": ("loads/README.md > how-to/add-a-load.md", "`loads/my-load.cpp`"),
    "what does exit code 5 mean": ("commands.md#exit-codes", "| 5 |"),
    "my samples as CSV": ("run-folder.md#exports", "`csv`"),
    "add a timer of my own": ("timers.md#how-to-add-a-timer", "probe/src/timers/NAME.cpp"),
    "what does the probe write": ("stream.md", "frame"),
}
"""What a user wants: the links to follow from docs/README.md, and the words that answer."""
READ_IN_TWO_MINUTES = 480


@pytest.mark.parametrize("task", TASKS)
def test_a_user_finds_it_in_three_clicks(task: str) -> None:
    """And within the words that somebody reads in two minutes, from the last link's heading on."""
    path, answer = TASKS[task]
    clicks = path.split(" > ")
    assert len(clicks) <= 3
    page, anchor = DOCS / "README.md", ""
    for click in clicks:
        name, _, anchor = click.partition("#")
        assert (DOCS / name, anchor) in links(page), f"{page.name} does not link {click}"
        page = DOCS / name
    text = page.read_text(encoding="utf-8")
    if anchor:
        heading = next(each for each in HEADING.finditer(text) if slug(each[1]) == anchor)
        text = re.split(r"^#{1,3} ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    before, words, _ = text.partition(answer)
    assert words and len(before.split()) < READ_IN_TWO_MINUTES


MADE = {"benchmarks.md", "doctor.md"}
ADDRESSED = re.compile(
    r"\b[Yy]ou\b|\A(?:Build|Choose|Disturb|Do the|Find|Look up|Read|Run|See|Suppose|Use|Write)\b"
)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name != "adr" and page.name not in MADE],
    ids=lambda page: str(page.relative_to(DOCS)),
)
def test_a_page_begins_with_what_its_reader_wants_to_do(page: Path) -> None:
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"^(?:# |    ).*$", "", text, flags=re.MULTILINE)
    first = next(part.strip() for part in text.split("\n\n") if part.strip())
    assert ADDRESSED.search(first)


@pytest.mark.parametrize("page", sorted((DOCS / "how-to").glob("*.md")), ids=lambda page: page.name)
def test_a_how_to_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) < 900


NAME_THE_WHEEL = [DOCS / "install.md", DOCS / "ci.md"]


@pytest.mark.parametrize("page", NAME_THE_WHEEL, ids=lambda page: page.name)
def test_the_wheel_is_called_as_it_is_built(page: Path) -> None:
    names = set(re.findall(r"howlate-[0-9.]+-py3-none-any\.whl", page.read_text(encoding="utf-8")))
    assert names == {f"howlate-{howlate.__version__}-py3-none-any.whl"}
