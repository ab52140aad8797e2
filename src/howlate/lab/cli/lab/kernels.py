"""List the kernels that are available to the lab."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

from howlate.cli._say import say
from howlate.cli._screen import print_json
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options

if TYPE_CHECKING:
    from howlate.lab.kernels.catalogue import AvailableKernel
    from howlate.lab.kernels.kernel import Kernel


_LESS_IMPORTANT = (2, 3, 1, 5)
"""The columns that are left out first."""


@click.command(epilog="Example: howlate lab kernels --arch arm64 --all")
@click.option(
    "--arch",
    type=click.Choice(["amd64", "arm64", "all"]),
    default="all",
    show_default=True,
    help="Only kernels of one architecture.",
)
@click.option("--all", "every", is_flag=True, help="Show every version, not only the newest of each series.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/kernels.md).")
@archive_options
def command(arch: str, *, every: bool, as_json: bool, archive: ArchiveOptions) -> int:
    """List the available kernels, from 5.10 to the newest, for `howlate lab fetch`.

    The modes of preemption are known once a kernel is fetched, from its config.
    """
    from howlate.lab.archive.gone import gone, is_gone, there
    from howlate.lab.cache import cache_folder
    from howlate.lab.kernels.catalogue import available, cached, find, newest, versions

    kernels = available(archive.opened().packages())
    removed = gone(cache_folder(), say)
    have = {str(kernel.pinned): kernel for kernel in cached(say=say)}
    before = {kernel.name: find(kernel.label) for kernel in have.values()}
    rows = [
        _row(
            found,
            have.get(str(found.pinned)),
            None if every else before.get(str(found.label)),
            is_gone=is_gone(found, removed),
        )
        for found in (versions(kernels) if every else newest(there(kernels, removed)))
        if arch in ("all", found.label.arch)
    ]
    if as_json:
        print_json({"schema": 1, "kernels": rows})
        return 0
    _print(rows)
    return 0


def _row(
    available: AvailableKernel, kernel: Kernel | None, older: Kernel | None, *, is_gone: bool
) -> dict[str, Any]:
    """The row of an available kernel. `kernel`: the fetched kernel, if any; `older`: what its label means
    without asking the archive; `is_gone`: a fetch found that the archive does not have it."""
    modes = kernel.modes if kernel else None
    return {
        "label": str(available.label),
        "pinned": str(available.pinned),
        "arch": available.label.arch,
        "rt": available.label.rt,
        "version": available.version,
        "release": available.release,
        "suite": available.main.suite,
        "packages": [package.name for package in available.packages],
        "bytes": available.size,
        "is_complete": available.is_complete,
        "is_gone": is_gone,
        "is_fetched": kernel is not None,
        "fetched": None if older is None else older.version,
        "preempt": None if modes is None else {"built": modes.built, "choices": list(modes.choices)},
    }


def _print(rows: list[dict[str, Any]]) -> None:
    """On a terminal without the columns that have no room."""
    lines = [("KERNEL", "VERSION", "SUITE", "MB", "FETCHED", "PREEMPTION")]
    for row in rows:
        preempt = row["preempt"]
        modes = "" if preempt is None else ", ".join(preempt["choices"]) or f"{preempt['built']} only"
        note = "" if row["is_complete"] else "no config, no modules"
        if row["is_gone"] and not row["is_fetched"]:
            note = "gone from the archive"
        lines.append(
            (
                row["label"],
                row["version"],
                row["suite"],
                f"{row['bytes'] / 1e6:.0f}",
                "yes" if row["is_fetched"] else row["fetched"] or "",
                modes or note,
            )
        )
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else sum(widths) + 2 * len(widths)
    shown = list(range(len(widths)))
    for column in _LESS_IMPORTANT:
        if sum(widths[number] + 2 for number in shown) - 2 > room:
            shown.remove(column)
    for line in lines:
        cells = [line[n].rjust(widths[n]) if n == 3 else line[n].ljust(widths[n]) for n in shown]
        click.echo("  ".join(cells).rstrip())
    if left := [lines[0][n] for n in range(len(widths)) if n not in shown]:
        click.echo(textwrap.fill(f"No room for {', '.join(left)}: widen the terminal, or use --json", room))
