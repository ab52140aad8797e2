"""The doctor's findings as they are shown: the weightiest as possible causes, all of them by their level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from howlate.document.document import Folded, Item, Section, Texts, texts
from howlate.document.sheet import Row, Sheet, labels
from howlate.document.sheet import texts as column
from howlate.model.facts import Finding
from howlate.model.loaded import RunContent
from howlate.words.language import N_, _, as_called
from howlate.words.statement import Caption

MOST_CAUSES, MOST_SHOWN = 3, 4
LEVEL_NAMES = {
    "late": N_("makes it late"),
    "note": N_("worth knowing"),
    "unknown": N_("not found out"),
    "ok": N_("in order"),
}
"""How a finding says what it weighs."""
FOLDED = {**LEVEL_NAMES, "unknown": N_("could not be found out")}
"""Those that the page folds away, by what it calls them."""


def sheet(findings: Sequence[Finding], *, levels: bool = False, kind: str = "findings") -> Sheet:
    """One row for each finding, with its level if `levels`."""
    fields: list[tuple[str, str, list[str]]] = [
        ("about", "", [", ".join(finding.machines) for finding in findings]),
        ("level", "", [_(LEVEL_NAMES[finding.level]) if levels else "" for finding in findings]),
        ("found", "", [finding.text for finding in findings]),
        ("why", "", [finding.why for finding in findings]),
        (
            "change",
            _("To change it"),
            [finding.change for finding in findings],
        ),
    ]
    return Sheet(
        "findings",
        "",
        (
            labels("title", "", [as_called(finding.title) for finding in findings]),
            *(column(key, title, map(as_called, values), words=True) for key, title, values in fields),
        ),
        tuple(Row(kind=finding.level) for finding in findings),
        kind=kind,
    )


def briefly(change: str) -> str:
    """The first way, without text in brackets."""
    while (without := re.sub(r" ?\([^()]*\)", "", change)) != change:
        change = without
    return re.split(r"[;:] |\. |, or ", change)[0].removeprefix("permanently ").strip().rstrip(".")


def heading(runs: Sequence[RunContent]) -> tuple[str, str]:
    """What the findings are about, and where they were found."""
    if any(content.run.machines for content in runs):
        return (
            _("What makes these kernels late"),
            _("Found by `howlate doctor` in the state of the guests, not in the samples."),
        )
    from howlate.document.machine import hardware

    if hardware(runs) > 1:
        return (
            _("What makes these machines late"),
            _("Found by `howlate doctor` in the state of each machine, not in the samples."),
        )
    return (
        _("What makes this machine late"),
        _("Found by `howlate doctor` in the state of the machine, not in the samples."),
    )


def late(runs: Sequence[RunContent]) -> list[Finding]:
    return list(dict.fromkeys(f for content in runs for f in content.findings if f.level == "late"))


def weightiest(runs: Sequence[RunContent]) -> tuple[Section, ...]:
    """Below a run's tables: the causes with why and how to change them. Nothing where there is neither a cause nor a
    measurement."""
    found = late(runs)
    if not found or not any(content.cells for content in runs):
        return ()
    title, where = heading(runs)
    return (Section("findings", (Texts("opening", (f"{title}:", where)), *shown(found, MOST_CAUSES))),)


def shown(findings: Sequence[Finding], most: int) -> tuple[Item, ...]:
    rest = max(0, len(findings) - most)
    return (
        sheet(findings[:most]),
        *texts("more", [Caption("({count} more: `howlate doctor`)", count=rest)] if rest else []),
    )


def section(runs: Sequence[RunContent], led: frozenset[str]) -> tuple[Section, ...]:
    """All findings of all machines; those in `led`, to which the causes lead, come first."""
    items: list[Item] = []
    seen: set[tuple[Finding, ...]] = set()
    for content in runs:
        if content.findings and content.findings not in seen:
            seen.add(content.findings)
            items += texts("heading", [content.run.id] if len(runs) > 1 else [])
            items += _by_level(content, led)
    title, how = heading(runs)
    unchanged = _("howlate changes nothing unless you request it.")
    opening = Texts("reading", (f"{how} {unchanged}",))
    return (Section("findings", (opening, *items), title),) if items else ()


def _by_level(content: RunContent, led: frozenset[str]) -> Iterable[Item]:
    """First the findings that the causes lead to, else the weightiest; the others are folded by level."""
    every = content.findings
    weighty = [f for f in every if f.level == "late" or (f.level == "note" and f.change)]
    first = [f for f in weighty if f.check in led] or [f for f in every if f.level == "late"]
    first = first[:MOST_SHOWN]
    by_level = {level: [f for f in every if f.level == level and f not in first] for level in LEVEL_NAMES}
    if first:
        yield sheet(first)
    elif content.run.machines:
        yield Texts("lead", (_("Nothing was found that is known to make these kernels late."),))
    else:
        yield Texts("lead", (_("Nothing was found that is known to make this machine late."),))
    for level, words in FOLDED.items():
        if found := by_level[level]:
            yield Folded(f"{len(found)} {_(words)}", (sheet(found),), "aside-findings")
