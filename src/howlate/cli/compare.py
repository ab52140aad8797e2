"""Compare kernels, or settings, side by side."""

from __future__ import annotations

import shlex

import click

from howlate.language import _, called


@click.command(epilog="Example: howlate compare runs/none runs/rt --json")
@click.argument("runs", nargs=-1, required=True, metavar="[NAME=]RUN...")
@click.option(
    "--by",
    default="kernel",
    metavar="LABEL",
    help="Whose values are compared: kernel (the default), or another axis such as timer or policy.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON (docs/compare.md).")
def command(runs: tuple[str, ...], by: str, as_json: bool) -> int:
    """Put what the run folders RUN... have in common side by side: a table for each point, what differs, and a
    summary in words. One RUN will do where its kernels (or the values of LABEL) are several. NAME=RUN calls a run by
    that name. `howlate report RUN RUN` makes the same a page."""
    import json

    from rich.console import Console

    from howlate.cli._named import named_runs, read_named
    from howlate.language import english
    from howlate.report.compare import compare, to_json
    from howlate.report.compare_terminal import print_comparison
    from howlate.report.conclusions import conclusions
    from howlate.report.equal import equal_sides
    from howlate.report.layouts import layouts
    from howlate.store.files import file_hash
    from howlate.store.run_folder import SAMPLES, RunFolder

    named = named_runs(runs)
    contents = read_named(named, bins=False)

    def hash_of(run: int, cell: str) -> str:
        samples = RunFolder.open(named[run][1]).cell_path(cell) / SAMPLES
        return file_hash(samples) if samples.is_file() else ""

    if as_json:
        with english():
            found = compare(contents, by)
            equal = equal_sides(found.joined, hash_of)
            value = {**to_json(found), "equal": [its.to_json() for its in equal]}
            value["layouts"] = [layout.to_json() for layout in layouts(found)]
            value["summary"] = [
                *({"about": "samples", "rule": "equal", "text": its.text} for its in equal),
                *(
                    {"about": title, "rule": said.rule, "text": said.text}
                    for title, sentences in conclusions(found)
                    for said in sentences
                ),
            ]
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
        return 0
    found = compare(contents, by)
    print_comparison(Console(highlight=False, markup=False), found, equal_sides(found.joined, hash_of))
    words = shlex.join(["report", *runs, *(["--by", by] if by != "kernel" else [])])
    click.echo("\n" + _("As a page: {command}").format(command=f"{called()} {words}"))
    return 0
