"""The kernels of a lab run: version, command line, and how their configurations differ."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.document import sheet as sheets
from howlate.document.document import Document, Folded, Item, Section, Texts, texts
from howlate.document.sheet import Sheet
from howlate.model.loaded import MeasuredKernel
from howlate.sides.configs import Difference, compared, that_matter
from howlate.words.language import N_, _
from howlate.words.statement import Statement, message

MOST_LISTED = 400
"""Differing options that the page lists."""

ALIKE = message("kernels.alike", "All kernels have one configuration; only their boot parameters differ.")
DIFFER = message(
    "kernels.differ",
    "{count} option differs between the configurations; known to matter for lateness: {matter}.",
    "{count} options differ between the configurations; known to matter for lateness: {matter}.",
    by="count",
)
PARTLY_KNOWN = message(
    "kernels.partly-known",
    "Of {kernels:list} only the options in the machine's facts are known; all others count as not set.",
)
UNKNOWN = message("kernels.unknown", "The configuration of {kernels:list} is not known.")
MORE = message(
    "kernels.more",
    "{count} more option differs: `howlate show --configs --all` lists it.",
    "{count} more options differ: `howlate show --configs --all` lists them.",
    by="count",
)


def about(
    names: Sequence[str], found: Sequence[Difference], kernels: Sequence[MeasuredKernel]
) -> tuple[Statement, ...]:
    """The sentences above the list; none for a single kernel, which differs from no other."""
    if len(kernels) < 2:
        return ()
    unknown = tuple(kernel.label for kernel in kernels if not kernel.config)
    if len(names) < 2:
        return (UNKNOWN(kernels=unknown) if unknown else ALIKE(),)
    partly = tuple(kernel.label for kernel in kernels if kernel.config and not kernel.whole)
    return (
        DIFFER(count=len(found), matter=len(that_matter(found))),
        *([PARTLY_KNOWN(kernels=partly)] if partly else []),
        *([UNKNOWN(kernels=unknown)] if unknown else []),
    )


def items(kernels: Sequence[MeasuredKernel]) -> tuple[Item, ...]:
    """For the page: the kernels, then what differs; options that are not known to matter are folded."""
    names, found = compared(kernels)
    statements = about(names, found, kernels)
    if not statements:
        return (sheet(kernels),)
    known = that_matter(found)
    title = _("Options that are known to matter: {count}").format(count=len(known))
    return (
        sheet(kernels),
        Texts("heading", (_("How their configurations differ"),)),
        Texts("lead", (statements,)),
        *([differences(known, names, title)] if known else []),
        *_not_known_to_matter(found),
    )


def document(kernels: Sequence[MeasuredKernel], *, every: bool) -> Document:
    names, found = compared(kernels)
    shown = list(found) if every else that_matter(found)
    rest = len(found) - len(shown)
    return Document(
        (
            Section(
                "kernels",
                (
                    sheet(kernels),
                    *texts("paragraph", [statements] if (statements := about(names, found, kernels)) else []),
                    *([differences(shown, names)] if shown else []),
                    *texts("paragraph", [MORE(count=rest)] if rest else []),
                ),
            ),
        )
    )


def differences(found: Sequence[Difference], names: Sequence[str], title: str = "") -> Sheet:
    """One row for each option, grouped by the reason why it matters."""
    groups: dict[str, list[Difference]] = {}
    for each in found:
        groups.setdefault(each.why, []).append(each)
    unknown = N_("Not known to matter:")
    rows = [(why or unknown, each) for why, alike in groups.items() for each in alike]
    return Sheet(
        "differences",
        title,
        (
            sheets.labels("why", _("why it matters"), [_(why) for why, _each in rows]),
            sheets.texts("option", _("option"), [each.option for _why, each in rows], words=True),
            sheets.texts("values", _("values"), [values_of(each, names) for _why, each in rows], words=True),
        ),
        kind="differences",
    )


def values_of(difference: Difference, names: Sequence[str]) -> str:
    """ "y (6.1), n (6.1-rt)"."""
    who: dict[str, list[str]] = {}
    for value, name in zip(difference.values, names, strict=True):
        who.setdefault(value, []).append(name)
    return "; ".join(f"{value} ({', '.join(labels)})" for value, labels in who.items())


def sheet(kernels: Sequence[MeasuredKernel]) -> Sheet:
    return Sheet(
        "kernel-list",
        _("Kernels"),
        (
            sheets.labels("kernel", _("kernel"), [k.label for k in kernels]),
            sheets.texts("release", _("release"), [k.release for k in kernels], words=True),
            sheets.texts("version", _("version"), [k.version for k in kernels], words=True),
            sheets.texts("command_line", _("command line"), [k.command_line for k in kernels], words=True),
        ),
        kind="kernels",
    )


def _not_known_to_matter(found: Sequence[Difference]) -> tuple[Folded, ...]:
    rest = [each for each in found if not each.why]
    shown = "; ".join(f"`{each.option}` {'/'.join(each.values)}" for each in rest[:MOST_LISTED])
    left = len(rest) - MOST_LISTED
    more = texts("", [MORE(count=left)] if left > 0 else [])
    title = _("Options that are not known to matter: {count}").format(count=len(rest))
    return (Folded(title, (Texts("options", (shown,)), *more)),) if rest else ()
