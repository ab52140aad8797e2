"""The kernels of a lab run: version, command line, and how their configurations differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rich.console import Console
from rich.text import Text

from howlate.language import _
from howlate.model.facts import Facts
from howlate.model.run import Run
from howlate.report.configs import Difference, differences, options_of, that_matter
from howlate.report.text import coded, wrapped
from howlate.store.run_folder import RunFolder

MOST_LISTED = 400
"""So many options that differ stand in the page."""


@dataclass(frozen=True)
class Kernel:
    """One kernel as it was measured."""

    label: str
    release: str
    version: str
    command_line: str
    config: Mapping[str, str]
    """Its options; those of the facts where the whole configuration is not at hand."""
    whole: bool
    """Whether `config` is the whole of it."""


def read_kernels(folder: RunFolder, run: Run) -> tuple[Kernel, ...]:
    """The run's kernels, in the order of its plan."""
    found = []
    for label, captured in run.machines.items():
        facts = Facts.from_json(dict(captured))
        whole = label in run.configs
        options = options_of(folder.config(run.configs[label])) if whole else _of_facts(facts)
        found.append(
            Kernel(
                label,
                facts.text("kernel.release") or "unknown",
                facts.text("kernel.version") or "unknown",
                _command_line(facts),
                options,
                whole,
            )
        )
    return tuple(found)


def _command_line(facts: Facts) -> str:
    """In the lab as QEMU was given it; the machine's own facts leave values out that may be private."""
    try:
        arguments = json.loads(facts.text("lab.arguments") or "[]")
        return str(arguments[arguments.index("-append") + 1])
    except (ValueError, IndexError, AttributeError):
        return facts.text("kernel.cmdline") or ""


def _of_facts(facts: Facts) -> dict[str, str]:
    return {
        name: str(value) for name, value in (facts.mapping("kernel.config") or {}).items() if value != "n"
    }


def builds(kernels: Sequence[Kernel]) -> list[tuple[str, Mapping[str, str]]]:
    """Each configuration once, with the labels that have it: boot parameters change none."""
    labels: dict[int, list[str]] = {}
    configs: list[Mapping[str, str]] = []
    for kernel in kernels:
        if not kernel.config:
            continue
        if kernel.config not in configs:
            configs.append(kernel.config)
        labels.setdefault(configs.index(kernel.config), []).append(kernel.label)
    return [(", ".join(labels[i]), config) for i, config in enumerate(configs)]


def compared(kernels: Sequence[Kernel]) -> tuple[list[str], list[Difference]]:
    """Who is compared, and in what they differ. Only what all of them know is looked at."""
    found = builds(kernels)
    if len(found) < 2:
        return [], []
    return [labels for labels, _ in found], differences([config for _, config in found])


def said_of(names: Sequence[str], found: Sequence[Difference], kernels: Sequence[Kernel]) -> str:
    """The sentence above the list; "" for a single kernel, which differs from none."""
    if len(kernels) < 2:
        return ""
    unknown = [kernel.label for kernel in kernels if not kernel.config]
    if unknown and len(names) < 2:
        return _("They cannot be compared: the configuration of {unknown} is not known.").format(
            unknown=", ".join(unknown)
        )
    if len(names) < 2:
        return _("They are of one configuration; boot parameters are all that differs.")
    partly = [kernel.label for kernel in kernels if kernel.config and not kernel.whole]
    limits = (
        _(" Of {partly} only the options that the facts hold are known, the others count as not set.").format(
            partly=", ".join(partly)
        )
        if partly
        else ""
    )
    if unknown:
        limits += _(" The configuration of {unknown} is not known.").format(unknown=", ".join(unknown))
    rest = len(found) - len(that_matter(found))
    return _(
        "Options that differ between their configurations: {found}; known to matter for "
        "lateness: {found2}.{limits}"
    ).format(found=len(found), found2=len(found) - rest, limits=limits)


def print_kernels(console: Console, kernels: Sequence[Kernel], every: bool) -> None:
    """For the terminal."""
    for kernel in kernels:
        console.print(Text(kernel.label, style="bold"), soft_wrap=True)
        for what, text in (
            (_("release"), kernel.release),
            (_("version"), kernel.version),
            (_("boots"), kernel.command_line),
        ):
            _wrapped(console, f"{what}: {text}", "  ")
    names, found = compared(kernels)
    if summary := said_of(names, found, kernels):
        console.print()
        _wrapped(console, summary, "")
    shown = list(found) if every else that_matter(found)
    for sentence, some in by_sentence(shown):
        console.print()
        _wrapped(console, _(sentence) if sentence else _("Not known to matter:"), "")
        for one in some:
            _wrapped(console, f"{one.option}: {values_of(one, names)}", "  ")
    if not every and len(shown) < len(found):
        console.print()
        _wrapped(
            console,
            _("{found} more options differ: --all lists them.").format(found=len(found) - len(shown)),
            "",
        )


def by_sentence(found: Iterable[Difference]) -> list[tuple[str, list[Difference]]]:
    """Options that matter for the same reason, together."""
    groups: dict[str, list[Difference]] = {}
    for one in found:
        groups.setdefault(one.why, []).append(one)
    return list(groups.items())


def values_of(one: Difference, names: Sequence[str]) -> str:
    """ "y (6.1), n (6.1-rt)"."""
    who: dict[str, list[str]] = {}
    for value, name in zip(one.values, names, strict=True):
        who.setdefault(value, []).append(name)
    return "; ".join(f"{value} ({', '.join(labels)})" for value, labels in who.items())


def _wrapped(console: Console, text: str, indent: str) -> None:
    for i, line in enumerate(wrapped(text, max(30, console.width - len(indent) - 2))):
        console.print(Text(f"{indent}{'  ' if i else ''}{line}"), soft_wrap=True)


def section(kernels: Sequence[Kernel]) -> str:
    """For the report: the kernels, then what differs."""
    rows = "".join(
        f'<tr><th scope="row">{escape(k.label)}</th><td>{escape(k.release)}</td>'
        f'<td class="text">{escape(k.version)}</td><td class="text"><code>{escape(k.command_line)}</code></td></tr>'
        for k in kernels
    )
    title = _("Kernels")
    return (
        f'<h3>{title}</h3><div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f'<table class="kernels"><thead><tr><th scope="col">kernel</th><th scope="col">{_("release")}</th>'
        f'<th scope="col">{_("version")}</th><th scope="col">{_("command line")}</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{_differences(kernels)}"
    )


def _differences(kernels: Sequence[Kernel]) -> str:
    """How the kernels' configurations differ; nothing of a single kernel."""
    names, found = compared(kernels)
    summary = said_of(names, found, kernels)
    if not summary:
        return ""
    listed = "".join(
        f"<dt>{escape(_(sentence))}</dt>"
        + "".join(
            f"<dd><code>{escape(one.option)}</code> {escape(values_of(one, names))}</dd>" for one in some
        )
        for sentence, some in by_sentence(that_matter(found))
    )
    return (
        f'<h3>{_("How their configurations differ")}</h3><p class="lead">{escape(summary)}</p>'
        + (f'<dl class="differences">{listed}</dl>' if listed else "")
        + _not_known_to_matter(found)
    )


def _not_known_to_matter(found: Sequence[Difference]) -> str:
    """The options of which nobody says that they matter, folded."""
    rest = [one for one in found if not one.why]
    left = rest[:MOST_LISTED]
    more = (
        coded(
            _("; {count} more: `howlate show --kernels --all` with this run's folder").format(
                count=len(rest) - len(left)
            )
        )
        if len(left) < len(rest)
        else ""
    )
    unknown = _("{count} options that differ and are not known to matter")
    return (
        f"<details><summary>{unknown.format(count=len(rest))}{more}</summary>"
        f'<p class="options">{"; ".join(_short(one) for one in left)}</p></details>'
        if rest
        else ""
    )


def _short(one: Difference) -> str:
    return f"<code>{escape(one.option)}</code> {escape('/'.join(one.values))}"
