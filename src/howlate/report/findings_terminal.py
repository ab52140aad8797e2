"""What the doctor found, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from howlate.language import N_, _, retold
from howlate.model.finding import Finding
from howlate.report.text import wrapped

LEVEL_NAMES = {
    "late": N_("makes it late"),
    "note": N_("worth knowing"),
    "unknown": N_("not found out"),
    "ok": N_("in order"),
}
"""How a finding says what it weighs."""


def print_findings(
    console: Console,
    findings: Sequence[Finding],
    most: int | None = None,
    levels: Sequence[str] = ("late",),
    brief: Sequence[str] = (),
) -> int:
    """The doctor's findings of these levels, in the given order, those of `brief` levels without why and remedy;
    of several levels each finding says its own. Says how many were left out, and returns how many it showed."""
    chosen = [f for f in findings if f.level in levels]
    shown = chosen if most is None else chosen[:most]
    for finding in shown:
        about = f" ({', '.join(finding.machines)})" if finding.machines else ""
        level = f"{_(LEVEL_NAMES[finding.level])}: " if len(levels) > 1 else ""
        text = f"{level}{retold(finding.title)}: {retold(finding.found)}{about}"
        style = "" if finding.level in brief else "bold"
        for i, line in enumerate(wrapped(text, max(30, console.width - 2))):
            console.print(Text(f"{' ' if i else '-'} {line}", style=style), soft_wrap=True)
        if finding.level in brief:
            continue
        _print_indented(console, retold(finding.why))
        if finding.change:
            _print_indented(console, retold(finding.change), _("To change it: "))
    rest = len(chosen) - len(shown)
    if rest:
        console.print(_("  ({rest} more: `howlate doctor`)").format(rest=rest))
    return len(shown)


def _print_indented(console: Console, text: str, lead: str = "") -> None:
    for line in wrapped(f"{lead}{text}", max(30, console.width - 2)) if text else ():
        console.print(Text(f"  {line}"), soft_wrap=True)
