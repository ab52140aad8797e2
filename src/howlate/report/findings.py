"""The report's section of the doctor's findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from howlate.model.finding import LEVELS, Finding
from howlate.report import machine
from howlate.report.content import RunContent


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
            who = "these kernels" if content.run.machines else "this machine"
            parts.append(f'<p class="lead">Nothing was found that is known to make {who} late.</p>')
        parts.append('<div class="findings">' + "".join(_finding(f) for f in late) + "</div>" if late else "")
        for level, text in (
            ("note", "worth knowing"),
            ("unknown", "could not be found out"),
            ("ok", "in order"),
        ):
            some = [f for f in findings if f.level == level]
            if some:
                parts.append(
                    f'<details><summary>{len(some)} {text}</summary><div class="findings">'
                    f"{''.join(_finding(f) for f in some)}</div></details>"
                )
    if not parts:
        return ""
    kernels = any(content.run.machines for content in runs)
    where, whose = ("these kernels", "the guests") if kernels else ("this machine", "the machine")
    if not kernels and machine.hardware(runs) > 1:
        where, whose = "these machines", "each machine"
    return (
        f'<section id="findings"><h2>What makes {where} late</h2>'
        f'<p class="reading">Found by <code>howlate doctor</code> in the state of {whose}, not in the '
        "samples. howlate changes none of it unless asked to.</p>" + "".join(parts) + "</section>"
    )


def _finding(finding: Finding) -> str:
    assert finding.level in LEVELS
    change = f'<p class="change"><b>To change it</b> {coded(finding.change)}</p>' if finding.change else ""
    return (
        f'<article class="finding {finding.level}"><h4>{escape(finding.title)}{_about(finding)}</h4>'
        f'<p class="found">{coded(finding.found)}</p><p>{coded(finding.why)}</p>{change}</article>'
    )


def _about(finding: Finding) -> str:
    return f" ({escape(', '.join(finding.machines))})" if finding.machines else ""


def coded(text: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
