"""Show a run's tables in the terminal."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: howlate show runs/20260102T030405-check --json")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="As JSON (docs/commands.md).")
def command(run: Path, as_json: bool) -> int:
    """Show the tables of the run folder RUN."""
    from howlate.cli._measure import print_run
    from howlate.session import reopen
    from howlate.store.run_folder import RunFolder

    folder = RunFolder.open(run)
    if as_json:
        from howlate.report.terminal import show_json

        click.echo(show_json(folder.summaries()), nl=False)
        return 0
    print_run(*reopen(folder))
    return 0
