"""A document: sections of sentences, sheets and figures in the order in which they are shown.

The renderers for terminal (document_terminal.py), page (document_html.py), JSON (`to_json`) and pictures
(pictures.py) walk it without knowing what a result is. of_runs.py makes the document of runs, compare/document.py
that of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.sheet import Sheet
from howlate.figures.figure import Figure
from howlate.words.say import Text, text_of, text_to_json


class Texts(Struct, frozen=True):
    """Sentences that belong together."""

    kind: str
    """What the sentences are: "answer", "lead", "cautions", "notes", ... Each renderer decides how a kind looks."""
    texts: tuple[Text, ...]
    title: str = ""
    """A name for the group, for readers who cannot see how it looks."""
    link: str = ""
    """The id of the section that the sentences link to."""


class ChartItem(NamedTuple):
    """A chart, or the reason why there is none."""

    figure: Figure | Text
    part: str = ""
    """The part of the study that it shows; "" for all parts."""
    column: str = ""
    """The column of the samples that it shows; "" for the first."""
    caution: Text = ""


class Folded(Struct, frozen=True):
    """Items that the page shows on demand; a renderer that cannot fold shows them always."""

    title: str
    items: tuple[Item, ...]
    kind: str = ""


Item = Texts | Sheet | ChartItem | Folded


class Section(Struct, frozen=True):
    id: str
    items: tuple[Item, ...]
    title: str = ""
    kind: str = ""
    """"header", "causes", "part", "footer"; "" for an ordinary one."""


class Document(Struct, frozen=True):
    sections: tuple[Section, ...]
    title: str = ""

    def items(self) -> Iterator[Item]:
        """The items of all sections, also those that are folded."""
        every = (item for section in self.sections for item in section.items)
        return (inner for item in every for inner in (item.items if isinstance(item, Folded) else (item,)))


def present(items: Iterable[Item]) -> Iterator[Item]:
    """As they are shown: without tables and columns in which nothing stands, which the JSON has."""
    for item in items:
        if isinstance(item, Sheet):
            yield from filter(None, [item.present()])
        elif not isinstance(item, Folded):
            yield item
        elif inner := tuple(present(item.items)):
            yield replace(item, items=inner)


def texts(kind: str, statements: Sequence[Text], title: str = "") -> tuple[Texts, ...]:
    """The sentences as one item; no item if there are none."""
    return (Texts(kind, tuple(statements), title),) if statements else ()


def bar(css: str, word: Text, said: Text, more: Sequence[Text] = (), small: Sequence[str] = ()) -> Section:
    """What a page begins with: the answer. `css`: the class of its colour, `more` and `small`: lines below it."""
    items = (Texts("outcome", (word, said)), *texts("more", more), *texts("eyebrow", small))
    return Section("head", items, kind=f"header {css}")


def to_json(document: Document) -> list[dict[str, Any]]:
    """The sections as JSON, in English: the member `document` of `show --json` and `compare --json`
    (docs/commands.md)."""
    return [
        {"id": section.id, "title": text_of(section.title), "items": [_item(item) for item in section.items]}
        for section in document.sections
    ]


def _item(item: Item) -> dict[str, Any]:
    if isinstance(item, Sheet):
        return {"sheet": item.to_json()}
    if isinstance(item, Texts):
        return {"kind": item.kind, "statements": [each for text in item.texts for each in text_to_json(text)]}
    if isinstance(item, Folded):
        return {"title": item.title, "items": [_item(inner) for inner in item.items]}
    figure = item.figure
    return {"figure": figure.name if isinstance(figure, Figure) else text_of(figure), "part": item.part}
