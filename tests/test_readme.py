"""The README: what it points at is there, and what it tells a newcomer to type is known."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from howlate.cli import howlate

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = sorted(set(re.findall(r"`?\./howlate ([a-z][^`\n#|]*)", README)))
PICTURE_BYTES = 150_000


@pytest.mark.parametrize("line", TYPED)
def test_every_command_is_known_with_its_options(line: str) -> None:
    command: click.Command = howlate
    words = line.split()
    with click.Context(howlate, info_name="howlate") as context:
        while isinstance(command, click.Group) and words:
            found = command.get_command(context, words[0])
            if found is None:
                break
            command, words = found, words[1:]
        assert command is not howlate, line
        if not command.context_settings.get("ignore_unknown_options"):  # those of the probe are its own
            known = {option for parameter in command.get_params(context) for option in parameter.opts}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


def test_every_link_and_picture_is_there_and_the_picture_is_small() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in target]
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures and all((ROOT / picture).stat().st_size < PICTURE_BYTES for picture in pictures)


def test_the_sample_of_the_table_adds_up() -> None:
    """It has a row for each of the study's loads, in the study's order, under the heading that is printed today."""
    from howlate.studies import find_study

    rows = re.findall(r"^    (\S+) (?:\(not alone\))? +[0-9.]+ ", README, re.MULTILINE)
    assert rows == list(find_study("check").axes["load"])
