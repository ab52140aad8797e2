"""The document of runs: its sections in the order in which they are shown.

PARTS is that order, for the page and the terminal alike, and says who shows what; rooms put their own parts into it
(`parts` in their hooks.py). To say something more, write a function of a ReportInput that gives sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from howlate import __version__
from howlate.document import findings, machine, meaning
from howlate.document.document import ChartItem, Document, Folded, Section, Texts, texts
from howlate.document.results import EVERYTHING, Fit, StudyPart, WithCases, on_demand
from howlate.document.sheet import PAGE, TERMINAL, Style
from howlate.errors import UsageError
from howlate.figures.figure import Figure
from howlate.figures.scale import OWN_AXES, Axes
from howlate.model.loaded import CellContent, RunContent
from howlate.model.run import policy_without_right
from howlate.model.summary import CellSummary
from howlate.rooms import hooks
from howlate.sides.cell_labels import labelled, labels_of
from howlate.sides.joined import Joined
from howlate.statistics.labels import by_part
from howlate.statistics.ladder import ladder_of
from howlate.statistics.misses import deadline_statements
from howlate.statistics.threshold import threshold_statements
from howlate.words.caption import Caption
from howlate.words.language import _, as_called
from howlate.words.say import Text
from howlate.words.statement import Statement, message

NO_CELL = message("report.no-cell", "No cell of this run is whole yet.")
JOINED = message(
    "report.blocks-joined",
    "To save room the charts join {joined} blocks of time into one, with the largest maximum, p99 and median.",
)
FEWER_DRAWN = message(
    "report.fewer-drawn",
    "To save room the charts show the {drawn} of {cells} cells with the largest latencies.",
)
FEWER_LISTED = message(
    "report.fewer-listed",
    "To save room the tables hold the {listed} of {cells} cells with the largest latencies; `howlate show --all` "
    "holds all.",
)

WORST = 5
"""Explained samples of a cell that the page shows."""
OF_SIDES = "tails"
"""The chart that draws every row over the sides: where it is, rows need no charts of their own."""
LEADING = 3
"""Kinds of causes that lead to findings of the doctor, at most."""

T = TypeVar("T")


class Compared(Protocol):
    """A comparison, as the room that makes it has it (compare/compare.py)."""

    @property
    def joined(self) -> Joined: ...


def compared(runs: Sequence[RunContent], by: str = "") -> Compared | None:
    """The comparison of runs along the label `by`; UsageError where they cannot be. Without it of kernels, if there
    are several."""
    for compare in hooks("comparison"):
        comparison: Compared | None = compare(runs, by)
        return comparison
    if by:
        raise UsageError(
            "this howlate does not compare runs", remedy="leave out --by, or add its room compare"
        )
    return None


def explained(content: RunContent) -> Mapping[str, WithCases]:
    """The cells whose late samples a room explains, by their ids."""
    return {name: cell for explain in hooks("explained") for name, cell in explain(content).items()}


@dataclass(frozen=True)
class ReportInput:
    """The inputs of a document of runs."""

    runs: Sequence[RunContent]
    style: Style
    comparison: Compared | None = None
    fit: Fit = EVERYTHING
    axes: Axes = field(default_factory=lambda: OWN_AXES)
    over_sides: Sequence[ChartItem] = ()
    """The charts of the whole page."""
    every: bool = False
    """In the terminal: every cell, where points are repeated."""
    histograms: bool = False
    """In the terminal: histograms below the tables."""
    failures: tuple[str, ...] = ()
    """In the terminal: what could not be measured."""
    folder: str = ""
    """The folder of the run, as the user would type it in a command."""
    explained: Sequence[Mapping[str, WithCases]] | None = None
    """Of each run the cells whose late samples are explained, by their ids; None: to be found."""
    _once: dict[Callable[[ReportInput], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def cells(self) -> list[CellContent]:
        return [cell for content in self.runs for cell in content.cells]

    @property
    def joined(self) -> Joined | None:
        return None if self.comparison is None else self.comparison.joined

    @cached_property
    def summaries(self) -> list[CellSummary]:
        """The summaries, with the labels that distinguish several runs."""
        return labelled(self.runs, self.joined)

    def once(self, make: Callable[[ReportInput], T]) -> T:
        """What a room makes of it, made once."""
        if make not in self._once:
            self._once[make] = make(self)
        made: T = self._once[make]
        return made

    def made_before(self, make: Callable[[ReportInput], T], made: T) -> ReportInput:
        """With what `once` would make of it."""
        self._once[make] = made
        return self

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        return labels_of(self.runs, self.joined)

    @cached_property
    def whole(self) -> StudyPart:
        """All cells, as one part."""
        return self._part("", range(len(self.cells)))

    @cached_property
    def explained_cells(self) -> Sequence[Mapping[str, WithCases]]:
        return list(map(explained, self.runs)) if self.explained is None else self.explained

    @property
    def with_cases(self) -> list[WithCases | None]:
        """The explained samples of each cell; None for a cell without any."""
        runs = zip(self.runs, self.explained_cells, strict=True)
        return [own.get(cell.summary.id) for content, own in runs for cell in content.cells]

    @cached_property
    def parts(self) -> list[StudyPart]:
        """The parts of the study in order; a single part of all cells if it has none."""
        places = by_part(self.labels)
        if set(places) <= {""}:
            return [self.whole]
        return [self._part(part, here) for part, here in places.items()]

    def _part(self, part: str, here: Sequence[int]) -> StudyPart:
        cases = [() if own is None else own.cases[:WORST] for own in self.with_cases]
        cells, labels = [self.cells[i] for i in here], [self.labels[i] for i in here]
        return StudyPart.of(self.runs, part, cells, labels, [cases[i] for i in here])


def document(material: ReportInput) -> Document:
    """Everything that the page, or the terminal, shows of these runs."""
    rooms: list[DocumentPart] = [part for parts in hooks("parts") for part in parts()]
    parts = sorted((*PARTS, *rooms), key=lambda part: part.place)
    sections = [section for part in parts if material.style in part.styles for section in part.make(material)]
    return Document(tuple(sections), _title(material) if material.style is PAGE else "")


def _title(material: ReportInput) -> str:
    from howlate.document.first_screen.on_page import title

    return title(material)


def question(material: ReportInput) -> str:
    """The study's question, or the names of several studies."""
    studies = {content.run.study.id: content.run.study for content in material.runs}
    if len(studies) > 1:
        return _("Studies side by side: {studies}").format(studies=", ".join(studies))
    first = next(iter(studies.values()))
    return as_called(first.question or first.title)


# --- The sections ---------------------------------------------------------------------------------------------


def head(material: ReportInput) -> Iterable[Section]:
    from howlate.document.first_screen.on_page import head

    return head(material)


def answered(material: ReportInput) -> bool:
    """A room has the answer of all runs: the largest latency is none."""
    return any(answers(material.runs) for answers in hooks("answers"))


def _leads(material: ReportInput) -> list[Text]:
    return [each for lead in hooks("lead") for each in lead(material)]


def seen(material: ReportInput) -> Iterator[Section]:
    """In the terminal, where no deadline was stated: the largest value, and how many were later than each step."""
    if any(judges(material) for judges in hooks("judges")):
        return
    if material.cells and not answered(material):
        firsts = [part.answer for part in material.parts]
        yield Section("seen", (*texts("verdict", firsts), *texts("more", _ladders(material))))


def _ladders(material: ReportInput) -> list[Text]:
    ladders = (ladder_of(content) for content in material.runs)
    return [ladder.statement() for ladder in ladders if ladder is not None]


def warnings(material: ReportInput) -> Iterator[Section]:
    """In the terminal, before the tables: the warning that a policy was not permitted."""
    yield Section("warnings", texts("warnings", _warnings(material, first=True)))


def more_warnings(material: ReportInput) -> Iterator[Section]:
    """In the terminal: what was not measured, and what the runs say of themselves."""
    items = (*texts("failures", material.failures), *texts("warnings", _warnings(material, first=False)))
    yield Section("more-warnings", items)


def _warnings(material: ReportInput, *, first: bool) -> list[Text]:
    every = dict.fromkeys(warning for content in material.runs for warning in content.run.warnings)
    return [warning for warning in every if bool(policy_without_right(warning)) is first]


def left_out(material: ReportInput) -> Iterator[Statement]:
    """What the page omits for lack of room."""
    fit, cells = material.fit, len(material.cells)
    rows = sum(len(part.rows) for part in material.parts)
    if fit.joined > 1:
        yield JOINED(joined=fit.joined)
    if fit.in_charts < rows:
        yield FEWER_DRAWN(cells=rows, drawn=fit.in_charts)
    if fit.in_tables < cells:
        yield FEWER_LISTED(cells=cells, listed=fit.in_tables)


def thresholds(material: ReportInput) -> list[Text]:
    """The cells that ended because a sample exceeded their threshold."""
    return [
        tuple(ended)
        for content in material.runs
        for ended in threshold_statements(content.summaries, content.run)
    ]


def over_sides(material: ReportInput) -> Iterator[Section]:
    yield Section("over-sides", tuple(on_demand(material.over_sides)))


def results(material: ReportInput) -> Iterator[Section]:
    """Tables, and on the page charts, for each part."""
    if not material.cells:
        yield Section("results", (Texts("lead", (NO_CELL(),)),))
        return
    charts = [drawn.figure.name for drawn in material.over_sides if isinstance(drawn.figure, Figure)]
    has_sides = OF_SIDES in charts
    for part in material.parts:
        if material.style is TERMINAL:
            items, title = (
                tuple(part.in_terminal(every=material.every, histograms=material.histograms)),
                f"{part.part}: {part.title}",
            )
        else:
            fit = material.fit.share(len(part.cells), len(material.cells)) if part.part else material.fit
            answer = texts("lead", [part.answer] if part.part else [])
            briefly = has_sides or part is not material.parts[0]
            items, title = (*answer, *part.on_page(fit, material.axes, briefly=briefly)), part.title
        yield Section(f"part-{part.part}", items, title if part.part else "", "part" if part.part else "")


def conclusions(material: ReportInput) -> Iterator[Section]:
    summaries = material.summaries
    statements: list[Text] = [
        *_leads(material),
        *(tuple(each) for each in deadline_statements(summaries)),
        *thresholds(material),
    ]
    yield Section("conclusions", texts("conclusions", statements))


def late(material: ReportInput) -> Sequence[Section]:
    """The doctor's findings: in the terminal the weightiest; on the page those that the causes lead to, the others
    folded."""
    from howlate.document.first_screen.answer import ScreenAnswer

    if material.style is TERMINAL:
        return findings.weightiest(material.runs)
    why = material.once(ScreenAnswer.of).why
    led = [check for reason in (why.reasons[:LEADING] if why is not None else ()) for check in reason.checks]
    return findings.section(material.runs, frozenset(led))


def of_machine(material: ReportInput) -> Iterator[Section]:
    part = material.whole.latest(material.fit.in_tables)
    items = machine.items(material.runs, part.cells, part.names)
    yield Section("machine", items, _("The machine, and what was in force"))


def meanings(material: ReportInput) -> Iterator[Section]:
    points = any(part.points is not None for part in material.parts)
    sheet = meaning.sheet(points=points, virtual=material.runs[0].run.virtual)
    links = Caption(
        "Headings of tables and question marks lead to howlate's documentation: docs/ in its source tree, or the "
        "site that $HOWLATE_DOCS named."
    )
    items = (Texts("reading", (links,)), sheet)
    yield Section("meaning", (Folded(_("What the numbers mean"), items),))


def foot(material: ReportInput) -> Iterator[Section]:
    versions = {
        name: ", ".join(
            dict.fromkeys(v for c in material.runs for n, v in c.run.versions.items() if n == name)
        )
        for content in material.runs
        for name in content.run.versions
    }
    measured = [f"{name} {version}" for name, version in versions.items()] or [_("an unknown version")]
    foot = Caption(
        "Run {runs}. Measured with {versions}; this page was made by howlate {version}.",
        runs=", ".join(content.run.id for content in material.runs),
        versions=", ".join(measured),
        version=__version__,
    )
    yield Section("foot", texts("", [foot]), kind="footer")


class DocumentPart(NamedTuple):
    """A part of a document."""

    place: int
    """Parts are shown in the order of their places."""
    make: Callable[[ReportInput], Iterable[Section]]
    styles: tuple[Style, ...]
    """Who shows it."""


PARTS = (
    DocumentPart(10, head, (PAGE,)),
    DocumentPart(30, seen, (TERMINAL,)),
    DocumentPart(40, warnings, (TERMINAL,)),
    DocumentPart(100, over_sides, (PAGE,)),
    DocumentPart(110, results, (PAGE, TERMINAL)),
    DocumentPart(120, conclusions, (TERMINAL,)),
    DocumentPart(140, more_warnings, (TERMINAL,)),
    DocumentPart(150, late, (PAGE, TERMINAL)),
    DocumentPart(170, of_machine, (PAGE,)),
    DocumentPart(180, meanings, (PAGE,)),
    DocumentPart(190, foot, (PAGE,)),
)
"""Those of the core."""
