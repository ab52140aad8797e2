"""List the kernels that the lab can have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.cli.lab._archive import archive_options, open_archive, say
from howlate.language import _

if TYPE_CHECKING:
    from howlate.lab.kernel import Kernel
    from howlate.lab.kernels import Available


@click.command(epilog="Example: howlate lab kernels --arch arm64 --all")
@click.option(
    "--arch",
    type=click.Choice(["amd64", "arm64", "all"]),
    default="all",
    show_default=True,
    help="Of one architecture only.",
)
@click.option("--all", "every", is_flag=True, help="Every version, not only the newest of each series.")
@click.option("--json", "as_json", is_flag=True, help="As JSON (docs/lab/kernels.md).")
@archive_options
def command(
    arch: str, every: bool, as_json: bool, mirrors: tuple[str, ...], keyring: Path | None, refresh: bool
) -> int:
    """List the kernels that can be had, from 5.10 to the newest: what `howlate lab fetch` fetches.

    Modes of preemption are known once a kernel is fetched: its config says them."""
    import json

    from howlate.lab.cache import cache_folder
    from howlate.lab.gone import gone, is_gone, there
    from howlate.lab.kernels import available, cached, find, newest, versions

    kernels = available(open_archive(mirrors, keyring).packages(refresh))
    removed = gone(cache_folder())
    have = {str(kernel.pinned): kernel for kernel in cached(say=say)}
    before = {kernel.name: find(kernel.label) for kernel in have.values()}
    rows = [
        _row(
            found,
            have.get(str(found.pinned)),
            None if every else before.get(str(found.label)),
            is_gone(found, removed),
        )
        for found in (versions(kernels) if every else newest(there(kernels, removed)))
        if arch in ("all", found.label.arch)
    ]
    if as_json:
        click.echo(json.dumps({"schema": 1, "kernels": rows}, indent=1))
        return 0
    _print(rows)
    return 0


def _row(found: Available, kernel: Kernel | None, older: Kernel | None, is_gone: bool) -> dict[str, Any]:
    """One that can be had. `kernel`: it, where it is fetched; `older`: what its label means without asking the
    archive; `is_gone`: a fetch found that the archive does not have it."""
    modes = kernel.modes if kernel else None
    return {
        "label": str(found.label),
        "pinned": str(found.pinned),
        "arch": found.label.arch,
        "rt": found.label.rt,
        "version": found.version,
        "release": found.release,
        "suite": found.main.suite,
        "packages": [package.name for package in found.packages],
        "bytes": found.size,
        "is_complete": found.is_complete,
        "is_gone": is_gone,
        "is_fetched": kernel is not None,
        "fetched": None if older is None else older.version,
        "preempt": None if modes is None else {"built": modes.built, "choices": list(modes.choices)},
    }


def _print(rows: list[dict[str, Any]]) -> None:
    lines = [("KERNEL", "VERSION", "SUITE", "MB", "FETCHED", "PREEMPTION")]
    for row in rows:
        preempt = row["preempt"]
        modes = (
            ""
            if preempt is None
            else ", ".join(preempt["choices"]) or _("{mode} only").format(mode=preempt["built"])
        )
        note = "" if row["is_complete"] else _("the kernel alone: no config, no modules")
        if row["is_gone"] and not row["is_fetched"]:
            note = _("listed, but not in the archive any more")
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
    for line in lines:
        cells = [
            text.rjust(width) if number == 3 else text.ljust(width)
            for number, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())
