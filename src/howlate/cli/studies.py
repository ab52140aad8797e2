"""List the available studies, or show one."""

from __future__ import annotations

from typing import Any

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli._screen import print_json
from howlate.model.study import Study, read_study
from howlate.studies import find_study, studies, study_text


@click.group(invoke_without_command=True, epilog="Example: howlate studies show timers")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> int:
    """List the studies that come with howlate; `show ID` prints one."""
    if context.invoked_subcommand is not None:
        return 0
    import shutil
    import textwrap

    available = [read_study(path) for path in studies().values()]
    if as_json:
        rows = [{"id": s.id, "title": s.title, "question": s.question, **_tests(s)} for s in available]
        print_json({"schema": 1, "studies": rows})
        return 0
    width = max((len(s.id) for s in available), default=0)
    room = shutil.get_terminal_size().columns - width - 2
    for study in available:
        name, *more = textwrap.wrap(study.title, max(20, room))
        for line in (f"{study.id:<{width}}  {name}", *(f"{'':{width}}  {line}" for line in more)):
            click.echo(line)
    return 0


def _tests(study: Study) -> dict[str, Any]:
    if not study.parts:
        return {"test": study.test}
    return {"parts": [{"id": part.id, "title": part.title, "test": part.test} for part in study.parts]}


@command.command("show", epilog="Example: howlate studies show check")
@click.argument("study", metavar="ID", shell_complete=complete_studies)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with defaults filled in.")
def show(study: str, *, as_json: bool) -> int:
    """Print the study ID (or a TOML file) unchanged, after checking it."""
    found = find_study(study)
    if as_json:
        print_json(found.to_json())
    else:
        click.echo(study_text(study), nl=False)
    return 0
