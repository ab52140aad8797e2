"""Show the settings that are in force, and where each comes from."""

from __future__ import annotations

import click

from howlate.cli._screen import print_json
from howlate.model.study import spell
from howlate.system.paths import SHARE
from howlate.words.language import called

WIDTH = 79


@click.command(epilog="Example: howlate settings cyclic")
@click.argument("test", default="", metavar="[TEST]")
@click.option("--all", "every", is_flag=True, help="Show the probe's own defaults too.")
@click.option("--defaults", is_flag=True, help="Print every default, in the form of a settings file.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: name, value, and where the value comes from."
)
def command(test: str, *, every: bool, defaults: bool, as_json: bool) -> int:
    """Show the settings in force (docs/settings.md): those of the settings files and, of TEST or with --all, the
    probe's own defaults."""
    import textwrap

    from howlate.measure.prepare import settings_in_force
    from howlate.plan.defaults import PROBE, defaults_text, probe_settings, questions_of, refuse_settings
    from howlate.plan.options import find_test
    from howlate.plan.settings import FILE, LAB, LOADS, TARGETS, over
    from howlate.targets import open_target

    target = open_target("local")
    can = target.capabilities()
    if defaults:
        click.echo(f"{(SHARE / FILE).read_text(encoding='utf-8')}\n{defaults_text(can)}", nl=False)
        return 0
    in_files = settings_in_force()
    questions = questions_of(in_files, can)
    refuse_settings(questions, dict(zip(questions, target.answer(list(questions)), strict=True)))
    settings = over(probe_settings(can), in_files)
    tables = {TARGETS: settings.targets, LAB: settings.lab, **settings.tests}
    tables |= {f"{LOADS}.{name}": options for name, options in settings.loads.items()}
    if test:
        tables = {test: settings.tests.get(find_test(test, can).name, {})}
    shown = {
        f"{table}.{name}": setting for table, values in tables.items() for name, setting in values.items()
    }
    if as_json:
        value = {
            name: {
                "value": list(setting.value) if isinstance(setting.value, tuple) else setting.value,
                "from": setting.place,
            }
            for name, setting in shown.items()
        }
        print_json({"schema": 1, "settings": value})
        return 0
    own = {name: setting for name, setting in shown.items() if setting.place != PROBE}
    told = shown if every or test else own
    width = max((len(name) for name in told), default=0)
    for name, setting in told.items():
        click.echo(f"{name:<{width}}  {spell(setting.value):<16}  {setting.place}")
    if left := len(shown) - len(told):
        tests = " ".join(sorted({name.partition(".")[0] for name in shown if name not in own}))
        more = textwrap.fill(f"{left} more are the probe's own defaults, of {tests}", WIDTH)
        click.echo(f"{more}\nall: {called()} settings --all; of one: {called()} settings cyclic")
    return 0
