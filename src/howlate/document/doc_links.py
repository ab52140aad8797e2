"""The page of docs/ that explains each figure of a report: what it is, and when it is wrong. The one table of these
targets; docs/report.md says where the links lead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from howlate.document.sheet import Column, Sheet
from howlate.system.paths import ROOT
from howlate.words.say import Text
from howlate.words.statement import Statement

SITE = "HOWLATE_DOCS"
"""The environment variable with the address of a site of the documentation (`./dev site`)."""
DOCS = "docs"

_STATISTICS, _ACCOUNT = "statistics.md#in-the-summary", "statistics.md#the-account"
_PROOF = "lab/prove.md#the-argument-if-the-premises-hold"
_LATE = "why.md#"
_GRAVITY = "cores.md#gravity-what-anticipation-does-to-numbers"
_MISSES, _REPEATED = "statistics.md#deadline-misses", "report.md#repetitions-and-kernels"

SHEETS = {
    "summary": _STATISTICS,
    "disturbances": "stream.md#trailer",
    "sides": "compare.md#tables",
    "ratios": "compare.md#differences",
    "quantiles": "statistics.md#intervals-of-quantiles",
    "histogram": "statistics.md#in-the-charts",
    "verdict": "verdict.md#when-it-is-pass-fail-inconclusive",
    "kernels": "lab/kernels.md",
    "differences": "lab/kernels.md",
    "proofs": _PROOF,
    "advice": "advise.md#the-table",
    "late-functions": f"{_LATE}functions-lines-and-two-kernels",
    "why-pair": f"{_LATE}functions-lines-and-two-kernels",
    "late-causes": f"{_LATE}read-it",
    "late-parts": f"{_LATE}the-causes",
    "late-counters": f"{_LATE}without-events",
    "findings": "doctor.md",
    "causes": "doctor.md",
    "list facts": "facts.md",
    "list parameters": "probe.md",
    "list read": "stream.md#header",
    "list knobs": "knobs.md",
    "meaning": _STATISTICS,
}
"""By a sheet's kind, or its first word: of every column that COLUMNS does not name."""

COLUMNS = {
    "kernel": "lab/kernels.md",
    "timer": "timers.md",
    "load": "loads/README.md",
    "overruns": _ACCOUNT,
    "dropped": _ACCOUNT,
    "late_policy": "timers.md#what-all-of-them-have-in-common",
    "deadline_misses": _MISSES,
    "misses": _MISSES,
    "releases": _ACCOUNT,
    "verdict": "verdict.md#when-it-is-pass-fail-inconclusive",
    "rate": "verdict.md#when-it-is-pass-fail-inconclusive",
    "horizon": "verdict.md#blocks-what-the-horizon-rests-on",
    "repetitions": _REPEATED,
    "smallest": _REPEATED,
    "median_max": _REPEATED,
    "tau": "history.md#trend",
    "p": "history.md#trend",
    "changes": "history.md#where-the-level-changes",
    "one": "history.md#did-the-bound-hold",
    "one-nominal": "history.md#did-the-bound-hold",
    "many": "history.md#did-the-bound-hold",
    "many-nominal": "history.md#did-the-bound-hold",
}
"""By a column's key, whatever sheet it is in."""

CHART = "statistics.md#in-the-charts"
CHARTS = {
    "matrix": _REPEATED,
    "kernels": _REPEATED,
    "versions": _REPEATED,
    "rising": _REPEATED,
    "runtime": _REPEATED,
    "history": "history.md#where-the-level-changes",
    "landscape": _PROOF,
    "advice": "advise.md#the-chart",
    "causes": f"{_LATE}the-causes",
}
"""By a figure's name, where it is not CHART."""

STATEMENTS = {
    "cell": "statistics.md#when-a-cell-is-not-valid",
    "cell.alone": "statistics.md#one-sample-alone",
    "cell.cpus-differ": "import.md#what-a-file-cannot-say",
    "cell.at-least": "verdict.md#what-an-imported-run-may-claim",
    "cell.beyond": "verdict.md#what-an-imported-run-may-claim",
    "cell.gravity": _GRAVITY,
    "cell.unordered": "verdict.md#what-an-imported-run-may-claim",
    "cell.uncounted": "verdict.md#what-an-imported-run-may-claim",
    "report.of-": "statistics.md#when-a-cell-is-not-valid",
    "load": "loads/README.md",
    "gravity": _GRAVITY,
    "deadline": _MISSES,
    "verdict": "verdict.md",
    "proof": "lab/prove.md",
    "advice": "advise.md#when-a-difference-is-shown",
    "history": "history.md",
    "report.largest": _STATISTICS,
    "report.steal": "doctor.md#steal-steal-weight-86",
    "report.hypervisor": "doctor.md#hypervisor-hypervisor-weight-88",
    "report.not-recorded": _ACCOUNT,
    "report.one-seed": "lab/virtual-time.md#what-a-result-means",
    "report.as-published": "timers.md#what-all-of-them-have-in-common",
    "run.virtual-time": "lab/virtual-time.md#what-it-cannot-tell",
    "typical": "compare.md#typical",
    "largest": "compare.md#largest",
    "equal": "compare.md#equal",
    "against": "compare.md#against",
    "over-all": "compare.md#over-all",
    "alone": "compare.md#alone",
    "trend": "compare.md#trend",
    "run-time": "compare.md#run-time",
}
"""By the beginning of a rule's id; the longest one decides. Rules of other beginnings state no figure."""


OF_ROWS = "report.of-"
"""The beginning of the rules that say of which rows a statement is: that statement's page comes first."""


def of_column(sheet: Sheet, column: Column) -> str:
    return COLUMNS.get(column.key) or of_sheet(sheet)


def of_sheet(sheet: Sheet) -> str:
    return SHEETS.get(sheet.kind) or SHEETS[sheet.kind.partition(" ")[0]]


def of_chart(name: str) -> str:
    return CHARTS.get(name, CHART)


def of_text(text: Text) -> Iterator[str]:
    """The pages for the statements of a text, each once."""
    return iter(dict.fromkeys(_of_text(text)))


def _of_text(text: object) -> Iterator[str]:
    if isinstance(text, tuple):
        for part in text:
            yield from _of_text(part)
    elif isinstance(text, Statement):
        beginnings = [beginning for beginning in STATEMENTS if text.rule.startswith(beginning)]
        own = [STATEMENTS[max(beginnings, key=len)]] if beginnings else []
        inner = list(_of_text(tuple(text.values.values())))
        yield from (inner or own) if text.rule.startswith(OF_ROWS) else (own or inner)


def address(target: str) -> str:
    """A target's path from the top of the source tree."""
    return f"{DOCS}/{target}"


def linked(html: str, page: Path | None) -> str:
    """A page whose links to the documentation lead somewhere from where it is written: to the site that $HOWLATE_DOCS
    names, else to docs/ of the checkout that it lies in. Elsewhere they are not links, and their titles name the file
    of the source tree it is."""
    site = os.environ.get(SITE, "").rstrip("/")
    if site:
        return re.sub(
            rf'href="{DOCS}/([^"#]*)\.md', lambda match: f'href="{site}/{DOCS}/{_name(match[1])}.html', html
        )
    if page is None or not (ROOT / DOCS).is_dir() or not page.resolve().is_relative_to(ROOT):
        return re.sub(rf' href="{DOCS}/[^"]*"', "", html)
    return html.replace(f'href="{DOCS}/', f'href="{os.path.relpath(ROOT / DOCS, page.resolve().parent)}/')


def _name(page: str) -> str:
    return re.sub(r"README$", "index", page)
