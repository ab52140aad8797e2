"""Compare kernels, or settings, side by side."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: howlate compare runs/none runs/rt --json")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "--by",
    default="kernel",
    metavar="LABEL",
    help="Whose values are compared: kernel (the default), or another axis such as timer or policy.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON (docs/compare.md).")
def command(runs: tuple[Path, ...], by: str, as_json: bool) -> int:
    """Put what the run folders RUN... have in common side by side: a table for each point, what differs, and a
    summary in words. One RUN will do where its kernels (or the values of LABEL) are several."""
    import json

    from rich.console import Console

    from howlate.language import english
    from howlate.report.compare import compare, to_json
    from howlate.report.compare_terminal import print_comparison
    from howlate.report.conclusions import conclusions
    from howlate.report.content import read_content
    from howlate.report.layouts import layouts

    if as_json:
        with english():
            found = compare([read_content(run, bins=False) for run in runs], by)
            value = to_json(found)
            value["layouts"] = [layout.to_json() for layout in layouts(found)]
            value["summary"] = [
                {"about": title, "rule": said.rule, "text": said.text}
                for title, sentences in conclusions(found)
                for said in sentences
            ]
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
        return 0
    found = compare([read_content(run, bins=False) for run in runs], by)
    print_comparison(Console(highlight=False, markup=False), found)
    return 0
