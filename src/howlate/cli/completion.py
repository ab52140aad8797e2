"""Print the completion script for bash, zsh or fish."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(epilog="Example: howlate completion bash")
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def command(shell: str) -> int:
    """Print the script that has SHELL (bash, zsh or fish) complete howlate's commands, options and studies.

    \b
    bash  howlate completion bash > ~/.local/share/bash-completion/completions/howlate
    zsh   howlate completion zsh > "${fpath[1]}/_howlate"
    fish  howlate completion fish > ~/.config/fish/completions/howlate.fish
    """
    from click.shell_completion import get_completion_class

    from howlate.cli import howlate
    from howlate.cli._complete import COMPLETE_VARIABLE

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(howlate, {}, "howlate", COMPLETE_VARIABLE).source())
    return 0
