"""Options that had another name in the version before: taken for one more, with a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

RENAMED: Mapping[str, Mapping[str, str]] = {
    "advise": {"--cpus": "--guest-cpus", "--seconds": "--cell-duration"},
    "calibrate": {"--cpus": "--guest-cpus"},
    "history": {"--out": "--output"},
    "import": {"--set": "--map"},
    "lab fetch": {"--module": "--with-module"},
    "lab prove": {"--from": "--begin", "--kernel": "--own-kernel", "--out": "--output"},
    "lab why": {"--kernel": "--own-kernel"},
    "check": {"--seconds": "--duration"},
    "lab run": {"--cpus": "--guest-cpus", "--kernel": "--own-kernel"},
    "plan": {"--seconds": "--cell-duration"},
    "show": {"--kernels": "--configs"},
    "why": {"--kernel": "--own-kernel", "--seconds": "--cell-duration"},
}
"""By command: the old name and the one that it has now."""


def renamed(command: str, words: Sequence[str]) -> list[str]:
    """The words of a call with the names of today; each old one is named on standard error."""
    names = RENAMED.get(command, {})
    options = words[: words.index("--")] if "--" in words else words
    now = []
    for word in options:
        name, equals, value = word.partition("=")
        if name in names:
            click.echo(
                f"howlate: {name} of {command} is called {names[name]} now; the next version does not know {name}.",
                err=True,
            )
        now.append(f"{names.get(name, name)}{equals}{value}")
    return [*now, *words[len(options) :]]
