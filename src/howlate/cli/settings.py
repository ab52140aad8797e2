"""Show the settings that are in force, and where each comes from."""

from __future__ import annotations

import click


@click.command(epilog="Example: howlate settings cyclic")
@click.argument("test", default="", metavar="[TEST]")
@click.option(
    "--defaults", is_flag=True, help="Every default there is, as the program's settings.toml holds it."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON: name, value, and the file it is from.")
def command(test: str, defaults: bool, as_json: bool) -> int:
    """Show what the settings files say (docs/settings.md): of TEST, or everything."""
    import json

    from howlate.model.settings import LAB, LOADS, TARGETS
    from howlate.model.study import spell
    from howlate.plan.check import find_test
    from howlate.plan.defaults import check_settings, defaults_text
    from howlate.prepare import settings_in_force
    from howlate.targets import open_target

    can = open_target("local").capabilities()
    if defaults:
        click.echo(defaults_text(can), nl=False)
        return 0
    settings = settings_in_force()
    check_settings(settings, can)
    tables = {TARGETS: settings.targets, LAB: settings.lab, **settings.tests}
    tables |= {f"{LOADS}.{name}": its for name, its in settings.loads.items()}
    if test:
        tables = {test: settings.tests.get(find_test(test, can).name, {})}
    found = {f"{table}.{name}": its for table, values in tables.items() for name, its in values.items()}
    if as_json:
        value = {
            name: {"value": list(its.value) if isinstance(its.value, tuple) else its.value, "from": its.place}
            for name, its in found.items()
        }
        click.echo(json.dumps({"schema": 1, "settings": value}, indent=1, ensure_ascii=False))
        return 0
    width = max((len(name) for name in found), default=0)
    for name, setting in found.items():
        click.echo(f"{name:<{width}}  {spell(setting.value):<16}  {setting.place}")
    return 0
