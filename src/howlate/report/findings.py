"""The report's section of the doctor's findings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from howlate.language import _, retold
from howlate.model.finding import LEVELS, Finding
from howlate.report import machine
from howlate.report.content import RunContent
from howlate.report.text import coded

MOST_CAUSES = 3


def causes(runs: Sequence[RunContent]) -> str:
    """The weightiest findings in a line each, below the answer: possible causes, which no sample is tied to."""
    late = list(dict.fromkeys(f for content in runs for f in content.findings if f.level == "late"))
    if not late:
        return ""
    items = "".join(
        f"<li><b>{escape(retold(f.title))}{_about(f)}</b>: {coded(retold(f.found))}</li>"
        for f in late[:MOST_CAUSES]
    )
    title = _("Possible causes, from the machine's state; none is tied to the largest value:")
    more = _("All findings, and how to change them")
    return (
        f'<section class="causes"><p>{escape(title)}</p><ul>{items}</ul>'
        f'<p><a href="#findings">{escape(more)}</a></p></section>'
    )


def section(runs: Sequence[RunContent]) -> str:
    parts: list[str] = []
    seen: set[tuple[Finding, ...]] = set()
    for content in runs:
        findings = content.findings
        if not findings or findings in seen:
            continue
        seen.add(findings)
        if len(runs) > 1:
            parts.append(f"<h3>{escape(content.run.id)}</h3>")
        late = [f for f in findings if f.level == "late"]
        if not late:
            nothing = (
                _("Nothing was found that is known to make these kernels late.")
                if content.run.machines
                else _("Nothing was found that is known to make this machine late.")
            )
            parts.append(f'<p class="lead">{nothing}</p>')
        parts.append('<div class="findings">' + "".join(_finding(f) for f in late) + "</div>" if late else "")
        for level, text in (
            ("note", _("worth knowing")),
            ("unknown", _("could not be found out")),
            ("ok", _("in order")),
        ):
            some = [f for f in findings if f.level == level]
            if some:
                parts.append(
                    f'<details class="aside-findings"><summary>{len(some)} {text}</summary><div class="findings">'
                    f"{''.join(_finding(f) for f in some)}</div></details>"
                )
    if not parts:
        return ""
    kernels = any(content.run.machines for content in runs)
    if kernels:
        title = _("What makes these kernels late")
        how = _("Found by `howlate doctor` in the state of the guests, not in the samples.")
    elif machine.hardware(runs) > 1:
        title = _("What makes these machines late")
        how = _("Found by `howlate doctor` in the state of each machine, not in the samples.")
    else:
        title = _("What makes this machine late")
        how = _("Found by `howlate doctor` in the state of the machine, not in the samples.")
    unchanged = _("howlate changes none of it unless asked to.")
    return (
        f'<section id="findings"><h2>{title}</h2><p class="reading">{coded(how)} {unchanged}</p>'
        + "".join(parts)
        + "</section>"
    )


def _finding(finding: Finding) -> str:
    assert finding.level in LEVELS
    change = (
        f'<p class="change"><b>{_("To change it")}</b> {coded(retold(finding.change))}</p>'
        if finding.change
        else ""
    )
    return (
        f'<article class="finding {finding.level}"><h4>{escape(retold(finding.title))}{_about(finding)}</h4>'
        f'<p class="found">{coded(retold(finding.found))}</p><p>{coded(retold(finding.why))}</p>{change}</article>'
    )


def _about(finding: Finding) -> str:
    return f" ({escape(', '.join(finding.machines))})" if finding.machines else ""
