"""The document of runs: its sections in the order in which they are shown.

PARTS is that order, for the page and the terminal alike, and says who shows what. To say something more, write a
function of a Material that gives sections, and put it in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from howlate import __version__
from howlate.charts._scale import OWN_AXES, Axes
from howlate.compare import document as comparison
from howlate.compare.compare import Comparison, labelled, labels_of
from howlate.compare.least_late import least_late
from howlate.document import cautions, findings, machine, meaning
from howlate.document.document import Document, Drawn, Section, Texts, texts
from howlate.document.results import EVERYTHING, Fit, StudyPart
from howlate.document.sheet import PAGE, TERMINAL, Style
from howlate.model.loaded import CellContent, RunContent
from howlate.model.run import policy_without_right
from howlate.model.summary import CellSummary
from howlate.statistics.labels import by_part, policy_in_force, row_names
from howlate.statistics.ladder import ladder_of
from howlate.statistics.misses import deadline_statements
from howlate.statistics.threshold import threshold_statements
from howlate.verdict import document as verdicts
from howlate.verdict.judge import Judged, stated
from howlate.why.advise import document as advice
from howlate.why.explained_cells import ExplainedCell, explained_by_summary
from howlate.why.late_cases import causes_section
from howlate.why.recorded import slower_by_recording
from howlate.words.language import SOURCE, _, as_called, spoken
from howlate.words.say import Text
from howlate.words.statement import Statement, rule

NO_CELL = rule("report.no-cell", "No cell of this run is whole yet.")
JOINED = rule(
    "report.blocks-joined",
    "So many cells leave no room for every block of time: {joined} are joined into one, with the largest of their "
    "maxima, p99 and medians.",
)
FEWER_DRAWN = rule(
    "report.fewer-drawn",
    "So many cells leave no room for every picture: of the {cells} cells the {drawn} with the largest latencies are "
    "drawn.",
)
FEWER_LISTED = rule(
    "report.fewer-listed",
    "The table and the lists hold the {listed} cells with the largest latencies; the answer above is of all {cells}, "
    "and `howlate show` lists them all.",
)
PRINTED = rule("report.as-printed", "As {study} printed it (`howlate compare {run}`):")
SOURCES = rule(
    "report.sources",
    "Headings of tables and question marks lead to howlate's documentation, which says how a figure is made and when "
    "it is wrong: docs/ in its source tree, or the site that $HOWLATE_DOCS named.",
)
FOOT = rule(
    "report.foot",
    "Run {runs:all}. Measured with {versions:all}; this page was made by howlate {version}. It holds all that it "
    "shows: it loads nothing.",
)


@dataclass(frozen=True)
class Material:
    """The inputs of a document of runs."""

    runs: Sequence[RunContent]
    style: Style
    comparison: Comparison | None = None
    fit: Fit = EVERYTHING
    axes: Axes = field(default_factory=lambda: OWN_AXES)
    over_sides: Sequence[Drawn] = ()
    """The charts of the whole page."""
    every: bool = False
    """In the terminal: every cell, where points are repeated."""
    histograms: bool = False
    """In the terminal: how often which latency, below the tables."""
    failures: tuple[str, ...] = ()
    """In the terminal: what could not be measured."""
    folder: str = ""
    """The folder of the run, as the user would type it in a command."""
    explained: Mapping[int, ExplainedCell] | None = None
    """The cells whose late samples are explained, by the identity of their summaries; None: to be found."""

    @cached_property
    def cells(self) -> list[CellContent]:
        return [cell for content in self.runs for cell in content.cells]

    @cached_property
    def summaries(self) -> list[CellSummary]:
        """The summaries, with the labels that distinguish several runs."""
        return labelled(self.runs, self.comparison)

    @cached_property
    def verdicts(self) -> list[Judged]:
        """On the deadlines that were stated."""
        return [row for content in self.runs for row in stated(content)]

    @cached_property
    def slower(self) -> list[Statement]:
        """Which verdicts are on samples that recording made slower."""
        return [
            told
            for content in self.runs
            for told in slower_by_recording(
                content.run,
                stated(content),
                [self.cases[id(cell.summary)] for cell in content.cells if id(cell.summary) in self.cases],
            )
        ]

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        return labels_of(self.runs, self.comparison)

    @cached_property
    def whole(self) -> StudyPart:
        """All cells, as one part."""
        return StudyPart.of(self.runs, "", self.cells, self.labels, self.cases)

    @cached_property
    def cases(self) -> Mapping[int, ExplainedCell]:
        """`explained`."""
        return explained_by_summary(self.runs) if self.explained is None else self.explained

    @cached_property
    def parts(self) -> list[StudyPart]:
        """The parts of the study in order; a single part of all cells if it has none."""
        places = by_part(self.labels)
        if set(places) <= {""}:
            return [self.whole]
        return [
            StudyPart.of(
                self.runs, part, [self.cells[i] for i in here], [self.labels[i] for i in here], self.cases
            )
            for part, here in places.items()
        ]


def document(material: Material) -> Document:
    """Everything that the page, or the terminal, shows of these runs."""
    sections = [
        section for make, shown_by in PARTS if material.style in shown_by for section in make(material)
    ]
    title = " – ".join(filter(None, (_name(material), _policy(material), "howlate")))
    return Document(tuple(sections), title)


def _question(material: Material) -> str:
    """The study's question; the names of several studies."""
    studies = {content.run.study.id: content.run.study for content in material.runs}
    if len(studies) > 1:
        return _("Studies side by side: {studies}").format(studies=", ".join(studies))
    first = next(iter(studies.values()))
    return as_called(first.question or first.title)


def _name(material: Material) -> str:
    """For the window's title: the question, or the study's id where the page is not in the question's language."""
    studies = {content.run.study.id for content in material.runs}
    return _question(material) if len(studies) > 1 or spoken() == SOURCE else studies.pop()


def _policy(material: Material) -> str:
    """The policy that was in force in all cells."""
    return policy_in_force([cell.summary.labels for cell in material.cells])


# --- The sections ---------------------------------------------------------------------------------------------


def head(material: Material) -> Iterator[Section]:
    """The question, when and where it was asked, and the short answer of each part."""
    started = ", ".join(
        dict.fromkeys(content.run.started[:16].replace("T", " ") for content in material.runs)
    )
    studies = ", ".join(dict.fromkeys(content.run.study.id for content in material.runs))
    where = "; ".join(machine.places(material.runs))
    answers: list[Texts] = []
    for i, part in enumerate(material.parts if not advice.only(material.runs) else ()):
        first, *rest = part.answer
        title = (_("{sentence}.").format(sentence=part.title),) if part.part else ()
        answers += texts("more-answer" if i else "answer", [(*title, first)])
        answers += texts("beside", [tuple(rest)] if rest else [])
    judged = [row.verdict for row in material.verdicts]
    items = (
        Texts("eyebrow", (" · ".join(filter(None, ("howlate", studies, f"{started} UTC", where))),)),
        Texts("question", (_question(material), _policy(material))),
        *texts("verdict", verdicts.opening(judged, _alone(material))),
        *texts("beside", material.slower),
        *advice.answers(material.runs),
        *answers,
        *(texts("beside", [tuple(ladders)]) if (ladders := _ladders(material)) else ()),
        *texts("lead", least_late(material.summaries)),
        *texts("deadline", [tuple(each) for each in deadline_statements(material.summaries)]),
    )
    yield Section("head", items, kind="header")


def verdict(material: Material) -> Iterator[Section]:
    """Whether the stated deadlines are kept: in the terminal briefly and before all else."""
    judged = [row.verdict for row in material.verdicts]
    if not judged and material.style is TERMINAL:
        yield from _seen(material)
    if judged:
        brief = material.style is TERMINAL
        items = (verdicts.briefly if brief else verdicts.items)(judged, _alone(material))
        yield Section("verdict", (*items, *texts("more", material.slower)), "" if brief else _("The verdict"))


def _alone(material: Material) -> RunContent | None:
    return material.runs[0] if len(material.runs) == 1 else None


def _seen(material: Material) -> Iterator[Section]:
    """In the terminal, where no deadline was asked for: the largest that was seen, and how often what was later."""
    if material.cells and not advice.only(material.runs):
        firsts = [part.answer[0] for part in material.parts]
        yield Section("seen", (*texts("verdict", firsts), *texts("more", _ladders(material))))


def _ladders(material: Material) -> list[Text]:
    ladders = (ladder_of(content) for content in material.runs)
    return [ladder.statement() for ladder in ladders if ladder is not None]


def warnings(material: Material) -> Iterator[Section]:
    """In the terminal, before a number is read: that a policy was not permitted."""
    yield Section("warnings", texts("warnings", _warnings(material, first=True)))


def more_warnings(material: Material) -> Iterator[Section]:
    """In the terminal: what was not measured, and what the runs say of themselves."""
    items = (*texts("failures", material.failures), *texts("warnings", _warnings(material, first=False)))
    yield Section("more-warnings", items)


def _warnings(material: Material, first: bool) -> list[Text]:
    every = dict.fromkeys(warning for content in material.runs for warning in content.run.warnings)
    return [warning for warning in every if bool(policy_without_right(warning)) is first]


def advised(material: Material) -> Iterator[Section]:
    """Of runs of `howlate advise`: what each knob buys."""
    for content in material.runs:
        yield from advice.sections(content, material.style)


def causes(material: Material) -> Sequence[Section]:
    """On the page: the weightiest findings, a line each."""
    return findings.causes(material.runs)


def explained(material: Material) -> Sequence[Section]:
    """Where the time of the late samples went, if events were recorded."""
    names = dict(
        zip(map(id, (cell.summary for cell in material.cells)), row_names(material.labels), strict=True)
    )
    cells = [replace(cell, name=names.get(key, cell.name)) for key, cell in material.cases.items()]
    found = [finding for content in material.runs for finding in content.findings]
    return causes_section(cells, found, _("Why the late samples were late") if material.style is PAGE else "")


def before_use(material: Material) -> Iterator[Section]:
    """On the page: what must be known before the numbers are used."""
    part = material.whole.latest(material.fit.listed)
    every = [*_thresholds(material), *cautions.of_runs(material.runs, part.rows), *_left_out(material)]
    yield Section("cautions", texts("cautions", every, _("Before you use these numbers")))


def _left_out(material: Material) -> Iterator[Statement]:
    """What the page leaves out because it has no room."""
    fit, cells = material.fit, len(material.cells)
    if fit.joined > 1:
        yield JOINED(joined=fit.joined)
    if fit.drawn < cells:
        yield FEWER_DRAWN(cells=cells, drawn=fit.drawn)
    if fit.listed < cells:
        yield FEWER_LISTED(cells=cells, listed=fit.listed)


def _thresholds(material: Material) -> list[Text]:
    """The cells that ended because a sample exceeded their threshold."""
    return [
        tuple(ended)
        for content in material.runs
        for ended in threshold_statements(content.summaries, content.run)
    ]


def side_by_side(material: Material) -> Iterator[Section]:
    """On the page: the comparison."""
    if material.comparison is not None:
        yield comparison.section(material.comparison, material.fit.listed)


def over_sides(material: Material) -> Iterator[Section]:
    """On the page: the charts of all parts."""
    yield Section("over-sides", tuple(material.over_sides))


def results(material: Material) -> Iterator[Section]:
    """Tables, and on the page charts, part after part."""
    if not material.cells:
        yield Section("results", (Texts("lead", (NO_CELL(),)),))
        return
    for part in material.parts:
        if material.style is TERMINAL:
            items, title = (
                tuple(part.in_terminal(material.every, material.histograms)),
                f"{part.part}: {part.title}",
            )
        else:
            fit = material.fit.share(len(part.cells), len(material.cells)) if part.part else material.fit
            items, title = tuple(part.on_page(fit, material.axes)), part.title
        yield Section(f"part-{part.part}", items, title if part.part else "", "part" if part.part else "")


def conclusions(material: Material) -> Iterator[Section]:
    """In the terminal: the conclusions from the tables."""
    summaries = material.summaries
    statements: list[Text] = [
        *least_late(summaries, material.folder),
        *(tuple(each) for each in deadline_statements(summaries)),
        *_thresholds(material),
    ]
    yield Section("conclusions", texts("conclusions", statements))


def late(material: Material) -> Sequence[Section]:
    """The doctor's findings: in the terminal the weightiest, on the page all."""
    return (findings.weightiest if material.style is TERMINAL else findings.section)(material.runs)


def printed(material: Material) -> Iterator[Section]:
    """In the terminal, of one run: the tables beside which a study's document stands."""
    study = material.runs[0].run.study.reference
    if study and material.comparison is not None and len(material.runs) == 1:
        sheets = comparison.published(material.comparison)
        opening = Texts("opening", (PRINTED(study=study, run=material.folder),))
        yield Section("published", (opening, *sheets) if sheets else ())


def of_machine(material: Material) -> Iterator[Section]:
    """On the page: the machine, and what was in force."""
    part = material.whole.latest(material.fit.listed)
    reading = _("What was asked for, what was read back, and which machine that is.")
    items = (Texts("reading", (reading,)), *machine.items(material.runs, part.cells, part.names))
    yield Section("machine", items, _("The machine, and what was in force"))


def meanings(material: Material) -> Iterator[Section]:
    """On the page: what each number means."""
    points = any(part.points is not None for part in material.parts)
    sheet = meaning.sheet(points, material.runs[0].run.virtual)
    yield Section("meaning", (Texts("reading", (SOURCES(),)), sheet), _("What the numbers mean"))


def foot(material: Material) -> Iterator[Section]:
    """On the page: the runs and versions that it was made from."""
    versions = {
        name: ", ".join(
            dict.fromkeys(v for c in material.runs for n, v in c.run.versions.items() if n == name)
        )
        for content in material.runs
        for name in content.run.versions
    }
    measured = [f"{name} {version}" for name, version in versions.items()] or [_("an unknown version")]
    runs = [content.run.id for content in material.runs]
    yield Section("foot", texts("", [FOOT(runs=runs, versions=measured, version=__version__)]), kind="footer")


Part = Callable[[Material], Iterator[Section] | Sequence[Section]]

PARTS: tuple[tuple[Part, tuple[Style, ...]], ...] = (
    (head, (PAGE,)),
    (verdict, (PAGE, TERMINAL)),
    (warnings, (TERMINAL,)),
    (advised, (PAGE, TERMINAL)),
    (causes, (PAGE,)),
    (before_use, (PAGE,)),
    (explained, (PAGE,)),
    (side_by_side, (PAGE,)),
    (over_sides, (PAGE,)),
    (results, (PAGE, TERMINAL)),
    (conclusions, (TERMINAL,)),
    (explained, (TERMINAL,)),
    (more_warnings, (TERMINAL,)),
    (late, (PAGE, TERMINAL)),
    (printed, (TERMINAL,)),
    (of_machine, (PAGE,)),
    (meanings, (PAGE,)),
    (foot, (PAGE,)),
)
"""The parts of a document in order, each with the places that show it."""
